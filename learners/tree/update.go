package tree

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

var _ learn.Keeper = (*Model)(nil)

// Relearning says how the tree is learnt again from the rows it keeps.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "tree", Settings: m.settings,
		Without: "this tree kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.schema.Attributes[m.target].Name, m.seed, m.settings)
		},
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the tree of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the tree was learnt from, nil if it keeps none.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the tree of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the tree keeps its rows.
func (m *Model) Promise() learn.Promise { return kept.Promise(m) }
