package knowledge

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/rule"
)

// Clash is two units that expect about the same of some columns, and of one
// more something else: of one situation they tell different things.
type Clash struct {
	A, B  rule.Unit
	Where []rule.Expectation // what A expects, and B too
	// Says and Other are what A and B expect of the column in which they
	// lie apart.
	Says, Other rule.Expectation
}

// Clashes returns where units disagree with others, in the columns' own units,
// the most probable others first. Two expectations are about the same if they
// lie no farther apart than both widths together, and different beyond twice
// that; distributions of names are if they share half of their probability, and
// less than a twentieth.
func Clashes(units, others []rule.Unit) []Clash {
	var found []Clash
	for i := range units {
		for j := range others {
			if c, disagree := clash(&units[i], &others[j]); disagree {
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Clash) int { return cmp.Compare(b.B.Prior, a.B.Prior) })
	return found
}

func clash(a, b *rule.Unit) (Clash, bool) {
	c := Clash{A: *a, B: *b}
	apart := 0
	for _, x := range a.Expect {
		k := slices.IndexFunc(b.Expect, func(y rule.Expectation) bool { return y.Column == x.Column })
		if k < 0 || x.Normal || b.Expect[k].Normal {
			continue
		}
		y := b.Expect[k]
		switch d := apartness(&x, &y); {
		case d <= 1:
			c.Where = append(c.Where, x)
		case d > 2:
			apart++
			c.Says, c.Other = x, y
		default:
			return c, false // too different for one situation, not enough for a conflict
		}
	}
	return c, apart == 1 && len(c.Where) > 0
}

// apartness is how far two expectations lie apart, in both widths together.
func apartness(x, y *rule.Expectation) float64 {
	if len(x.Shares) == 0 {
		return math.Abs(x.Mean-y.Mean) / (x.Deviation + y.Deviation)
	}
	common := 0.0
	for _, p := range x.Shares {
		for _, q := range y.Shares {
			if p.Value == q.Value {
				common += min(p.P, q.P)
			}
		}
	}
	switch {
	case common >= 0.5:
		return 0
	case common < 0.05:
		return math.Inf(1)
	}
	return 1.5
}
