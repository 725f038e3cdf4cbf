// Package pocket trains a perceptron by the pocket algorithm with ratchet
// (Gallant 1986): the perceptron rule, which never settles where no plane
// parts the rows, beside a pocket that keeps the best weights met so far. Trees
// of perceptrons (learners/neuraltree) grow by it, and learners/neural learns
// single units with it.
package pocket

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Criterion is what a unit makes small. Of the weight pos of positive and neg
// of negative targets, the unit gets missedPos and missedNeg wrong: 0 is
// perfect.
type Criterion struct {
	Value func(missedPos, pos, missedNeg, neg float64) float64
	// Rising says that the value only rises with further errors, so that
	// counting them can stop once it is too high.
	Rising bool
}

// Problem is what one unit has to learn: inputs, the last of which is the
// constant 1 of the bias, with positive targets first.
type Problem struct {
	width    int
	x        []float64 // rows of width inputs
	weights  []float64 // of the rows
	Rows     int
	positive int // rows with a positive target
	pos, neg float64
	// upTo sums the weights within a class, for drawing rows by their
	// weight; nil if all rows of a class weigh the same.
	upTo []float64
}

// New copies the inputs of some rows of a sample, side by side.
func New(width int, x []float64, positive, negative []int32, weight []float64) *Problem {
	p := &Problem{width: width, Rows: len(positive) + len(negative), positive: len(positive)}
	p.x = make([]float64, 0, p.Rows*width)
	p.weights = make([]float64, 0, p.Rows)
	even := true
	for _, class := range [][]int32{positive, negative} {
		for _, i := range class {
			p.x = append(p.x, x[int(i)*width:(int(i)+1)*width]...)
			p.weights = append(p.weights, weight[i])
			even = even && weight[i] == weight[class[0]]
		}
	}
	p.pos, p.neg = total(p.weights[:p.positive]), total(p.weights[p.positive:])
	if !even {
		p.upTo = make([]float64, p.Rows)
		for i, w := range p.weights {
			if i > 0 && i != p.positive {
				w += p.upTo[i-1]
			}
			p.upTo[i] = w
		}
	}
	return p
}

// draw returns a row with the given target, by weight.
func (p *Problem) draw(random *rand.Rand, positive bool) int {
	lo, hi := p.positive, p.Rows
	if positive {
		lo, hi = 0, p.positive
	}
	if p.upTo == nil {
		return lo + random.IntN(hi-lo)
	}
	x := random.Float64() * p.upTo[hi-1]
	return min(lo+sort.SearchFloat64s(p.upTo[lo:hi], math.Nextafter(x, math.Inf(1))), hi-1)
}

// checksPerPresentation is how many rows are looked at to judge weights for
// each row that is shown: few rows are judged after every change.
const checksPerPresentation = 8

// Train is the pocket algorithm with ratchet (Gallant 1986): the perceptron
// rule, which never settles where no plane does, beside a pocket that keeps
// the best weights met so far. Weights are judged by the whole set when they
// have got a row right and either did so for longer than those in the pocket,
// or judging has not taken its share of the time yet. It returns the weights
// and their value; if nothing better than no plane at all was met, nil.
func Train(p *Problem, c Criterion, presentations int, random *rand.Rand) ([]float64, float64) {
	w := make([]float64, p.width)
	best := make([]float64, p.width)
	bestValue := c.Value(p.pos, p.pos, 0, p.neg) // all outputs −1
	found, changed := false, false
	run, bestRun, looked := 0, 0, 0
	for shown := range presentations {
		positive := random.Uint64()>>63 == 1
		i := p.draw(random, positive)
		x := p.x[i*p.width : (i+1)*p.width]
		if positive == (Dot(w, x) > 0) {
			run++
			if changed && (run > bestRun || looked <= checksPerPresentation*shown) {
				changed = false
				value, rows := p.judge(w, c, bestValue)
				looked += rows
				if value < bestValue {
					copy(best, w)
					bestValue, bestRun, found = value, run, true
					if value == 0 {
						break
					}
				}
			}
			continue
		}
		run, changed = 0, true
		if positive {
			for j, v := range x {
				w[j] += v
			}
		} else {
			for j, v := range x {
				w[j] -= v
			}
		}
	}
	if !found {
		return nil, bestValue
	}
	return best, bestValue
}

// judge returns the value of weights over the whole set, or, as soon as it is
// clear that it is not below the limit, the limit; and how many rows it looked
// at.
func (p *Problem) judge(w []float64, c Criterion, limit float64) (value float64, looked int) {
	// Both classes are gone through at the same pace, so that weights which
	// favour one of them are found out early.
	const stretches = 16
	missedPos, missedNeg := 0.0, 0.0
	for k := range stretches {
		missedPos += p.missed(w, true, k*p.positive/stretches, (k+1)*p.positive/stretches)
		negative := p.Rows - p.positive
		missedNeg += p.missed(w, false, p.positive+k*negative/stretches, p.positive+(k+1)*negative/stretches)
		looked = (k+1)*p.positive/stretches + (k+1)*negative/stretches
		if value = c.Value(missedPos, p.pos, missedNeg, p.neg); c.Rising && value >= limit {
			return limit, looked
		}
	}
	return value, looked
}

// missed returns the weight of the rows lo ≤ row < hi, all of one class, that
// weights get wrong.
func (p *Problem) missed(w []float64, positive bool, lo, hi int) float64 {
	missed := 0.0
	for i := lo; i < hi; i++ {
		if (Dot(w, p.x[i*p.width:(i+1)*p.width]) > 0) != positive {
			missed += p.weights[i]
		}
	}
	return missed
}

// Vertex returns weights that cut one row off: the row farthest from the
// origin is a corner of what all rows span, so that no other row lies as far
// in its direction. Of equally far ones, as all corners of the cube are, a row
// of the lighter class is taken: it counts for most.
func (p *Problem) Vertex() []float64 {
	inputs := p.width - 1
	farthest, distance, lightest := 0, -1.0, false
	for i := range p.Rows {
		x := p.x[i*p.width : i*p.width+inputs]
		d := Dot(x, x)
		light := (i < p.positive) == (p.pos < p.neg)
		if d > distance || d == distance && light && !lightest {
			farthest, distance, lightest = i, d, light
		}
	}
	w := make([]float64, p.width)
	copy(w, p.x[farthest*p.width:farthest*p.width+inputs])
	if farthest >= p.positive {
		for j := range w {
			w[j] = -w[j]
		}
	}
	return w
}

// Slack is a loss that no other rows would notice: a quarter of the deviation
// that a criterion's value would have on as many rows, if it were the share of
// wrong ones. What is perfect has none.
func (p *Problem) Slack(value float64) float64 {
	return math.Sqrt(max(value*(1-value), 0)/float64(p.Rows)) / 4
}

// Dot returns the sum of products. Four sums side by side keep the processor
// busy; the conversions keep products from being fused with sums, which would
// round differently on some processors.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s, t, u, v float64
	for len(a) >= 4 && len(b) >= 4 {
		s += float64(a[0] * b[0])
		t += float64(a[1] * b[1])
		u += float64(a[2] * b[2])
		v += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s += float64(x * b[i])
	}
	return (s + t) + (u + v)
}

func total(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}
