package ensemble

import (
	"cmp"
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// poolUpdate is rows that are to be judged by, and then learnt.
type poolUpdate struct {
	pool    *Pool
	source  learn.Source
	pending *kept.Gathering
}

// Begin returns a private copy to add rows to.
func (m *Pool) Begin(source learn.Source) (learn.Update, error) {
	return &poolUpdate{pool: m, source: source}, nil
}

// Add keeps the rows until Freeze.
func (u *poolUpdate) Add(ctx context.Context, t *table.Table) error {
	if err := table.NewVocabulary(u.pool.schema, nil).Check(t.Schema); err != nil {
		return err
	}
	if t.Rows() == 0 {
		return ctx.Err()
	}
	g := u.pending
	if g == nil {
		g = (&kept.Rows{}).Gather(u.source, u.pool.target, u.pool.schema)
	}
	if err := g.Add(ctx, t); err != nil {
		return err
	}
	u.pending = g
	return nil
}

// Freeze judges the members by what was added, and then lets those that can
// learn it.
func (u *poolUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if u.pending == nil {
		return u.pool, nil
	}
	rows, err := u.pending.Rows(ctx)
	if err != nil {
		return nil, err
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	next := *u.pool
	next.rows += weightOf(t, nil)
	next.score.Mistakes = slices.Clone(next.score.Mistakes)
	var all trial
	if err := u.pool.judge(ctx, t, &next.score, &all); err != nil {
		return nil, err
	}
	next.take(&all)
	schema, err := table.Union(u.pool.schema, t.Schema)
	if err != nil {
		return nil, err
	}
	models := make([]learn.Model, len(next.members))
	errs := make([]error, len(models))
	err = learn.Each(ctx, len(models), func(i int) {
		models[i], errs[i] = fold(learn.WithProgress(ctx, func(float64) {}), next.members[i].model, u.source, t)
	})
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	if err != nil {
		return nil, err
	}
	pool, err := next.with(models, schema)
	if err != nil {
		return nil, err
	}
	u.pool, u.pending = pool, nil
	return pool, nil
}

// fold lets a model learn rows, if it can.
func fold(ctx context.Context, m learn.Model, source learn.Source, t *table.Table) (learn.Model, error) {
	updater, ok := learn.Ability[learn.Updater](m)
	if !ok {
		return m, nil
	}
	u, err := updater.Begin(source)
	if err != nil {
		return nil, err
	}
	grown, _, err := table.Conform(t, m.Schema().Opened(t.Schema), true)
	if err != nil {
		return nil, err
	}
	if err := u.Add(ctx, grown); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}
