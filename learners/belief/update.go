package belief

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Relearning says how the network is learnt again from the rows that are kept.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "network", Settings: m.lesson.Settings,
		Without: "this network kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn:   func(ctx context.Context, rows *kept.Rows) (learn.Model, error) { return learnRows(ctx, rows, m.lesson) },
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if m.kept != nil {
		return &counting{m, source, m.kept}, nil
	}
	return kept.Begin(m, source)
}

// Merge returns the network of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	m, others, err := alike(m, others)
	if err != nil {
		return nil, err
	}
	if m.kept != nil {
		return m.mergeCounts(ctx, others)
	}
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the network was learnt from.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows, and the experts who told rules.
func (m *Model) Sources() []learn.Source {
	if m.kept != nil {
		return append(m.kept.total.Sources(), m.Experts()...)
	}
	return append(kept.Sources(m), m.Experts()...)
}

// Forget returns the network of the other sources' rows, and of the other experts'
// rules.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	rows, left, err := m.unspoken(ids)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == len(ids):
	case len(rows) == 0:
		return m.saying(ctx, left)
	default:
		to, err := m.saying(ctx, left)
		if err != nil {
			return nil, err
		}
		return to.(*Model).Forget(ctx, rows...)
	}
	if m.kept != nil {
		return m.forgetCounts(ctx, ids)
	}
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the rows are kept, or their counts.
func (m *Model) Promise() learn.Promise {
	if m.kept != nil {
		return learn.Promise{Contract: learn.Exact}
	}
	return kept.Promise(m)
}

// Shed returns the network without the rows that it was learnt from.
func (m *Model) Shed() (learn.Model, bool, error) {
	l := m.lesson
	l.Settings.Keep = "nothing"
	return &Model{lesson: l, schema: m.schema, target: m.target, weight: m.weight, net: m.net, counts: m.counts, grown: m.grown}, m.rows != nil || m.kept != nil, nil
}
