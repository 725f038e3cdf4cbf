package rulenet

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Relearning says how the rule network is learnt again from the rows it keeps.
func (m *Model) Relearning() kept.Relearning {
	keeps := "keeps no rows"
	if m.incremental != nil {
		keeps = "keeps no sources apart"
	}
	return kept.Relearning{
		Rows: m.rows, Noun: "rule network", Settings: m.settings,
		Without: "this network was learnt with update=" + m.settings.Update + ", which " + keeps + ", so it cannot %s; learn it again with update=exact",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.coding.schema.Attributes[m.coding.target].Name, m.seed, m.settings)
		},
	}
}

// Begin returns a private copy to add rows of one source to. With
// update=exact the network is learnt again from all kept rows when it is
// frozen; with update=published each Add runs the incremental search.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if m.incremental != nil {
		return newIncrementalUpdate(m, table.NewVocabulary(m.coding.schema, nil)), nil
	}
	return kept.Begin(m, source)
}

// Merge returns the rule network of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	if slices.ContainsFunc(others, func(o learn.Model) bool { _, lives := o.(*Living); return lives }) {
		s, err := stateOf(ctx, m)
		if err != nil {
			return nil, err
		}
		return (&Living{s: s}).Merge(ctx, others...)
	}
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the rule network was learnt from, nil if it keeps none.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the rule network of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the network keeps its rows.
func (m *Model) Promise() learn.Promise { return kept.Promise(m) }

// Promise is that of the models: update=exact is exact, update=living bounded. What
// becomes of a network that may do either depends on its rows; few are learnt again.
func (l *Learner) Promise() learn.Promise {
	switch l.Update {
	case "", automaticUpdate, "exact":
		return learn.Promise{Contract: learn.Exact}
	case "living":
		return livingPromise
	}
	return learn.Promise{}
}
