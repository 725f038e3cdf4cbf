package rulenet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/rule"
)

// line is a rule as it is printed: what one unit says of one class.
type line struct {
	unit, class int
}

// arrange writes the units as rules, the most informative first.
func (m *Model) arrange() {
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
			if m.counts[c] > 0 && (u.class == every || u.class == c) {
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
			Then:     m.conclude(c),
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
			Then: m.conclude(l.class),
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

func (m *Model) conclude(class int) rule.Conclusion {
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

// percent writes a share with as many digits as it needs.
func percent(p float64) string {
	if p > 0 && p < 0.01 || p > 0.99 && p < 1 {
		return fmt.Sprintf("%.1f", 100*p)
	}
	return fmt.Sprintf("%.0f", 100*p)
}

// Graph returns the network: the columns that rules test, the conjunctions,
// and the classes. Edges to classes are as wide as the weight; those that
// speak against a class say so.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: fmt.Sprintf("rule network: %d units", len(m.units))}
	const inputs, conjunctions, outputs = 0, 1, 2
	schema := m.coding.schema
	used := make([]bool, len(schema.Attributes))
	for i := range m.units {
		for _, t := range m.units[i].rule {
			used[t.col] = true
		}
	}
	column := func(col int32) string { return fmt.Sprintf("column %d", col) }
	class := func(c int) string { return fmt.Sprintf("class %d", c) }
	for col, is := range used {
		if is {
			g.Nodes = append(g.Nodes, draw.Node{ID: column(int32(col)), Lines: []string{schema.Attributes[col].Name}, Layer: inputs})
		}
	}
	for i := range m.units {
		u := &m.units[i]
		id := fmt.Sprintf("unit %d", i)
		strongest := 0
		for c, w := range u.weights {
			if math.Abs(w) > math.Abs(u.weights[strongest]) {
				strongest = c
			}
		}
		lines := make([]string, len(u.rule))
		for j, t := range m.tests(u.rule) {
			lines[j] = t.String()
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: lines, Layer: conjunctions, Class: m.conclude(strongest).Value})
		for _, t := range u.rule {
			g.Edges = append(g.Edges, draw.Edge{From: column(t.col), To: id})
		}
		for c, w := range u.weights {
			if w == 0 || m.counts[c] == 0 {
				continue
			}
			e := draw.Edge{From: id, To: class(c), Weight: math.Abs(w)}
			if w < 0 {
				e.Label = "against"
			}
			g.Edges = append(g.Edges, e)
		}
	}
	for c, b := range m.bias {
		if !math.IsInf(b, -1) {
			g.Nodes = append(g.Nodes, draw.Node{
				ID: class(c), Layer: outputs, Class: m.conclude(c).Value, Leaf: true,
				Lines: []string{m.conclude(c).String(), fmt.Sprintf("prior %s %%", percent(math.Exp(b)))},
			})
		}
	}
	return g, nil
}
