package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/rule"
)

// Rules returns a rule for each value of a nominal column, and for cells that
// are missing, which adds what the value adds to the mean. What numbers add
// stands in notes: the rules alone are then a summary.
func (m *Model) Rules() (*rule.Base, error) {
	name := m.total.attribute().Name
	base := &rule.Base{Kind: rule.Weighed, Notes: m.plane.slopes([]string{name})}
	m.plane.eachRule(func(j, i int) {
		covered := m.total.weight * m.plane.mean[i]
		base.Rules = append(base.Rules, rule.Rule{
			If:       []rule.Test{m.plane.test(j, i)},
			Then:     rule.Conclusion{Column: name, Numeric: true, Adds: true, Mean: m.plane.adds(j, i, 0)},
			Evidence: rule.Evidence{Covered: &covered},
		})
	})
	slices.SortStableFunc(base.Rules, func(a, b rule.Rule) int {
		return -cmp.Compare(math.Abs(a.Then.Mean), math.Abs(b.Then.Mean))
	})
	rows := m.total.weight
	base.Else = &rule.Rule{
		Then:     rule.Conclusion{Column: name, Numeric: true, Mean: m.plane.prior[0], Deviation: m.sigma * m.plane.unit},
		Evidence: rule.Evidence{Covered: &rows},
	}
	return base, nil
}

// Rules returns a rule for each class, where its score starts, and one for each
// value of a nominal column and for missing cells, which moves all classes.
// What numbers say stands in notes: the rules alone are then a summary.
func (m *Classes) Rules() (*rule.Base, error) {
	classes, name := m.classes(), m.schema.Attributes[m.target].Name
	odds := make([]string, len(m.seen))
	for k, c := range m.seen {
		odds[k] = "score of " + name + " = " + classes[c]
	}
	base := &rule.Base{Kind: rule.Weighed, Notes: m.plane.slopes(odds)}
	rows := m.Size().Rows
	log := slices.Clone(m.plane.prior)
	most, total := logsum.Normalise(log)
	for k, c := range m.seen {
		p, weight, correct := log[k], m.plane.prior[k]-most-math.Log(total), m.counts[c]
		base.Rules = append(base.Rules, rule.Rule{
			Then: rule.Conclusion{Column: name, Value: classes[c]}, With: &p,
			Evidence: rule.Evidence{Covered: &rows, Correct: &correct, Weight: &weight},
		})
	}
	first := len(base.Rules)
	m.plane.eachRule(func(j, i int) {
		covered := rows * m.plane.mean[i]
		said := rule.Conclusion{Column: name}
		for k, c := range m.seen {
			said.By = append(said.By, rule.Share{Value: classes[c], P: m.plane.adds(j, i, k)})
		}
		slices.SortStableFunc(said.By, func(x, y rule.Share) int {
			return cmp.Or(-cmp.Compare(x.P, y.P), strings.Compare(x.Value, y.Value))
		})
		base.Rules = append(base.Rules, rule.Rule{If: []rule.Test{m.plane.test(j, i)}, Then: said, Evidence: rule.Evidence{Covered: &covered}})
	})
	slices.SortStableFunc(base.Rules[first:], func(a, b rule.Rule) int { return -cmp.Compare(a.Then.By[0].P, b.Then.By[0].P) })
	return base, nil
}

// eachRule calls do for each term that is a rule.
func (p *plane) eachRule(do func(j, i int)) {
	for j := range p.frames {
		for i := p.first[j]; i < p.first[j]+p.count(j); i++ {
			if p.isRule(j, i) {
				do(j, i)
			}
		}
	}
}

// test returns the condition of an indicator.
func (p *plane) test(j, i int) rule.Test {
	a := &p.schema.Attributes[j]
	if i == p.missing(j) {
		return rule.Test{Op: rule.IsMissing, Column: a.Name}
	}
	return rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[i-p.first[j]]}
}

// adds returns what an indicator adds to an output.
func (p *plane) adds(j, i, output int) float64 {
	return (p.weights[i*p.outputs+output] - p.middle[j*p.outputs+output]) * p.unit
}

// slopes says what numbers add to each output, in words of the column's units.
func (p *plane) slopes(outputs []string) []string {
	var notes []string
	for j := range p.frames {
		if !p.numeric(j) || p.count(j) == 0 || !p.frames[j].Set {
			continue
		}
		for k, output := range outputs {
			if text := p.slope(j, k); text != "" {
				notes = append(notes, fmt.Sprintf("summary: %s also adds %s", output, text))
			}
		}
		if len(notes) == 0 {
			notes = append(notes, fmt.Sprintf("summary: infinite cells of %s count as missing", p.schema.Attributes[j].Name))
		}
	}
	return notes
}

// slope writes a column's powers as a sum.
func (p *plane) slope(j, output int) string {
	name, f := p.schema.Attributes[j].Name, p.frames[j]
	centre := math.Ldexp(f.Shift, f.Exp)
	factor := func(power int) float64 {
		return math.Ldexp(p.weights[(p.first[j]+power-1)*p.outputs+output]*p.unit, -f.Exp*power)
	}
	middle := p.middle[j*p.outputs+output] * p.unit
	if slope := factor(1); p.degree == 1 {
		if slope == 0 {
			return ""
		}
		return fmt.Sprintf("%.6g * (%s − %.6g)", slope, name, centre+middle/slope)
	}
	text := ""
	for power := 1; power <= p.degree; power++ {
		if x := factor(power); x != 0 {
			text += fmt.Sprintf(" + %.6g * (%s − %.6g)^%d", x, name, centre, power)
		}
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%.6g%s", -middle, text)
}
