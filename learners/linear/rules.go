package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns a rule for each value of a nominal column, and for cells that
// are missing, which adds what the value adds to the mean. What numbers add
// stands in notes, and no rule knows how rare a row is, by which its interval
// widens: the rules are a summary.
func (m *Model) Rules() (*rule.Base, error) {
	name := m.total.attribute().Name
	base := &rule.Base{Kind: rule.Weighed, Notes: m.plane.slopes(name, nil)}
	if base.Notes == nil {
		base.Notes = []string{"summary: intervals also widen for rows that are rare"}
	}
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

// Bits is the length of the model when it is sent: a number for each term, for where
// the sum starts and for how far rows are off, each as exact as so many rows can
// make it. Its rules leave out what numbers say.
func (m *Model) Bits(rows float64) float64 {
	return float64(len(m.plane.weights)+2) * math.Log2(max(rows, 2)) / 2
}

// Bits is the length of the model when it is sent: a number for each term and class.
func (m *Classes) Bits(rows float64) float64 {
	return float64(len(m.plane.weights)+len(m.plane.prior)) * math.Log2(max(rows, 2)) / 2
}

// Rules returns a rule for each class, where its score starts, and one for each
// value of a nominal column and for missing cells, which moves all classes.
// What numbers say stands in notes: the rules alone are then a summary.
func (m *Classes) Rules() (*rule.Base, error) {
	classes, name := m.classes(), m.schema.Attributes[m.target].Name
	seen := make([]string, len(m.seen))
	for k, c := range m.seen {
		seen[k] = classes[c]
	}
	base := &rule.Base{Kind: rule.Weighed, Notes: m.plane.slopes(name, seen)}
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

// longest is what a note may take.
const longest = 300

// slopes says what numbers add, in the columns' own units, a line a column.
func (p *plane) slopes(target string, classes []string) []string {
	var notes []string
	for j := range p.frames {
		if !p.numeric(j) || p.count(j) == 0 || !p.frames[j].Set || !p.moves(j) {
			continue
		}
		var note string
		c := measured(&p.schema.Attributes[j])
		switch centre, same := p.zero(j); {
		case p.degree == 1 && same && classes == nil && c.time:
			slope := p.factor(j, 1, 0) * c.unit
			step := math.Pow(10, max(0, math.Floor(math.Log10(math.Ldexp(1, p.frames[j].Exp)/c.unit))))
			note = fmt.Sprintf("%s also adds %s for %s, counted from %s", target, say.Rounded(slope*step, 3), c.more(step), c.at(centre))
		case p.degree == 1 && same && classes == nil:
			note = fmt.Sprintf("%s also adds %s × (%s)", target, say.Rounded(p.factor(j, 1, 0), 6), less(c.a, centre))
		case p.degree == 1 && same && len(classes) == 2:
			more, other := classes[0], classes[1]
			log := (p.factor(j, 1, 0) - p.factor(j, 1, 1)) * c.unit
			if log < 0 {
				more, other, log = other, more, -log
			}
			step := steps(log)
			note = fmt.Sprintf("%s makes %s = %s %s times likelier beside %s, counted from %s", c.more(step), target, more, say.Rounded(math.Exp(log*step), 3), other, c.at(centre))
		case p.degree == 1 && same:
			var by []string
			for k, class := range classes {
				by = append(by, class+" "+say.Rounded(p.factor(j, 1, k)*c.unit, 6))
			}
			note = fmt.Sprintf("%s adds to the score of %s = %s, counted from %s", c.more(1), target, strings.Join(by, ", of "), c.at(centre))
		case classes == nil:
			note = fmt.Sprintf("%s also adds %s", target, p.polynomial(j, 0))
		default:
			var by []string
			for k, class := range classes {
				by = append(by, class+" "+p.polynomial(j, k))
			}
			note = fmt.Sprintf("also %s BY {%s}", target, strings.Join(by, ", "))
		}
		if len(note) > longest {
			note = fmt.Sprintf("what %s adds takes more than a line; explain says it of a row", p.schema.Attributes[j].Name)
		}
		notes = append(notes, "summary: "+note)
	}
	return notes
}

// steps is how much more of a column is worth saying: 1, or the power of ten by
// which the odds change by a tenth at least, and less than tenfold where that is so.
func steps(log float64) float64 {
	step := 1.0
	for log > 0 && log*step < math.Log(1.1) && step < 1e9 {
		step *= 10
	}
	for log*step > math.Log(10) && step > 1e-9 {
		step /= 10
	}
	return step
}

// moves reports whether a column's powers have a weight.
func (p *plane) moves(j int) bool {
	return slices.ContainsFunc(p.weights[p.first[j]*p.outputs:p.missing(j)*p.outputs], func(w float64) bool { return w != 0 })
}

// axis is how more of a column of numbers is said: of dates in days, of times of
// day in hours.
type axis struct {
	a    *table.Attribute
	unit float64 // in the column's own numbers
	name string
	time bool
}

func measured(a *table.Attribute) axis {
	switch {
	case a.Date:
		return axis{a, 1, "day", true}
	case a.Time && a.Style.IsDay():
		return axis{a, 86400, "day", true}
	case a.Time:
		return axis{a, 3600, "hour", true}
	}
	return axis{a, 1, "", false}
}

// more says a step: "each 10 more of age", "each 100 days later in opened".
func (m axis) more(step float64) string {
	switch {
	case !m.time:
		return fmt.Sprintf("each %s more of %s", say.Number(step), m.a.Name)
	case step == 1:
		return fmt.Sprintf("each %s later in %s", m.name, m.a.Name)
	}
	return fmt.Sprintf("each %s %ss later in %s", say.Number(step), m.name, m.a.Name)
}

// at says a number of the column, of times the day.
func (m axis) at(x float64) string {
	switch {
	case !m.time:
		return say.Rounded(x, 4)
	case m.name == "day":
		day := table.Attribute{Kind: table.Numeric, Date: true}
		return day.Format(math.Floor(x / m.unit))
	}
	return m.a.Format(60 * math.Round(x/60))
}

// less writes x − c.
func less(a *table.Attribute, centre float64) string {
	switch shown := say.Rounded(math.Abs(centre), 6); {
	case centre == 0:
		return a.Name
	case measured(a).time:
		return a.Name + " − " + measured(a).at(centre)
	case centre < 0:
		return a.Name + " + " + shown
	default:
		return a.Name + " − " + shown
	}
}

// factor returns the weight of a power in the column's own units.
func (p *plane) factor(j, power, output int) float64 {
	return math.Ldexp(p.weights[(p.first[j]+power-1)*p.outputs+output]*p.unit, -p.frames[j].Exp*power)
}

// zero returns the number that adds nothing, if it is the same for all outputs.
func (p *plane) zero(j int) (centre float64, same bool) {
	f := p.frames[j]
	centre = math.NaN()
	for k := range p.outputs {
		slope := p.weights[p.first[j]*p.outputs+k]
		if slope == 0 {
			if p.middle[j*p.outputs+k] != 0 {
				return 0, false
			}
			continue
		}
		at := math.Ldexp(f.Shift+p.middle[j*p.outputs+k]/slope, f.Exp)
		if centre == centre && math.Abs(at-centre) > 1e-6*math.Ldexp(1, f.Exp) {
			return 0, false
		}
		centre = at
	}
	return centre, finite(centre)
}

// polynomial writes a column's powers as a sum.
func (p *plane) polynomial(j, output int) string {
	f := p.frames[j]
	text := say.Rounded(-p.middle[j*p.outputs+output]*p.unit, 6)
	for power := 1; power <= p.degree; power++ {
		if x := p.factor(j, power, output); x != 0 {
			text += fmt.Sprintf(" %s %s × (%s)", sign(x), say.Rounded(math.Abs(x), 6), less(&p.schema.Attributes[j], math.Ldexp(f.Shift, f.Exp)))
			if power > 1 {
				text += fmt.Sprintf("^%d", power)
			}
		}
	}
	return text
}

func sign(x float64) string {
	if x < 0 {
		return "−"
	}
	return "+"
}
