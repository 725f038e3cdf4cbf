package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Relearning says how a policy is learnt again from its steps.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "policy", Settings: m.lesson.Settings.untold(),
		Without: "a policy that was learnt by acting keeps no rows, so it cannot %s; act on in its environment",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnSteps(ctx, rows, m.lesson)
		},
	}
}

// Promise is exact from a log. Acting goes on where it stopped, and rows have no
// part in it.
func (m *Model) Promise() learn.Promise { return kept.Promise(m) }

// Sources lists the sources of a log; of one who has acted, those who gave advice.
func (m *Model) Sources() []learn.Source {
	if m.acted != nil {
		return m.acted.advisers()
	}
	return append(kept.Sources(m), m.tellers()...)
}

// untold are the settings without advice, and without what the rows chose, both of
// which may differ between models of one kind.
func (s settings) untold() settings {
	if s.Told = ""; s.Open {
		s.Gamma = 0
	}
	return s
}

// Merge returns the policy of all logs, with all advice.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	all, err := m.lesson.Settings.toldPasts()
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			continue
		}
		theirs, err := o.lesson.Settings.toldPasts()
		if err != nil {
			return nil, err
		}
		for _, p := range theirs {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	whole := *m
	if err := whole.lesson.Settings.tell(all); err != nil {
		return nil, err
	}
	return kept.Merge(ctx, &whole, others...)
}

// Forget returns the policy of the other sources' logs, or without the advice of some.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if m.acted != nil && len(m.acted.advisers()) > 0 {
		return m.unadvised(ctx, ids)
	}
	left, rows, err := m.unadvisedLog(ctx, ids)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && len(ids) > 0 {
		return left, nil
	}
	return kept.Forget(ctx, left, rows...)
}

// Begin returns an update with more of a log.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	if err := m.Relearning().Need("learn rows"); err != nil {
		return nil, err
	}
	known, err := m.rows.Table(context.Background())
	if err != nil {
		return nil, err
	}
	return &update{model: m, schema: m.schema, settings: m.lesson.Settings, target: m.target, gathering: m.rows.Gather(source, m.target, known.Schema)}, nil
}

// update gathers steps. The last episode waits until the next one begins.
type update struct {
	model     *Model
	schema    *table.Schema
	settings  settings
	target    int
	gathering *kept.Gathering
	pending   *table.Table
}

// Add gathers the steps of a table.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(u.schema, t.Schema); err != nil {
		return err
	}
	if t.Rows() == 0 {
		return ctx.Err()
	}
	if u.settings.Sequence == "" {
		return u.gather(ctx, t)
	}
	if t.Sequence == nil {
		return fmt.Errorf("the log has episodes by column %q, and these rows have none", u.settings.Sequence)
	}
	if p := u.pending; p != nil {
		u.pending = nil
		if p.SequenceNames[p.Sequence[0]] != t.SequenceNames[t.Sequence[0]] {
			if err := u.gather(ctx, p); err != nil {
				return err
			}
		} else {
			rest, err := sameEpisode(p, t)
			if err != nil {
				return err
			}
			t = rest
		}
	}
	cut := t.Rows()
	for cut > 0 && t.Sequence[cut-1] == t.Sequence[t.Rows()-1] {
		cut--
	}
	last := make([]int, 0, t.Rows()-cut)
	for row := cut; row < t.Rows(); row++ {
		last = append(last, row)
	}
	if cut > 0 {
		if err := u.gather(ctx, t.Slice(0, cut)); err != nil {
			return err
		}
	}
	u.pending = t.Select(last)
	u.pending.Schema = table.CopySchema(t.Schema)
	u.pending.SequenceNames = append([]string(nil), t.SequenceNames...)
	return nil
}

// sameEpisode puts rows before those of a table that go on with their episode.
func sameEpisode(before, t *table.Table) (*table.Table, error) {
	if before.Weights == nil && t.Weights != nil || before.Weights != nil && t.Weights == nil {
		return nil, errors.New("one part of an episode has weights, and the other none")
	}
	number := make([]int32, before.Rows())
	for i := range number {
		number[i] = t.Sequence[0]
	}
	renumbered, err := before.InSequence(t.Schema.Sequence, number, t.SequenceNames)
	if err != nil {
		return nil, err
	}
	return table.Concat(renumbered, t)
}

// gather takes whole episodes in.
func (u *update) gather(ctx context.Context, t *table.Table) error {
	steps, err := u.settings.steps(t, u.target)
	if err != nil {
		return err
	}
	return u.gathering.Add(ctx, steps)
}

// Freeze learns all steps.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if p := u.pending; p != nil {
		u.pending = nil
		if err := u.gather(ctx, p); err != nil {
			return nil, err
		}
	}
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnSteps(ctx, rows, u.model.lesson)
}
