package rulenet

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

var (
	_ expert.Striker = (*Model)(nil)
	_ expert.Cutter  = (*Model)(nil)
	_ expert.Striker = (*Numbers)(nil)
	_ expert.Cutter  = (*Numbers)(nil)
)

// emptied is the network of the same rows without a unit.
func (m *Model) emptied() *Model {
	return &Model{
		settings: m.settings, seed: m.seed, rows: m.rows, incremental: m.incremental, coding: m.coding, counts: m.counts, bias: m.bias,
		steps: m.steps, stopped: m.stopped, share: m.share, taught: m.taught, repeats: m.repeats, reweighed: m.reweighed,
	}
}

// Strike returns the network without some rules: what they add to their class is
// nothing, and all other weights stay.
func (m *Model) Strike(ctx context.Context, ids ...string) (learn.Model, error) {
	units := slices.Clone(m.units)
	priors := len(m.base.Rules) - len(m.lines)
	for i, l := range m.lines {
		if !slices.Contains(ids, m.base.Rules[priors+i].ID()) {
			continue
		}
		weights := make([]float64, len(m.counts))
		if l.class != everyClass {
			copy(weights, units[l.unit].weights)
			weights[l.class] = 0
		}
		units[l.unit].weights = weights
	}
	left := m.emptied()
	for _, u := range units {
		if slices.ContainsFunc(u.weights, func(w float64) bool { return w != 0 }) {
			left.units = append(left.units, u)
		}
	}
	return left, left.compile(ctx)
}

// Cut returns the network of so many units, which Excerpt chooses and fits.
func (m *Model) Cut(ctx context.Context, top int) (learn.Model, error) {
	left, _, err := m.cut(ctx, rule.Budget{Top: top})
	if err != nil {
		return nil, err
	}
	return left, left.compile(ctx)
}

// Strike returns the network without what some rules add.
func (m *Numbers) Strike(ctx context.Context, ids ...string) (learn.Model, error) {
	left := m.emptied()
	for i := range m.units {
		if !slices.Contains(ids, m.base.Rules[i].ID()) {
			left.units = append(left.units, m.units[i])
		}
	}
	return left, left.compile(ctx)
}

// Cut returns the network of so many units, which Excerpt chooses and solves
// again.
func (m *Numbers) Cut(ctx context.Context, top int) (learn.Model, error) {
	left, _, err := m.cut(ctx, rule.Budget{Top: top})
	return left, err
}

// emptied is the network of the same rows without a unit.
func (m *Numbers) emptied() *Numbers {
	left := *m
	left.units, left.base, left.predictor, left.matchers = nil, nil, nil, nil
	return &left
}

// Strike returns the network as it is to be read, without some rules.
func (m *Living) Strike(ctx context.Context, ids ...string) (learn.Model, error) {
	net, err := m.withRows(ctx)
	if err != nil { // without rows that it could be cut by
		if net, err = m.written(); err != nil {
			return nil, err
		}
	}
	return net.Strike(ctx, ids...)
}

// Cut returns the network of so many units, which Excerpt chooses and fits.
func (m *Living) Cut(ctx context.Context, top int) (learn.Model, error) {
	net, err := m.withRows(ctx)
	if err != nil {
		return nil, err
	}
	return net.Cut(ctx, top)
}
