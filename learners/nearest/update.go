package nearest

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Relearning says how the cases are learnt again from the rows.
func (m *Model) Relearning() kept.Relearning {
	packed, err := m.rows.all(context.Background(), m.cases)
	return kept.Relearning{
		Rows: packed, Noun: "case base", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			if err != nil {
				return nil, err
			}
			return learnRows(ctx, rows, m.lesson, nil)
		},
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) { return beginGrowth(m, source) }

// Ordered says that the order of rows counts.
func (m *Model) Ordered() bool { return m.lesson.Settings.Ties == byRow }

// begin is kept.Begin for rows that know their places.
func begin(m kept.Relearner, c *cases, source learn.Source) (learn.Update, error) {
	return &update{m, m.Relearning().Rows.Gather(source, m.Target(), m.Schema()), c.last(source.ID)}, nil
}

// update gathers more rows; freezing learns again, once for all.
type update struct {
	model     kept.Relearner
	gathering *kept.Gathering
	before    int // the place of the last row that came
}

func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(u.model.Schema(), t.Schema); err != nil {
		return err
	}
	p, err := placed(t, u.before)
	if err != nil {
		return err
	}
	if err := u.gathering.Add(ctx, p); err != nil {
		return err
	}
	u.before += t.Rows()
	return ctx.Err()
}

func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	m, err := u.model.Relearning().Learn(ctx, rows)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Merge returns the model of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return merge(ctx, m, others)
}

func (m *Model) caseBase() *cases { return m.cases }

// caseBased is a model with cases that know their places.
type caseBased interface {
	kept.Relearner
	caseBase() *cases
}

// merge is kept.Merge for rows that know their places: what a later model has of
// a source that is there already comes after it.
func merge(ctx context.Context, m caseBased, others []learn.Model) (learn.Model, error) {
	last := map[string]int{}
	note := func(c *cases) {
		for _, s := range c.named {
			last[s.ID] += c.last(s.ID)
		}
	}
	note(m.caseBase())
	moved := slices.Clone(others)
	for i, other := range others {
		o, ok := other.(caseBased)
		if !ok || o.Learner() != m.Learner() {
			continue // kept.Merge says what is wrong
		}
		rows, err := after(ctx, o, last)
		if err != nil {
			return nil, err
		}
		moved[i] = later{o, rows}
		note(o.caseBase())
	}
	return kept.Merge(ctx, m, moved...)
}

// later is a model whose rows have moved.
type later struct {
	kept.Relearner
	rows *kept.Rows
}

func (l later) Relearning() kept.Relearning {
	r := l.Relearner.Relearning()
	r.Rows = l.rows
	return r
}

// after returns a model's rows, those of sources that are known behind the last
// that is known.
func after(ctx context.Context, m caseBased, last map[string]int) (*kept.Rows, error) {
	rows := m.Relearning().Rows
	learnt, err := m.(learn.Keeper).Kept(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range learnt {
		if last[l.Source.ID] == 0 {
			continue
		}
		t, err := placed(l.Table, last[l.Source.ID])
		if err != nil {
			return nil, err
		}
		gathering := (&kept.Rows{}).Gather(l.Source, m.Target(), m.Schema())
		if err := gathering.Add(ctx, t); err != nil {
			return nil, err
		}
		moved, err := gathering.Rows(ctx)
		if err != nil {
			return nil, err
		}
		if rows, err = rows.Forget(l.Source.ID); err != nil {
			return nil, err
		}
		if rows, err = kept.MergeRows(ctx, rows, moved); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Forget returns the model of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Sources lists the sources of the cases.
func (m *Model) Sources() []learn.Source { return slices.Clone(m.cases.named) }

// Kept returns the cases of each source, in the order in which they came.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) {
	return keptInOrder(ctx, m.cases)
}

func keptInOrder(ctx context.Context, c *cases) ([]learn.Learnt, error) {
	of := make([][]int, len(c.named))
	for r, s := range c.source {
		of[s] = append(of[s], r)
	}
	learnt := make([]learn.Learnt, len(c.named))
	for s, rows := range of {
		slices.SortStableFunc(rows, func(a, b int) int { return int(c.place[a]) - int(c.place[b]) })
		learnt[s] = learn.Learnt{Source: c.named[s], Table: c.table.Select(rows)}
	}
	return learnt, ctx.Err()
}
