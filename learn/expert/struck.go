package expert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Striker is a model that can leave rules out which rows brought.
type Striker interface {
	learn.Model
	// Strike returns the model without the rules that have these ids. The
	// others stay as they are.
	Strike(ctx context.Context, ids ...string) (learn.Model, error)
}

// Cutter is a model that can be cut to few rules, which then are fitted again.
type Cutter interface {
	learn.Model
	Cut(ctx context.Context, top int) (learn.Model, error)
}

// Struck is a model of which somebody struck rules that rows had brought, or
// that was cut to few rules. It answers, is read and drawn as what is left; but
// it learns, forgets and is saved as the whole, and what is struck is struck
// again. So rows that come later find the rule and do not bring it back, and a
// strike is a function of what was learnt: the promise of updates stays.
//
// A rule whose cuts have moved with the rows is the same rule.
type Struck struct {
	learn.Model             // what is left
	whole       learn.Model // what rows brought
	edits       []edit
	missed      int // edits that found nothing to do
}

// edit is one thing that was done to the rules, in the order of doing.
type edit struct {
	Rule string `cbor:"rule,omitempty"` // that was struck, in the rule language
	Top  int    `cbor:"top,omitempty"`  // rules that were left
}

var (
	_ learn.Wrapper   = (*Struck)(nil)
	_ learn.Updater   = (*Struck)(nil)
	_ learn.Ruler     = (*Struck)(nil)
	_ learn.Merger    = (*Struck)(nil)
	_ learn.Forgetter = (*Struck)(nil)
	_ learn.Keeper    = (*Struck)(nil)
)

// ErrNoStrike is wrapped by Strike and Cut where a model cannot do it.
var ErrNoStrike = errors.New("rows brought its rules, and it cannot leave one out")

// Strike returns a model without a rule that rows brought. Rules that it was told
// stay.
func Strike(ctx context.Context, m learn.Model, r *rule.Rule) (learn.Model, error) {
	if _, ok := learn.Ability[Striker](m); !ok {
		return nil, fmt.Errorf("a %s model is what it is: %w", m.Learner(), ErrNoStrike)
	}
	bare := *r
	bare.Evidence = rule.Evidence{}
	return amend(ctx, m, edit{Rule: bare.String()})
}

// Cut returns a model with so many of the rules that rows brought, those that
// together say most. Rules that it was told stay.
func Cut(ctx context.Context, m learn.Model, top int) (learn.Model, error) {
	if _, ok := learn.Ability[Cutter](m); !ok {
		return nil, fmt.Errorf("a %s model cannot be cut to fewer rules", m.Learner())
	}
	if top < 1 {
		return nil, fmt.Errorf("%d rules: expected at least 1", top)
	}
	return amend(ctx, m, edit{Top: top})
}

// amend does more to the rules of a model, within what it was told.
func amend(ctx context.Context, m learn.Model, edits ...edit) (learn.Model, error) {
	switch of := m.(type) {
	case *Told:
		inner, err := amend(ctx, of.inner, edits...)
		if err != nil {
			return nil, err
		}
		return (&Told{inner: inner, rules: of.rules, tallies: of.tallies}).ready(), nil
	case *Struck:
		return strike(ctx, of.whole, append(slices.Clip(of.edits), edits...))
	}
	return strike(ctx, m, edits)
}

// strike does to a model all that was done to the rules.
func strike(ctx context.Context, whole learn.Model, edits []edit) (learn.Model, error) {
	if len(edits) == 0 {
		return whole, nil
	}
	s := &Struck{whole: whole, Model: whole, edits: edits}
	for _, e := range edits {
		left, found, err := e.do(ctx, s.Model)
		if err != nil {
			return nil, err
		}
		if !found {
			s.missed++
		}
		s.Model = left
	}
	return s, nil
}

// do does it to a model, and says whether there was something to do.
func (e edit) do(ctx context.Context, m learn.Model) (learn.Model, bool, error) {
	if e.Top > 0 {
		c, ok := m.(Cutter)
		if !ok {
			return nil, false, fmt.Errorf("a %s model cannot be cut to fewer rules", m.Learner())
		}
		left, err := c.Cut(ctx, e.Top)
		return left, true, err
	}
	s, ok := m.(Striker)
	r, reads := m.(learn.Ruler)
	if !ok || !reads {
		return nil, false, ErrNoStrike
	}
	base, err := r.Rules()
	if err != nil {
		return nil, false, err
	}
	struck, err := rule.Parse("a rule that was struck", []byte(e.Rule))
	if err != nil {
		return nil, false, err
	}
	if len(struck.Rules) != 1 {
		return nil, false, fmt.Errorf("%q is not one rule", e.Rule)
	}
	id := counterpart(&struck.Rules[0], base)
	if id == "" {
		return m, false, nil
	}
	left, err := s.Strike(ctx, id)
	return left, true, err
}

// counterpart returns the id of a rule among others: its own, or that of the one
// which differs from it in its cuts alone; "" if there is none.
func counterpart(r *rule.Rule, base *rule.Base) string {
	id := r.ID()
	for i := range base.Rules {
		if base.Rules[i].ID() == id {
			return id
		}
	}
	for _, c := range rule.Compare(&rule.Base{Kind: base.Kind, Rules: []rule.Rule{*r}}, base).Moved {
		return c.After.ID()
	}
	return ""
}

// Amended does to a model what was done to the rules of another, and says how
// much of it found nothing to do.
func Amended(ctx context.Context, m, like learn.Model) (_ learn.Model, missed int, err error) {
	if told, ok := like.(*Told); ok {
		like = told.inner
	}
	s, ok := like.(*Struck)
	if !ok {
		return m, 0, nil
	}
	if m, err = amend(ctx, m, s.edits...); err != nil {
		return nil, 0, err
	}
	within := m
	if told, ok := m.(*Told); ok {
		within = told.inner
	}
	return m, within.(*Struck).missed, nil
}

// Whole returns what rows brought, without what people told and struck.
func Whole(m learn.Model) learn.Model {
	if told, ok := m.(*Told); ok {
		m = told.inner
	}
	if s, ok := m.(*Struck); ok {
		m = s.whole
	}
	return m
}

// Unwrap returns what is left.
func (m *Struck) Unwrap() learn.Model { return m.Model }

// Adds reports that nothing can be done that what is left cannot do.
func (m *Struck) Adds(any) bool { return false }

// Rules returns the rules that are left.
func (m *Struck) Rules() (*rule.Base, error) {
	r, ok := learn.Ability[learn.Ruler](m.Model)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot be read as rules", m.Learner())
	}
	return r.Rules()
}

// Kept returns the rows that the whole was learnt from.
func (m *Struck) Kept(ctx context.Context) ([]learn.Learnt, error) {
	if k, ok := learn.Ability[learn.Keeper](m.whole); ok {
		return k.Kept(ctx)
	}
	return nil, nil
}

// Begin starts to learn more rows.
func (m *Struck) Begin(source learn.Source) (learn.Update, error) {
	whole, ok := m.whole.(learn.Updater)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot learn more rows", m.Learner())
	}
	u, err := whole.Begin(source)
	return &struckUpdate{u, m.edits}, err
}

type struckUpdate struct {
	update learn.Update
	edits  []edit
}

// Add lets the whole learn the rows.
func (u *struckUpdate) Add(ctx context.Context, t *table.Table) error { return u.update.Add(ctx, t) }

// Consolidate has the whole decide anew what it has learnt, if it can.
func (u *struckUpdate) Consolidate(ctx context.Context) error { return consolidate(ctx, u.update) }

// Freeze returns the model of all rows so far, with the same struck.
func (u *struckUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	whole, err := u.update.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	return strike(ctx, whole, u.edits)
}

// Merge returns the model of all models' rows, with all that was done to any.
func (m *Struck) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	whole, ok := m.whole.(learn.Merger)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot be merged", m.Learner())
	}
	edits, within := m.edits, make([]learn.Model, len(others))
	for i, o := range others {
		within[i] = o
		if s, ok := o.(*Struck); ok {
			within[i] = s.whole
			for _, e := range s.edits {
				if !slices.Contains(edits, e) {
					edits = append(slices.Clip(edits), e)
				}
			}
		}
	}
	merged, err := whole.Merge(ctx, within...)
	if err != nil {
		return nil, err
	}
	return strike(ctx, merged, edits)
}

// Mergeable returns a model in the form in which it can be merged with another
// one, of which rules may have been struck.
func Mergeable(m, with learn.Model) learn.Model {
	if told, ok := with.(*Told); ok {
		with = told.inner
	}
	if _, struck := with.(*Struck); !struck {
		return m
	}
	switch of := m.(type) {
	case *Told:
		return (&Told{inner: Mergeable(of.inner, with), rules: of.rules, tallies: of.tallies}).ready()
	case *Struck:
		return m
	}
	return &Struck{Model: m, whole: m}
}

// Sources lists the sources of the whole.
func (m *Struck) Sources() []learn.Source {
	if f, ok := learn.Ability[learn.Forgetter](m.whole); ok {
		return f.Sources()
	}
	return nil
}

// Forget returns the model without some sources, with the same struck.
func (m *Struck) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	f, ok := m.whole.(learn.Forgetter)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot forget a source", m.Learner())
	}
	whole, err := f.Forget(ctx, ids...)
	if err != nil {
		return nil, err
	}
	return strike(ctx, whole, m.edits)
}

// Shed returns the model without the rows that it holds, with the same struck.
func (m *Struck) Shed() (learn.Model, bool, error) {
	whole, held, err := kept.Shed(m.whole)
	if err != nil {
		return nil, held, err
	}
	bare := *m
	bare.whole = whole
	if bare.Model, _, err = kept.Shed(m.Model); err != nil {
		return nil, held, err
	}
	return &bare, held, nil
}

// Promise is that of the whole.
func (m *Struck) Promise() learn.Promise { return learn.PromiseOf(m.whole) }

// Parts of a model of which rules were struck: what was done, and what is left,
// without rows.
const (
	struckPart = "struck"
	leftPart   = struckPart + "/left"
)

// mostEdits is how many of them are read.
const mostEdits = 10_000

// Parts returns those of the whole, what was done to its rules, and what is left
// of it, so that it need not be done again.
func (m *Struck) Parts() ([]learn.Part, error) {
	parts, err := m.whole.Parts()
	if err != nil || len(m.edits) == 0 {
		return parts, err
	}
	done, err := learn.Marshal(m.edits)
	if err != nil {
		return nil, err
	}
	parts = append(slices.Clip(parts), learn.Part{Name: struckPart, Data: done})
	bare, _, err := kept.Shed(m.Model)
	if errors.Is(err, errors.ErrUnsupported) {
		return parts, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := learn.Encode(bare)
	return append(parts, learn.Part{Name: leftPart, Data: left}), err
}

// decodeStruck puts what is left in front of a model.
func decodeStruck(whole learn.Model, parts []learn.Part) (learn.Model, error) {
	var edits []edit
	if err := learn.Unmarshal(learn.FindPart(parts, struckPart), &edits); err != nil {
		return nil, err
	}
	if n := len(edits); n == 0 || n > mostEdits || slices.ContainsFunc(edits, func(e edit) bool { return (e.Rule == "") != (e.Top > 0) }) {
		return nil, fmt.Errorf("%d things that cannot have been done to rules", n)
	}
	data := learn.FindPart(parts, leftPart)
	if data == nil {
		return strike(context.Background(), whole, edits)
	}
	left, err := learn.Decode(data)
	if err != nil {
		return nil, err
	}
	if _, wraps := left.(learn.Wrapper); wraps || left.Learner() != whole.Learner() || left.Target() != whole.Target() || !slices.EqualFunc(left.Schema().Attributes, whole.Schema().Attributes, sameColumn) {
		return nil, errors.New("what is left after rules were struck is not of the same model")
	}
	return &Struck{Model: left, whole: whole, edits: edits}, nil
}

func sameColumn(a, b table.Attribute) bool {
	return a.Name == b.Name && a.Kind == b.Kind && slices.Equal(a.Values, b.Values)
}
