package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

// perceptrons are the single units of Mitchell 1997, chapter 4, and section
// 6.5: the perceptron rule, and gradient descent on AND with inputs of ±1 and
// on XOR, where nothing is better than no weights.
func perceptrons() []Experiment {
	experiments := []Experiment{{
		Name: "networks-perceptron-step", Tags: chapter(4), Source: mitchell("section 4.4.2"), Seeds: 1,
		Measure: "change of a weight: input .8, rate .1, answer −1 instead of 1", Figure: printed(.16).digits(6),
		Run: Computed(func() float64 {
			w := units.Perceptron{0, 0}
			w.Correct(units.Labelled{Input: []float64{.8}, Label: 1}, .1)
			return w[1]
		}),
	}, {
		Name: "networks-likelihood", Tags: chapter(6), Source: mitchell("section 6.5"), Seeds: 1,
		Measure: "log likelihood of OR after two steps of gradient ascent", Figure: reference(-1.6247060).digits(7),
		Run: Computed(likelihoodOfOr),
	}}
	for _, e := range []struct {
		name, what string
		xor        bool
		epochs     int
		known      float64
	}{
		{"delta-and-1", "squared error of a linear unit on AND after one epoch", false, 1, 1.46},
		{"delta-and-3", "squared error of a linear unit on AND after three epochs", false, 3, .893216},
		{"delta-and-10", "squared error of a linear unit on AND after ten epochs", false, 10, .517294},
		{"delta-and-limit", "squared error of a linear unit on AND in the end", false, 2000, .5},
		{"delta-xor-limit", "squared error of a linear unit on XOR in the end", true, 2000, 2},
	} {
		experiments = append(experiments, Experiment{
			Name: "networks-" + e.name, Tags: chapter(4), Source: mitchell("table 4.1"), Seeds: 1,
			Measure: e.what, Figure: reference(e.known).digits(6),
			Run: Computed(func() float64 { return deltaRule(corners(e.xor), e.epochs) }),
		})
	}
	return experiments
}

// checkersLearner is the update of chapter 1: LMS on the book's board, which black has
// won with three pieces and a king, again and again; what it should be worth is 100.
func checkersLearner() []Experiment {
	var experiments []Experiment
	for _, e := range []struct {
		name  string
		rate  float64
		known []float64
	}{{"fast", .1, []float64{110, 99}}, {"slow", .01, []float64{11, 20.79}}} {
		for i, known := range e.known {
			experiments = append(experiments, Experiment{
				Name: fmt.Sprintf("checkers-lms-%s-%d", e.name, i+1), Tags: chapter(1), Source: mitchell("section 1.2.4"), Seeds: 1,
				Measure: fmt.Sprintf("value of a won board after %d examples of it, η = %v, weights from 0", i+1, e.rate), Figure: reference(known).digits(6),
				Run: Computed(func() float64 {
					v := units.Layered(units.Linear, units.Linear, 6, 1)
					won := []units.Example{{Input: []float64{3, 0, 1, 0, 0, 0}, Target: []float64{100}}}
					d := &units.Descent{Rate: units.Constant(e.rate)}
					for range i + 1 {
						d.Epoch(v, won)
					}
					return v.Answer(won[0].Input)[0]
				}),
			})
		}
	}
	return experiments
}

// deltaRule returns the squared error of a linear unit after so many epochs.
func deltaRule(examples []units.Example, epochs int) float64 {
	n := units.Layered(units.Linear, units.Linear, 2, 1)
	d := &units.Descent{Rate: units.Constant(.05)}
	for range epochs {
		d.Epoch(n, examples)
	}
	return n.Error(examples, units.SquaredError)
}

// likelihoodOfOr takes two steps of gradient ascent.
func likelihoodOfOr() float64 {
	or := []units.Example{{Input: []float64{0, 0}, Target: []float64{0}}, {Input: []float64{0, 1}, Target: []float64{1}}, {Input: []float64{1, 0}, Target: []float64{1}}, {Input: []float64{1, 1}, Target: []float64{1}}}
	n := units.Layered(units.Sigmoid, units.Sigmoid, 2, 1)
	d := &units.Descent{Rate: units.Constant(.5), Loss: units.CrossEntropy}
	for range 2 {
		d.Epoch(n, or)
	}
	return -n.Error(or, units.CrossEntropy)
}

// backPropagation is the networks of Mitchell 1997, chapter 4: their sizes,
// the steps of exercise 4.7 and its variants, and the 8×3×8 network, of which
// 200 seeds of another program ended with an error between .071 and .207, .094
// on average.
func backPropagation() []Experiment {
	experiments := []Experiment{{
		Name: "networks-alvinn-weights", Source: "section 4.2", Seeds: 1,
		Measure: "weights of ALVINN's network, 960×4×30", Figure: reference(3994),
		Run: Computed(func() float64 { return float64(len(units.ALVINN().Weights)) }),
	}, {
		Name: "networks-face-weights", Source: "section 4.7", Seeds: 1,
		Measure: "weights of the face network, 960×3×4", Figure: printed(2899),
		Run: Computed(func() float64 {
			return float64(len(units.Layered(units.Sigmoid, units.Sigmoid, 960, 3, 4).Weights))
		}),
	}, {
		Name: "networks-identity-right", Source: "section 4.6.4", Seeds: 20,
		Measure: "inputs of eight that the 8×3×8 network tells apart", Figure: printed(8).higher(),
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			i, err := identityNetwork(ctx, seed)
			return i.right, err
		}),
	}, {
		Name: "networks-identity-error", Source: "section 4.6.4", Seeds: 20,
		Measure: "squared error of the 8×3×8 network in the end", Figure: reference(.094).lower(),
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			i, err := identityNetwork(ctx, seed)
			return i.error, err
		}),
	}}
	for _, e := range []struct {
		name, where, what string
		function          units.Function
		descent           units.Descent
		steps             int
		known             float64
	}{
		{"step-1", "exercise 4.7", "after the first example", units.Sigmoid, units.Descent{Momentum: .9}, 1, .1189104},
		{"step-2", "exercise 4.7", "after the second example", units.Sigmoid, units.Descent{Momentum: .9}, 2, .1134742},
		{"tanh", "exercise 4.8", "after the first example, units being hyperbolic tangents", units.Tanh, units.Descent{}, 1, .1514156},
		{"decay", "exercise 4.10", "after the first example, with a weight decay of .01", units.Sigmoid, units.Descent{Decay: .01}, 1, .1183104},
		{"cross-entropy", "section 4.8.1", "after the first example, by cross entropy", units.Sigmoid, units.Descent{Loss: units.CrossEntropy}, 1, .1760967},
	} {
		experiments = append(experiments, Experiment{
			Name: "networks-backprop-" + e.name, Source: e.where, Measure: "weight from c to d " + e.what, Figure: reference(e.known).digits(7), Seeds: 1,
			Run: Computed(func() float64 { return exercise47(e.function, e.descent, e.steps) }),
		})
	}
	for i := range experiments {
		experiments[i].Source, experiments[i].Tags = mitchell(experiments[i].Source), chapter(4)
	}
	return experiments
}

// growingNetworks change their shape while they learn (Mitchell 1997, section
// 4.8.4). The references are what the papers claim: a unit for XOR, no more
// units than bits for parity (a network without shortcuts needs as many), and
// no more error with a quarter of the weights.
func growingNetworks() []Experiment {
	return []Experiment{{
		Name: "networks-cascade-xor", Tags: append(chapter(4), "fahlman"), Source: mitchell("section 4.8.4") + "; Fahlman & Lebiere 1990", Seeds: 20,
		Measure: "hidden units that Cascade-Correlation grows for XOR", Figure: reference(1),
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) { return cascadeParity(ctx, seed, 2) }),
	}, {
		Name: "networks-cascade-parity-3", Tags: append(chapter(4), "fahlman"), Source: mitchell("section 4.8.4") + "; Fahlman & Lebiere 1990", Seeds: 20,
		Measure: "hidden units that Cascade-Correlation grows for the parity of three bits", Figure: reference(3).lower(),
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) { return cascadeParity(ctx, seed, 3) }),
	}, {
		Name: "networks-brain-damage", Tags: append(chapter(4), "lecun"), Source: mitchell("section 4.8.4") + "; Le Cun, Denker & Solla 1990", Seeds: 20,
		Measure: "error on new examples with a quarter of the weights, relative to that with all", Figure: reference(1).lower(),
		Run: OverSeeds(brainDamage),
	}}
}

// cascadeParity grows a network that must get every row of parity right, and
// returns its hidden units.
func cascadeParity(ctx context.Context, seed uint64, bits int) (float64, error) {
	examples := parity(bits)
	n, grown, err := (&units.Cascade{}).Grow(ctx, examples, rand.New(rand.NewPCG(seed, 416)))
	if err != nil {
		return 0, err
	}
	for _, e := range examples {
		if (n.Answer(e.Input)[0] > .5) != (e.Target[0] > .5) {
			return 0, fmt.Errorf("%v is answered wrongly", e.Input)
		}
	}
	return float64(len(grown)), nil
}

// corners are the four rows of AND or XOR, with inputs and targets of ±1.
func corners(xor bool) []units.Example {
	var examples []units.Example
	for _, x := range [][]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
		target := min(x[0], x[1])
		if xor {
			target = -x[0] * x[1]
		}
		examples = append(examples, units.Example{Input: x, Target: []float64{target}})
	}
	return examples
}

// parity is all rows of so many bits of ±1, with a target of 1 for an odd
// number of ones, else 0.
func parity(bits int) []units.Example {
	var examples []units.Example
	for row := range 1 << bits {
		x, ones := make([]float64, bits), 0
		for i := range x {
			x[i] = float64(row>>i&1)*2 - 1
			ones += row >> i & 1
		}
		examples = append(examples, units.Example{Input: x, Target: []float64{float64(ones % 2)}})
	}
	return examples
}

// brainDamage trains a network on a noisy function of two of its six inputs,
// and again with the least salient weights dropped, one at a time, until a
// quarter is left. It returns by what factor the mean squared error on new
// examples, from the function without noise, has changed.
func brainDamage(ctx context.Context, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 417))
	task := func(count int, noise float64) []units.Example {
		var examples []units.Example
		for range count {
			x := make([]float64, 6)
			for i := range x {
				x[i] = random.NormFloat64()
			}
			examples = append(examples, units.Example{Input: x, Target: []float64{math.Tanh(2*x[0]-x[1]) + noise*random.NormFloat64()}})
		}
		return examples
	}
	training, test := task(60, .2), task(500, 0)
	n := units.Layered(units.Tanh, units.Linear, 6, 5, 1)
	n.Randomise(.5, random)
	train := func() error {
		_, err := n.Minimise(ctx, training, units.SquaredError, &optimize.LBFGS{}, 60)
		return err
	}
	if err := train(); err != nil {
		return 0, err
	}
	before := n.Error(test, units.SquaredError)
	for range len(n.Weights) * 3 / 4 {
		n.Drop(n.LeastSalient(training))
		if err := train(); err != nil {
			return 0, err
		}
	}
	return n.Error(test, units.SquaredError) / before, nil
}

// exercise47 returns the weight w_dc after so many examples of exercise 4.7:
// all weights .1, rate .3.
func exercise47(function units.Function, d units.Descent, steps int) float64 {
	n := units.Layered(function, function, 2, 1, 1)
	for i := range n.Weights {
		n.Weights[i] = .1
	}
	examples := []units.Example{{Input: []float64{1, 0}, Target: []float64{1}}, {Input: []float64{0, 1}, Target: []float64{0}}}
	d.Rate, d.Batch = units.Constant(.3), 1
	d.Epoch(n, examples[:steps])
	return n.Weights[4]
}

// identity is what became of an 8×3×8 network.
type identity struct{ right, error float64 }

// identityNetwork trains 8×3×8 units to repeat their input, a one among
// zeros: weights from −0.1 to 0.1, rate 0.3, 5000 epochs.
func identityNetwork(ctx context.Context, seed uint64) (identity, error) {
	return once(ctx, "identity", seed, func() (identity, error) {
		var examples []units.Example
		for i := range 8 {
			x := make([]float64, 8)
			x[i] = 1
			examples = append(examples, units.Example{Input: x, Target: x})
		}
		n := units.Layered(units.Sigmoid, units.Sigmoid, 8, 3, 8)
		n.Randomise(.1, rand.New(rand.NewPCG(seed, 48)))
		d := &units.Descent{Rate: units.Constant(.3), Batch: 1}
		for range 5000 {
			d.Epoch(n, examples)
		}
		i := identity{error: 2 * n.Error(examples, units.SquaredError)}
		for at, e := range examples {
			if greatest(n.Answer(e.Input)) == at {
				i.right++
			}
		}
		return i, nil
	})
}
