package concept

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain says which boundary decides: S covers the row, or no member of G
// does. A boundary that holds speaks for the concept; of one that does not, the
// cell that breaks it speaks against. The weights are +1 for the likeliest class
// and −1 against it.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d", row+1, t.Rows())
	}
	x := make([]value, len(m.columns))
	m.read(t, row, x)
	e := &learn.Explanation{Prior: make([]float64, len(m.share))}
	for c, p := range m.share {
		e.Prior[c] = math.Log(max(p, math.SmallestNonzeroFloat64))
	}
	base, err := m.Rules()
	if err != nil {
		return nil, err
	}
	answer := make([]float64, len(m.share))
	m.answer(x, answer)
	if v, ok := m.space.(*disjunctive); ok {
		e.Evidence = m.neighboursOf(v, x)
	}
	best := learn.Best(answer, m.schema.Attributes[m.target].Values)
	for i := range base.Rules {
		r := &base.Rules[i]
		broken, err := breaks(r.If, t, row)
		if err != nil {
			return nil, err
		}
		holds, tests := broken == nil, r.If
		if !holds {
			tests = broken
		}
		weight := -1.0
		if holds == (best == int(m.concept)) {
			weight = 1
		}
		e.Evidence = append(e.Evidence, learn.Evidence{ID: r.ID(), Text: condition(tests), Class: best, Weight: weight})
	}
	p := answer[best]
	for i, v := range x {
		if v.missing {
			e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[m.columns[i]].Name, CouldMove: max(p, 1-p, 0.5)})
		}
	}
	return e, nil
}

// breaks returns what is true of a row, by its first cell that breaks one of
// the tests; nil if it satisfies all.
func breaks(tests []rule.Test, t *table.Table, row int) ([]rule.Test, error) {
	for _, test := range tests {
		matcher, err := rule.NewMatcher([]rule.Test{test}, t.Schema)
		if err != nil {
			return nil, err
		}
		if !matcher.MatchRow(t, row) {
			return opposite(test, t, row), nil
		}
	}
	return nil, nil
}

// opposite is what holds for a row that does not satisfy a test.
func opposite(test rule.Test, t *table.Table, row int) []rule.Test {
	if test.Op == rule.AtLeast { // a clause: every literal is broken
		var all []rule.Test
		for _, of := range test.Of {
			all = append(all, opposite(of, t, row)...)
		}
		return all
	}
	i := t.Schema.Index(test.Column)
	numeric := t.Schema.Attributes[i].Kind == table.Numeric
	if numeric && table.IsMissing(t.Columns[i].Floats[row]) || !numeric && t.Columns[i].Codes[row] == table.Missing {
		return []rule.Test{{Op: rule.IsMissing, Column: test.Column}}
	}
	switch test.Op {
	case rule.Eq:
		test.Op = rule.Ne
	case rule.Ne:
		test.Op = rule.Eq
	case rule.In:
		test.Op = rule.NotIn
	case rule.Lt:
		test.Op = rule.Ge
	case rule.Le:
		test.Op = rule.Gt
	case rule.Gt:
		test.Op = rule.Le
	case rule.Ge:
		test.Op = rule.Lt
	case rule.Between:
		x := t.Columns[i].Floats[row]
		side := rule.Test{Op: rule.Gt, Column: test.Column, Number: test.High}
		switch {
		case x < test.Low || x == test.Low && !test.LowClosed:
			side.Op, side.Number = rule.Lt, test.Low
			if !test.LowClosed {
				side.Op = rule.Le
			}
		case test.HighOpen:
			side.Op = rule.Ge
		}
		test = side
	}
	return []rule.Test{test}
}
