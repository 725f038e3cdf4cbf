package neuraltree

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// needRows returns an error if the model kept no rows.
func (m *Model) needRows(what string) error {
	if m.rows == nil {
		return fmt.Errorf("this tree kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows", what)
	}
	return nil
}

// update is rows of one source on top of a model's.
type update struct {
	model     *Model
	gathering *learn.Gathering
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if err := m.needRows("learn more"); err != nil {
		return nil, err
	}
	return &update{m, m.rows.Gather(source, m.target, m.schema)}, nil
}

// Add takes rows in. It does not learn yet: that is Freeze's work, once for
// all rows.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	want, have := u.model.schema.Attributes, t.Schema.Attributes
	if len(want) != len(have) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(have), len(want))
	}
	for i := range want {
		if want[i].Name != have[i].Name || want[i].Kind != have[i].Kind {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", i+1, have[i].Name, have[i].Kind, want[i].Name, want[i].Kind)
		}
		if n := len(want[i].Values); len(have[i].Values) < n || !slices.Equal(have[i].Values[:n], want[i].Values) {
			return fmt.Errorf("values of column %q do not begin with the model's; conform the table to the model's schema first", want[i].Name)
		}
	}
	return u.gathering.Add(ctx, t)
}

// Freeze grows the tree of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return u.model.relearn(ctx, rows)
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
