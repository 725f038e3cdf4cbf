package units

import (
	"context"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// A quadratic error of n weights is at its least after n line searches along
// conjugate directions, if these are exact (section 4.8.2).
func TestConjugateGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 414))
	for inputs := 1; inputs <= 6; inputs++ {
		var examples []Example
		for range 30 {
			examples = append(examples, Example{randoms(inputs, random), randoms(1, random)})
		}
		n := Layered(Linear, Linear, inputs, 1)
		method := &optimize.CG{Linesearcher: &optimize.MoreThuente{CurvatureFactor: 1e-9}, Variant: &optimize.PolakRibierePolyak{}}
		if _, err := n.Minimise(context.Background(), examples, SquaredError, method, inputs+1); err != nil {
			t.Fatal(err)
		}
		after := n.Error(examples, SquaredError)
		if _, err := n.Minimise(context.Background(), examples, SquaredError, &optimize.LBFGS{}, 1000); err != nil {
			t.Fatal(err)
		}
		if least := n.Error(examples, SquaredError); after > least*(1+1e-9) {
			t.Errorf("%d weights: the error is %v after as many line searches, the least is %v", inputs+1, after, least)
		}
	}
}

// Both library methods learn XOR, and stop with the context.
func TestMinimise(t *testing.T) {
	xor := examplesOf(0, 1, 1, 0)
	for name, method := range map[string]optimize.Method{"L-BFGS": &optimize.LBFGS{}, "CG": &optimize.CG{}} {
		best := math.Inf(1)
		for seed := range uint64(5) { // local minima are common: the best of five starts
			n := Layered(Tanh, Sigmoid, 2, 3, 1)
			n.Randomise(1, rand.New(rand.NewPCG(seed, 1)))
			if _, err := n.Minimise(context.Background(), xor, CrossEntropy, method, 300); err != nil {
				t.Fatal(err)
			}
			best = min(best, n.Error(xor, SquaredError))
		}
		if best > 1e-3 {
			t.Errorf("%s: XOR is learnt to an error of %v", name, best)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Layered(Tanh, Sigmoid, 2, 1).Minimise(ended, xor, SquaredError, &optimize.LBFGS{}, 10); err == nil {
		t.Error("no error though the context has ended")
	}
}

// Changing each copy of a shared weight by itself and taking the mean is the
// summed gradient with the rate over the number of copies (section 4.8.1).
func TestSharedWeights(t *testing.T) {
	r := &Recurrent{Inputs: 1, Hidden: 2, Outputs: 1, Function: Tanh, Output: Linear}
	const steps = 4
	e, err := r.Example([][]float64{{1}, {-.5}, {.3}, {.9}}, [][]float64{nil, {.2}, {.1}, {-.4}})
	if err != nil {
		t.Fatal(err)
	}
	shared := r.Unfold(steps)
	shared.Randomise(.5, rand.New(rand.NewPCG(2, 2)))
	// The same network with a weight of its own for each connection.
	apart := &Network{Inputs: shared.Inputs, Outputs: shared.Outputs}
	copyOf := make([][]int, len(shared.Weights))
	for _, u := range shared.Units {
		value := apart.Add(u.Function, u.From)
		own := apart.Units[value-apart.Inputs]
		for k, w := range append([]int{u.Bias}, u.Weights...) {
			at := append([]int{own.Bias}, own.Weights...)[k]
			apart.Weights[at] = shared.Weights[w]
			copyOf[w] = append(copyOf[w], at)
		}
	}
	(&Descent{Rate: Constant(.1)}).Epoch(apart, []Example{e})
	(&Descent{Rate: Constant(.1), Average: true}).Epoch(shared, []Example{e})
	for w, copies := range copyOf {
		mean := 0.0
		for _, at := range copies {
			mean += apart.Weights[at] / float64(len(copies))
		}
		if math.Abs(mean-shared.Weights[w]) > 1e-12 {
			t.Errorf("weight %d is %v, the mean of its %d copies %v", w, shared.Weights[w], len(copies), mean)
		}
	}
}

// The gradient of unfolded networks, Elman's and Jordan's.
func TestGradientThroughTime(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, feedback := range []Feedback{Elman, Jordan} {
		r := &Recurrent{Inputs: 2, Hidden: 3, Outputs: 2, Feedback: feedback, Function: Sigmoid, Output: Tanh, Start: .5}
		var x, y [][]float64
		for range 5 {
			x, y = append(x, randoms(2, random)), append(y, randoms(2, random))
		}
		y[1] = nil
		e, err := r.Example(x, y)
		if err != nil {
			t.Fatal(err)
		}
		n := r.Unfold(5)
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		n.Randomise(1, random)
		got := make([]float64, len(n.Weights))
		n.NewPass().Gradient(e, SquaredError, got)
		sameSlopes(t, "through time", got, slope(n.Weights, func() float64 { return n.Error([]Example{e}, SquaredError) }))
	}
	r := &Recurrent{Inputs: 1, Hidden: 1, Outputs: 1}
	if _, err := r.Example([][]float64{{1}}, nil); err == nil {
		t.Error("a series without targets is accepted")
	}
	if _, err := r.Example([][]float64{{1, 2}}, [][]float64{{1}}); err == nil {
		t.Error("a step of two inputs is accepted")
	}
}

// What came two steps before can only be told by a network that remembers:
// y(t+1) = x(t−1).
func TestDelayedCopy(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	const steps = 8
	r := &Recurrent{Inputs: 1, Hidden: 4, Outputs: 1, Function: Tanh, Output: Sigmoid}
	series := func(count int) []Example {
		var examples []Example
		for range count {
			var x, y [][]float64
			for i := range steps {
				x = append(x, []float64{float64(random.IntN(2))})
				if i < 2 {
					y = append(y, nil)
				} else {
					y = append(y, x[i-2])
				}
			}
			e, err := r.Example(x, y)
			if err != nil {
				t.Fatal(err)
			}
			examples = append(examples, e)
		}
		return examples
	}
	n := r.Unfold(steps)
	n.Randomise(.5, random)
	if _, err := n.Minimise(context.Background(), series(60), CrossEntropy, &optimize.LBFGS{}, 200); err != nil {
		t.Fatal(err)
	}
	for _, e := range series(100) {
		for k, o := range n.Answer(e.Input) {
			if want := e.Target[k]; want == want && math.Abs(o-want) > .4 {
				t.Fatalf("step %d: %v, want %v", k+1, o, want)
			}
		}
	}
}

// XOR takes one hidden unit, and parity of three bits at most three; the
// squared error falls with each.
func TestCascade(t *testing.T) {
	parity := func(bits int) []Example {
		var examples []Example
		for row := range 1 << bits {
			x, ones := make([]float64, bits), 0
			for i := range x {
				x[i] = float64(row>>i&1)*2 - 1
				ones += row >> i & 1
			}
			examples = append(examples, Example{x, []float64{float64(ones % 2)}})
		}
		return examples
	}
	for bits, most := range map[int]int{2: 1, 3: 3} {
		for seed := range uint64(5) {
			examples := parity(bits)
			n, grown, err := (&Cascade{}).Grow(context.Background(), examples, rand.New(rand.NewPCG(seed, 416)))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range examples {
				if o := n.Answer(e.Input)[0]; math.Abs(o-e.Target[0]) > .4 {
					t.Errorf("parity of %d bits, seed %d: %v gives %v", bits, seed, e.Input, o)
				}
			}
			if len(grown) > most || len(grown) == 0 {
				t.Errorf("parity of %d bits, seed %d: %d units", bits, seed, len(grown))
			}
			for i, g := range grown {
				if !(g.After < g.Before && g.Covariance > 0) {
					t.Errorf("parity of %d bits, seed %d: unit %d: %+v", bits, seed, i+1, g)
				}
			}
		}
	}
	if _, _, err := (&Cascade{}).Grow(context.Background(), nil, nil); err == nil {
		t.Error("a network grows from no examples")
	}
}

// Of a linear unit the salience is exact: what dropping the weight adds to
// the least error, other weights as they are.
func TestSaliences(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var examples []Example
	for range 40 {
		x := randoms(3, random)
		examples = append(examples, Example{x, []float64{1 + 2*x[0] - .05*x[1] + .3*random.NormFloat64()}})
	}
	n := Layered(Linear, Linear, 3, 1)
	if _, err := n.Minimise(context.Background(), examples, SquaredError, &optimize.LBFGS{}, 100); err != nil {
		t.Fatal(err)
	}
	least := n.Error(examples, SquaredError)
	for w, s := range n.Saliences(examples) {
		was := n.Weights[w]
		n.Weights[w] = 0
		if grew := n.Error(examples, SquaredError) - least; math.Abs(grew-s) > 1e-6 {
			t.Errorf("weight %d: salience %v, the error grows by %v", w, s, grew)
		}
		n.Weights[w] = was
	}
}

// Brain damage: train, drop, train again. A function of two inputs out of six
// needs a quarter of the weights at most.
func TestOptimalBrainDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	task := func(count int) []Example {
		var examples []Example
		for range count {
			x := randoms(6, random)
			examples = append(examples, Example{x, []float64{math.Tanh(2*x[0] - x[1])}})
		}
		return examples
	}
	training, test := task(60), task(200)
	n := Layered(Tanh, Linear, 6, 5, 1)
	n.Randomise(.5, random)
	train := func() {
		if _, err := n.Minimise(context.Background(), training, SquaredError, &optimize.LBFGS{}, 60); err != nil {
			t.Fatal(err)
		}
	}
	train()
	all := len(n.Weights)
	for range all * 3 / 4 {
		n.Drop(n.LeastSalient(training))
		train()
	}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	if e := n.Error(test, SquaredError) / 200; e > .01 {
		t.Errorf("with a quarter of %d weights the mean error is %v", all, e)
	}
	for n.LeastSalient(training) >= 0 {
		n.Drop(n.LeastSalient(training))
	}
}

// Validation keeps the best weights, folds choose a number of epochs, and
// committees average.
func TestStopping(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	task := func(count int) []Example {
		var examples []Example
		for range count {
			x := randoms(8, random)
			y := 0.0
			if x[0]+1.5*random.NormFloat64() > 0 { // noise to overfit
				y = 1
			}
			examples = append(examples, Example{x, []float64{y}})
		}
		return examples
	}
	training, validation := task(30), task(100)
	start := func(i int) (*Network, *Descent) {
		n := Layered(Tanh, Sigmoid, 8, 10, 1)
		n.Randomise(.3, rand.New(rand.NewPCG(uint64(i), 8)))
		return n, &Descent{Rate: Constant(.2), Loss: CrossEntropy, Batch: 1}
	}
	ctx := context.Background()
	n, d := start(0)
	epoch, lowest, err := d.Fit(ctx, n, training, validation, Stop{Epochs: 300, Patience: 50})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Error(validation, CrossEntropy); got != lowest || epoch == 0 || epoch > 100 {
		t.Errorf("stopped with the weights of epoch %d: validation error %v, the lowest was %v", epoch, got, lowest)
	}
	n, d = start(0)
	if _, _, err := d.Fit(ctx, n, training, nil, Stop{Epochs: 300}); err != nil || n.Error(validation, CrossEntropy) <= lowest {
		t.Errorf("without stopping the validation error is %v, with it %v; %v", n.Error(validation, CrossEntropy), lowest, err)
	}
	chosen, err := ChooseEpochs(ctx, training, 5, Stop{Epochs: 60}, start)
	if err != nil || chosen < 1 || chosen > 40 {
		t.Errorf("the folds choose %d epochs, %v", chosen, err)
	}
	if _, err := ChooseEpochs(ctx, training, 1, Stop{}, start); err == nil {
		t.Error("a single fold is accepted")
	}
	best, err := Restart(ctx, training, validation, 4, Stop{Epochs: 30}, start)
	if err != nil || best.Error(validation, CrossEntropy) > lowest+1e-9 {
		t.Errorf("the best of four starts has %v, the first %v; %v", best.Error(validation, CrossEntropy), lowest, err)
	}
	a, _ := start(1)
	b, _ := start(2)
	x := validation[0].Input
	if got, want := (Committee{a, b}).Answer(x)[0], (a.Answer(x)[0]+b.Answer(x)[0])/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("the committee says %v, want %v", got, want)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := d.Fit(ended, n, training, nil, Stop{Epochs: 1}); err == nil {
		t.Error("no error though the context has ended")
	}
}

func TestImages(t *testing.T) {
	small, err := Shrink([]float64{1, 2, 0, 0, 3, 4, 0, 8}, 4, 2, nil)
	if err != nil || len(small) != 2 || small[0] != 2.5 || small[1] != 2 {
		t.Errorf("shrunk to %v, %v", small, err)
	}
	if small, err = Shrink([]float64{5, 5, 7, 7, 5, 5, 7, 7}, 4, 2, rand.New(rand.NewPCG(1, 1))); err != nil || small[0] != 5 || small[1] != 7 {
		t.Errorf("shrunk at random to %v, %v", small, err)
	}
	if _, err := Shrink(make([]float64, 9), 3, 2, nil); err == nil {
		t.Error("3 by 3 pixels are shrunk by blocks of 2")
	}
	n := Layered(Linear, Linear, 4, 1)
	copy(n.Weights[1:], []float64{-2, 0, 1, 2})
	p := n.Picture(0, 2)
	if p.At(0, 0) != (color.Gray{0}) || p.At(1, 0) != (color.Gray{128}) || p.At(1, 1) != (color.Gray{255}) {
		t.Errorf("picture %v", p.Pix)
	}
	if n.Picture(0, 3) != nil || n.Picture(1, 2) != nil {
		t.Error("an impossible picture is made")
	}
}

func TestNetworkCheck(t *testing.T) {
	for what, n := range map[string]*Network{
		"a cycle":              {Inputs: 1, Weights: []float64{0}, Units: []Unit{{Bias: None, From: []int{1}, Weights: []int{0}}}},
		"no such weight":       {Inputs: 1, Units: []Unit{{Bias: 0}}},
		"a weight too few":     {Inputs: 1, Units: []Unit{{Bias: None, From: []int{0}}}},
		"no such output":       {Inputs: 1, Outputs: []int{0}},
		"a unit after softmax": {Inputs: 1, Units: []Unit{{Function: Softmax, Bias: None}, {Bias: None}}},
	} {
		if n.Check() == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
