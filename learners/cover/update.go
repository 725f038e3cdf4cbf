package cover

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Relearning says how the rules are learnt again from the rows that are kept.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "rule list", Settings: m.settings,
		Without: "this rule list kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.schema.Attributes[m.target].Name, m.seed, m.settings)
		},
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the rule list of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the rules were learnt from, nil if none are kept.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the rule list of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the rows are kept.
func (m *Model) Promise() learn.Promise { return kept.Promise(m) }
