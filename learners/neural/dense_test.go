package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

func randoms(n int, random *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	return x
}

// The fast network descends as the readable one does: a step of 1 without
// momentum is the gradient, to single precision, and so is what methods for all
// rows are given, with the slope of the penalty and without dropped weights.
func TestGradientOfDense(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for name, activation := range activations {
		for _, hidden := range [][]int{nil, {5}, {9, 4}, {17, 8, 3}} {
			for _, outputs := range []struct {
				count    int
				loss     string
				function units.Function
				error    units.Loss
			}{
				{1, "entropy", units.Linear, units.SquaredError}, {2, "entropy", units.Softmax, units.CrossEntropy}, {11, "entropy", units.Softmax, units.CrossEntropy},
				{2, "squared", units.Softmax, units.SquaredError}, {11, "squared", units.Softmax, units.SquaredError},
			} {
				const inputs, rows = 6, 13
				d := newDense(inputs, hidden, outputs.count, activation, random)
				for i := range d.layers {
					for j := range d.layers[i].out {
						d.layers[i].b[j] = float32(random.NormFloat64())
					}
				}
				n := units.Layered(activation, outputs.function, append(append([]int{inputs}, hidden...), outputs.count)...)
				n.Weights = weightsOf(d)
				s := &sample{stride: strideOf(inputs), x: make([]float32, rows*strideOf(inputs)), aim: aim{outputs: outputs.count}}
				want := make([]float64, len(n.Weights))
				pass := n.NewPass()
				var batch []shown
				sum := 0.0
				for r := range rows {
					x := randoms(inputs, random)
					for i, v := range x {
						s.x[r*s.stride+i] = float32(v)
					}
					e := units.Example{Input: x, Target: make([]float64, outputs.count)}
					if outputs.count == 1 {
						e.Target[0] = random.NormFloat64()
						s.number = append(s.number, float32(e.Target[0]))
					} else {
						s.class = append(s.class, int32(random.IntN(outputs.count)))
						e.Target[s.class[r]] = 1
					}
					sum += pass.Gradient(e, outputs.error, want)
					batch = append(batch, shown{int32(r), 1})
				}
				what := fmt.Sprint(name, hidden, outputs)
				same := func(i int, got, want float64) {
					if math.Abs(got-want) > 2e-6*max(1, math.Abs(want)) {
						t.Fatalf("%s: the derivative by weight %d is %v, want %v", what, i, got, want)
					}
				}
				o := &settings{Optimiser: "momentum", Loss: outputs.loss, Rate: 1}
				loss := newJudge(d, s, slices.Repeat([]float64{1}, rows), outputs.loss == "squared", 1).loss(d)
				if outputs.count == 1 {
					loss /= 2
				}
				same(-1, loss, sum/rows)

				const decay = .3
				mask := d.mask()
				mask[0][0] = 0
				whole := newDescent(d, s, o, rows)
				whole.still, whole.share = true, 1./rows
				gradient := make([]float64, len(n.Weights))
				whole.gradient(batch, decay, mask, gradient)
				gradients := d.clone()
				gradients.take(gradient) // to put them in the order of the weights
				for i, g := range weightsOf(gradients) {
					expected := want[i]/rows + decay*n.Weights[i]
					if isBias(d, i) {
						expected = want[i] / rows
					} else if i == 1 { // the first input's weight to the first unit
						expected = 0
					}
					same(i, g, expected)
				}

				newDescent(d, s, o, rows).learn(batch)
				for i, w := range weightsOf(d) {
					same(i, n.Weights[i]-w, want[i]/rows)
				}
			}
		}
	}
}

// isBias reports whether a place among weightsOf's is a bias.
func isBias(d *dense, at int) bool {
	for _, l := range d.layers {
		if at < l.out*(l.in+1) {
			return at%(l.in+1) == 0
		}
		at -= l.out * (l.in + 1)
	}
	return false
}

// weightsOf returns a dense network's weights in the order of Layered's.
func weightsOf(d *dense) []float64 { return d.network(units.Linear).Weights }

// The fast exponential is one to single precision.
func TestExp(t *testing.T) {
	if e := float64(exp32(1)); math.Abs(e-math.E) > 1e-6 {
		t.Errorf("exp32(1) = %v", e)
	}
	for x := float32(-80); x < 80; x += 0.37 {
		if got, want := float64(exp32(x)), math.Exp(float64(x)); math.Abs(got/want-1) > 3e-7 {
			t.Errorf("exp32(%v) = %v, want %v", x, got, want)
		}
	}
}

// near reports whether numbers agree with printed ones to their digits.
func near(t *testing.T, what string, got, want []float64, within float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= within) {
			t.Errorf("%s: %.9v, want %v", what, got, want)
			return
		}
	}
}
