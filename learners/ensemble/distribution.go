package ensemble

import (
	"cmp"
	"math/rand/v2"
	"sort"

	"github.com/accrete-ml/accrete/table"
)

// distribution is D_t: how likely each row of a session is to be drawn.
type distribution struct {
	d       []float64
	classes [][]int // rows of each class that has any
	draws   int     // rows in a draw
}

// mostDraws bounds a draw from rows of great weight.
const mostDraws = 1 << 20

// usualSample is the most draws from a number of rows. What a member misses,
// another one draws: members that draw as many rows as there are take 4 to 20
// times as long, for a point of accuracy more or less.
func usualSample(rows int) int { return max(5000, rows/8) }

// newDistribution is D_1: rows count as much as they weigh. A draw has as many
// rows as there are, and at most a sample of them.
func newDistribution(t *table.Table, target, sample int) *distribution {
	all := &distribution{d: make([]float64, t.Rows())}
	total := 0.0
	byClass := make([][]int, len(t.Schema.Attributes[target].Values))
	for r, c := range t.Columns[target].Codes {
		all.d[r] = t.Weight(r)
		total += all.d[r]
		byClass[c] = append(byClass[c], r)
	}
	for r := range all.d {
		all.d[r] /= total
	}
	for _, rows := range byClass {
		if rows != nil {
			all.classes = append(all.classes, rows)
		}
	}
	all.draws = min(max(t.Rows(), int(min(total+0.5, mostDraws))), cmp.Or(sample, usualSample(t.Rows())))
	return all
}

// draw returns how often each row is in TR_t; those that are not are TE_t.
// Balanced, each class that there is gets the same number of draws.
func (d *distribution) draw(random *rand.Rand, balanced bool) []float64 {
	times := make([]float64, len(d.d))
	if !balanced {
		all := make([]int, len(d.d))
		for r := range all {
			all[r] = r
		}
		d.drawFrom(random, all, d.draws, times)
		return times
	}
	for i, rows := range d.classes {
		share := d.draws*(i+1)/len(d.classes) - d.draws*i/len(d.classes)
		d.drawFrom(random, rows, max(share, 1), times)
	}
	return times
}

func (d *distribution) drawFrom(random *rand.Rand, rows []int, n int, times []float64) {
	sums := make([]float64, len(rows))
	total := 0.0
	for i, r := range rows {
		total += d.d[r]
		sums[i] = total
	}
	for range n {
		x := random.Float64() * total
		i := sort.Search(len(sums)-1, func(i int) bool { return sums[i] > x })
		times[rows[i]]++
	}
}

// update makes D_{t+1} of D_t: rows that H_t gets right lose weight by the
// factor B_t = E_t/(1−E_t). Where that is no loss, nothing is changed: if H_t
// is right everywhere there is nothing left to look at, and a H_t that is
// wrong more often than right shows nothing.
func (d *distribution) update(wrong []bool) {
	e := d.error(wrong)
	if e <= 0 || e >= 0.5 {
		return
	}
	b, z := e/(1-e), 0.0
	for r := range d.d {
		if !wrong[r] {
			d.d[r] *= b
		}
		z += d.d[r]
	}
	for r := range d.d {
		d.d[r] /= z
	}
}

// error is the weight of the rows that are wrong.
func (d *distribution) error(wrong []bool) float64 {
	e := 0.0
	for r, w := range d.d {
		if wrong[r] {
			e += w
		}
	}
	return e
}

// stack puts tables under each other, in the schema of all of them. The result
// may be one of them, and is not to be changed.
func stack(tables ...*table.Table) (*table.Table, error) {
	schemas := make([]*table.Schema, len(tables))
	rows := 0
	for i, t := range tables {
		schemas[i] = t.Schema
		rows += t.Rows()
	}
	schema, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	for i := range schema.Attributes {
		table.SortValues(schema.Attributes[i].Values)
	}
	if len(tables) == 1 && sameSchema(schema, tables[0].Schema) {
		return tables[0], nil
	}
	columns := make([]table.Column, len(schema.Attributes))
	for j, a := range schema.Attributes {
		if a.Kind == table.Numeric {
			columns[j].Floats = make([]float64, 0, rows)
		} else {
			columns[j].Codes = make([]int32, 0, rows)
		}
	}
	weights := make([]float64, 0, rows)
	for _, t := range tables {
		fitted, _, err := table.Conform(t, schema, false)
		if err != nil {
			return nil, err
		}
		for j := range columns {
			columns[j].Codes = append(columns[j].Codes, fitted.Columns[j].Codes...)
			columns[j].Floats = append(columns[j].Floats, fitted.Columns[j].Floats...)
		}
		for r := range t.Rows() {
			weights = append(weights, t.Weight(r))
		}
	}
	return table.New(schema, columns, weights)
}
