package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain says what the units of the classes add up: each thing that they read,
// and of concepts also what made them hold or not. Sums that are too far to tell
// probabilities apart are cut, which is a reason of its own.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	r := m.newRoom()
	m.read(t, row, &r.example)
	m.score(m.net.weights, &r.example, r)
	e := &learn.Explanation{Prior: make([]float64, len(m.classes)), Additive: true}
	names, w := m.said(t, row), m.net.weights
	for c, g := range m.classes {
		if g == none {
			continue
		}
		at := m.unitOf(g)
		e.Prior[c] = w[m.net.bias(at)]
		add := func(text string, weight float64) {
			if weight != 0 {
				e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: c, Weight: weight})
			}
		}
		for i, input := range r.at {
			add(names[input], r.x[i]*w[m.net.fromInput(int(input), at)])
		}
		u := &m.net.units[at]
		for k, from := range u.from {
			add(m.because(int(from), r, names), r.value[from]*w[u.at+k])
		}
		if cut := min(max(r.scores[c], -farthestScore), farthestScore); cut != r.scores[c] {
			add("ALWAYS", cut-r.scores[c])
			r.scores[c] = cut
		}
	}
	slices.SortStableFunc(e.Evidence, func(a, b learn.Evidence) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	e.Normaliser = logsum.Of(r.scores)
	e.Missing = m.missing(t, row, r)
	return e, nil
}

// said names the inputs by the cells of a row.
func (m *Model) said(t *table.Table, row int) []string {
	names := m.names()
	for j := range m.columns {
		if a := &m.schema.Attributes[j]; j != m.target && a.Kind == table.Numeric {
			names[m.columns[j].first] = rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Text(row, j)}.String()
		}
	}
	return names
}

// because says what a unit says, in the rule language: the concept that it stands
// for, and the loudest of what made it hold, or not.
func (m *Model) because(unit int, r *room, names []string) string {
	said := m.unitSays(unit, r)
	if unit < m.hidden {
		return said
	}
	type part struct {
		text   string
		weight float64
	}
	var parts []part
	w := m.net.weights
	sign := 1.0
	if r.value[unit] < 0.5 {
		sign = -1
	}
	for i, input := range r.at {
		parts = append(parts, part{names[input], sign * r.x[i] * w[m.net.fromInput(int(input), unit)]})
	}
	u := &m.net.units[unit]
	for k, from := range u.from {
		// A unit that does not hold speaks by what it would have brought.
		parts = append(parts, part{m.unitSays(int(from), r), sign * (2*r.value[from] - 1) * w[u.at+k]})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.weight, a.weight) })
	words := []string{said}
	for _, p := range parts[:min(len(parts), 3)] {
		if p.weight >= 0.5 && p.text != "" {
			words = append(words, p.text)
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " AND ")
}

// unitSays is the concept of a unit, as a test that holds.
func (m *Model) unitSays(unit int, r *room) string {
	test := rule.Test{Op: rule.Eq, Value: "yes"}
	switch {
	case unit < m.hidden:
		test.Column = "hidden-" + strconv.Itoa(unit+1)
	case m.gates[unit-m.hidden].column != "":
		test.Column, test.Value = m.gates[unit-m.hidden].column, m.gates[unit-m.hidden].value
	default:
		test.Column = "rule-" + strconv.Itoa(m.gates[unit-m.hidden].rule+1)
	}
	if r.value[unit] < 0.5 {
		test.Op = rule.Ne
	}
	return test.String()
}

// missing returns the cells that are not known, and how far each could move the
// probability of the answer.
func (m *Model) missing(t *table.Table, row int, r *room) []learn.MissingCell {
	var cells []learn.MissingCell
	one := t.Slice(row, row+1)
	columns := slices.Clone(one.Columns)
	changed := *one
	changed.Columns = columns
	answer := func() []float64 {
		m.read(&changed, 0, &r.example)
		m.probabilities(m.net.weights, &r.example, r)
		return r.p
	}
	best := learn.Best(answer(), m.schema.Attributes[m.target].Values)
	now := r.p[best]
	for j := range columns {
		a := &m.schema.Attributes[j]
		if j == m.target || t.Text(row, j) != "" {
			continue
		}
		moves, was := 0.0, columns[j]
		if a.Kind == table.Nominal {
			if was.Codes[0] != table.Missing {
				continue
			}
			for v := range a.Values {
				columns[j] = table.Column{Codes: []int32{int32(v)}}
				moves = max(moves, math.Abs(answer()[best]-now))
			}
		} else {
			for _, x := range m.probes(j) {
				columns[j] = table.Column{Floats: []float64{x}}
				moves = max(moves, math.Abs(answer()[best]-now))
			}
		}
		columns[j] = was
		cells = append(cells, learn.MissingCell{Column: a.Name, CouldMove: moves})
	}
	return cells
}

// probes are numbers that show how far a column can move an answer: zero and one,
// two deviations from the mean, and both sides of what the theory compares it with.
func (m *Model) probes(column int) []float64 {
	c := &m.columns[column]
	if c.binary {
		return []float64{0, 1}
	}
	var all []float64
	if c.scale.Factor > 0 {
		all = append(all, c.scale.Offset-2/c.scale.Factor, c.scale.Offset+2/c.scale.Factor)
	}
	name := m.schema.Attributes[column].Name
	var visit func(tests []rule.Test)
	visit = func(tests []rule.Test) {
		for _, t := range tests {
			visit(t.Of)
			if t.Column != name {
				continue
			}
			for _, x := range []float64{t.Number, t.Low, t.High} {
				all = append(all, x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)))
			}
		}
	}
	for i := range m.theory.Rules {
		visit(m.theory.Rules[i].If)
	}
	return all
}
