package concept

import "context"

// loose is a space of bounded inconsistency (Hirsh 1990; 1994): measured
// numbers may be off by up to slack, so that a row stands for all rows within
// it, and a hypothesis agrees with a row if it is right about one of them. An
// interval agrees with a number of the concept if it comes within slack of it,
// and with another number unless it reaches slack beyond it on both sides, in
// every column. The most specific interval then runs from the least number plus
// slack to the largest less slack; where these have passed each other there are
// many most specific ones, points, and nothing is sure. Rows that are not the
// concept's stand for G (Hirsh 1992).
type loose struct {
	language  *language
	slack     float64
	s         term // low may be above high
	negatives [][]value
}

// newLoose returns the space of the examples, and the place of the one that
// left no hypothesis, or −1.
func newLoose(ctx context.Context, l *language, slack float64, examples []example) (*loose, int, error) {
	v := &loose{language: l, slack: slack}
	for _, d := range examples {
		if !d.positive {
			v.negatives = append(v.negatives, d.x)
			continue
		}
		one := l.generalise(nil, d.x)
		for i := range one {
			if l.columns[i].numeric && !one[i].any {
				one[i].low, one[i].high = one[i].low+slack, one[i].high-slack
			}
		}
		if v.s == nil {
			v.s = one
		} else {
			v.s = l.joinOf(v.s, one)
		}
	}
	for i, d := range examples {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, -1, ctx.Err()
		}
		if !d.positive && v.swallows(v.s, d.x) {
			return v, i, nil
		}
	}
	return v, -1, nil
}

// swallows reports whether a term holds for a row and for all rows within slack
// of it.
func (v *loose) swallows(t term, x []value) bool {
	if t == nil {
		return false
	}
	for i := range t {
		c, k := &v.language.columns[i], t[i]
		switch {
		case c.isTop(k):
		case !c.numeric:
			if !c.holds(k, x[i]) {
				return false
			}
		case x[i].missing || !(k.low <= x[i].number-v.slack && x[i].number+v.slack <= k.high):
			return false
		}
	}
	return true
}

func (v *loose) verdict(x []value) int {
	if v.language.covers(v.s, x) {
		return 1
	}
	wider := v.language.generalise(v.s, x)
	for _, n := range v.negatives {
		if v.swallows(wider, n) {
			return -1
		}
	}
	return 0
}

// empty reports whether no number satisfies some constraint of a term.
func empty(t term) bool {
	for _, k := range t {
		if k.low > k.high {
			return true
		}
	}
	return false
}
