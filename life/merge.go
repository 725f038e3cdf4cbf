package life

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Merged is the model of two that learnt apart, and where they disagree.
type Merged struct {
	Learnt
	Conflicts []Conflict `json:"conflicts"`
}

// Merge joins two models of the store, and keeps the result under a name.
// Rules that experts told one of them are weighed against the rows of both. If
// the name is that of one of them, nothing that it learns meanwhile is lost.
func (h *Home) Merge(ctx context.Context, first, second, name string, at Elsewhere) (*Merged, error) {
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	var x *Part
	var conflicts []Conflict
	join := func(h *Home, _ *Part) (_ *step, err error) {
		s := &step{}
		s.model, s.record, x, conflicts, err = h.merge(ctx, first, second, at)
		return s, err
	}
	if name == first || name == second {
		l, err := h.change(ctx, name, join)
		if err != nil {
			return nil, err
		}
		l.Before = x.Version
		return &Merged{*l, conflicts}, nil
	}
	s, err := join(h, nil)
	if err != nil {
		return nil, err
	}
	v, err := h.Store.Save(ctx, name, s.model, s.record)
	if err != nil {
		return nil, err
	}
	return &Merged{*h.newLearnt(&Part{Model: s.model, Name: name, Version: v, Versions: []store.Version{v}}, x.Version), conflicts}, nil
}

// merge returns the model of two, the record of it, the first of them, and
// where they disagree.
func (h *Home) merge(ctx context.Context, first, second string, at Elsewhere) (learn.Model, store.Version, *Part, []Conflict, error) {
	record := store.Version{Kind: store.Merge, At: h.now(), By: h.Who}
	x, err := h.Load(first)
	if err != nil {
		return nil, record, nil, nil, err
	}
	y, err := h.Load(second)
	if err != nil {
		return nil, record, x, nil, err
	}
	if _, ok := learn.Ability[learn.Merger](x.Model); !ok {
		return nil, record, x, nil, cannot(x.Version.Learner, "be merged", func(c learn.Can) bool { return c.Merge })
	}
	conflicts, clashes, err := mergeConflicts(ctx, x, y)
	if err != nil {
		return nil, record, x, nil, err
	}
	h.warnTwice(x, y)
	if err := h.shareRules(ctx, x, y, at); err != nil {
		return nil, record, x, nil, err
	}
	bar, done := h.progress("merging")
	defer done()
	one, other := expert.Mergeable(x.Model, y.Model), expert.Mergeable(y.Model, x.Model)
	m, err := one.(learn.Merger).Merge(learn.WithProgress(ctx, bar), other)
	if err != nil {
		return nil, record, x, nil, err
	}
	record.Source = store.Source{Name: first + " + " + second, Rows: y.Version.Rows + x.Version.Rows}
	record.Seed, record.Settings = x.Version.Seed, x.Version.Settings
	record.History = append(slices.Clip(live(x.Model, x.Versions)), live(y.Model, y.Versions)...)
	said := newClashes(clashes)
	if len(conflicts) > 0 {
		speaker, err := Speaker(ctx, &Part{Model: m, Words: x.Words})
		if err != nil {
			return nil, record, x, nil, err
		}
		said = append(newConflicts(conflicts, speaker), said...)
	}
	return m, record, x, said, nil
}

// warnTwice says which rows a merged model counts twice.
func (h *Home) warnTwice(x, y *Part) {
	if x.Name == y.Name {
		h.note(fmt.Sprintf("%v and %v are versions of one model: what both have learnt counts twice", x.Version, y.Version))
		return
	}
	for _, v := range live(x.Model, x.Versions) {
		same := func(w store.Version) bool { return w.Kind == v.Kind && w.Source.Hash == v.Source.Hash }
		if v.Source.Hash != "" && v.Kind != store.Tell && slices.ContainsFunc(live(y.Model, y.Versions), same) {
			h.note(fmt.Sprintf("both have learnt %s: its rows count twice", v.Source.Name))
		}
	}
}

// mergeConflicts lists where two models, or their experts, disagree: rules, and
// units of a mixture.
func mergeConflicts(ctx context.Context, x, y *Part) ([]knowledge.Conflict, []knowledge.Clash, error) {
	schema, err := table.Union(x.Schema(), y.Schema())
	if err != nil {
		return nil, nil, err
	}
	xLearnt, xTold, err := knowledge.Of(x.Model)
	if err != nil {
		return nil, nil, err
	}
	yLearnt, yTold, err := knowledge.Of(y.Model)
	if err != nil {
		return nil, nil, err
	}
	var clashes []knowledge.Clash
	if xLearnt != nil && yLearnt != nil {
		clashes = knowledge.Clashes(xLearnt.Units, yLearnt.Units)
	}
	conflicts := append(knowledge.Conflicts(xTold, yTold, schema), knowledge.Conflicts(xLearnt, yLearnt, schema)...)
	var rows []learn.Learnt
	for _, p := range []*Part{x, y} {
		k, ok := learn.Ability[learn.Keeper](p.Model)
		if !ok {
			return conflicts, clashes, nil
		}
		kept, err := k.Kept(ctx)
		if err != nil {
			return nil, nil, err
		}
		if kept == nil {
			return conflicts, clashes, nil
		}
		for _, l := range kept {
			if l.Table, _, err = table.Conform(l.Table, schema, false); err != nil {
				return nil, nil, err
			}
			rows = append(rows, l)
		}
	}
	if x.Target() != learn.NoTarget {
		knowledge.Decide(conflicts, rows, schema, schema.Index(x.Schema().Attributes[x.Target()].Name))
	}
	return conflicts, clashes, nil
}

// shareRules tells each model the rules that only the other was told.
func (h *Home) shareRules(ctx context.Context, x, y *Part, at Elsewhere) error {
	if _, err := table.Union(x.Schema(), y.Schema()); err != nil {
		return err
	}
	tell := func(to, from *Part) error {
		told, ok := from.Model.(*expert.Told)
		if !ok {
			return nil
		}
		var known []learn.Source
		if t, ok := to.Model.(*expert.Told); ok {
			known, _ = t.Experts()
		}
		experts, rules := told.Experts()
		for i, e := range experts {
			if hasSource(known, e.ID) {
				continue
			}
			rows, err := h.LearntRows(ctx, to, at)
			if err != nil {
				return fmt.Errorf("what the rows of %s say of %s's rules is not known: %w", to.Name, e.Name, err)
			}
			m, err := expert.Tell(ctx, to.Model, learn.Advice{Rules: rules[i], Expert: e}, rows...)
			if err != nil {
				return err
			}
			to.Model = m
		}
		return nil
	}
	if err := tell(x, y); err != nil {
		return err
	}
	return tell(y, x)
}
