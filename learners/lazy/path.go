package lazy

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// room is what answering one row needs. It can be used again.
type room struct {
	rows, next []int32
	open       []bool    // columns that can still be asked for
	now        []float64 // statistics of the rows: weights of classes, or moments
	before     []float64
	side, rest []float64
	looked     first
	weights    []float64 // of looked
	disorders  []float64
	dense      []float64 // statistics of each code of a column
	keys       []uint64

	distances []near
}

func (m *Model) newRoom() *room {
	k := m.width()
	return &room{open: make([]bool, len(m.columns)), now: make([]float64, k), before: make([]float64, k), side: make([]float64, k), rest: make([]float64, k)}
}

// width is how many numbers describe rows: the weight of each class, or the
// weight, sum and sum of squares of a number.
func (m *Model) width() int {
	if m.classes > 0 {
		return m.classes
	}
	return 3
}

// add counts a row in.
func (m *Model) add(to []float64, r int32) {
	w := m.table.Weight(int(r))
	if m.classes > 0 {
		to[m.table.Columns[m.target].Codes[r]] += w
		return
	}
	y := m.y[r]
	to[0], to[1], to[2] = to[0]+w, to[1]+w*y, to[2]+w*y*y
}

// weigh returns the weight of rows, and their disorder times it: entropy in
// bits, or variance.
func (m *Model) weigh(of []float64) (n, disorder float64) {
	if m.classes == 0 {
		if of[0] <= 0 {
			return 0, 0
		}
		if disorder = of[2] - of[1]*of[1]/of[0]; disorder < 1e-13*of[2] {
			disorder = 0
		}
		return of[0], disorder
	}
	for _, w := range of {
		n += w
	}
	for _, w := range of {
		if w > 0 && w < n {
			disorder -= w * math.Log2(w/n)
		}
	}
	return n, disorder
}

// step is a test on a path: the row's value, or the side of a threshold that
// it is on.
type step struct {
	col       int
	code      int32 // the value, or the last rank at or below the threshold
	branch    int
	numeric   bool
	above     bool
	threshold float64
	gain      float64 // per row, of all branches
	disorder  float64 // per row, of the row's own branch
	left      float64 // weight of that branch
}

func (s *step) covers(code int32) bool {
	switch {
	case code < 0:
		return false
	case !s.numeric:
		return code == s.code
	}
	return (code > s.code) == s.above
}

// test writes a step in the rule language.
func (m *Model) test(s *step) rule.Test {
	a := &m.schema.Attributes[s.col]
	switch {
	case !s.numeric:
		return rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[s.code]}
	case s.above:
		return rule.Test{Op: rule.Gt, Column: a.Name, Number: s.threshold}
	}
	return rule.Test{Op: rule.Le, Column: a.Name, Number: s.threshold}
}

// path is ID3 (Mitchell 1997, table 3.1) for one row: choose the best test,
// follow the row's branch, until its rows are of one kind or there is nothing
// left to ask. What it ends with is in the room's now; taken, if it is not nil,
// hears of each step, with what the rows were before and after it.
func (m *Model) path(room *room, cells []table.Column, row int, taken func(s step, before, after []float64)) {
	at := m.root
	copy(room.now, at.now)
	for j := range room.open {
		room.open[j] = m.columns[j].codes != nil
	}
	for {
		if _, disorder := m.weigh(room.now); disorder == 0 {
			return
		}
		best, found := step{}, false
		for j := range m.columns {
			if !room.open[j] || !known(&m.columns[j], &cells[j], row) {
				continue
			}
			of := &room.looked
			if at != nil {
				of = &at.looks[j]
			} else {
				*of = m.look(room, j)
			}
			if s, ok := m.follow(of, j, &cells[j], row); ok && (!found || m.ahead(&s, &best)) {
				best, found = s, true
			}
		}
		if !found || best.left == 0 { // ID3 lets the rows here answer for an empty branch
			return
		}
		if !best.numeric {
			room.open[best.col] = false
		}
		copy(room.before, room.now)
		at = m.take(room, at, &best)
		if taken != nil {
			taken(best, room.before, room.now)
		}
	}
}

// node is what many paths begin with: rows, and what each column's test does to
// them. It is found when first asked for, and kept in memory only, as long as
// it has rows enough to be worth it.
type node struct {
	rows  []int32
	now   []float64
	looks []first
	next  [][]atomic.Pointer[node] // of each column's branches
}

// least is how many rows a node must have to be kept, and mostKept how many
// rows all nodes together may have for each row of the table.
const (
	least    = 64
	mostKept = 16
)

// newNode looks at all columns for the rows in a room.
func (m *Model) newNode(room *room) *node {
	n := &node{
		rows: slices.Clone(room.rows), now: slices.Clone(room.now),
		looks: make([]first, len(m.columns)), next: make([][]atomic.Pointer[node], len(m.columns)),
	}
	for j := range m.columns {
		f := m.look(room, j)
		f.weights, f.disorders = slices.Clone(f.weights), slices.Clone(f.disorders)
		n.looks[j], n.next[j] = f, make([]atomic.Pointer[node], len(f.weights))
	}
	return n
}

// take moves the rows of a step's branch into the room, from a node or from
// the room itself, and returns their node if they have one.
func (m *Model) take(room *room, at *node, s *step) *node {
	var kept *atomic.Pointer[node]
	rows := room.rows
	if at != nil {
		rows = at.rows
		kept = &at.next[s.col][s.branch]
		if next := kept.Load(); next != nil {
			copy(room.now, next.now)
			return next
		}
	}
	codes := m.columns[s.col].codes
	room.next = room.next[:0]
	clear(room.now)
	for _, r := range rows {
		if s.covers(codes[r]) {
			room.next = append(room.next, r)
			m.add(room.now, r)
		}
	}
	room.rows, room.next = room.next, room.rows
	if kept == nil || len(room.rows) < least || m.kept.Add(int64(len(room.rows))) > mostKept*int64(m.table.Rows()) {
		return nil
	}
	next := m.newNode(room)
	kept.Store(next) // whoever comes second has found the same
	return next
}

// known reports whether a cell can be asked for.
func known(c *column, cell *table.Column, row int) bool {
	if c.values != nil {
		return !table.IsMissing(cell.Floats[row])
	}
	return cell.Codes[row] >= 0
}

// tie is how little measures may differ to count as the same.
const tie = 1e-12

// ahead reports whether a step is better than one of an earlier column.
func (m *Model) ahead(a, b *step) bool {
	if m.lesson.Settings.Choose == "query" {
		return a.disorder < b.disorder-tie
	}
	return a.gain > b.gain+tie
}

// first is what a column's test does to rows, whichever row is asked for: its
// gain and, of a name, each value's rows, of a number, the two sides of the
// threshold that gains most.
type first struct {
	gain      float64
	code      int32 // of a number: the last rank at or below the threshold
	threshold float64
	weights   []float64 // of each branch
	disorders []float64 // likewise, per row
}

// look counts the rows' cells in a column.
func (m *Model) look(room *room, col int) first {
	c := &m.columns[col]
	if c.values != nil {
		return m.lookNumber(room, col)
	}
	if c.codes == nil {
		return first{}
	}
	k := m.width()
	dense := m.tally(room, c)
	if cap(room.weights) < c.size {
		room.weights, room.disorders = make([]float64, c.size), make([]float64, c.size)
	}
	f := first{weights: room.weights[:c.size], disorders: room.disorders[:c.size]}
	inside, before := 0.0, m.knownDisorder(room, dense, k)
	for code := range c.size {
		n, disorder := m.weigh(dense[code*k : (code+1)*k])
		inside += disorder
		f.weights[code], f.disorders[code] = n, 0
		if n > 0 {
			f.disorders[code] = disorder / n
		}
	}
	all, _ := m.weigh(room.now)
	f.gain = (before - inside) / all // Quinlan 1986: of the rows whose cell is known
	return f
}

// follow returns the step that a row takes in a column. There is none if no row
// tells the column's values apart or, of a number, no threshold gains.
func (m *Model) follow(f *first, col int, cell *table.Column, row int) (step, bool) {
	s := step{col: col, gain: f.gain}
	branch := 0
	if m.columns[col].values != nil {
		if s.numeric = true; len(f.weights) == 0 {
			return s, false
		}
		s.code, s.threshold = f.code, f.threshold
		if s.above = cell.Floats[row] > f.threshold; s.above {
			branch = 1
		}
	} else {
		branch = int(cell.Codes[row])
		s.code = int32(branch)
	}
	s.branch, s.left, s.disorder = branch, f.weights[branch], f.disorders[branch]
	return s, s.left > 0 || m.lesson.Settings.Choose == "gain"
}

// tally counts the rows' cells, code by code.
func (m *Model) tally(room *room, c *column) []float64 {
	k := m.width()
	if cap(room.dense) < c.size*k {
		room.dense = make([]float64, c.size*k)
	}
	dense := room.dense[:c.size*k]
	clear(dense)
	for _, r := range room.rows {
		if code := int(c.codes[r]); code >= 0 {
			m.add(dense[code*k:(code+1)*k], r)
		}
	}
	return dense
}

// knownDisorder is the disorder, times weight, of the rows that were counted.
func (m *Model) knownDisorder(room *room, dense []float64, k int) float64 {
	clear(room.side)
	for i, w := range dense {
		room.side[i%k] += w
	}
	_, disorder := m.weigh(room.side)
	return disorder
}

// lookNumber finds the threshold of largest gain, midway between neighbouring
// numbers.
func (m *Model) lookNumber(room *room, col int) (f first) {
	c := &m.columns[col]
	room.keys = room.keys[:0]
	clear(room.rest)
	for _, r := range room.rows {
		if code := c.codes[r]; code >= 0 {
			room.keys = append(room.keys, uint64(code)<<32|uint64(r))
			m.add(room.rest, r)
		}
	}
	slices.Sort(room.keys)
	_, before := m.weigh(room.rest)
	all, _ := m.weigh(room.now)
	clear(room.side)
	if cap(room.weights) < 2 {
		room.weights, room.disorders = make([]float64, 2), make([]float64, 2)
	}
	for i, key := range room.keys {
		code, r := int32(key>>32), int32(uint32(key))
		if i > 0 && int32(room.keys[i-1]>>32) != code {
			low, lowDisorder := m.weigh(room.side)
			high, highDisorder := m.weigh(room.rest)
			if gain := (before - lowDisorder - highDisorder) / all; low > 0 && high > 0 && gain > f.gain+tie {
				last := int32(room.keys[i-1] >> 32)
				f = first{gain, last, between(c.values[last], c.values[code]), room.weights[:2], room.disorders[:2]}
				f.weights[0], f.weights[1] = low, high
				f.disorders[0], f.disorders[1] = lowDisorder/low, highDisorder/high
			}
		}
		m.move(room, r)
	}
	return f
}

// move takes a row from the rest to the side.
func (m *Model) move(room *room, r int32) {
	m.add(room.side, r)
	w := m.table.Weight(int(r))
	if m.classes > 0 {
		class := m.table.Columns[m.target].Codes[r]
		room.rest[class] = max(room.rest[class]-w, 0)
		return
	}
	y := m.y[r]
	room.rest[0], room.rest[1], room.rest[2] = max(room.rest[0]-w, 0), room.rest[1]-w*y, max(room.rest[2]-w*y*y, 0)
}

// between returns a finite number that parts two numbers, the first at or
// below it.
func between(a, b float64) float64 {
	c := a/2 + b/2
	if !(c >= a && c < b) {
		c = a
	}
	return max(c, -math.MaxFloat64)
}
