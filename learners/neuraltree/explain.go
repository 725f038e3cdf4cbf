package neuraltree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// impossible stands for the logarithm of 0, so that sums stay finite.
const impossible = -1000

// Explain walks the row's path. The prior is the distribution of all rows;
// each unit on the way is evidence, worth the change of the log probabilities
// from its node to the next, so that they add up to the answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	t = t.Slice(row, row+1)
	now := m.logs(0)
	e := &learn.Explanation{Prior: slices.Clone(now), Additive: true}
	for i := int32(0); m.nodes[i].unit != nil; {
		u := m.nodes[i].unit
		right := u.right(t.Columns, 0)
		text := m.reason(u, t, right)
		if i = m.nodes[i].left; right {
			i++ // the right offspring follows the left
		}
		next := m.logs(int(i))
		for c := range next {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: c, Weight: next[c] - now[c]})
		}
		now = next
	}
	leaf := m.leaf(t.Columns, 0)
	best := learn.Best(m.answerOf(leaf), m.classes())
	for j := range m.schema.Attributes {
		if j != m.target && t.Text(0, j) == "" {
			if moves, used := m.couldMove(t, j, best); used {
				e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[j].Name, CouldMove: moves})
			}
		}
	}
	return e, nil
}

func (m *Model) logs(node int) []float64 {
	logs := slices.Clone(m.answerOf(node))
	for c, p := range logs {
		if logs[c] = impossible; p > 0 {
			logs[c] = math.Log(p)
		}
	}
	return logs
}

// reason says why a row lies on a unit's right or left: the names in the row
// that have a say, and the half-space of its numbers with these.
func (m *Model) reason(u *perceptron, t *table.Table, right bool) string {
	var tests []string
	add := func(r rule.Test) { tests = append(tests, r.String()) }
	for _, l := range u.tables {
		a := &m.schema.Attributes[l.column]
		switch code := t.Columns[l.column].Codes[0]; {
		case code == table.Missing:
			add(rule.Test{Op: rule.IsMissing, Column: a.Name})
		case code >= 0:
			add(rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[code]})
		}
	}
	_, rest := u.sums(t.Columns, 0)
	space := m.halfSpace(u, u.threshold-rest)
	space.Below = !right
	for _, term := range u.terms {
		if !table.IsMissing(t.Columns[term.column].Floats[0]) {
			continue
		}
		name := m.schema.Attributes[term.column].Name
		add(rule.Test{Op: rule.IsMissing, Column: name})
		space.Terms = slices.DeleteFunc(space.Terms, func(t rule.Term) bool { return t.Column == name })
	}
	if len(space.Terms) > 0 {
		add(space)
	}
	if len(tests) == 0 {
		return "ALWAYS"
	}
	return strings.Join(tests, " AND ")
}

// couldMove returns how far knowing a missing cell of a one-row table could
// move the probability of a class, and whether any unit looks at the cell.
func (m *Model) couldMove(t *table.Table, column, class int) (moves float64, used bool) {
	now := m.answerOf(m.leaf(t.Columns, 0))[class]
	columns := slices.Clone(t.Columns)
	try := func() { moves = max(moves, math.Abs(m.answerOf(m.leaf(columns, 0))[class]-now)) }
	if m.schema.Attributes[column].Kind == table.Nominal {
		for i := range m.nodes {
			if u := m.nodes[i].unit; u != nil {
				used = used || slices.ContainsFunc(u.tables, func(l lookup) bool { return int(l.column) == column })
			}
		}
		for v := range m.schema.Attributes[column].Values {
			columns[column].Codes = []int32{int32(v)}
			try()
		}
		return moves, used
	}
	// The path changes with the number only where it crosses a plane.
	var crossings []float64
	for i := range m.nodes {
		u := m.nodes[i].unit
		if u == nil {
			continue
		}
		for _, term := range u.terms {
			if int(term.column) != column {
				continue
			}
			used = true
			numbers, rest := u.sums(t.Columns, 0)
			if at := (u.threshold - (rest - term.missing) - numbers) / term.factor; finite(at) {
				crossings = append(crossings, at)
			}
		}
	}
	if len(crossings) == 0 {
		crossings = []float64{0} // any number: that it is known may count
	}
	slices.Sort(crossings)
	for i, at := range crossings {
		before := max(at-1-math.Abs(at), -math.MaxFloat64)
		if i > 0 {
			before = crossings[i-1]
		}
		columns[column].Floats = []float64{before/2 + at/2}
		try()
		if i == len(crossings)-1 {
			columns[column].Floats = []float64{min(at+1+math.Abs(at), math.MaxFloat64)}
			try()
		}
	}
	return moves, used
}
