package expert

import (
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Believer is a model that can take a rule which is said to be certain (WITH 1)
// for a fact about its hypotheses, as a version space does: those that
// contradict it are dropped, and nothing has to be weighed.
type Believer interface {
	learn.Model
	// Believe returns the model with these rules in place of those it
	// believed before, and which of them it can put to use; the others are
	// blended. The saved form stays that of the model without them.
	Believe(rules []rule.Rule) (believing learn.Model, taken []bool)
}

// believe hands the certain rules to a model that believes them.
func (m *Told) believe() {
	m.believed = make([]bool, len(m.rules))
	b, ok := m.inner.(Believer)
	if !ok {
		return
	}
	var certain []rule.Rule
	var places []int
	for i := range m.rules {
		if *m.rules[i].With == 1 && *m.rules[i].Worth > 0 {
			certain, places = append(certain, m.rules[i].Rule), append(places, i)
		}
	}
	inner, taken := b.Believe(certain)
	m.inner = inner
	for i, t := range taken {
		m.believed[places[i]] = t
	}
}

// unbelieving returns a model without the rules that it believed.
func unbelieving(m learn.Model) learn.Model {
	if b, ok := m.(Believer); ok {
		m, _ = b.Believe(nil)
	}
	return m
}

// Settled returns the model within, if it believes every rule that it was told
// and so answers for both; else the model itself.
func Settled(m learn.Model) learn.Model {
	t, ok := m.(*Told)
	if !ok {
		return m
	}
	for _, believed := range t.believed {
		if !believed {
			return m
		}
	}
	return t.inner
}
