package rulenet

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mostBins is the most bins of a column, that of missing cells not counted.
const mostBins = boost.Bins - 2

// binned is a table's columns in bins, one byte a cell, in the order of their
// names, so that nothing depends on the order of the columns.
type binned struct {
	coding
	columns []boost.Column
	column  []int     // of the table, of each of them
	value   [][]int32 // of each nominal one: the code of each bin from 1 on
}

// cutIntoBins cuts numbers into bins of equal frequency, but a number that more
// rows have than a bin's share has a bin of its own and does not use up the
// others' shares. A name has a bin of its own if it is one of the most frequent.
func cutIntoBins(ctx context.Context, t *table.Table, target int) (*binned, error) {
	b := &binned{coding: coding{t.Schema, target, make([]*encode.Cuts, len(t.Columns))}}
	for col, a := range t.Schema.Attributes {
		if col != target && (a.Kind == table.Nominal || a.Kind == table.Numeric) {
			b.column = append(b.column, col)
		}
	}
	names := t.Schema.Names()
	slices.SortFunc(b.column, func(x, y int) int { return strings.Compare(names[x], names[y]) })
	b.columns, b.value = make([]boost.Column, len(b.column)), make([][]int32, len(b.column))
	err := learn.Each(ctx, len(b.column), func(i int) {
		col := b.column[i]
		h := fnv.New64a()
		h.Write([]byte(names[col]))
		b.columns[i].Salt = h.Sum64()
		if t.Schema.Attributes[col].Kind == table.Numeric {
			b.binNumbers(t, i, t.Weight)
		} else {
			b.binNames(t, i)
		}
		b.columns[i].Missing = slices.Contains(b.columns[i].Cells, 0)
	})
	for col, a := range t.Schema.Attributes {
		if a.Kind == table.Numeric && b.cuts[col] == nil && col != target {
			b.cuts[col] = &encode.Cuts{}
		}
	}
	return b, err
}

// binNumbers cuts a column of numbers into bins of which each has its share of what
// rows weigh.
func (b *binned) binNumbers(t *table.Table, i int, weight func(r int) float64) {
	x, c := t.Columns[b.column[i]].Floats, &b.columns[i]
	rows := ascending(x)
	cuts := &encode.Cuts{At: equalShares(x, rows, weight)}
	b.cuts[b.column[i]] = cuts
	c.Ordered, c.Bins, c.Cells = true, cuts.Intervals()+1, make([]uint8, t.Rows())
	interval := 0
	for _, r := range rows { // whose intervals go up with them, and need not be looked for
		for interval < len(cuts.At) && x[r] > cuts.At[interval] {
			interval++
		}
		c.Cells[r] = uint8(interval + 1)
	}
}

// ascending returns the rows whose numbers are known, by these.
func ascending(x []float64) []int32 {
	keys, rows := make([]uint64, 0, len(x)), make([]int32, 0, len(x))
	for r, v := range x {
		if !table.IsMissing(v) {
			keys, rows = append(keys, radix.Key(v)), append(rows, int32(r))
		}
	}
	radix.Sort(keys, rows)
	return rows
}

// binNames gives each of the most frequent names of a column a bin.
func (b *binned) binNames(t *table.Table, i int) {
	col := b.column[i]
	values := t.Schema.Attributes[col].Values
	counts := make([]float64, len(values))
	for r, code := range t.Columns[col].Codes {
		if code >= 0 {
			counts[code] += t.Weight(r)
		}
	}
	order := make([]int32, len(values))
	for v := range order {
		order[v] = int32(v)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(-cmp.Compare(counts[x], counts[y]), strings.Compare(values[x], values[y]))
	})
	c := &b.columns[i]
	own := min(len(order), mostBins)
	c.Bins = own + 1
	bin := make([]uint8, len(values))
	for at, v := range order {
		bin[v] = uint8(min(at, own) + 1)
	}
	if c.Others = own < len(order); c.Others {
		c.Bins++
	}
	b.value[i] = order[:own]
	c.Cells = make([]uint8, t.Rows())
	for r, code := range t.Columns[col].Codes {
		if code >= 0 {
			c.Cells[r] = bin[code]
		}
	}
}

// equalShares returns the cuts of a numeric column, whose rows ascend.
func equalShares(numbers []float64, rows []int32, of func(r int) float64) []float64 {
	var x, weight []float64 // distinct numbers
	for _, r := range rows {
		v := numbers[r] + 0
		if len(x) == 0 || v != x[len(x)-1] {
			x, weight = append(x, v), append(weight, 0)
		}
		weight[len(x)-1] += of(int(r))
	}
	var at []float64
	for bins := mostBins; ; bins-- {
		at = at[:0]
		ends := shareOut(weight, bins)
		for i, end := range ends[:max(0, len(ends)-1)] {
			if cut := encode.Between(x[end], x[end+1]); !math.IsInf(cut, 0) && (i == 0 || len(at) == 0 || cut > at[len(at)-1]) {
				at = append(at, cut)
			}
		}
		if len(at) < mostBins {
			return slices.Clone(at)
		}
	}
}

// shareOut returns the last of each bin's numbers.
func shareOut(weight []float64, bins int) []int {
	var ends []int
	if len(weight) <= bins {
		for i := range weight {
			ends = append(ends, i)
		}
		return ends
	}
	rest, left := sum(weight), float64(bins)
	heavy := make([]bool, len(weight))
	for found := true; found && left > 1; {
		found = false
		share := rest / left
		for i, w := range weight {
			if !heavy[i] && w > share && left > 1 {
				heavy[i], found = true, true
				rest -= w
				left--
			}
		}
	}
	share, filled := rest/left, 0.0
	for i, w := range weight {
		last := i == len(weight)-1
		if heavy[i] {
			ends, filled = append(ends, i), 0
			continue
		}
		filled += w
		if last || heavy[i+1] || filled+weight[i+1]/2 > share {
			ends, filled = append(ends, i), 0
		}
	}
	return ends
}

// conjunction returns tests on bins as tests on the model's codes.
func (b *binned) conjunction(of []boost.Test) conjunction {
	var c conjunction
	for _, t := range of {
		column, col := &b.columns[t.Column], int32(b.column[t.Column])
		known := uint64(1)<<column.Bins - 2
		form := form(0)
		if t.Set&1 != 0 {
			form = orMissing
		}
		set := t.Set & known
		switch {
		case set == known && form == orMissing:
		case set == 0:
			c = append(c, test{col, 0, -1, form})
		case column.Ordered:
			lo, hi := int32(0), int32(column.Bins-2)
			for set>>(lo+1)&1 == 0 {
				lo++
			}
			for set>>(hi+1)&1 == 0 {
				hi--
			}
			c = append(c, test{col, lo, hi, form})
		case set&(set-1) == 0 && log2(set) <= len(b.value[t.Column]):
			v := b.value[t.Column][log2(set)-1]
			c = append(c, test{col, v, v, form})
		case set == known:
			c = append(c, test{col, 0, -1, form | negated})
		default:
			var out []int32
			for bin := 1; bin <= len(b.value[t.Column]); bin++ {
				if set>>bin&1 == 0 {
					out = append(out, b.value[t.Column][bin-1])
				}
			}
			slices.Sort(out)
			for _, v := range out {
				c = append(c, test{col, v, v, form | negated})
			}
		}
	}
	slices.SortStableFunc(c, func(x, y test) int { return cmp.Compare(x.col, y.col) })
	return c
}

// otherwise returns the test that holds where another does not, if it can be
// said as one: of a number on one side of a cut, or of any value but one.
func (b *binned) otherwise(of []boost.Test) ([]boost.Test, bool) {
	if len(of) != 1 || b.columns[of[0].Column].Missing {
		return nil, false
	}
	c := &b.columns[of[0].Column]
	known := uint64(1)<<c.Bins - 2
	set := known &^ of[0].Set
	oneValue := set&(set-1) == 0 && log2(set) <= len(b.value[of[0].Column])
	oneSide := c.Ordered && (of[0].Set>>1&1 != of[0].Set>>(c.Bins-1)&1)
	if set == 0 || !c.Ordered && !oneValue || c.Ordered && !oneSide {
		return nil, false
	}
	return []boost.Test{{Column: of[0].Column, Set: set}}, true
}

func log2(x uint64) int {
	n := 0
	for x > 1 {
		x >>= 1
		n++
	}
	return n
}

// price is the number of tests that a reader reads.
func (b *binned) price(of []boost.Test) float64 {
	price := 0.0
	for _, t := range of {
		price++
		if t.Set&1 != 0 && t.Set != 1 {
			price++ // or missing
		}
	}
	return price
}
