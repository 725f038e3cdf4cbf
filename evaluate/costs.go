package evaluate

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// Costs is what answers cost: a number for each class that may be said and each
// that may be true, in the order of Classes. Saying what is true costs nothing
// unless it says so.
//
// Who knows the probability p of each class says the one whose expected cost
// Σ p(true)·Of[said][true] is least (Duda and Hart 1973, §2.2). Of two classes
// that is a threshold on the probability of one.
type Costs struct {
	Classes []string
	Of      [][]float64 // [said][true]
}

// NewCosts returns costs of 1 for each wrong answer.
func NewCosts(classes []string) *Costs {
	c := &Costs{Classes: classes, Of: make([][]float64, len(classes))}
	for said := range c.Of {
		c.Of[said] = make([]float64, len(classes))
		for is := range classes {
			if is != said {
				c.Of[said][is] = 1
			}
		}
	}
	return c
}

// Least returns the class whose expected cost is least by probabilities in the
// order of the classes; of equal ones the more probable.
func (c *Costs) Least(p []float64) int {
	best, least := -1, math.Inf(1)
	for said, costs := range c.Of {
		expected := 0.0
		for is, pc := range p {
			expected += pc * costs[is]
		}
		if best < 0 || expected < least || expected == least && learn.Best([]float64{p[best], p[said]}, []string{c.Classes[best], c.Classes[said]}) == 1 {
			best, least = said, expected
		}
	}
	return best
}

// Threshold returns the probability of a class from which on it is the cheaper
// answer of two, if probabilities are frequencies; NaN if there are more.
func (c *Costs) Threshold(positive string) float64 {
	at := slices.Index(c.Classes, positive)
	if len(c.Classes) != 2 || at < 0 {
		return math.NaN()
	}
	other := 1 - at
	alarm := c.Of[at][other] - c.Of[other][other] // what a false alarm costs more
	missed := c.Of[other][at] - c.Of[at][at]
	return alarm / (alarm + missed)
}

// of returns the costs in the order of a model's classes; others are not named,
// and cost 1. Without costs it is nil.
func (c *Costs) of(classes []string) *Costs {
	if c == nil || slices.Equal(c.Classes, classes) {
		return c
	}
	all := NewCosts(classes)
	for said, a := range classes {
		for is, b := range classes {
			if i, j := slices.Index(c.Classes, a), slices.Index(c.Classes, b); i >= 0 && j >= 0 {
				all.Of[said][is] = c.Of[i][j]
			}
		}
	}
	return all
}

// addCosts counts what a row costs whose class is known to the costs, which are
// in the order of the model's classes.
func (t *tally) addCosts(c *Costs, p []float64, best, class int, w float64) {
	if class < 0 {
		t.unpriced += w
		return
	}
	t.cost.Add(c.Of[best][class], w)
	t.costLeast.Add(c.Of[c.Least(p)][class], w)
}

// always returns the class that is the cheapest to say to all rows, and what that
// costs a row.
func (t *tally) always() (class string, cost float64) {
	costs := t.costs.of(t.names)
	cost = math.Inf(1)
	for said, name := range t.names {
		sum := 0.0
		for is := range t.names {
			for predicted := range t.names {
				sum += t.counts[is*len(t.names)+predicted] * costs.Of[said][is]
			}
		}
		if sum /= t.weight; sum < cost && name != unseenClass {
			class, cost = name, sum
		}
	}
	return class, cost
}

// judgeCosts writes what answers cost into the result.
func (r *Result) judgeCosts(t *tally, level, times float64) {
	if t.costs == nil || t.weight == t.unpriced {
		return
	}
	cost, least := t.cost, t.costLeast
	for _, m := range []*stat.Moments{&cost, &least} {
		m.N, m.M2 = m.N/times, m.M2/times
	}
	setNumber(&r.Cost, cost.Mean)
	i := cost.Estimate().Interval(level, stat.TwoSided)
	setInterval(&r.CostLow, &r.CostHigh, i)
	setNumber(&r.CostLeast, least.Mean)
	i = least.Estimate().Interval(level, stat.TwoSided)
	setInterval(&r.CostLeastLow, &r.CostLeastHigh, i)
	class, always := t.always()
	setNumber(&r.CostAlways, always)
	r.CostAlwaysClass = class
	if t.unpriced > 0 {
		r.note("costs are those of the classes that the model knows; %g rows have others", t.unpriced)
	}
}

// price says from where on the positive class is the cheaper one.
func (s *Scores) price(t *tally, c *Costs) {
	if c == nil || t.weight == t.unpriced {
		return
	}
	at := slices.Index(c.Classes, s.Positive)
	if len(c.Classes) != 2 || at < 0 || len(s.ranked) == 0 {
		return
	}
	threshold, least := cheapest(s.ranked, c.Of[at], c.Of[1-at], at)
	setNumber(&s.Threshold, threshold)
	setNumber(&s.CostThreshold, least/t.weight)
	if theory := c.Threshold(s.Positive); theory >= 0 && theory <= 1 {
		s.note("were probabilities frequencies, %s would be the cheaper answer from %.4g on", s.Positive, theory)
	}
}

// cheapest returns the probability from which on saying the positive class costs
// least in these rows, which are ranked: yes and no are what saying it and the
// other class costs, by what is true; at is the positive class. Never saying it
// is a threshold above 1.
func cheapest(rows []scored, yes, no []float64, at int) (threshold, least float64) {
	is := func(r *scored) int {
		if r.positive {
			return at
		}
		return 1 - at
	}
	cost := 0.0
	for i := range rows {
		cost += rows[i].weight * no[is(&rows[i])]
	}
	threshold, least = 1.0000001, cost
	for lo := 0; lo < len(rows); {
		hi := lo
		for ; hi < len(rows) && rows[hi].p == rows[lo].p; hi++ {
			cost += rows[hi].weight * (yes[is(&rows[hi])] - no[is(&rows[hi])])
		}
		if cost < least {
			threshold, least = rows[lo].p, cost
		}
		lo = hi
	}
	return threshold, least
}
