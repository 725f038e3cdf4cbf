package expert

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Supposer is a model of all columns that takes IF … THEN rules about any of them
// as virtual cases, of which it is told no more than the rule says.
type Supposer interface {
	learn.Model
	// Suppose returns the model with an expert's rules. A Forgetter forgets them by
	// the expert's ID.
	Suppose(ctx context.Context, rules *rule.Base, by learn.Source) (learn.Model, error)
	// Experts are those who told such rules.
	Experts() []learn.Source
}

// Supposes reports whether rules are for a model to suppose: it can, and not all of
// them conclude what it predicts.
func Supposes(m learn.Model, rules *rule.Base) bool {
	if t, ok := m.(*Told); ok {
		m = t.inner
	}
	if _, ok := m.(Supposer); !ok || len(rules.Units) > 0 {
		return false
	}
	return m.Target() == learn.NoTarget || slices.ContainsFunc(rules.Rules, func(r rule.Rule) bool {
		return r.Then.Column != m.Schema().Attributes[m.Target()].Name
	})
}

// Suppose returns a model with an expert's rules as virtual cases.
func Suppose(ctx context.Context, m learn.Model, rules *rule.Base, by learn.Source) (learn.Model, error) {
	if t, ok := m.(*Told); ok {
		inner, err := Suppose(ctx, t.inner, rules, by)
		if err != nil {
			return nil, err
		}
		return (&Told{inner: inner, rules: t.rules, tallies: t.tallies}).ready(), nil
	}
	s, ok := m.(Supposer)
	if !ok {
		return nil, fmt.Errorf("a %s model takes no virtual cases", m.Learner())
	}
	return s.Suppose(ctx, rules, by)
}
