package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
)

// Again acts once more from the beginning, as the seed says, in a world that is built
// in: values that stand in a table or a sum for all episodes at once, what is learnt
// in batches or by games in the parts in which it was. Advice is told when it was.
func (m *Model) Again(ctx context.Context) (learn.Model, error) {
	if m.acted == nil {
		return nil, errors.New("the policy was not learnt by acting")
	}
	if len(m.acted.advisers()) > 0 {
		return m.unadvised(ctx, nil)
	}
	e, err := act.Lookup(m.acted.World)
	if err != nil {
		return nil, fmt.Errorf("to act again takes a world that is built in: %w", err)
	}
	s := m.lesson.Settings
	part := s.Episodes
	switch m.values.(type) {
	case *lookup, *weighted:
		part = max(1, m.acted.Episodes)
	}
	if s.planned() {
		return s.learnIn(ctx, m.acted.World, e, m.lesson.Seed)
	}
	s.Episodes = max(1, min(part, m.acted.Episodes))
	again, err := s.learnIn(ctx, m.acted.World, e, m.lesson.Seed)
	for err == nil && again.acted.Episodes < m.acted.Episodes {
		again.lesson.Settings.Episodes = min(part, m.acted.Episodes-again.acted.Episodes)
		again, err = again.practise(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	again.lesson.Settings.Episodes = m.lesson.Settings.Episodes
	return again, nil
}

// Differs is the largest difference between the values of two policies, and in how
// many states they act otherwise; of values that are no table, 1 where they are not
// the same to the bit.
func (m *Model) Differs(other learn.Model) (largest float64, states int, err error) {
	o, ok := other.(*Model)
	if !ok {
		return 0, 0, errors.New("the other model is no policy")
	}
	a, ok := m.values.(*lookup)
	b, also := o.values.(*lookup)
	if !ok || !also {
		mine, err := learn.Encode(m)
		if err != nil {
			return 0, 0, err
		}
		its, err := learn.Encode(o)
		if err == nil && !bytes.Equal(mine, its) {
			return 1, 1, nil
		}
		return 0, 0, err
	}
	p, q, its := make([]float64, a.actions), make([]float64, a.actions), make([]float64, b.actions)
	for s := range a.states() {
		mine := a.of(int32(s))
		b.worth(a.cells[s*a.width:][:a.width], its)
		decide(mine, p)
		decide(its, q)
		same := true
		for i, x := range mine {
			switch {
			case x != x && its[i] != its[i]:
			case x != x || its[i] != its[i]:
				largest = math.Inf(1)
			default:
				largest = max(largest, math.Abs(x-its[i]))
			}
			same = same && p[i] == q[i]
		}
		if !same {
			states++
		}
	}
	if a.states() != b.states() {
		states += max(a.states(), b.states()) - min(a.states(), b.states())
	}
	return min(largest, math.MaxFloat64), states, nil
}
