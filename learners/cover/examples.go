package cover

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// examples are the rows of a table, laid out for covering: every cell is a
// small number, the code of a name or the rank of a number among the
// different numbers of its column.
type examples struct {
	schema  *table.Schema
	target  int
	rows    int
	classes int
	class   []int32
	weight  []float64
	columns []column
	heavy   bits.Set // rows whose weight is not 1
}

// column is the cells of one attribute. The target, and columns in which no
// cell is known, have no codes.
type column struct {
	codes  []int32 // negative: not known
	size   int     // codes are below it
	values []float64
}

// newExamples lays out a table. Rows stand in the table's order.
func newExamples(ctx context.Context, t *table.Table, target int) (*examples, error) {
	x := &examples{
		schema: t.Schema, target: target, rows: t.Rows(), classes: len(t.Schema.Attributes[target].Values),
		class: t.Columns[target].Codes, weight: t.Weights, columns: make([]column, len(t.Columns)), heavy: bits.New(t.Rows()),
	}
	if x.weight == nil {
		x.weight = slices.Repeat([]float64{1}, x.rows)
	}
	for r, w := range x.weight {
		if w != 1 {
			x.heavy.Put(r)
		}
	}
	err := learn.Each(ctx, len(t.Columns), func(j int) {
		switch a := &t.Schema.Attributes[j]; {
		case j == target:
		case a.Kind == table.Nominal && len(a.Values) > 0:
			x.columns[j] = column{codes: t.Columns[j].Codes, size: len(a.Values)}
		case a.Kind == table.Numeric:
			x.columns[j] = rank(t.Columns[j].Floats)
		}
	})
	return x, err
}

// rank sorts the numbers of a column once, and replaces each by its rank.
func rank(floats []float64) column {
	var keys []uint64
	var order []int32
	c := column{codes: make([]int32, len(floats))}
	for r, v := range floats {
		if c.codes[r] = -1; !table.IsMissing(v) {
			keys, order = append(keys, radix.Key(v)), append(order, int32(r))
		}
	}
	radix.Sort(keys, order)
	for i, r := range order {
		if i == 0 || keys[i] != keys[i-1] {
			c.values = append(c.values, floats[r]+0)
		}
		c.codes[r] = int32(len(c.values) - 1)
	}
	c.size = len(c.values)
	return c
}

// between returns a finite number that parts two numbers, the first at or
// below it; false if there is none.
func between(a, b float64) (float64, bool) {
	c := (a + b) / 2
	if math.IsInf(c, 0) || math.IsNaN(c) {
		c = a/2 + b/2
	}
	if !(c >= a && c < b) {
		c = a
	}
	if math.IsInf(c, -1) {
		c = -math.MaxFloat64
	}
	return c, c < b
}

// last returns the rank of the last number of the column at or below a
// threshold.
func (c *column) last(threshold float64) int32 {
	n, found := slices.BinarySearchFunc(c.values, threshold, func(v, t float64) int { return cmp.Compare(v, t) })
	if found {
		return int32(n)
	}
	return int32(n) - 1
}

// all returns every row.
func (x *examples) all() []int32 {
	rows := make([]int32, x.rows)
	for r := range rows {
		rows[r] = int32(r)
	}
	return rows
}

// weigh returns the weight of a set of rows.
func (x *examples) weigh(rows bits.Set) float64 {
	sum := float64(rows.Count())
	for i, word := range rows {
		for w := word & x.heavy[i]; w != 0; w &= w - 1 {
			sum += x.weight[i*64+trailing(w)] - 1
		}
	}
	return sum
}

// count returns the weight of each label among rows.
func count(rows []int32, label []int32, labels int, weight []float64) []float64 {
	counts := make([]float64, labels)
	for _, r := range rows {
		counts[label[r]] += weight[r]
	}
	return counts
}

// tally is the weight of each label for each code of a column, for the codes
// that occur. It can be used again.
type tally struct {
	codes  []int32   // ascending
	counts []float64 // labels for each code
	dense  []float64
	keys   []uint64

	left, right []float64
	in          []bool
}

// sparse is how many codes a row may have before sorting rows is cheaper than
// looking at all codes.
const sparse = 16

// take counts the cells of a column: in an array of all codes if there are
// rows enough for it, else by sorting the rows.
func (t *tally) take(c *column, rows []int32, label []int32, labels int, weight []float64) {
	t.codes, t.counts = t.codes[:0], t.counts[:0]
	if c.size > sparse*len(rows) {
		t.sorted(c, rows, label, labels, weight)
		return
	}
	if cap(t.dense) < c.size*labels {
		t.dense = make([]float64, c.size*labels)
	}
	dense := t.dense[:c.size*labels]
	clear(dense)
	if labels == 2 {
		for _, r := range rows {
			if code := c.codes[r]; code >= 0 {
				dense[int(code)*2+int(label[r])] += weight[r]
			}
		}
	} else {
		for _, r := range rows {
			if code := c.codes[r]; code >= 0 {
				dense[int(code)*labels+int(label[r])] += weight[r]
			}
		}
	}
	for code := range c.size {
		if of := dense[code*labels : (code+1)*labels]; sum(of) > 0 {
			t.codes = append(t.codes, int32(code))
			t.counts = append(t.counts, of...)
		}
	}
}

// only counts the cells with one code.
func (t *tally) only(c *column, code int32, rows []int32, label []int32, labels int, weight []float64) {
	t.codes = append(t.codes[:0], code)
	t.counts = t.counts[:0]
	for range labels {
		t.counts = append(t.counts, 0)
	}
	codes, counts := c.codes, t.counts
	for _, r := range rows {
		if codes[r] == code {
			counts[label[r]] += weight[r]
		}
	}
}

// sorted counts the cells by sorting the rows.
func (t *tally) sorted(c *column, rows []int32, label []int32, labels int, weight []float64) {
	t.keys = t.keys[:0]
	for i, r := range rows {
		if code := c.codes[r]; code >= 0 {
			t.keys = append(t.keys, uint64(code)<<32|uint64(i))
		}
	}
	slices.Sort(t.keys)
	for _, key := range t.keys {
		code, r := int32(key>>32), rows[uint32(key)]
		if n := len(t.codes); n == 0 || t.codes[n-1] != code {
			t.codes = append(t.codes, code)
			for range labels {
				t.counts = append(t.counts, 0)
			}
		}
		t.counts[len(t.counts)-labels+int(label[r])] += weight[r]
	}
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

func finite(xs ...float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// census is the tallies of all columns over rows from which rows are taken
// away: what a first test covers, without counting all rows again for each
// rule.
type census struct {
	weights [][]float64 // of each column, labels for each code
	rows    [][]int32   // as many rows: where there are none, no weight is left by rounding
	labels  int
}

// newCensus counts rows.
func (x *examples) newCensus(ctx context.Context, rows []int32, label []int32, labels int, weight []float64) (*census, error) {
	n := &census{weights: make([][]float64, len(x.columns)), rows: make([][]int32, len(x.columns)), labels: labels}
	err := learn.Each(ctx, len(x.columns), func(j int) {
		c := &x.columns[j]
		n.weights[j], n.rows[j] = make([]float64, c.size*labels), make([]int32, c.size*labels)
		if c.codes == nil {
			return
		}
		for _, r := range rows {
			if code := c.codes[r]; code >= 0 {
				n.weights[j][int(code)*labels+int(label[r])] += weight[r]
				n.rows[j][int(code)*labels+int(label[r])]++
			}
		}
	})
	return n, err
}

// remove takes a row away.
func (n *census) remove(x *examples, r int32, label int32, weight float64) {
	for j := range x.columns {
		if x.columns[j].codes == nil || x.columns[j].codes[r] < 0 {
			continue
		}
		at := int(x.columns[j].codes[r])*n.labels + int(label)
		n.weights[j][at] -= weight
		if n.rows[j][at]--; n.rows[j][at] == 0 {
			n.weights[j][at] = 0
		}
	}
}

// census copies the tally of a column.
func (t *tally) census(n *census, col int) {
	t.codes, t.counts = t.codes[:0], t.counts[:0]
	of := n.weights[col]
	for at := 0; at < len(of); at += n.labels {
		if sum(of[at:at+n.labels]) > 0 {
			t.codes = append(t.codes, int32(at/n.labels))
			t.counts = append(t.counts, of[at:at+n.labels]...)
		}
	}
}
