package shards

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// learner is the plan's learner, with its settings.
func (p *Plan) learner() (learn.Learner, error) { return learn.New(p.Learner, p.Settings) }

// learnShard learns a shard as any machine would: start, add batch by batch,
// freeze. Of a shard without a row to learn from there is no model.
func learnShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	l, err := p.learner()
	if err != nil {
		return nil, err
	}
	starter, ok := l.(learn.Starter)
	if !ok {
		return nil, fmt.Errorf("%s does not start with no rows", p.Learner)
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	var u learn.Update
	some := false
	if err := each(ctx, s, o, func(t *table.Table) error {
		t, target, err := p.suited(t)
		if err != nil {
			return err
		}
		if u == nil {
			if u, err = starter.Start(learn.Task{Table: t.Slice(0, 0), Source: p.Source, Seed: p.Seed}.At(target)); err != nil {
				return err
			}
		}
		some = some || t.Rows() > 0 && (target == learn.NoTarget || answered(t, target))
		return u.Add(ctx, t)
	}); err != nil || !some {
		return nil, err
	}
	m, err := u.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	return learn.Encode(m)
}

// answered reports whether a row has an answer to learn from.
func answered(t *table.Table, target int) bool {
	c := t.Columns[target]
	for r := range t.Rows() {
		if c.Codes != nil && c.Codes[r] >= 0 || c.Codes == nil && !table.IsMissing(c.Floats[r]) {
			return true
		}
	}
	return false
}

// mergeModels merges the models of two parts: what they brought is one source's.
func mergeModels(ctx context.Context, _ *Plan, first, second []byte) ([]byte, error) {
	a, err := learn.Decode(first)
	if err != nil {
		return nil, err
	}
	b, err := learn.Decode(second)
	if err != nil {
		return nil, err
	}
	merger, ok := learn.Ability[learn.Merger](a)
	if !ok {
		return nil, fmt.Errorf("models of %s cannot be merged", a.Learner())
	}
	m, err := merger.Merge(ctx, b)
	if err != nil {
		return nil, err
	}
	return learn.Encode(m)
}
