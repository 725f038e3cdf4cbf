package knowledge

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

// Provenance returns what each source says of each rule that a model learnt,
// by the rule's id: the rows of the source that it covers, and those that it
// is right on. A model that keeps rows counts them. One that keeps a statistic
// for each source is asked what it would be of that source alone; rules for
// which the answers do not add up to what the model says are left out, and so
// are those of models that keep neither.
func Provenance(ctx context.Context, m learn.Model) (map[string][]expert.Behind, error) {
	if t, ok := m.(*expert.Told); ok {
		m = t.Unwrap()
	}
	r, ok := m.(learn.Ruler)
	if !ok || m.Target() == learn.NoTarget {
		return nil, nil
	}
	base, err := r.Rules()
	if err != nil {
		return nil, err
	}
	if k, ok := m.(learn.Keeper); ok {
		rows, err := k.Kept(ctx)
		if err != nil {
			return nil, err
		}
		if rows != nil {
			return measured(m, base, rows)
		}
	}
	if f, ok := m.(learn.Forgetter); ok {
		return apart(ctx, f, base)
	}
	return nil, nil
}

// measured counts the rows of each source.
func measured(m learn.Model, base *rule.Base, learnt []learn.Learnt) (map[string][]expert.Behind, error) {
	behind := map[string][]expert.Behind{}
	for _, l := range learnt {
		counted, err := rule.Measure(base, l.Table, m.Target())
		if err != nil {
			return nil, err
		}
		collect(behind, counted, l.Source)
	}
	return behind, nil
}

// collect takes in what a source says of the rules that it has rows for.
func collect(behind map[string][]expert.Behind, base *rule.Base, source learn.Source) {
	add := func(r *rule.Rule) {
		if covered(r) > 0 && r.Evidence.Correct != nil {
			id := r.ID()
			behind[id] = append(behind[id], expert.Behind{Source: source, Covered: covered(r), Correct: *r.Evidence.Correct})
		}
	}
	for i := range base.Rules {
		add(&base.Rules[i])
	}
	if base.Else != nil {
		add(base.Else)
	}
}

// apart asks for the model of each source alone.
func apart(ctx context.Context, f learn.Forgetter, base *rule.Base) (map[string][]expert.Behind, error) {
	behind := map[string][]expert.Behind{}
	sources := f.Sources()
	for i, s := range sources {
		var others []string
		for j, o := range sources {
			if i != j {
				others = append(others, o.ID)
			}
		}
		alone := learn.Model(f)
		if len(others) > 0 {
			var err error
			if alone, err = f.Forget(ctx, others...); err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				continue // a source that brought no rows to learn from
			}
		}
		rules, err := alone.(learn.Ruler).Rules()
		if err != nil {
			return nil, err
		}
		// A source without a row of a class has no rule for it, but one for
		// another class under the same conditions says what it covers.
		covers, right := map[string]float64{}, map[string]float64{}
		for i := range rules.Rules {
			r := &rules.Rules[i]
			covers[conditions(r)] = covered(r)
			right[r.ID()] = value(r.Evidence.Correct)
		}
		for i := range base.Rules {
			r := &base.Rules[i]
			if n := covers[conditions(r)]; n > 0 {
				id := r.ID()
				behind[id] = append(behind[id], expert.Behind{Source: s, Covered: n, Correct: right[id]})
			}
		}
	}
	for i := range base.Rules {
		r := &base.Rules[i]
		n, k := 0.0, 0.0
		for _, b := range behind[r.ID()] {
			n, k = n+b.Covered, k+b.Correct
		}
		if math.Abs(n-covered(r)) > 1e-6*max(1, n) || math.Abs(k-value(r.Evidence.Correct)) > 1e-6*max(1, k) {
			delete(behind, r.ID())
		}
	}
	return behind, nil
}

// conditions is the IF part of a rule, to be compared.
func conditions(r *rule.Rule) string {
	return (&rule.Rule{If: rule.Canonical(r.If)}).String()
}
