package shards

import (
	"context"
	"fmt"
	"maps"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/learners/rulenet"
	"github.com/accrete-ml/accrete/table"
)

// learner is the plan's learner, with its settings. Rule networks keep the rows that
// were gathered, so that the rules can be counted over all others.
func (p *Plan) learner() (learn.Learner, error) {
	settings := p.Settings
	if p.Learner == rulenet.Name && settings["update"] == "" {
		settings = maps.Clone(settings)
		if settings == nil {
			settings = map[string]string{}
		}
		settings["update"] = "exact"
	}
	return learn.New(p.Learner, settings)
}

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

// streams reports whether a learner takes the plan's rows as they come, and keeps
// none of them.
func (p *Plan) streams(l learn.Learner) (bool, error) {
	starter, ok := l.(learn.Starter)
	if !ok {
		return false, nil
	}
	o, err := p.options()
	if err != nil {
		return false, err
	}
	columns := make([]table.Column, len(o.Schema.Attributes))
	for i, a := range o.Schema.Attributes {
		if columns[i].Floats = []float64{}; a.Kind == table.Nominal {
			columns[i] = table.Column{Codes: []int32{}}
		}
	}
	t, err := table.New(o.Schema, columns, nil)
	if err != nil {
		return false, err
	}
	t, target, err := p.suited(t)
	if err != nil {
		return false, err
	}
	return !kept.Holds(starter, learn.Task{Table: t, Source: p.Source, Seed: p.Seed}.At(target)), nil
}

// sampled is the source of the rows that units are found in.
var sampled = learn.Source{ID: "sample", Name: "sample"}

// freshRows is after how many rows units that only some of them have are found.
const freshRows = 1 << 17

// moveShard has a shard's rows move the units of the plan's model, and leaves out
// what the sample brought.
func moveShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	m, err := learn.Decode(p.Model)
	if err != nil {
		return nil, err
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	begin := func() (learn.Update, error) {
		u, ok := learn.Ability[learn.Updater](m)
		if !ok {
			return nil, fmt.Errorf("models of %s are not updated", m.Learner())
		}
		return u.Begin(p.Source)
	}
	u, err := begin()
	if err != nil {
		return nil, err
	}
	some, since := false, 0
	if err := each(ctx, s, o, func(t *table.Table) error {
		t, target, err := p.suited(t)
		if err != nil {
			return err
		}
		some = some || t.Rows() > 0 && (target == learn.NoTarget || answered(t, target))
		if err := u.Add(ctx, t); err != nil {
			return err
		}
		if since += t.Rows(); since < freshRows {
			return nil
		}
		since = 0
		if m, err = u.Freeze(ctx); err == nil {
			u, err = begin()
		}
		return err
	}); err != nil || !some {
		return nil, err
	}
	if m, err = u.Freeze(ctx); err != nil {
		return nil, err
	}
	forgetter, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return nil, fmt.Errorf("models of %s forget nothing", m.Learner())
	}
	if m, err = forgetter.Forget(ctx, sampled.ID); err != nil {
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
