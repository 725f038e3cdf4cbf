package belief

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// impossible is the log of a probability of 0.
const impossible = -1000

// Explain returns the weight of evidence of each known cell for each class,
// ln P(cell | class, cells before)/P(cell | cells before): columns next to the
// target come first (parents, children, their other parents), and once they are
// known the others add nothing.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	if m.target == learn.NoTarget {
		return &learn.Explanation{}, nil // there is no answer to explain
	}
	m.compiled()
	all := newFindings(len(m.net.nodes))
	all.read(t, row, m.target)
	d := m.desk()
	defer m.desks.Put(d)
	p := make([]float64, len(m.alone))
	e := &learn.Explanation{Prior: logs(m.alone), Additive: true}
	copy(d.codes, all.codes)
	copy(d.floats, all.floats)
	m.answer(d, p)
	final := slices.Clone(p)
	if math.IsInf(m.posterior(d, m.target, p), -1) {
		return e, nil // cannot be: answered as if nothing were known
	}
	for v := range d.codes {
		d.codes[v], d.floats[v] = -1, math.NaN()
	}
	before := logs(m.alone)
	near := m.near()
	for i, v := range near {
		if all.codes[v] < 0 && math.IsNaN(all.floats[v]) {
			continue
		}
		d.codes[v], d.floats[v] = all.codes[v], all.floats[v]
		m.posterior(d, m.target, p)
		if !slices.ContainsFunc(near[i+1:], func(u int) bool { return all.codes[u] >= 0 || all.floats[u] == all.floats[u] }) {
			copy(p, final) // the last one, to the digit
		}
		text := rule.Test{Op: rule.Eq, Column: m.schema.Attributes[v].Name, Value: t.Text(row, v)}.String()
		for c, log := range logs(p) {
			if w := log - before[c]; math.Abs(w) > 1e-13 {
				e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: c, Weight: w})
				before[c] += w
			}
		}
	}
	m.missing(e, t, row, all, d, final)
	return e, nil
}

// logs are those of probabilities, no lower than impossible.
func logs(p []float64) []float64 {
	all := make([]float64, len(p))
	for c, x := range p {
		all[c] = max(math.Log(x), impossible)
	}
	return all
}

// near returns the columns but for the target, its Markov blanket first.
func (m *Model) near() []int {
	var list []int
	add := func(vs ...int) {
		for _, v := range vs {
			if v != m.target && !slices.Contains(list, v) && m.net.nodes[v].there() {
				list = append(list, v)
			}
		}
	}
	add(m.net.nodes[m.target].parents...)
	add(m.net.children[m.target]...)
	for _, c := range m.net.children[m.target] {
		add(m.net.nodes[c].parents...)
		add(m.net.nodes[c].lines...)
	}
	for v := range m.net.nodes {
		add(v)
	}
	return list
}

// around returns numbers that a column may have, as its normals expect them and two
// deviations around: of each combination of names, or if it hangs on numbers too,
// given what is known.
func (m *Model) around(d *desk, v int) []float64 {
	n := &m.net.nodes[v]
	if !n.numeric {
		return nil
	}
	x := mixture{mean: n.mean, deviation: n.deviation}
	if len(n.lines) > 0 {
		x, _ = m.normal(d, v)
	}
	var all []float64
	for k := range min(len(x.mean), 16) {
		all = append(all, x.mean[k]-2*x.deviation[k], x.mean[k], x.mean[k]+2*x.deviation[k])
	}
	return all
}

// missing says how far each unknown cell could move the answer: a name by all of
// its values, a number by what its normals expect, and two deviations around it.
func (m *Model) missing(e *learn.Explanation, t *table.Table, row int, all *findings, d *desk, p []float64) {
	best := learn.Best(p, m.schema.Attributes[m.target].Values)
	moved := make([]float64, len(p))
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		if v == m.target || t.Text(row, v) != "" {
			continue
		}
		most := 0.0
		try := func() {
			copy(moved, p)
			if !math.IsInf(m.posterior(d, m.target, moved), -1) {
				most = max(most, math.Abs(moved[best]-p[best]))
			}
		}
		copy(d.codes, all.codes)
		copy(d.floats, all.floats)
		for s := range n.states {
			d.codes[v] = int32(s)
			try()
		}
		for _, x := range m.around(d, v) {
			d.floats[v] = x
			try()
		}
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[v].Name, CouldMove: min(most, 1)})
	}
}
