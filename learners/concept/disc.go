package concept

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// disc is the space of discs around a centre (a ball, where there are more than
// two columns): the radius is at least the distance of the farthest row of the
// concept, and below that of the nearest other row.
type disc struct {
	centre       []float64
	inner, outer float64
}

// newDisc returns the space of the examples, and the place of the one that left
// no hypothesis, or −1. Without a centre the mean of the concept's rows is it.
// A row with a missing number says nothing.
func newDisc(centre []float64, examples []example) (*disc, int) {
	v := &disc{centre: centre, inner: 0, outer: math.Inf(1)}
	if centre == nil {
		v.centre = meanOf(examples)
	}
	for _, d := range examples {
		if r := v.distance(d.x); d.positive && r > v.inner {
			v.inner = r
		}
	}
	cause := -1
	for i, d := range examples {
		if r := v.distance(d.x); !d.positive && r < v.outer {
			if v.outer = r; r <= v.inner {
				cause = i
			}
		}
	}
	return v, cause
}

// meanOf is the mean of the concept's complete rows.
func meanOf(examples []example) []float64 {
	mean, weight := make([]float64, len(examples[0].x)), 0.0
	for _, d := range examples {
		if !d.positive || incomplete(d.x) {
			continue
		}
		weight += d.weight
		for i, v := range d.x {
			mean[i] += d.weight * v.number
		}
	}
	for i := range mean {
		mean[i] /= max(weight, math.SmallestNonzeroFloat64)
	}
	return mean
}

func incomplete(x []value) bool {
	for _, v := range x {
		if v.missing {
			return true
		}
	}
	return false
}

// distance is that of a row from the centre, NaN if a number is missing.
func (v *disc) distance(x []value) float64 {
	if incomplete(x) {
		return math.NaN()
	}
	r := 0.0
	for i := range x {
		r = math.Hypot(r, x[i].number-v.centre[i])
	}
	return r
}

func (v *disc) verdict(x []value) int {
	switch r := v.distance(x); {
	case r <= v.inner:
		return 1
	case r >= v.outer:
		return -1
	}
	return 0
}

// votes returns the share of the radii between the two which cover a row, of 1;
// 0 of 0 where they have no end, or a number is missing.
func (v *disc) votes(x []value) (yes, of float64) {
	r := v.distance(x)
	if math.IsNaN(r) || math.IsInf(v.outer, 1) {
		return 0, 0
	}
	return min(max((v.outer-r)/(v.outer-v.inner), 0), 1), 1
}

// draw returns what a disc of a radius drawn between the two says.
func (v *disc) draw(random *rand.Rand) func(x []value) bool {
	if math.IsInf(v.outer, 1) {
		return nil
	}
	radius := v.inner + random.Float64()*(v.outer-v.inner)
	return func(x []value) bool { return v.distance(x) <= radius }
}

// String says where the radii lie.
func (v *disc) String() string {
	return fmt.Sprintf("within %.6g of %.6g is the concept, from %.6g on is not", v.inner, v.centre, v.outer)
}
