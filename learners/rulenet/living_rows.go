package rulenet

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// rowLog is rows in the order in which they came, in columns. It only ever
// grows at its end, so that frozen models go on reading what they share of it.
type rowLog struct {
	grid
	class  []int32
	weight []float64
	number []uint64 // of the row in its source, from 1
	key    []uint64 // by which rows are drawn: a hash of source and number
	source []int32
	loss   []float64 // of the answer, before the row was learnt; missing: it was learnt at first
}

// grid is cells in columns: codes of names, numbers, nothing of other columns.
type grid struct {
	codes  [][]int32
	floats [][]float64
}

// read takes the cells of a table, which it does not copy.
func (g *grid) read(t *table.Table) {
	g.codes, g.floats = g.codes[:0], g.floats[:0]
	for col := range t.Columns {
		g.codes, g.floats = append(g.codes, t.Columns[col].Codes), append(g.floats, t.Columns[col].Floats)
	}
}

// clear lets go of the cells.
func (g *grid) clear() {
	clear(g.codes)
	clear(g.floats)
}

// atom is a test on the cells of a column themselves, which outlives cuts and
// dictionaries that grow.
type atom struct {
	col       int32
	kind      atomKind
	orMissing bool
	low, high float64 // between: low < x <= high; a low of NaN is below all
	values    []int32 // isOne: the first; isNone: all of them
}

type atomKind uint8

const (
	between atomKind = iota
	isOne
	isNone // a known value that is none of these
	isMissing
)

// rows returns the number of rows.
func (l *rowLog) rows() int { return len(l.class) }

// add appends a row of a table, whose codes are those of the log.
func (l *rowLog) add(t *table.Table, row int, class int32, of *origin, source int32) {
	for col := range t.Columns {
		switch {
		case l.floats[col] != nil:
			l.floats[col] = append(l.floats[col], numberAt(&t.Columns[col], row))
		case l.codes[col] != nil:
			l.codes[col] = append(l.codes[col], codeAt(&t.Columns[col], row))
		}
	}
	l.note(class, t.Weight(row), of, source)
}

// note appends what there is of a row besides its cells.
func (l *rowLog) note(class int32, weight float64, of *origin, source int32) {
	l.class, l.weight = append(l.class, class), append(l.weight, weight)
	l.number, l.key, l.source = append(l.number, of.rows), append(l.key, of.key(of.rows)), append(l.source, source)
	l.loss = append(l.loss, table.NA)
}

// place is a row of one of several tables.
type place struct{ table, row int32 }

// fill gives a log whose rows are noted their cells, column by column.
func (l *rowLog) fill(ctx context.Context, s *table.Schema, target int, came []learn.Learnt, rows []place) error {
	l.grid = gridFor(s, target)
	return learn.Each(ctx, len(s.Attributes), func(col int) {
		switch {
		case l.floats[col] != nil:
			l.floats[col] = make([]float64, len(rows))
			for i, at := range rows {
				l.floats[col][i] = numberAt(&came[at.table].Table.Columns[col], int(at.row))
			}
		case l.codes[col] != nil:
			l.codes[col] = make([]int32, len(rows))
			for i, at := range rows {
				l.codes[col][i] = codeAt(&came[at.table].Table.Columns[col], int(at.row))
			}
		}
	})
}

// numberAt returns a cell of a column of numbers, missing if it has not come to life.
func numberAt(c *table.Column, row int) float64 {
	if c.Floats == nil {
		return table.NA
	}
	return c.Floats[row] + 0
}

// codeAt does so of a column of names, unseen ones as missing.
func codeAt(c *table.Column, row int) int32 {
	if c.Codes == nil {
		return table.Missing
	}
	return max(c.Codes[row], table.Missing)
}

// newRowLog returns a log without rows for a schema.
func newRowLog(s *table.Schema, target int) rowLog {
	l := rowLog{grid: gridFor(s, target)}
	return l
}

func gridFor(s *table.Schema, target int) grid {
	g := grid{make([][]int32, len(s.Attributes)), make([][]float64, len(s.Attributes))}
	for col := range s.Attributes {
		if col == target {
			continue
		}
		switch s.Attributes[col].Kind {
		case table.Nominal:
			g.codes[col] = []int32{}
		case table.Numeric:
			g.floats[col] = []float64{}
		}
	}
	return g
}

// clip returns a log whose growth does not write where others may.
func (l *rowLog) clip() rowLog {
	to := *l
	to.codes, to.floats = make([][]int32, len(l.codes)), make([][]float64, len(l.floats))
	for col := range l.codes {
		to.codes[col], to.floats[col] = slices.Clip(l.codes[col]), slices.Clip(l.floats[col])
	}
	to.class, to.weight, to.number = slices.Clip(l.class), slices.Clip(l.weight), slices.Clip(l.number)
	to.key, to.source, to.loss = slices.Clip(l.key), slices.Clip(l.source), slices.Clip(l.loss)
	return to
}

// pick returns a log of some rows, with room for more.
func (l *rowLog) pick(rows []int32, room int) rowLog {
	to := rowLog{grid: grid{make([][]int32, len(l.codes)), make([][]float64, len(l.floats))}}
	for col := range l.codes {
		if l.codes[col] != nil {
			to.codes[col] = pickFrom(l.codes[col], rows, room)
		}
		if l.floats[col] != nil {
			to.floats[col] = pickFrom(l.floats[col], rows, room)
		}
	}
	to.class, to.weight = pickFrom(l.class, rows, room), pickFrom(l.weight, rows, room)
	to.number, to.key, to.source = pickFrom(l.number, rows, room), pickFrom(l.key, rows, room), pickFrom(l.source, rows, room)
	to.loss = pickFrom(l.loss, rows, room)
	return to
}

func pickFrom[T any](from []T, rows []int32, room int) []T {
	to := make([]T, len(rows), len(rows)+room)
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}

// admit opens columns of which a first cell has come.
func (l *rowLog) admit(s *table.Schema, target int) {
	for col := range s.Attributes {
		if s.Attributes[col].Kind == table.Numeric && l.floats[col] == nil && col != target {
			l.codes[col], l.floats[col] = nil, slices.Repeat([]float64{table.NA}, l.rows())
		}
	}
}

// table returns some rows as a table of a schema.
func (l *rowLog) table(s *table.Schema, target int, rows []int32) (*table.Table, error) {
	columns := make([]table.Column, len(s.Attributes))
	for col := range columns {
		switch {
		case col == target:
			columns[col].Codes = pickFrom(l.class, rows, 0)
		case l.codes[col] != nil:
			columns[col].Codes = pickFrom(l.codes[col], rows, 0)
		case l.floats[col] != nil:
			columns[col].Floats = pickFrom(l.floats[col], rows, 0)
		}
	}
	return table.New(s, columns, pickFrom(l.weight, rows, 0))
}

// origin is a source of rows.
type origin struct {
	learn.Source
	rows   uint64  // that it brought, which numbers them
	weight float64 // of those with a class
	salt   uint64
}

func newOrigin(s learn.Source) origin {
	h := fnv.New64a()
	h.Write([]byte(s.ID))
	return origin{Source: s, salt: scramble(h.Sum64())}
}

// key returns the key of a row of the source.
func (o *origin) key(number uint64) uint64 { return scramble(o.salt ^ number*0x9e3779b97f4a7c15) }

// reservoir is the rows of the least keys: places in the log, as they came until there
// are as many as it may have, and then a heap with the greatest key on top.
type reservoir []int32

// moves reports whether to take a row in moves others, which frozen models read.
func (h reservoir) moves(l *rowLog, row int32, most int) bool {
	return len(h)+1 == most || len(h) >= most && most > 0 && l.key[row] < l.key[h[0]]
}

// greatest returns the greatest key.
func (h reservoir) greatest(l *rowLog) uint64 {
	most := uint64(0)
	for _, r := range h {
		most = max(most, l.key[r])
	}
	return most
}

// take puts a row of the log in, for the one of the greatest key if there are so
// many already, and reports whether it did.
func (h *reservoir) take(l *rowLog, row int32, most int) bool {
	if len(*h) < most {
		if *h = append(*h, row); len(*h) == most {
			h.heap(l)
		}
		return true
	}
	if most == 0 || l.key[row] >= l.key[(*h)[0]] {
		return false
	}
	(*h)[0] = row
	h.sink(l, 0)
	return true
}

// heap puts the greatest key on top.
func (h *reservoir) heap(l *rowLog) {
	for at := len(*h)/2 - 1; at >= 0; at-- {
		h.sink(l, at)
	}
}

// sink puts a row below those of greater keys.
func (h *reservoir) sink(l *rowLog, at int) {
	for n := len(*h); ; {
		least := at
		for down := 2*at + 1; down <= 2*at+2 && down < n; down++ {
			if l.key[(*h)[down]] > l.key[(*h)[least]] {
				least = down
			}
		}
		if least == at {
			return
		}
		(*h)[at], (*h)[least] = (*h)[least], (*h)[at]
		at = least
	}
}

// inOrder returns the rows by their keys, the least first.
func (h reservoir) inOrder(l *rowLog) []int32 {
	rows := slices.Clone([]int32(h))
	slices.SortFunc(rows, func(a, b int32) int {
		if l.key[a] != l.key[b] {
			if l.key[a] < l.key[b] {
				return -1
			}
			return 1
		}
		return int(a - b)
	})
	return rows
}
