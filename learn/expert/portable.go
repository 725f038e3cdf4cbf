package expert

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Portable returns what compiles a model to run elsewhere: the model itself, what is
// left of one of which rules were struck, the rules that it was told upon the model
// within, or its rules where they say all of it.
func Portable(m learn.Model) (portable.Compiler, error) {
	switch of := m.(type) {
	case *Struck:
		return Portable(of.Model)
	case *Told:
		within, err := Portable(of.inner)
		if err != nil {
			return nil, err
		}
		return &portableTold{of, within}, nil
	case portable.Compiler:
		return of, nil
	}
	if _, ok := m.(learn.Voter); ok {
		return nil, fmt.Errorf("this %s model says of rows on which its hypotheses differ that it does not know, which no target can", m.Learner())
	}
	ruler, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return nil, fmt.Errorf("this %s model is neither rules nor sums that another program could compute", m.Learner())
	}
	base, err := ruler.Rules()
	if err != nil {
		return nil, err
	}
	if base.CompleteOnly {
		return nil, fmt.Errorf("the rules of this %s model speak of rows whose cells are all known, and do not say what becomes of others", m.Learner())
	}
	for _, note := range base.Notes {
		if strings.HasPrefix(note, "summary:") {
			return nil, fmt.Errorf("the rules of this %s model are a summary and do not answer as it does (%s)", m.Learner(), note)
		}
	}
	if m.Target() == learn.NoTarget {
		return nil, fmt.Errorf("the model is a density of all columns and answers no one of them; learn it with a target")
	}
	var overall []rule.Overall
	if of, ok := learn.Ability[interface{ Overall() []rule.Overall }](m); ok {
		overall = of.Overall()
	}
	return rule.NewPredictor(base, m.Schema(), m.Target(), overall...)
}

// Compile returns a model as a program that runs elsewhere.
func Compile(m learn.Model) (*portable.Program, error) {
	c, err := Portable(m)
	if err != nil {
		return nil, err
	}
	return portable.Compile(c, m.Learner(), m.Schema(), m.Target())
}

// portableTold compiles what experts told on top of the model within.
type portableTold struct {
	*Told
	within portable.Compiler
}

// Portable blends or weighs, as the model does.
func (m *portableTold) Portable(b *portable.Builder) (portable.Answer, error) {
	inner := m.inner.Schema()
	said, err := m.within.Portable(b.Of(inner, m.inner.Target()))
	if err != nil {
		return said, err
	}
	own, all := inner.Attributes[m.Target()].Values, m.schema.Attributes[m.Target()].Values
	at := make([]int, len(own))
	for i, class := range own {
		at[i] = int(m.schema.Attributes[m.Target()].Code(class))
	}
	p := b.Place(*said.Probabilities, at, make([]float64, len(all)))
	fires := make([]*portable.Test, len(m.rules))
	for i, f := range m.fires {
		if f != nil && m.classes[i] >= 0 && !(m.believed != nil && m.believed[i]) {
			t := f.Portable(b)
			fires[i] = &t
		}
	}
	if m.weights != nil {
		return portable.Classes(m.portableShift(b, p, fires))
	}
	return portable.Classes(m.portableBlend(b, p, fires))
}

// portableShift adds the weights of rules that are units to the logarithms.
func (m *portableTold) portableShift(b *portable.Builder, p portable.Ref, fires []*portable.Test) portable.Ref {
	classes := len(m.schema.Attributes[m.Target()].Values)
	rows := make([]float64, classes)
	var tests []portable.Test
	for i, t := range fires {
		if t != nil {
			tests, rows = append(tests, *t), append(rows, make([]float64, classes)...)
			rows[len(rows)-classes+m.classes[i]] = m.weights[i]
		}
	}
	moved := b.Zip(portable.Multiply, p, b.Map(portable.Exp, b.Sum(tests, classes, rows)))
	return b.Zip(portable.Divide, moved, b.Together(moved))
}

// portableBlend is (N·P + Σ n·p)/(N + Σ n), N being the weight of the rows that
// fired all of the rules that fire: of each pattern that was seen, if no rule fires
// that it lacks.
func (m *portableTold) portableBlend(b *portable.Builder, p portable.Ref, fires []*portable.Test) portable.Ref {
	classes := len(m.schema.Attributes[m.Target()].Values)
	worths, support := []float64{0}, []float64{0}
	var tests, contained []portable.Test
	total := b.Constant(make([]float64, classes)...)
	for i, t := range fires {
		if t == nil {
			continue
		}
		worth := *m.rules[i].Worth
		tests, worths = append(tests, *t), append(worths, worth)
		said := b.Scale(m.portableSay(b, p, m.classes[i], *m.rules[i].With), worth, 0)
		total = b.Zip(portable.Add, total, b.Choose(*t, said, b.Constant(make([]float64, classes)...)))
	}
	if len(tests) == 0 {
		return p
	}
	for _, seen := range m.seen {
		var lacks []portable.Test
		for i, t := range fires {
			if t != nil && !has([]byte(seen.fired), i) {
				lacks = append(lacks, *t)
			}
		}
		if len(lacks) == 0 {
			support[0] += seen.weight
			continue
		}
		contained, support = append(contained, portable.None(portable.Any(lacks...))), append(support, seen.weight)
	}
	n, worth := b.Sum(contained, 1, support), b.Sum(tests, 1, worths)
	all := b.Zip(portable.Add, n, worth)
	blended := b.Zip(portable.Divide, b.Zip(portable.Add, b.Zip(portable.Multiply, p, n), total), all)
	return b.Choose(portable.IsAbove(worth, 0), blended, p)
}

// portableSay is what a rule says: its probability for its class, the rest for the
// others in the proportions that they have.
func (m *portableTold) portableSay(b *portable.Builder, p portable.Ref, class int, with float64) portable.Ref {
	classes := len(m.schema.Attributes[m.Target()].Values)
	if classes == 1 {
		return b.Constant(1)
	}
	others, start, keep, equal := make([]float64, classes), make([]float64, classes), make([]float64, classes*classes), make([]float64, classes)
	for c := range classes {
		equal[c] = (1 - with) / float64(classes-1)
		if c != class {
			others[c], keep[c*classes+c] = 1, 1-with
		}
	}
	start[class], equal[class] = with, with
	rest := b.Affine(p, []float64{0}, others)
	some := portable.IsAbove(rest, 0)
	share := b.Zip(portable.Divide, p, b.Choose(some, rest, b.Constant(1)))
	return b.Choose(some, b.Affine(share, start, keep), b.Constant(equal...))
}
