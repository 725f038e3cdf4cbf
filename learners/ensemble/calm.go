package ensemble

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Whether to boost. Rows that members get wrong are what is left to learn, or noise: then
// members that look at them ever more know less together than the base alone (Dietterich,
// An experimental comparison of three methods, 2000). Members of rows drawn as they are
// (bagging, Breiman 1996) hardly do. Which it is a fifth of the first session's rows says,
// as well as so few can: of five noisy sets with trees and networks, it was mistaken on one and on two.

const (
	automaticBoost = "auto"
	neverBoost     = "never"
	calmFrom       = 100 // rows from which some are held out
	calmPart       = 5   // one of so many
)

// boosting is a model without sessions that boosts or does not.
func (m *Model) boosting(calm bool, members int) *Model {
	s := *m.settings
	s.Members = members
	if s.Boost = ""; calm {
		s.Boost = neverBoost
	}
	of := *m
	of.settings = &s
	return &of
}

// calmer reports whether members are not to be boosted: unless half of them, boosted, are
// right on more rows held out than as many that were not, by more than a deviation of
// that number.
func (m *Model) calmer(ctx context.Context, source learn.Source, own *table.Table) (bool, error) {
	if own.Rows() < calmFrom {
		return false, nil
	}
	var learnt, held []int
	for r := range own.Rows() {
		if mix(m.seed^0xca1, uint64(r))%calmPart == 0 {
			held = append(held, r)
		} else {
			learnt = append(learnt, r)
		}
	}
	rows, judges := own.Select(learnt), own.Select(held)
	quiet := learn.WithProgress(ctx, func(float64) {})
	var right [2][]bool
	for i, calm := range []bool{false, true} {
		study, err := newStudy(m.boosting(calm, (m.settings.Members+1)/2), source, 1, rows)
		if err != nil {
			return false, err
		}
		if err := study.boost(quiet); err != nil {
			return false, err
		}
		if right[i], err = study.rightOn(ctx, judges); err != nil {
			return false, err
		}
	}
	if !slices.Contains(right[0], false) {
		return false, nil // there is no noise
	}
	won, squares := 0.0, 0.0
	for r := range held {
		w := judges.Weight(r)
		switch {
		case right[0][r] == right[1][r]:
			continue
		case right[1][r]:
			won -= w
		default:
			won += w
		}
		squares += w * w
	}
	return won <= math.Sqrt(squares), nil
}

// rightOn reports on which rows of a table the members vote rightly.
func (s *study) rightOn(ctx context.Context, t *table.Table) (right []bool, err error) {
	names := t.Schema.Attributes[s.target].Values
	votes := make([]float64, t.Rows()*len(names))
	for _, m := range s.members {
		said, err := say(ctx, m.model, t)
		if err != nil {
			return nil, err
		}
		for r, class := range said {
			if class >= 0 {
				votes[r*len(names)+int(class)] += m.vote
			}
		}
	}
	for r, class := range t.Columns[s.target].Codes {
		right = append(right, learn.Best(votes[r*len(names):(r+1)*len(names)], names) == int(class))
	}
	return right, nil
}
