package expert

import (
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Listener is a model that adds up evidence for its classes, and can take
// experts' rules in as evidence of the same kind instead of having their
// probabilities blended with its own. The rule
//
//	IF c THEN x WITH p WORTH n
//
// then is a unit that adds a weight to x on the rows that satisfy c: the
// logarithm of the factor by which n cases change the odds of x there,
//
//	w = logit (k + π + n·p)/(N + 1 + n) − logit (k + π)/(N + 1)
//
// where k of the N rows that satisfy c have the class x, and π is its prior.
// A rule worth nothing still changes nothing and one worth very much still
// takes the rows of c, on the whole, to p; but what else the model knows of a
// row counts too, answers are explained by adding up, and the printed rules
// are the whole model.
type Listener interface {
	learn.Model
	// Heeds returns the prior probability of each class, or nil if rules
	// are to be blended after all.
	Heeds() []float64
}

// most is how near to 0 or 1 the probability of a unit may come.
const most = 1e-12

func logit(p float64) float64 {
	p = min(max(p, most), 1-most)
	return math.Log(p) - math.Log1p(-p)
}

// listen computes the weights of the rules as units, if the model listens and
// knows all the classes that they conclude.
func (m *Told) listen() {
	l, ok := learn.Ability[Listener](m.inner)
	if !ok {
		return
	}
	priors := l.Heeds()
	if priors == nil {
		return
	}
	weights := make([]float64, len(m.rules))
	for i := range m.rules {
		class := m.classes[i]
		if class >= len(priors) || !(priors[class] > 0) {
			return
		}
		covered, of := m.covered(i)
		k, n, worth := of[class]+priors[class], covered+1, *m.rules[i].Worth
		// Divided by the larger of the two, what is infinitely worth stays finite.
		scale := max(n, worth)
		with := (k/scale + worth/scale**m.rules[i].With) / (n/scale + worth/scale)
		if worth > 0 {
			weights[i] = logit(with) - logit(k/n)
		}
	}
	m.weights = weights
}

// covered returns the weight of the rows that satisfy a rule, in all and by
// class.
func (m *Told) covered(i int) (all float64, of []float64) {
	of = make([]float64, len(m.schema.Attributes[m.Target()].Values))
	for k := range m.seen {
		if has([]byte(m.seen[k].fired), i) {
			all += m.seen[k].weight
			for c, w := range m.seen[k].classes {
				of[c] += w
			}
		}
	}
	return all, of
}

// Listened reports whether the rules are units of the model.
func (m *Told) Listened() bool { return m.weights != nil }

// shift adds the weights of the rules that fired to the logarithms of
// probabilities, and normalises.
func (m *Told) shift(p []float64, fired []byte, room []float64) {
	clear(room)
	for i, w := range m.weights {
		if has(fired, i) {
			room[m.classes[i]] += w
		}
	}
	for c := range p {
		p[c] = room[c] + math.Log(p[c])
	}
	logsum.Normalise(p)
}

// heard appends the rules to those that were learnt.
func (m *Told) heard(base *rule.Base) {
	for i, w := range m.weights {
		r := m.rules[i].Rule
		covered, of := m.covered(i)
		r.Evidence = rule.Evidence{Covered: &covered, Correct: &of[m.classes[i]], Weight: &w}
		base.Rules = append(base.Rules, r)
	}
}

// account appends what the rules that fired add to an explanation.
func (m *Told) account(e *learn.Explanation, fired []byte) {
	scores := append([]float64(nil), e.Prior...)
	for i, w := range m.weights {
		if has(fired, i) {
			e.Evidence = append(e.Evidence, learn.Evidence{ID: m.rules[i].ID(), Text: m.rules[i].String(), Class: m.classes[i], Weight: w})
		}
	}
	for _, v := range e.Evidence {
		scores[v.Class] += v.Weight
	}
	e.Normaliser = logsum.Of(scores)
}
