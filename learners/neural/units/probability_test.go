package units

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
)

// Of patients with the same symptoms 92 % live. A sigmoid unit that is trained
// on who lived, by cross entropy, says so, and so does one that is trained on
// the frequency, by either error; one trained on who lived by the squared error
// too, as its mean is the same.
func TestSurvival(t *testing.T) {
	var patients []Example
	for i := range 100 {
		lived := 1.0
		if i%25 < 2 {
			lived = 0
		}
		patients = append(patients, Example{[]float64{1}, []float64{lived}})
	}
	frequencies, counts := Frequencies(patients)
	if len(frequencies) != 1 || counts[0] != 100 || math.Abs(frequencies[0].Target[0]-.92) > 1e-12 {
		t.Fatalf("frequencies %v of %v", frequencies, counts)
	}
	for what, c := range map[string]struct {
		examples []Example
		loss     Loss
		rate     float64
	}{
		"cross entropy": {patients, CrossEntropy, .01}, "squared error": {patients, SquaredError, .05},
		"frequency": {frequencies, CrossEntropy, 1}, "frequency, squared error": {frequencies, SquaredError, 5},
	} {
		n := Layered(Sigmoid, Sigmoid, 1, 1)
		d := &Descent{Rate: Constant(c.rate), Loss: c.loss}
		for range 5000 {
			d.Epoch(n, c.examples)
		}
		if p := n.Answer([]float64{1})[0]; math.Abs(p-.92) > 1e-6 {
			t.Errorf("%s: %v", what, p)
		}
	}
}

// The gradient of the cross entropy over all examples is that over distinct
// inputs with their frequencies, each counted as often as it came, and equation
// 6.14 with 6.15's simplification: Σ(d−h)x.
func TestFrequencyGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 65))
	n := Layered(Sigmoid, Sigmoid, 2, 1)
	n.Randomise(1, random)
	var examples []Example
	for range 60 {
		x := []float64{float64(random.IntN(3)), float64(random.IntN(2))}
		examples = append(examples, Example{x, []float64{float64(random.IntN(2))}})
	}
	all, direct := make([]float64, 3), make([]float64, 3)
	p := n.NewPass()
	for _, e := range examples {
		p.Gradient(e, CrossEntropy, all)
		for i, x := range append([]float64{1}, e.Input...) {
			direct[i] -= (e.Target[0] - p.Output(0)) * x
		}
	}
	frequencies, counts := Frequencies(examples)
	if len(frequencies) != 6 {
		t.Fatalf("%d distinct inputs", len(frequencies))
	}
	grouped := make([]float64, 3)
	for i, e := range frequencies {
		one := make([]float64, 3)
		p.Gradient(e, CrossEntropy, one)
		for k := range one {
			grouped[k] += float64(counts[i]) * one[k]
		}
	}
	near(t, "equation 6.15", direct, all, 1e-12)
	near(t, "by frequencies", grouped, all, 1e-12)
}

// ALVINN's network learns to follow roads that a generator paints: on roads it
// never saw, its strongest output is within two of the right one of 30 in the
// mean. A driver who always goes straight is off by 5.4, as bends and offsets
// are even from −1 to 1.
func TestALVINN(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1993))
	roads := func(count int) ([]Example, []int) {
		var pictures []Example
		var right []int
		for range count {
			bend, offset := 2*random.Float64()-1, 2*random.Float64()-1
			right = append(right, datasets.Steering(bend, offset))
			pictures = append(pictures, Example{datasets.Road(bend, offset, random), SteeringTarget(datasets.Steering(bend, offset))})
		}
		return pictures, right
	}
	n := ALVINN()
	if len(n.Weights) != 3994 {
		t.Errorf("%d weights", len(n.Weights))
	}
	n.Randomise(.05, random)
	d := &Descent{Rate: Constant(.01), Momentum: .9, Batch: 10, Shuffle: random}
	training, _ := roads(300)
	for range 200 {
		d.Epoch(n, training)
	}
	pictures, right := roads(200)
	off := 0.0
	for i, e := range pictures {
		off += math.Abs(float64(argMax(n.Answer(e.Input)) - right[i]))
	}
	if off /= 200; off > 2 {
		t.Errorf("steers %.2f directions beside the right one", off)
	}
}
