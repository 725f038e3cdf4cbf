package experts

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Relearning says how the model is made again of the rows that are kept.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "mixture of experts", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) { return learnRows(ctx, rows, m.lesson) },
	}
}

// Begin starts to take in more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the model of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the model of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}
