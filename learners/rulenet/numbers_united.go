package rulenet

import (
	"context"
	"fmt"
)

// Networks of numbers that are united. Of few rows, which rules are picked is partly
// chance: the mean of what networks of several draws answer errs less than any of them
// (Breiman, Bagging predictors, 1996). It is a sum of rules again, and those that the
// others can stand in for are dropped, until there are as many as one network has.
//
// On 13 targets of 146 to 1,046 rows, none of which numbers are compared on in
// docs/choosing.md (it names them), three draws err 1.4 % less than one.

const numberDraws = 3

// unitedAdders picks rules by several draws of trees and unites them.
func (h *school) unitedAdders(ctx context.Context, m *Numbers, r rehearsed, within bool) (*adder, error) {
	all := make([]*adder, numberDraws)
	other := *h
	for i := range all {
		var err error
		if all[i], err = other.onceMore(ctx, r, within); err != nil {
			return nil, err
		}
		other.seed = otherDraw(other.seed)
		r.options = other.options(r.options.Leaves, r.options.Depth, r.options.ColumnShare)
	}
	u, err := h.meanOf(ctx, all)
	if err != nil {
		return nil, err
	}
	many := len(u.rules)
	if err := u.backward(ctx, r.size); err != nil {
		return nil, err
	}
	u.q = all[0].q // certificates are about what teachers say
	u.resume()
	m.stopped += fmt.Sprintf("; of %d draws of such networks, %d of their %d rules answer what all do in the mean", numberDraws, len(u.rules), many)
	return u, nil
}

// meanOf returns all rules of some students, solved for the mean of what these answer.
func (h *school) meanOf(ctx context.Context, all []*adder) (*adder, error) {
	l := *all[0].lesson
	l.trees, l.q = nil, make([]float64, len(l.rows))
	for _, a := range all {
		for i, x := range a.answers() {
			l.q[i] += x / float64(len(all))
		}
	}
	type name struct {
		tests key
		line  *track
	}
	u, known := l.newAdder(), map[name]bool{}
	for _, a := range all {
		for j := range a.rules {
			of := &a.rules[j]
			if id := (name{h.conjunction(of.tests).key(), of.track}); !known[id] {
				known[id] = true
				u.batch = of.found
				u.include(of.tests, of.track)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	u.solve()
	return u, nil
}
