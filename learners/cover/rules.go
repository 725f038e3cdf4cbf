package cover

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns the list, with what each rule is the first to cover. The
// default is its ELSE.
func (m *Model) Rules() (*rule.Base, error) {
	b := &rule.Base{Kind: rule.Ordered, Rules: make([]rule.Rule, len(m.list))}
	for i := range m.list {
		b.Rules[i] = m.rule(m.tests(m.list[i].tests), i, m.list[i].first)
	}
	last := m.rule(nil, len(m.list), m.rest)
	b.Else = &last
	return b, nil
}

// rule writes a rule of the list.
func (m *Model) rule(tests []rule.Test, i int, counts []float64) rule.Rule {
	a := &m.schema.Attributes[m.target]
	p := m.answerOf(i)
	best := learn.Best(p, a.Values)
	covered, correct := sum(counts), counts[best]
	bits := rule.JMeasure(covered, correct, m.all[best], sum(m.all))
	r := rule.Rule{
		If: tests, Then: rule.Conclusion{Column: a.Name, Value: a.Values[best]},
		Evidence: rule.Evidence{Covered: &covered, Correct: &correct, Bits: &bits},
	}
	if len(p) > 2 && !evenRest(p, best) {
		r.Then = rule.Conclusion{Column: a.Name}
		for c, q := range p {
			r.Then.Classes = append(r.Then.Classes, rule.Share{Value: a.Values[c], P: q})
		}
		return r
	}
	with := min(p[best], 1)
	r.With = &with
	return r
}

// evenRest reports whether the other classes share what the best leaves
// equally, so that one probability says it all.
func evenRest(p []float64, best int) bool {
	rest := (1 - p[best]) / float64(len(p)-1)
	for c, q := range p {
		if c != best && math.Abs(q-rest) > 1e-15 {
			return false
		}
	}
	return true
}

// tests writes conditions in the rule language: two bounds of a number as an
// interval.
func (m *Model) tests(conditions []condition) []rule.Test {
	var tests []rule.Test
	for i := range conditions {
		c := &conditions[i]
		a := &m.schema.Attributes[c.col]
		bound := slices.IndexFunc(conditions, func(d condition) bool { return d.col == c.col && d.form != c.form && d.form >= atMost })
		switch {
		case c.form == is:
			tests = append(tests, rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[c.code]})
		case c.form == in:
			tests = append(tests, membership(a, c.in))
		case bound >= 0 && bound < i: // written already
		case bound >= 0:
			low, high := c.threshold, conditions[bound].threshold
			if c.form == atMost {
				low, high = high, low
			}
			tests = append(tests, rule.Test{Op: rule.Between, Column: a.Name, Low: low, High: high})
		case c.form == atMost:
			tests = append(tests, rule.Test{Op: rule.Le, Column: a.Name, Number: c.threshold})
		default:
			tests = append(tests, rule.Test{Op: rule.Gt, Column: a.Name, Number: c.threshold})
		}
	}
	return tests
}

// membership is the test for a set of values.
func membership(a *table.Attribute, in []bool) rule.Test {
	t := rule.Test{Op: rule.In, Column: a.Name}
	for v, is := range in {
		if is {
			t.Values = append(t.Values, a.Values[v])
		}
	}
	return t
}
