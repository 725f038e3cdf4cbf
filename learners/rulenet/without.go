package rulenet

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
)

// reweighSteps is how often classes' weights are fitted again without a
// source, all classes together: it is answered in a moment, and from weights
// that are nearly right a few of Newton's steps go nearly all the way.
const reweighSteps = 60

// Without returns the network's own rules, counted and weighed without the
// rows of some sources. Counts are exact. Weights are fitted again from where
// they are, by a few steps; rules that the other rows would have brought are
// not looked for, and rules that cover none of them leave. Where that cannot be
// done, or is not quicker, the network is learnt again.
func (m *Model) Without(ctx context.Context, ids ...string) (learn.Model, bool, error) {
	if m.rows == nil || m.settings.Weights != "calibrated" || m.share == 0 {
		again, err := m.Forget(ctx, ids...)
		return again, true, err
	}
	rest, err := m.rows.Forget(ids...)
	if err != nil {
		return nil, false, err
	}
	if len(rest.Sources()) == 0 {
		_, err := m.Forget(ctx, ids...) // says why not
		return nil, false, err
	}
	n := &Model{settings: m.settings, seed: m.seed, rows: rest, coding: m.coding, steps: m.steps, stopped: m.stopped, taught: m.taught, reweighed: true}
	if m.repeats != nil {
		n.repeats = &repeats{worth: m.repeats.worth}
	}
	w, err := n.trainingRows(ctx)
	if err != nil {
		return nil, false, err
	}
	n.counts = w.classWeights(w.weights)
	if err := w.reweigh(ctx, n, m); err != nil {
		return nil, false, err
	}
	return n, false, n.compile(ctx)
}

// reweigh gives a network the rules of another, weighed by the training's rows.
func (w *training) reweigh(ctx context.Context, m, from *Model) error {
	var units []*unit
	var rules []foundRule
	var tests []conjunction
	for i := range from.units {
		if u := &from.units[i]; sum(w.cover(u.rule)) > 0 {
			units, tests = append(units, u), append(tests, u.rule)
			rules = append(rules, foundRule{class: u.class, rule: u.rule, templates: u.templates, round: u.round})
		}
	}
	part, err := w.sampled(ctx, fitRows)
	if err != nil {
		return err
	}
	d, err := newDesign(ctx, part.examples, tests)
	if err != nil {
		return err
	}
	r := newRegression(d, d.weigh(part.weights))
	r.startFrom(units, from.bias)
	if err := r.fitCycles(ctx, from.share*w.lambda(r.total), fitPrecision, max(2, reweighSteps/len(r.present))); err != nil {
		return err
	}
	w.takeWeights(m, rules, r)
	m.share = from.share
	return nil
}

// startFrom takes over the weights of a network's units, and its biases. With
// two classes the first has none: what it gains is the other's loss.
func (r *regression) startFrom(units []*unit, bias []float64) {
	for a, c := range r.present {
		for u, of := range units {
			r.weights[a][u] = of.weights[c]
		}
		if !math.IsInf(bias[c], 0) {
			r.weights[a][r.units] = bias[c]
		}
	}
	if len(r.present) == 2 {
		for u, x := range r.weights[0] {
			r.weights[1][u] -= x
			r.weights[0][u] = 0
		}
	}
	r.score()
}
