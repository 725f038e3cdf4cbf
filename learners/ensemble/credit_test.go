package ensemble

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Worked out by hand: three rows that one member foresaw and the other ruled
// out are that member's; rows that both find equally probable are halved; a
// class that nobody knows is credited to nobody.
func TestCredit(t *testing.T) {
	for _, c := range []struct{ given, weights, credit, shares []float64 }{
		{[]float64{1, 0, 1, 0, 1, 0}, []float64{1, 1, 1}, []float64{3, 0}, []float64{.8, .2}},
		{[]float64{.3, .3, .6, .6}, []float64{1, 3}, []float64{2, 2}, []float64{.5, .5}},
		{[]float64{0, 0}, []float64{1}, []float64{0, 0}, []float64{.5, .5}},
		{nil, nil, []float64{0, 0}, []float64{.5, .5}},
	} {
		credit := credited(make([]float64, 2), &trial{c.given, c.weights})
		if !slices.Equal(credit, c.credit) || !slices.Equal(shares(credit), c.shares) {
			t.Errorf("%v: credit %v, expected %v", c, credit, c.credit)
		}
	}
}

// No other shares make the rows, and the row that each member has from the
// start, more probable.
func TestCreditIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "members")
		of := &trial{}
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			of.weights = append(of.weights, rapid.SampledFrom([]float64{0.5, 1, 3}).Draw(t, "weight"))
			for range n {
				of.given = append(of.given, rapid.Float64Range(0.01, 1).Draw(t, "given"))
			}
		}
		log := func(share []float64) float64 {
			sum := 0.0
			for _, s := range share {
				sum += math.Log(s)
			}
			for r, w := range of.weights {
				p := 0.0
				for i, s := range share {
					p += s * of.given[r*n+i]
				}
				sum += w * math.Log(p)
			}
			return sum
		}
		credit := credited(make([]float64, n), of)
		total, rows := 0.0, 0.0
		for i := range credit {
			total += credit[i]
		}
		for _, w := range of.weights {
			rows += w
		}
		if math.Abs(total-rows) > 1e-9 {
			t.Fatalf("credit for %v rows, expected %v", total, rows)
		}
		best := shares(credit)
		for i := range best {
			other := slices.Clone(best)
			other[i] *= rapid.SampledFrom([]float64{0.8, 0.9, 1.1, 1.2}).Draw(t, "other")
			sum := 0.0
			for _, s := range other {
				sum += s
			}
			for k := range other {
				other[k] /= sum
			}
			if log(other) > log(best)+1e-6 {
				t.Fatalf("shares %v are better than %v: %v, %v", other, best, log(other), log(best))
			}
		}
	})
}
