package theory

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain takes the columns, one after the other, from nothing (names unknown,
// numbers at their mean, or 0 where they are zeros and ones) to the row's cells,
// and says by how much each step moves the answer: a number, or the logarithm of
// each class's probability.
func (m *Explained) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	pass := m.newTangentPass()
	var whole example
	whole.at, whole.x = make([]int32, 0, m.most()), make([]float64, 0, m.most())
	m.read(t, row, &whole)
	now := m.said(pass, &example{})
	e := &learn.Explanation{Prior: now, Additive: true}
	total := slices.Clone(now)
	var so example
	for j := range m.columns {
		text := ""
		if j != m.target {
			text = t.Text(row, j)
		}
		name := m.schema.Attributes[j].Name
		from, to := m.columns[j].first, m.end(j)
		for i, at := range whole.at {
			if at >= from && at < to {
				so.at, so.x = append(so.at, at), append(so.x, whole.x[i])
			}
		}
		next := m.said(pass, &so)
		switch {
		case j == m.target:
			continue
		case text == "":
			e.Missing = append(e.Missing, learn.MissingCell{Column: name, CouldMove: m.couldMove(pass, &whole, j)})
		}
		test := rule.Test{Op: rule.Eq, Column: name, Value: text}
		if c := &t.Columns[j]; text == "" {
			test = rule.Test{Op: rule.IsMissing, Column: name}
		} else if c.Floats != nil && math.IsInf(c.Floats[row], 0) || c.Codes != nil && c.Codes[row] < 0 {
			test = rule.Test{Op: rule.IsKnown, Column: name}
		}
		for k := range next {
			if d := next[k] - now[k]; d != 0 {
				e.Evidence = append(e.Evidence, learn.Evidence{Text: test.String(), Class: k, Weight: d})
				total[k] += d
			}
		}
		now = next
	}
	for k := range now { // steps that take digits from the sum do not add up
		if !(math.Abs(total[k]-now[k]) <= 1e-12*max(1, math.Abs(now[k]))) {
			e.Additive = false
		}
	}
	return e, nil
}

// end is the place behind the inputs of a column.
func (m *Explained) end(j int) int32 {
	for k := j + 1; k < len(m.columns); k++ {
		if k != m.target {
			return m.columns[k].first
		}
	}
	return int32(m.width)
}

// said is the answer to inputs: a number, or the logarithms of probabilities.
func (m *Explained) said(pass *tangentPass, e *example) []float64 {
	pass.forward(m.weights, e)
	if m.regression() {
		return []float64{m.number(pass.out[0])}
	}
	p := make([]float64, len(pass.out))
	m.odds(pass.out, p)
	for k := range p {
		p[k] = math.Log(p[k])
	}
	return p
}

// couldMove is how far the answer could move if a missing cell were known: to any
// value, or a deviation up or down.
func (m *Explained) couldMove(pass *tangentPass, whole *example, j int) float64 {
	now := m.said(pass, whole)
	best := slices.Index(now, slices.Max(now))
	most := 0.0
	for at := m.columns[j].first; at < m.end(j); at++ {
		for _, x := range []float64{1, -1} {
			if x < 0 && (m.schema.Attributes[j].Kind == table.Nominal || m.columns[j].binary) || at == m.columns[j].gap {
				continue
			}
			other := example{}
			for i, k := range whole.at { // what said that it is missing goes
				if k < m.columns[j].first || k >= m.end(j) {
					other.at, other.x = append(other.at, k), append(other.x, whole.x[i])
				}
			}
			other.at, other.x = append(other.at, at), append(other.x, x)
			there := m.said(pass, &other)
			d := math.Abs(there[best] - now[best])
			if !m.regression() {
				d = math.Abs(math.Exp(there[best]) - math.Exp(now[best]))
			}
			most = max(most, min(d, math.MaxFloat64/2))
		}
	}
	return most
}
