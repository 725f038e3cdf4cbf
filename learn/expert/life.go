package expert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Begin starts to learn more rows.
func (m *Told) Begin(source learn.Source) (learn.Update, error) {
	inner, err := ability[learn.Updater](m, "learn more rows")
	if err != nil {
		return nil, err
	}
	u, err := inner.Begin(source)
	if err != nil {
		return nil, err
	}
	more := newTally(source)
	if i := slices.IndexFunc(m.tallies, func(t *tally) bool { return t.source.ID == source.ID }); i >= 0 {
		more = m.tallies[i].clone()
	}
	return &toldUpdate{told: m, update: u, tally: more}, nil
}

type toldUpdate struct {
	told   *Told
	update learn.Update
	tally  *tally

	schema *table.Schema // that the rules are compiled for
	values int           // and how many values it had
	fires  []*rule.Matcher
}

// Add lets the model learn the rows, and counts which rules they fire.
func (u *toldUpdate) Add(ctx context.Context, t *table.Table) error {
	own, err := u.told.learnable(t)
	if err != nil {
		return err
	}
	if err := u.update.Add(ctx, own); err != nil {
		return err
	}
	values := 0
	for i := range t.Schema.Attributes {
		values += len(t.Schema.Attributes[i].Values)
	}
	if t.Schema != u.schema || values != u.values {
		u.schema, u.values, u.fires = t.Schema, values, u.told.watch(t.Schema)
	}
	return u.tally.add(ctx, u.fires, t, u.told.Target())
}

// Consolidate has the model within decide anew what it has learnt, if it can.
func (u *toldUpdate) Consolidate(ctx context.Context) error { return consolidate(ctx, u.update) }

// consolidate has what an update learns decided anew, if it can be.
func consolidate(ctx context.Context, u learn.Update) error {
	c, ok := u.(interface {
		Consolidate(ctx context.Context) error
	})
	if !ok {
		return fmt.Errorf("there is nothing to consolidate in a model of this kind; models that live have that, such as those of rulenet with update=living")
	}
	return c.Consolidate(ctx)
}

// Freeze returns the model of all rows so far with the same rules.
func (u *toldUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	inner, err := u.update.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	m := &Told{inner: inner, rules: u.told.rules, tallies: slices.Clone(u.told.tallies)}
	i := slices.IndexFunc(m.tallies, func(t *tally) bool { return t.source.ID == u.tally.source.ID })
	if i < 0 {
		m.tallies = append(m.tallies, u.tally.clone())
	} else {
		m.tallies[i] = u.tally.clone()
	}
	return m.ready(), nil
}

// ErrToldOthers is wrapped by Merge if the models were told different
// rules: what the rows of one say of the rules of the other is not known. Tell
// each the other's rules first.
var ErrToldOthers = errors.New("the two models were told different rules")

// Merge returns the model of all models' rows. All must have been told the same
// rules, which count once.
func (m *Told) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	inner, err := ability[learn.Merger](m, "be merged")
	if err != nil {
		return nil, err
	}
	within, told := make([]learn.Model, len(others)), make([]*Told, len(others))
	for i, other := range others {
		o, ok := other.(*Told)
		if !ok || !m.toldTheSame(o) {
			return nil, fmt.Errorf("%w; tell each the other's rules first", ErrToldOthers)
		}
		within[i], told[i] = o.inner, o
	}
	merged, err := inner.Merge(ctx, within...)
	if err != nil {
		return nil, err
	}
	all := &Told{inner: merged, rules: m.rules, tallies: slices.Clone(m.tallies)}
	for _, o := range told {
		all.absorb(o)
	}
	return all.ready(), nil
}

// absorb adds the tallies of a model that was told the same rules, maybe in
// another order.
func (m *Told) absorb(o *Told) {
	place := make([]int, len(o.rules))
	taken := make([]bool, len(m.rules))
	for i := range o.rules {
		place[i] = slices.IndexFunc(m.rules, func(r toldRule) bool { return r.equal(&o.rules[i]) })
		for taken[place[i]] {
			place[i]++
		}
		taken[place[i]] = true
	}
	for _, t := range o.tallies {
		i := slices.IndexFunc(m.tallies, func(have *tally) bool { return have.source.ID == t.source.ID })
		into := newTally(t.source)
		if i >= 0 {
			into = m.tallies[i].clone()
		}
		into.absorb(t, func(fired string) string { return placed(fired, place, m.width()) })
		if i >= 0 {
			m.tallies[i] = into
		} else {
			m.tallies = append(m.tallies, into)
		}
	}
}

func (r *toldRule) equal(o *toldRule) bool {
	return r.expert.ID == o.expert.ID && r.String() == o.String()
}

// toldTheSame reports whether two models were told the same rules by the same
// experts, in whatever order the experts came.
func (m *Told) toldTheSame(o *Told) bool {
	if len(m.rules) != len(o.rules) {
		return false
	}
	keys := func(m *Told) []string {
		all := make([]string, len(m.rules))
		for i := range m.rules {
			all[i] = m.rules[i].expert.ID + " " + m.rules[i].String()
		}
		return slices.Sorted(slices.Values(all))
	}
	return slices.Equal(keys(m), keys(o))
}

// placed returns the marks of fired rules with each at its new place; those
// without one (-1) are left out.
func placed(fired string, place []int, width int) string {
	marks := make([]byte, width)
	for i, to := range place {
		if to >= 0 && has([]byte(fired), i) {
			marks[to/8] |= 1 << (to % 8)
		}
	}
	return string(marks)
}

// UnitStandings returns how the WHEN … EXPECT rules that the model itself took
// in fare.
func (m *Told) UnitStandings() []UnitStanding {
	inner, err := ability[Stander](m, "")
	if err != nil {
		return nil
	}
	return inner.UnitStandings()
}

// Experts lists who told the model rules, with the rules of each.
func (m *Told) Experts() (experts []learn.Source, rules []*rule.Base) {
	for i := range m.rules {
		r := &m.rules[i]
		if n := len(experts); n == 0 || experts[n-1].ID != r.expert.ID {
			experts, rules = append(experts, r.expert), append(rules, &rule.Base{})
		}
		last := rules[len(rules)-1]
		last.Rules = append(last.Rules, r.Rule)
	}
	return experts, rules
}

// Sources lists the sources of rows, if the model keeps them apart, and then
// the experts.
func (m *Told) Sources() []learn.Source {
	var sources []learn.Source
	if inner, ok := learn.Ability[learn.Forgetter](m.inner); ok {
		sources = slices.Clone(inner.Sources())
	}
	experts, _ := m.Experts()
	return append(sources, experts...)
}

// Drop returns the model without one rule of an expert's, by its id, and whether
// it was there. Who told several keeps the others.
func (m *Told) Drop(id string) (learn.Model, bool) {
	at := slices.IndexFunc(m.rules, func(r toldRule) bool { return r.ID() == id })
	if at < 0 {
		return m, false
	}
	return m.only(func(i int) bool { return i != at }, m.inner, nil), true
}

// Weighing returns the model with another worth of one rule, by its id, and
// whether it was there.
func (m *Told) Weighing(id string, worth float64) (learn.Model, bool) {
	at := slices.IndexFunc(m.rules, func(r toldRule) bool { return r.ID() == id })
	if at < 0 || !(worth >= 0 && worth <= mostWorth) {
		return m, false
	}
	rules := slices.Clone(m.rules)
	rules[at].Worth = &worth
	return (&Told{inner: m.inner, rules: rules, tallies: m.tallies}).ready(), true
}

// only returns the model with some of the rules, around a model within that
// has forgotten some sources.
func (m *Told) only(stays func(i int) bool, inner learn.Model, forgotten []string) learn.Model {
	left := &Told{inner: inner}
	place := make([]int, len(m.rules))
	for i := range m.rules {
		place[i] = -1
		if stays(i) {
			place[i] = len(left.rules)
			left.rules = append(left.rules, m.rules[i])
		}
	}
	if len(left.rules) == 0 {
		return unbelieving(left.inner)
	}
	for _, t := range m.tallies {
		if !slices.Contains(forgotten, t.source.ID) {
			kept := newTally(t.source)
			kept.absorb(t, func(fired string) string { return placed(fired, place, left.width()) })
			left.tallies = append(left.tallies, kept)
		}
	}
	return left.ready()
}

// Forget returns the model without some sources of rows, or experts.
func (m *Told) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	var rows []string
	experts, _ := m.Experts()
	for _, id := range ids {
		if !slices.ContainsFunc(experts, func(s learn.Source) bool { return s.ID == id }) {
			rows = append(rows, id)
		}
	}
	within := m.inner
	if len(rows) > 0 {
		inner, err := ability[learn.Forgetter](m, "forget rows, only the rules it was told")
		if err != nil {
			return nil, err
		}
		if within, err = inner.Forget(ctx, rows...); err != nil {
			return nil, err
		}
	}
	return m.only(func(i int) bool { return !slices.Contains(ids, m.rules[i].expert.ID) }, within, rows), nil
}
