package kept

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Gather returns the rows of a task for a learner that predicts columns of the
// kinds that it takes.
func Gather(ctx context.Context, task learn.Task, learner string, takes ...table.Kind) (*Rows, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	schema := task.Table.Schema
	if target == learn.NoTarget {
		return nil, fmt.Errorf("%s needs a column to predict; name one of %s", learner, strings.Join(schema.Names(), ", "))
	}
	if a := &schema.Attributes[target]; !slices.Contains(takes, a.Kind) {
		if slices.Contains(takes, table.Numeric) {
			return nil, fmt.Errorf("target %q is %v, and %s learns classes and numbers; choose another", a.Name, a.Kind, learner)
		}
		return nil, fmt.Errorf("target %q is %v, and %s learns classes; read it as nominal, or use a learner of numbers", a.Name, a.Kind, learner)
	}
	gathering := (&Rows{}).Gather(task.Source, target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	return gathering.Rows(ctx)
}

// Relearner is a model that keeps its rows and learns them again when more
// come, when it is merged and when it forgets. What is left for the model to
// do is to say how: Begin, Merge, Forget, Sources and Kept of this package are
// then its own methods.
type Relearner interface {
	learn.Model
	Relearning() Relearning
}

// Relearning is how a model is learnt again.
type Relearning struct {
	Rows   *Rows // nil: none are kept
	Failed error // why they could not be put in order
	// Noun is what the model is called, such as "tree", and Without why it
	// keeps no rows and what to do: "… so it cannot %s; …".
	Noun, Without string
	// Settings must be equal for models to be merged.
	Settings any
	Learn    func(ctx context.Context, rows *Rows) (learn.Model, error)
}

// Need returns an error unless rows are kept.
func (r Relearning) Need(what string) error {
	if r.Failed != nil {
		return r.Failed
	}
	if r.Rows == nil {
		return fmt.Errorf(r.Without, what)
	}
	return nil
}

// relearn learns rows again; there is no model beside an error.
func (r Relearning) relearn(ctx context.Context, rows *Rows) (learn.Model, error) {
	m, err := r.Learn(ctx, rows)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Begin returns an update of a model. Adding only gathers; freezing learns
// again, once for all rows.
func Begin(m Relearner, source learn.Source) (learn.Update, error) {
	r := m.Relearning()
	if err := r.Need("learn more rows"); err != nil {
		return nil, err
	}
	return &relearning{m.Schema(), r.Rows.Gather(source, m.Target(), m.Schema()), r.relearn}, nil
}

type relearning struct {
	schema    *table.Schema // of the model
	gathering *Gathering
	relearn   func(ctx context.Context, rows *Rows) (learn.Model, error)
}

func (u *relearning) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(u.schema, t.Schema); err != nil {
		return err
	}
	return u.gathering.Add(ctx, t)
}

func (u *relearning) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return u.relearn(ctx, rows)
}

// Merge returns the model of all models' rows, learnt once.
func Merge(ctx context.Context, m Relearner, others ...learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	first := m.Relearning()
	if err := first.Need("be merged"); err != nil {
		return nil, err
	}
	all := []*Rows{first.Rows}
	for _, other := range others {
		o, ok := other.(Relearner)
		if !ok || other.Learner() != m.Learner() {
			return nil, fmt.Errorf("a %s cannot be merged with a model of %s; merge models of one learner", first.Noun, other.Learner())
		}
		r := o.Relearning()
		if err := r.Need("be merged"); err != nil {
			return nil, err
		}
		if a, b := targetOf(m), targetOf(o); a != b {
			return nil, fmt.Errorf("one %s predicts %q and the other %q; merge models of one target", first.Noun, a, b)
		}
		if first.Settings != r.Settings {
			return nil, fmt.Errorf("the %ss were learnt with different settings; learn one of them again with the other's", first.Noun)
		}
		all = append(all, r.Rows)
	}
	rows, err := MergeRows(ctx, all...)
	if err != nil {
		return nil, err
	}
	return first.relearn(ctx, rows)
}

func targetOf(m learn.Model) string {
	if m.Target() == learn.NoTarget {
		return ""
	}
	return m.Schema().Attributes[m.Target()].Name
}

// Forget returns the model of the other sources' rows.
func Forget(ctx context.Context, m Relearner, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := m.Relearning()
	if err := r.Need("forget"); err != nil {
		return nil, err
	}
	rows, err := r.Rows.Forget(ids...)
	if err != nil {
		return nil, err
	}
	if len(rows.Sources()) == 0 {
		return nil, fmt.Errorf("no source would be left to learn from; delete the model instead")
	}
	return r.relearn(ctx, rows)
}

// Promise is exact where rows are kept, and nothing where none are.
func Promise(m Relearner) learn.Promise {
	if m.Relearning().Rows == nil {
		return learn.Promise{}
	}
	return learn.Promise{Contract: learn.Exact}
}

// Sources lists the sources of the rows that are kept.
func Sources(m Relearner) []learn.Source {
	if r := m.Relearning(); r.Rows != nil {
		return r.Rows.Sources()
	}
	return nil
}

// Kept returns the rows that are kept, in the model's schema; nil if none are.
func Kept(ctx context.Context, m Relearner) ([]learn.Learnt, error) {
	if r := m.Relearning(); r.Rows != nil {
		return r.Rows.Learnt(ctx, m.Schema())
	}
	return nil, nil
}
