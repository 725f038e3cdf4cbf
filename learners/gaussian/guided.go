package gaussian

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// jitter is how far copies of a rule begin from it, in deviations: copies
// that begin at one place stay together for ever.
const jitter = 0.3

// guided runs EM from the rules. With knowledge=map the rules are conjugate
// priors too (section 5.2): a rule worth η cases pulls its unit as η rows
// around its centre, of its width, would:
//
//	c = (Σ r x + η μ)/(n + η), σ² = (SS + η (c − μ)² + η σ₀²)/(n + η)
func (f *fit) guided(ctx context.Context, s *sample, report func(float64)) (*mixture, *statistics, error) {
	units := len(f.expert.rules) * f.expert.copies
	e := newEM(s, units, f.Floor, f.M)
	m := f.expert.mixture(s.shape, e.overall, f.expert.copies)
	var pseudo *statistics
	if f.Knowledge == "map" {
		pseudo = m.statistics(weight(f.expert.cases))
		e.pseudo.add(pseudo)
	}
	clear(m.normal) // rows may move what the rules left open
	for at := range m.centre {
		m.width[at] = max(m.width[at], f.Floor)
		if f.expert.copies > 1 {
			m.centre[at] += jitter * f.random.NormFloat64()
		}
	}
	m.uncorrelated()
	for at, p := range m.share {
		m.share[at] = 0.9*p + 0.1*e.overall[at/units] // nothing is impossible before a row was seen
	}
	_, err := e.run(ctx, m, f.Iterations, f.Tolerance)
	report(1)
	return m, pseudo, err
}

// Tell returns the model with an expert's rules added as units of their own,
// worth the cases that they state: the incremental mixture of section 5.1,
// exact, and undone by forgetting the expert. NORMAL and sd in the rules refer
// to the rows that the model has learnt so far.
func (m *Model) Tell(ctx context.Context, rules *rule.Base, source learn.Source) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, b := range m.blocks {
		if b.source.ID == source.ID {
			return nil, fmt.Errorf("the model was told these rules already, as %s; forget them first", b.source.Name)
		}
	}
	e := &expert{source: source, knowledge: "mixture", copies: 1, schema: m.total.schema, columns: m.overall}
	if err := e.read(rules); err != nil {
		return nil, err
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, append(m.blocks[:len(m.blocks):len(m.blocks)], e.block(m.total.schema, m.total.target)))
}
