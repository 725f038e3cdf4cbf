package rulebase

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// reasoned is a base of IF rules, which can say why it answers: a weighed one
// by the weights of the rules that match, which add up; an ordered one by the
// rule that answers.
type reasoned struct {
	*Model
	rules []reason
	whole bool // every rule of a weighed base states its weights
}

// reason is a rule that is not an expert's.
type reason struct {
	*rule.Rule
	fires   *rule.Matcher
	text    string
	classes []int
	weights []float64
}

var _ learn.Explainer = (*reasoned)(nil)

func newReasoned(m *Model, learnt *rule.Base) (learn.Model, error) {
	e := &reasoned{Model: m, whole: learnt.Kind == rule.Weighed && learnt.Else == nil && m.widths == nil}
	target := &m.schema.Attributes[m.target]
	for i := range learnt.Rules {
		r := &learnt.Rules[i]
		fires, err := rule.NewMatcher(r.If, m.schema)
		if err != nil {
			return nil, err
		}
		x := reason{Rule: r, fires: fires, text: testsText(r.If)}
		switch {
		case len(r.Then.By) > 0:
			for _, s := range r.Then.By {
				x.classes, x.weights = append(x.classes, int(target.Code(s.Value))), append(x.weights, s.P)
			}
		case r.Evidence.Weight != nil:
			x.classes, x.weights = []int{int(target.Code(r.Then.Value))}, []float64{*r.Evidence.Weight}
		default:
			e.whole = false
		}
		e.rules = append(e.rules, x)
	}
	return e, nil
}

// testsText writes tests as they stand after IF.
func testsText(tests []rule.Test) string {
	if len(tests) == 0 {
		return "ALWAYS"
	}
	texts := make([]string, len(tests))
	for i, t := range tests {
		texts[i] = t.String()
	}
	return strings.Join(texts, " AND ")
}

// leastLog stands for the logarithm of 0.
const leastLog = -1000

func logOf(p float64) float64 { return max(math.Log(p), leastLog) }

// Explain gives the rules that made the answer for one row.
func (m *reasoned) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d is not there", row+1, t.Rows())
	}
	one, out := t.Slice(row, row+1), learn.NewPredictions(m.Model, 1)
	if err := m.answers.Predict(one, out.P, out.Mean); err != nil {
		return nil, err
	}
	if m.widths != nil {
		return m.explainNumber(one, out.Mean[0]), nil
	}
	p := out.P
	e := &learn.Explanation{Prior: make([]float64, len(p)), Additive: true}
	if m.whole {
		m.addUp(e, one, p)
	} else {
		m.answerOf(e, one, p)
	}
	before := make([]float64, len(p))
	for c := range p {
		before[c] = logOf(p[c])
	}
	if v := m.blend(one, 0, p, make([]float64, len(p))); v != nil {
		for c := range p {
			e.Evidence = append(e.Evidence, learn.Evidence{ID: v.ID(), Text: testsText(v.If), Class: c, Weight: logOf(p[c]) - before[c]})
		}
	}
	return e, nil
}

// addUp explains a weighed base.
func (m *reasoned) addUp(e *learn.Explanation, one *table.Table, p []float64) {
	scores := make([]float64, len(p))
	for i := range m.rules {
		r := &m.rules[i]
		if !r.fires.MatchRow(one, 0) {
			continue
		}
		for k, c := range r.classes {
			scores[c] += r.weights[k]
			if len(r.If) == 0 {
				e.Prior[c] += r.weights[k]
			} else {
				e.Evidence = append(e.Evidence, learn.Evidence{ID: r.ID(), Text: r.text, Class: c, Weight: r.weights[k]})
			}
		}
	}
	best := 0
	for c := range p {
		if p[c] > p[best] {
			best = c
		}
	}
	e.Normaliser = scores[best] - math.Log(p[best])
	for c := range p {
		if p[c] == 0 { // a class without a prior where others have one
			e.Prior[c] += leastLog - (scores[c] - e.Normaliser)
		}
	}
}

// answerOf explains by the first rule that matches, from equal chances.
func (m *reasoned) answerOf(e *learn.Explanation, one *table.Table, p []float64) {
	uniform := -math.Log(float64(len(p)))
	id, text := "", "ALWAYS"
	for i := range m.rules {
		if m.rules[i].fires.MatchRow(one, 0) {
			id, text = m.rules[i].ID(), m.rules[i].text
			break
		}
	}
	for c := range p {
		e.Prior[c] = uniform
		if w := logOf(p[c]) - uniform; w != 0 {
			e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: w})
		}
	}
}

// explainNumber explains a number by the rules that match: the first of an
// ordered base, all of a weighed one.
func (m *reasoned) explainNumber(one *table.Table, mean float64) *learn.Explanation {
	e := &learn.Explanation{Prior: []float64{0}, Additive: true}
	left := mean
	for i := range m.rules {
		r := &m.rules[i]
		if !r.fires.MatchRow(one, 0) {
			continue
		}
		by, text := mean, r.text
		if m.base.Kind != rule.Ordered {
			by = r.Then.Mean
			if l := r.Then.Line; l != nil {
				cell := one.Columns[m.schema.Index(l.Column)].Floats[0]
				by *= l.At(cell)
				if table.IsMissing(cell) || math.IsInf(cell, 0) && !l.Limited {
					continue
				}
				text = testsText(append(slices.Clone(r.If), l.Here(cell)))
			}
		}
		e.Evidence = append(e.Evidence, learn.Evidence{ID: r.ID(), Text: text, Weight: by})
		if left -= by; m.base.Kind == rule.Ordered {
			return e
		}
	}
	e.Prior[0] = left
	return e
}
