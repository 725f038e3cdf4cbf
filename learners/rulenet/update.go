package rulenet

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

// Begin returns a private copy to add rows of one source to. With
// update=exact the network is learnt again from all kept rows when it is
// frozen; with update=published each Add runs the incremental search.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if m.incremental != nil {
		return newIncrementalUpdate(m, learn.NewVocabulary(m.coding.schema, nil)), nil
	}
	if err := m.needRows("learn more rows"); err != nil {
		return nil, err
	}
	return m.rows.Begin(source, m, m.relearn), nil
}

func (m *Model) relearn(ctx context.Context, rows *learn.Rows) (learn.Model, error) {
	again, err := learnRows(ctx, rows, m.coding.schema.Attributes[m.coding.target].Name, m.seed, m.settings)
	if err != nil {
		return nil, err
	}
	return again, nil
}

// needRows returns an error unless the model keeps its rows by source.
func (m *Model) needRows(what string) error {
	if m.rows == nil {
		return fmt.Errorf("this network was learnt with update=%s, which keeps no sources apart, so it cannot %s; learn it again with update=exact", m.settings.Update, what)
	}
	return nil
}

// Merge returns the network of both models' rows.
func (m *Model) Merge(ctx context.Context, other learn.Model) (learn.Model, error) {
	o, ok := other.(*Model)
	if !ok {
		return nil, fmt.Errorf("a rule network cannot be merged with a model of %s; merge models of one learner", other.Learner())
	}
	if err := m.needRows("be merged"); err != nil {
		return nil, err
	}
	if err := o.needRows("be merged"); err != nil {
		return nil, err
	}
	if a, b := m.conclusion(0).Column, o.conclusion(0).Column; a != b {
		return nil, fmt.Errorf("one network predicts %q and the other %q; merge models of one target", a, b)
	}
	if m.settings != o.settings {
		return nil, fmt.Errorf("the two networks were learnt with different settings; learn one of them again with the other's")
	}
	rows, err := m.rows.Merge(ctx, o.rows)
	if err != nil {
		return nil, err
	}
	return m.relearn(ctx, rows)
}

// Sources lists the sources of the rows that were kept.
func (m *Model) Sources() []learn.Source {
	if m.rows == nil {
		return nil
	}
	return m.rows.Sources()
}

// Forget returns the network of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := m.needRows("forget"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := m.rows.Forget(ids...)
	if err != nil {
		return nil, err
	}
	if len(rows.Sources()) == 0 {
		return nil, fmt.Errorf("no source would be left to learn from; delete the model instead")
	}
	return m.relearn(ctx, rows)
}

// Kept returns the rows that the network was learnt from, nil if it keeps none.
func (m *Model) Kept() *learn.Rows { return m.rows }
