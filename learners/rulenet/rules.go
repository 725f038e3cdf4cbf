package rulenet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// line is a rule as it is printed: what one unit says of one class.
type line struct {
	unit, class int
}

// writeRules writes the units as rules, the most informative first.
func (m *Model) writeRules() {
	total := sum(m.counts)
	bits := func(u *unit, class int) float64 {
		return rule.JMeasure(sum(u.counts), u.counts[class], m.counts[class], total)
	}
	text := make([]string, len(m.units))
	for i := range m.units {
		text[i] = joined(m.tests(m.units[i].rule))
	}
	order := make([]int, len(m.units))
	for i := range order {
		order[i] = i
	}
	most := func(u *unit) float64 {
		best := 0.0
		for c := range u.counts {
			if m.counts[c] > 0 && (u.class == everyClass || u.class == c) {
				best = max(best, bits(u, c))
			}
		}
		return best
	}
	strength := make([]float64, len(m.units))
	for i := range m.units {
		strength[i] = most(&m.units[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(strength[a], strength[b]), strings.Compare(text[a], text[b]), cmp.Compare(m.units[a].class, m.units[b].class))
	})
	units := make([]unit, len(order))
	for to, from := range order {
		units[to] = m.units[from]
	}
	m.units = units

	m.base = &rule.Base{Kind: rule.Weighed}
	for c, weight := range m.bias {
		if math.IsInf(weight, -1) {
			continue // a class without a prior has the probability 0
		}
		m.base.Rules = append(m.base.Rules, rule.Rule{
			Then:     m.conclusion(c),
			With:     pointer(m.counts[c] / total),
			Evidence: rule.Evidence{Covered: pointer(total), Correct: pointer(m.counts[c]), Weight: pointer(weight)},
		})
	}
	m.lines = nil
	for i := range m.units {
		u := &m.units[i]
		for c, weight := range u.weights {
			if m.counts[c] > 0 && (weight != 0 || u.class == c) {
				m.lines = append(m.lines, line{i, c})
			}
		}
	}
	slices.SortStableFunc(m.lines, func(a, b line) int {
		return -cmp.Compare(bits(&m.units[a.unit], a.class), bits(&m.units[b.unit], b.class))
	})
	for _, l := range m.lines {
		u := &m.units[l.unit]
		n := sum(u.counts)
		m.base.Rules = append(m.base.Rules, rule.Rule{
			If:   m.tests(u.rule),
			Then: m.conclusion(l.class),
			With: pointer(u.counts[l.class] / n),
			Evidence: rule.Evidence{
				Covered: pointer(n),
				Correct: pointer(u.counts[l.class]),
				Bits:    pointer(bits(u, l.class)),
				Weight:  pointer(u.weights[l.class]),

				Templates: u.examples(),
			},
		})
	}
}

// examples returns the weight of the examples that ended in the unit's rule;
// nil where growth found it by what the others left wrong.
func (u *unit) examples() *float64 {
	if u.templates == 0 {
		return nil
	}
	return &u.templates
}

func pointer(x float64) *float64 { return &x }

func (m *Model) conclusion(class int) rule.Conclusion {
	a := &m.coding.schema.Attributes[m.coding.target]
	return rule.Conclusion{Column: a.Name, Value: a.Values[class]}
}

// tests returns a conjunction in the rule language.
func (m *Model) tests(c conjunction) []rule.Test {
	tests := make([]rule.Test, len(c))
	for i, t := range c {
		tests[i] = m.coding.test(t)
	}
	return tests
}

func (c *coding) test(t test) rule.Test {
	a := &c.schema.Attributes[t.col]
	if !c.ordered(int(t.col)) {
		return rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[t.lo]}
	}
	low, _ := c.cuts[t.col].Interval(t.lo)
	_, high := c.cuts[t.col].Interval(t.hi)
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return rule.Test{Op: rule.IsKnown, Column: a.Name}
	case math.IsInf(low, -1):
		return rule.Test{Op: rule.Le, Column: a.Name, Number: high}
	case math.IsInf(high, 1):
		return rule.Test{Op: rule.Gt, Column: a.Name, Number: low}
	}
	return rule.Test{Op: rule.Between, Column: a.Name, Low: low, High: high}
}

// joined writes tests as the left side of a rule.
func joined(tests []rule.Test) string {
	texts := make([]string, len(tests))
	for i, t := range tests {
		texts[i] = t.String()
	}
	return strings.Join(texts, " AND ")
}

// Rules returns the network as a weighed base: the priors of the classes, then
// for each unit and each class that it speaks of a rule, the most informative
// first. The base belongs to the caller.
func (m *Model) Rules() (*rule.Base, error) {
	base := *m.base
	base.Rules = slices.Clone(m.base.Rules)
	return &base, nil
}
