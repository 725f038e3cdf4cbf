package neuraltree

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

// needRows returns an error if the model kept no rows.
func (m *Model) needRows(what string) error {
	if m.rows == nil {
		return fmt.Errorf("this tree kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows", what)
	}
	return nil
}

// Kept returns the rows that the model keeps, nil with keep=nothing.
func (m *Model) Kept() *learn.Rows { return m.rows }

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if err := m.needRows("learn more"); err != nil {
		return nil, err
	}
	return m.rows.Begin(source, m, m.relearn), nil
}

func (m *Model) relearn(ctx context.Context, rows *learn.Rows) (learn.Model, error) {
	return learnRows(ctx, rows, m.schema.Attributes[m.target].Name, m.seed, m.settings)
}

// Merge returns the tree of both models' rows.
func (m *Model) Merge(ctx context.Context, other learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o, ok := other.(*Model)
	if !ok {
		return nil, fmt.Errorf("a neural tree cannot be merged with a model of %s; merge models of one learner", other.Learner())
	}
	for _, each := range []*Model{m, o} {
		if err := each.needRows("be merged"); err != nil {
			return nil, err
		}
	}
	if a, b := m.schema.Attributes[m.target].Name, o.schema.Attributes[o.target].Name; a != b {
		return nil, fmt.Errorf("one tree predicts %q and the other %q; merge models of one target", a, b)
	}
	if m.settings != o.settings {
		return nil, fmt.Errorf("the two trees were learnt with different settings; learn one of them again with the other's")
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

// Forget returns the tree of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.needRows("forget"); err != nil {
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
