package cover

import (
	"cmp"
	"context"
	"math"
	mathbits "math/bits"
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
	sets   []bits.Set // of a nominal column: the rows of each value; nil: not made
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

// mostSets is how many values a column may have for a bitmap of each.
const mostSets = 64

// index makes bitmaps of the values of nominal columns.
func (x *examples) index(ctx context.Context) error {
	return learn.Each(ctx, len(x.columns), func(j int) {
		c := &x.columns[j]
		if c.codes == nil || c.values != nil || c.size > mostSets {
			return
		}
		c.sets = make([]bits.Set, c.size)
		for v := range c.sets {
			c.sets[v] = bits.New(x.rows)
		}
		for r, code := range c.codes {
			if code >= 0 {
				c.sets[code].Put(r)
			}
		}
	})
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
	dense  []float64 // zero between uses, as is occurs
	occurs bits.Set
	keys   []uint64
	goal   goal

	left, right []float64
	in          []bool
}

// scarce is how many rows a column's 64 codes must have at least for an array of
// all codes to be cheaper than sorting the rows.
const scarce = 4

// take counts the cells of a column: in an array of all codes if there are
// rows enough for it, else by sorting the rows. Which codes occur is told by a
// bitmap, so that neither is looked at as a whole.
func (t *tally) take(c *column, rows []int32, label []int32, labels int, weight []float64) {
	t.codes, t.counts = t.codes[:0], t.counts[:0]
	if len(rows)*64*scarce < c.size {
		t.sorted(c, rows, label, labels, weight)
		return
	}
	if len(t.dense) < c.size*labels {
		t.dense = make([]float64, c.size*labels)
	}
	if len(t.occurs)*64 < c.size {
		t.occurs = bits.New(c.size)
	}
	dense, occurs := t.dense, t.occurs
	if labels == 2 {
		for _, r := range rows {
			if code := c.codes[r]; code >= 0 {
				occurs[code>>6] |= 1 << (code & 63)
				dense[int(code)*2+int(label[r])] += weight[r]
			}
		}
	} else {
		for _, r := range rows {
			if code := c.codes[r]; code >= 0 {
				occurs[code>>6] |= 1 << (code & 63)
				dense[int(code)*labels+int(label[r])] += weight[r]
			}
		}
	}
	for w, word := range occurs[:(c.size+63)/64] {
		for ; word != 0; word &= word - 1 {
			code := w*64 + trailing(word)
			of := dense[code*labels : (code+1)*labels]
			if sum(of) > 0 {
				t.codes = append(t.codes, int32(code))
				t.counts = append(t.counts, of...)
			}
			clear(of)
		}
		occurs[w] = 0
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

// meet counts the cells with one code among rows, by bitmaps.
func (t *tally) meet(x *examples, code int32, of, rows, positive bits.Set) {
	t.codes, t.counts = append(t.codes[:0], code), append(t.counts[:0], 0, 0)
	yes, no := 0, 0
	for w := range rows {
		word := rows[w] & of[w]
		if word == 0 {
			continue
		}
		yes += mathbits.OnesCount64(word & positive[w])
		no += mathbits.OnesCount64(word &^ positive[w])
		for heavy := word & x.heavy[w]; heavy != 0; heavy &= heavy - 1 {
			r := w*64 + trailing(heavy)
			t.counts[positive[w]>>(r&63)&1] += x.weight[r] - 1
		}
	}
	t.counts[0], t.counts[1] = t.counts[0]+float64(no), t.counts[1]+float64(yes)
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

// goal is what a rule for label 1 of two must reach to be of use: (p + a)/(n + b)
// of at least bar, and p of at least some rows. With that, most thresholds need
// no closer look.
type goal struct {
	set  bool
	a, b float64
	bar  float64
	rows float64
}

// reached leaves room for rounding.
func (g *goal) reached(p, n float64) bool {
	return p >= g.rows && p+g.a >= (g.bar-1e-9)*(n+g.b)
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
