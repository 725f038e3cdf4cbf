package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Compare returns what changed in what two models know, learnt and told, most
// important first. A model that cannot be read as rules counts as one that
// knows none.
func Compare(before, after learn.Model) (*rule.Diff, error) {
	x, xTold, err := Of(before)
	if err != nil {
		return nil, err
	}
	y, yTold, err := Of(after)
	if err != nil {
		return nil, err
	}
	return CompareRules(x, xTold, y, yTold), nil
}

// CompareRules is Compare for rule bases: what was learnt, and what was told,
// before and after. A rule that was told and one that was learnt are not the
// same, though they may say the same. Any of them may be nil.
func CompareRules(before, beforeTold, after, afterTold *rule.Base) *rule.Diff {
	if before == nil && after == nil {
		before, after = &rule.Base{}, &rule.Base{}
	}
	if before == nil {
		before = &rule.Base{Kind: after.Kind}
	}
	if after == nil {
		after = &rule.Base{Kind: before.Kind}
	}
	d := rule.Compare(before, after)
	told := rule.Compare(orEmpty(beforeTold), orEmpty(afterTold))
	d.Added, d.Dropped = append(told.Added, d.Added...), append(told.Dropped, d.Dropped...)
	d.Stronger, d.Weaker = append(told.Stronger, d.Stronger...), append(told.Weaker, d.Weaker...)
	d.Moved = append(told.Moved, d.Moved...)
	for _, list := range [][]rule.Statement{d.Added, d.Dropped} {
		slices.SortStableFunc(list, func(a, b rule.Statement) int { return cmp.Compare(importance(b), importance(a)) })
	}
	for _, list := range [][]rule.Change{d.Stronger, d.Weaker, d.Moved} {
		slices.SortStableFunc(list, func(a, b rule.Change) int { return cmp.Compare(shift(b), shift(a)) })
	}
	return d
}

func orEmpty(b *rule.Base) *rule.Base {
	if b == nil {
		return &rule.Base{}
	}
	return b
}

// importance puts what an expert said before what informs, and that before
// what covers much.
func importance(s rule.Statement) float64 {
	switch {
	case s.Unit != nil:
		return s.Unit.Prior
	case s.Rule.Worth != nil:
		return 1e9 + *s.Rule.Worth
	case s.Rule.Evidence.Bits != nil:
		return 1e3 * *s.Rule.Evidence.Bits
	}
	return covered(s.Rule) * 1e-6
}

// shift is how many rows a change is about: how far the probability moved,
// times what the rule covers now or covered.
func shift(c rule.Change) float64 {
	if c.Before.Unit != nil {
		return math.Abs(c.After.Unit.Prior - c.Before.Unit.Prior)
	}
	p := math.Abs(value(c.After.Rule.With) - value(c.Before.Rule.With))
	if c.After.Rule.With == nil || c.Before.Rule.With == nil {
		p = 0
	}
	rows := max(covered(c.Before.Rule), covered(c.After.Rule), 1)
	return p*rows + 1e-6*math.Abs(covered(c.After.Rule)-covered(c.Before.Rule))
}

// Flip is a row whose answer changed. A number's answer changed if it left the
// 95 % interval that it had.
type Flip struct {
	Row           int // from 0
	Before, After string
	P, Q          float64  // probabilities of the two answers, each in its model; NaN for a number
	Because       []Reason // rules that did it, the strongest first; nil where the models have none to name
}

// Reason is a rule that had a part in a flip.
type Reason struct {
	Rule rule.Statement
	Was  bool // it is a rule of the model before
}

// mostReasons is how many rules are named for a flip.
const mostReasons = 3

// Flips returns the rows of a table whose answer changed from one model to the
// other. The table has the columns of both (see table.Union).
func Flips(ctx context.Context, before, after learn.Model, t *table.Table) ([]Flip, error) {
	if before.Target() == learn.NoTarget || after.Target() == learn.NoTarget {
		return nil, fmt.Errorf("a density of all columns has no answers that could flip")
	}
	x, err := newSide(ctx, before, t)
	if err != nil {
		return nil, err
	}
	y, err := newSide(ctx, after, t)
	if err != nil {
		return nil, err
	}
	a, b := x.target(), y.target()
	if a.Name != b.Name || a.Kind != b.Kind {
		return nil, fmt.Errorf("one model predicts %q and the other %q; flips need one target", a.Name, b.Name)
	}
	var flips []Flip
	for row := range t.Rows() {
		f := Flip{Row: row, P: math.NaN(), Q: math.NaN()}
		if a.Kind == table.Numeric {
			m := y.out.Mean[row]
			if m >= x.out.Low[row] && m <= x.out.High[row] {
				continue
			}
			f.Before, f.After = a.Format(x.out.Mean[row]), b.Format(m)
		} else {
			p, q := x.out.Row(row), y.out.Row(row)
			i, j := learn.Best(p, a.Values), learn.Best(q, b.Values)
			if a.Values[i] == b.Values[j] {
				continue
			}
			f.Before, f.After, f.P, f.Q = a.Values[i], b.Values[j], p[i], q[j]
		}
		f.Because = because(x, y, &f)
		flips = append(flips, f)
	}
	return flips, nil
}

// side is one of two models, with its answers and the rules behind them.
type side struct {
	model  learn.Model
	table  *table.Table
	out    *learn.Predictions
	learnt *rule.Base
	told   *rule.Base
	fires  map[*rule.Rule]*rule.Matcher
}

func newSide(ctx context.Context, m learn.Model, t *table.Table) (*side, error) {
	s := &side{model: m, fires: map[*rule.Rule]*rule.Matcher{}}
	var err error
	if s.table, _, err = table.Conform(t, m.Schema(), false); err != nil {
		return nil, err
	}
	s.out = learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, s.table, s.out); err != nil {
		return nil, err
	}
	if s.learnt, s.told, err = Of(m); err != nil {
		return nil, err
	}
	for _, base := range []*rule.Base{s.learnt, s.told} {
		for i := range orEmpty(base).Rules {
			r := &base.Rules[i]
			if matcher, err := rule.NewMatcher(r.If, m.Schema()); err == nil {
				s.fires[r] = matcher // a rule about what the model forgot fires nowhere
			}
		}
	}
	return s, nil
}

func (s *side) target() *table.Attribute { return &s.model.Schema().Attributes[s.model.Target()] }

func (s *side) fired(r *rule.Rule, row int) bool {
	m := s.fires[r]
	return m != nil && m.MatchRow(s.table, row)
}

// answer returns the rule of an ordered base that answers for a row.
func (s *side) answer(row int) (rule.Statement, bool) {
	for i := range s.learnt.Rules {
		if r := &s.learnt.Rules[i]; s.fired(r, row) {
			return rule.Statement{Rule: r}, true
		}
	}
	return rule.Statement{Rule: s.learnt.Else, Else: true}, s.learnt.Else != nil
}

// pull is how far a rule draws a row from the old answer to the new one.
type pull struct {
	Reason
	by float64
}

// because names the rules behind a flip: what experts began or ceased to say,
// the rules of ordered bases that answered, and those of weighed bases whose
// weight changed most in favour of the new answer.
func because(before, after *side, f *Flip) []Reason {
	var pulls []pull
	addTold := func(s, other *side, was bool) {
		for i := range orEmpty(s.told).Rules {
			r := &s.told.Rules[i]
			stays := slices.ContainsFunc(orEmpty(other.told).Rules, func(o rule.Rule) bool {
				return o.ID() == r.ID() && value(o.Worth) == value(r.Worth) && value(o.With) == value(r.With)
			})
			if !stays && s.fired(r, f.Row) {
				pulls = append(pulls, pull{Reason{rule.Statement{Rule: r}, was}, math.Inf(1)})
			}
		}
	}
	addTold(after, before, false)
	addTold(before, after, true)
	if before.learnt != nil && after.learnt != nil {
		switch {
		case before.learnt.Kind == rule.Ordered && after.learnt.Kind == rule.Ordered:
			was, had := before.answer(f.Row)
			is, has := after.answer(f.Row)
			if has {
				pulls = append(pulls, pull{Reason{is, false}, 1})
			}
			if had {
				pulls = append(pulls, pull{Reason{was, true}, 0})
			}
		case before.learnt.Kind == rule.Weighed && after.learnt.Kind == rule.Weighed:
			pulls = append(pulls, weighedPulls(before, after, f)...)
		}
	}
	slices.SortStableFunc(pulls, func(a, b pull) int { return cmp.Compare(b.by, a.by) })
	var reasons []Reason
	for _, p := range pulls[:min(len(pulls), mostReasons)] {
		reasons = append(reasons, p.Reason)
	}
	return reasons
}

// weighedPulls returns the rules whose weights moved a row's log odds towards
// the new answer.
func weighedPulls(before, after *side, f *Flip) []pull {
	moved := map[string]*pull{}
	var order []string
	add := func(s *side, sign float64, was bool) {
		for i := range s.learnt.Rules {
			r := &s.learnt.Rules[i]
			by := sign * value(r.Evidence.Weight)
			switch {
			case r.Then.Value == f.Before:
				by = -by
			case r.Then.Value != f.After:
				continue
			}
			if !s.fired(r, f.Row) {
				continue
			}
			id := r.ID()
			if moved[id] == nil {
				moved[id] = &pull{Reason: Reason{rule.Statement{Rule: r}, was}}
				order = append(order, id)
			}
			moved[id].by += by
		}
	}
	add(after, 1, false)
	add(before, -1, true)
	var pulls []pull
	for _, id := range order {
		if moved[id].by > 0 {
			pulls = append(pulls, *moved[id])
		}
	}
	return pulls
}
