package logsum

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestOfAndNormalise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-50, 50), 1, 8).Draw(t, "x")
		shift := rapid.Float64Range(-1e5, 1e5).Draw(t, "shift")
		direct := 0.0
		for i := range x {
			direct += math.Exp(x[i])
			x[i] += shift
		}
		if got, want := Of(x), math.Log(direct)+shift; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("%v, expected %v", got, want)
		}
		log := Of(x)
		most, total := Normalise(x)
		if math.Abs(most+math.Log(total)-log) > 1e-9*(1+math.Abs(log)) {
			t.Fatalf("%v·e^%v, expected e^%v", total, most, log)
		}
		sum := 0.0
		for _, p := range x {
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("probabilities add up to %v", sum)
		}
	})
	nothing := []float64{math.Inf(-1), math.Inf(-1)}
	if got := Of(nothing); !math.IsInf(got, -1) {
		t.Errorf("the sum of nothing is e^%v", got)
	}
	if Normalise(nothing); nothing[0] != 0.5 || nothing[1] != 0.5 {
		t.Errorf("%v", nothing)
	}
}

// A softmax at a temperature is the normalised scores divided by it, and the
// surprise is its logarithm, of either kind of number.
func TestSoftmaxAndSurprise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-50, 50), 1, 8).Draw(t, "x")
		temperature := rapid.Float64Range(0.1, 10).Draw(t, "temperature")
		want, single := make([]float64, len(x)), make([]float32, len(x))
		for i, v := range x {
			want[i], single[i] = v/temperature, float32(v)
		}
		Normalise(want)
		p, q := make([]float64, len(x)), make([]float64, len(x))
		Softmax(x, temperature, p)
		Softmax(single, temperature, q)
		for i := range x {
			if math.Abs(p[i]-want[i]) > 1e-12 || math.Abs(q[i]-want[i]) > 1e-3 {
				t.Fatalf("%v and %v, expected %v", p[i], q[i], want[i])
			}
			if s := Surprise(x, i, temperature); p[i] > 1e-300 && math.Abs(s+math.Log(p[i])) > 1e-9*(1+s) {
				t.Fatalf("surprise %v of the probability %v", s, p[i])
			}
		}
	})
}
