package expert

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// This file is the door through which rules reach learners and models. It
// chooses: who takes such rules by itself is handed them, any other is wrapped
// in Told.

// ErrNoUnits is wrapped by Tell if a model cannot take WHEN … EXPECT rules.
var ErrNoUnits = errors.New("the model takes no WHEN … EXPECT rules")

// Tell returns a model with an expert's advice: WHEN … EXPECT rules taken in by
// the model itself (learn.Teller), rules about its classes weighed against the
// rows that it learnt from, all of them, which makes it a Told.
func Tell(ctx context.Context, m learn.Model, advice learn.Advice, learnt ...learn.Learnt) (learn.Model, error) {
	switch rules := advice.Rules; {
	case advice.Theory != nil:
		return nil, errors.New("a domain theory is reasoned with while learning; a model cannot be told one")
	case rules == nil:
		return m, nil
	case len(rules.Units) == 0:
		return hear(ctx, m, rules, advice.Expert, learnt)
	}
	teller, ok := learn.Ability[learn.Teller](m)
	if !ok {
		return nil, fmt.Errorf("unit %q: %w", advice.Rules.Units[0].Name, ErrNoUnits)
	}
	return teller.Tell(ctx, advice, learnt...)
}

// Advised returns a learner that takes advice into account: in the learning
// itself or, rules about classes, weighed against the rows once they are learnt.
// Advice that the learner does not take is refused.
func Advised(info learn.Info, l learn.Learner, advice learn.Advice) (learn.Learner, error) {
	if err := advice.Check(info); err != nil {
		return nil, err
	}
	return &advised{l, advice}, nil
}

type advised struct {
	learn.Learner
	advice learn.Advice
}

func (l *advised) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	task.Advice = l.advice
	if l.advice.Theory != nil {
		if _, err := rule.NewTheory(l.advice.Theory, task.Table.Schema); err != nil {
			return nil, err
		}
	}
	if l.advice.Rules == nil || len(l.advice.Rules.Units) > 0 {
		return l.Learner.Learn(ctx, task)
	}
	if err := CheckTold(l.advice.Rules, task.Table.Schema, target); err != nil {
		return nil, err
	}
	task.Advice.Rules = nil
	m, err := l.Learner.Learn(ctx, task)
	if err != nil {
		return nil, err
	}
	fitted, _, err := table.Conform(task.Table, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	return hear(ctx, m, l.advice.Rules, l.advice.Expert, []learn.Learnt{{Source: task.Source, Table: fitted}})
}

// actor is a policy, to which rules say what actions are worth and not what is so.
type actor interface {
	Advisable() bool
	Advised(rules *rule.Base, by learn.Source) (m learn.Model, heard [][3]int, err error)
}

// hear tells rules about the target to a model: to one that has values to begin with
// them, and to others as cases that count beside theirs.
func hear(ctx context.Context, m learn.Model, rules *rule.Base, by learn.Source, learnt []learn.Learnt) (learn.Model, error) {
	if a, ok := m.(actor); ok && a.Advisable() {
		m, _, err := a.Advised(rules, by)
		return m, err
	}
	told, err := blend(ctx, m, rules, by, learnt)
	if err != nil {
		return nil, err
	}
	return told, nil
}

// Tell returns the model with more advice, as the function Tell does.
func (m *Told) Tell(ctx context.Context, advice learn.Advice, learnt ...learn.Learnt) (learn.Model, error) {
	if advice.Theory != nil || advice.Rules == nil || len(advice.Rules.Units) == 0 {
		return Tell(ctx, m, advice, learnt...)
	}
	inner, err := ability[learn.Teller](m, "take WHEN … EXPECT rules in")
	if err != nil {
		return nil, err
	}
	told, err := inner.Tell(ctx, advice, learnt...)
	if err != nil {
		return nil, err
	}
	return (&Told{inner: told, rules: m.rules, tallies: m.tallies}).ready(), nil
}
