package concept

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mostTried is how many rows are looked at for the best question; fewer where
// counting votes is much work.
const mostTried = 20_000

func (m *Model) tries() int {
	if m.counter == nil {
		return mostTried
	}
	return max(mostTried/(1+m.counter.states/50), 100)
}

// Questions returns up to n rows that come nearest to halving the space, the
// nearest first (section 2.6.2); none if the members agree on every row. Of
// equally good ones those most like a row of the concept come first.
func (m *Model) Questions(ctx context.Context, n int) ([]learn.Question, error) {
	if m.collapsed() || n <= 0 {
		return nil, nil
	}
	_, of := m.votes(make([]value, len(m.columns)))
	if of == 0 {
		return nil, fmt.Errorf("the hypotheses of this space cannot be counted, so that none can be halved; give it rows to choose from")
	}
	type candidate struct {
		x        []value
		yes, gap float64
	}
	var best []candidate
	consider := func(x []value) bool {
		if ctx.Err() != nil {
			return false
		}
		yes, _ := m.votes(x)
		c := candidate{yes: yes, gap: math.Abs(yes - of/2)}
		if !(yes > 0 && yes < of) || len(best) == n && c.gap >= best[n-1].gap {
			return true
		}
		c.x = slices.Clone(x)
		at := slices.IndexFunc(best, func(b candidate) bool { return b.gap > c.gap })
		if at < 0 {
			at = len(best)
		}
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), n)]
		return len(best) < n || best[n-1].gap > 0.25
	}
	m.eachRow(m.tries(), consider)
	if len(best) == 0 || best[0].gap > 0.25 && best[0].gap > nearly*of {
		if x := m.factoredRow(of); x != nil && !slices.ContainsFunc(best, func(b candidate) bool { return slices.Equal(b.x, x) }) {
			consider(x)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	questions := make([]learn.Question, len(best))
	for i, c := range best {
		row, err := m.row(c.x)
		if err != nil {
			return nil, err
		}
		questions[i] = learn.Question{Row: row, Yes: c.yes, No: of - c.yes}
	}
	return questions, nil
}

// nearly is how far from a half a question may be before the factors of the
// space are looked at.
const nearly = 0.05

// factoredRow puts a row together that comes near to halving a space of many
// columns (Subramanian & Feigenbaum 1986). The space is a product of factors, so
// that the share of it that a row's cells leave is the product of what they
// leave of each factor: beginning with a row that all members cover, the cell is
// changed that brings the share nearest to a half, and then, while that helps,
// one of another factor.
func (m *Model) factoredRow(of float64) []value {
	at := slices.IndexFunc(m.examples, func(d example) bool { return d.positive })
	if m.counter == nil || at < 0 || math.IsNaN(of) || of < 2 {
		return nil
	}
	x, gap := slices.Clone(m.examples[at].x), 0.5
	factorOf := make([]int, len(m.columns))
	for f := range m.counter.factors {
		for _, d := range m.counter.factors[f].chains {
			factorOf[m.counter.chains[d].column] = f
		}
	}
	used := make([]bool, len(m.counter.factors))
	for {
		column, cell := -1, value{}
		for i := range x {
			if used[factorOf[i]] {
				continue
			}
			before := x[i]
			for _, v := range m.language.columns[i].few() {
				x[i] = v
				if yes, _ := m.votes(x); math.Abs(yes/of-0.5) < gap-1e-12 {
					gap, column, cell = math.Abs(yes/of-0.5), i, v
				}
			}
			x[i] = before
		}
		if column < 0 {
			return x
		}
		x[column] = cell
		used[factorOf[column]] = true
	}
}

// few returns some values of a column: of many, evenly spread ones.
func (c *column) few() []value {
	const most = 16
	all := c.cells()
	if len(all) <= most {
		return all
	}
	some := make([]value, most)
	for i := range some {
		some[i] = all[i*(len(all)-1)/(most-1)]
	}
	return some
}

// eachRow calls try with rows that there can be, until it says no or most were
// tried. It begins with the rows of the concept, changed in one cell, then in
// two and so on: such a question is the easiest to imagine.
func (m *Model) eachRow(most int, try func(x []value) bool) {
	tried := map[string]struct{}{}
	for cells := range len(m.columns) + 1 {
		for _, d := range m.examples {
			if !d.positive {
				continue
			}
			x := slices.Clone(d.x)
			var change func(from, left int) bool
			change = func(from, left int) bool {
				if left == 0 {
					key := string(appendCells(nil, x))
					if _, again := tried[key]; again {
						return true
					}
					tried[key] = struct{}{}
					return try(x) && len(tried) < most
				}
				for i := from; i <= len(x)-left; i++ {
					for _, v := range m.language.columns[i].cells() {
						if x[i] = v; v != d.x[i] && !change(i+1, left-1) {
							return false
						}
					}
					x[i] = d.x[i]
				}
				return true
			}
			if !change(0, cells) {
				return
			}
		}
	}
}

// cells returns the values of a column.
func (c *column) cells() []value {
	var all []value
	for v := range c.values {
		all = append(all, value{code: int32(v)})
	}
	for _, x := range c.ends {
		all = append(all, value{number: x})
	}
	return all
}

// row returns a row of cells as a table of the model's columns.
func (m *Model) row(x []value) (*table.Table, error) {
	columns := make([]table.Column, len(m.schema.Attributes))
	for i := range columns {
		if m.schema.Attributes[i].Kind == table.Numeric {
			columns[i].Floats = []float64{math.NaN()}
		} else {
			columns[i].Codes = []int32{table.Missing}
		}
	}
	for i, col := range m.columns {
		switch {
		case x[i].missing:
		case m.language.columns[i].numeric:
			columns[col].Floats[0] = x[i].number
		default:
			columns[col].Codes[0] = x[i].code
		}
	}
	return table.New(m.schema, columns, nil)
}
