package rulenet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/rule"
)

// line is a rule as it is printed: what one unit says of one class, or of
// every class.
type line struct {
	unit, class int
}

// together reports whether what a unit says of several classes is one rule: a
// network that is taught shares its rules over many classes.
func (m *Model) together() bool {
	present := 0
	for _, n := range m.counts {
		if n > 0 {
			present++
		}
	}
	return (m.taught || m.settings.Teacher == "trees") && present > 2
}

// linesOf returns how many rules a unit is printed as.
func (m *Model) linesOf(u *unit) int {
	if m.together() {
		return 1
	}
	n := 0
	for c, weight := range u.weights {
		if m.counts[c] > 0 && (weight != 0 || u.class == c) {
			n++
		}
	}
	return n
}

// slopeNotes says which way columns move the odds of the second class.
func (m *Model) slopeNotes() []string {
	var last string
	for c, n := range m.counts {
		if n > 0 {
			last = m.coding.schema.Attributes[m.coding.target].Values[c]
		}
	}
	return setting.WayNotes(m.settings.Slope, "the odds of "+last)
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

	m.base = &rule.Base{Kind: rule.Weighed, Rules: m.priorRules(total), Notes: append(m.slopeNotes(), m.repeatsNotes()...)}
	m.lines = nil
	for i := range m.units {
		u := &m.units[i]
		if m.together() {
			m.lines = append(m.lines, line{i, everyClass})
			continue
		}
		for c, weight := range u.weights {
			if m.counts[c] > 0 && (weight != 0 || u.class == c) {
				m.lines = append(m.lines, line{i, c})
			}
		}
	}
	said := func(l line) float64 {
		if l.class == everyClass {
			return most(&m.units[l.unit])
		}
		return bits(&m.units[l.unit], l.class)
	}
	slices.SortStableFunc(m.lines, func(a, b line) int { return -cmp.Compare(said(a), said(b)) })
	for _, l := range m.lines {
		u := &m.units[l.unit]
		n := sum(u.counts)
		r := rule.Rule{If: m.tests(u.rule), Evidence: rule.Evidence{Covered: pointer(n), Bits: pointer(said(l)), Templates: u.examples()}}
		if l.class == everyClass {
			r.Then = m.conclusions(u.weights)
		} else {
			r.Then, r.With = m.conclusion(l.class), pointer(u.counts[l.class]/n)
			r.Evidence.Correct, r.Evidence.Weight = pointer(u.counts[l.class]), pointer(u.weights[l.class])
		}
		m.base.Rules = append(m.base.Rules, r)
	}
}

// priorRules returns the rules of the classes before any evidence.
func (m *Model) priorRules(total float64) []rule.Rule {
	if m.together() {
		return []rule.Rule{{Then: m.conclusions(m.bias), Evidence: rule.Evidence{Covered: pointer(total)}}}
	}
	var rules []rule.Rule
	for c, weight := range m.bias {
		if math.IsInf(weight, -1) {
			continue // a class without a prior has the probability 0
		}
		rules = append(rules, rule.Rule{
			Then:     m.conclusion(c),
			With:     pointer(m.counts[c] / total),
			Evidence: rule.Evidence{Covered: pointer(total), Correct: pointer(m.counts[c]), Weight: pointer(weight)},
		})
	}
	return rules
}

// conclusions returns weights of several classes, the greatest first.
func (m *Model) conclusions(weights []float64) rule.Conclusion {
	a := &m.coding.schema.Attributes[m.coding.target]
	said := rule.Conclusion{Column: a.Name}
	for c, w := range weights {
		if m.counts[c] > 0 && w != 0 {
			said.By = append(said.By, rule.Share{Value: a.Values[c], P: w})
		}
	}
	slices.SortStableFunc(said.By, func(x, y rule.Share) int {
		return cmp.Or(-cmp.Compare(x.P, y.P), strings.Compare(x.Value, y.Value))
	})
	return said
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
func (m *Model) tests(c conjunction) []rule.Test { return m.coding.tests(c) }

func (of *coding) tests(c conjunction) []rule.Test {
	tests := make([]rule.Test, 0, len(c))
	for i := 0; i < len(c); i++ {
		t := of.test(c[i])
		if c[i].form&negated != 0 && c[i].hi >= c[i].lo {
			a := &of.schema.Attributes[c[i].col]
			others := []string{a.Values[c[i].lo]}
			for i+1 < len(c) && c[i+1].col == c[i].col {
				i++
				others = append(others, a.Values[c[i].lo])
			}
			if len(others) > 1 {
				t = rule.Test{Op: rule.NotIn, Column: a.Name, Values: others}
			}
		}
		if c[i].form&orMissing != 0 && t.Op != rule.IsMissing {
			t = rule.Test{Op: rule.AtLeast, Count: 1, Of: []rule.Test{t, {Op: rule.IsMissing, Column: t.Column}}}
		}
		tests = append(tests, t)
	}
	return tests
}

func (c *coding) test(t test) rule.Test {
	a := &c.schema.Attributes[t.col]
	switch {
	case t.hi < t.lo && t.form&negated != 0:
		return rule.Test{Op: rule.IsKnown, Column: a.Name}
	case t.hi < t.lo:
		return rule.Test{Op: rule.IsMissing, Column: a.Name}
	case t.form&negated != 0:
		return rule.Test{Op: rule.Ne, Column: a.Name, Value: a.Values[t.lo]}
	case !c.ordered(int(t.col)):
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
