package concept

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Relearning says how the space is found again from the rows it keeps.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "version space", Settings: m.settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.schema.Attributes[m.target].Name, m.seed, m.settings)
		},
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the space of all models' rows: the hypotheses that are in
// every one of them.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the space was learnt from.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the space of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}
