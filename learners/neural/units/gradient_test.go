package units

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// slope returns the derivative of a function by each of its weights, by
// differences.
func slope(w []float64, f func() float64) []float64 {
	const h = 1e-5
	g := make([]float64, len(w))
	for i, was := range w {
		w[i] = was + h
		up := f()
		w[i] = was - h
		g[i] = (up - f()) / (2 * h)
		w[i] = was
	}
	return g
}

// sameSlopes compares a gradient with differences, whose own error is of the
// order of h² and of rounding over h: about 1e-9 here.
func sameSlopes(t interface{ Fatalf(string, ...any) }, what string, got, want []float64) {
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-7*max(1, math.Abs(want[i])) {
			t.Fatalf("%s: the derivative by weight %d is %v, by differences %v", what, i, got[i], want[i])
		}
	}
}

// anyNetwork draws an acyclic graph: each unit reads some values before its
// own, some weights are shared, and outputs stand anywhere.
func anyNetwork(t *rapid.T, random *rand.Rand) *Network {
	n := &Network{Inputs: rapid.IntRange(1, 4).Draw(t, "inputs")}
	units := rapid.IntRange(1, 8).Draw(t, "units")
	chosen := units
	if rapid.Bool().Draw(t, "softmax") {
		chosen = rapid.IntRange(0, units-1).Draw(t, "first softmax unit")
	}
	for i := range units {
		f := []Function{Sigmoid, Tanh, Linear, Rectifier}[random.IntN(4)]
		if i >= chosen {
			f = Softmax
		}
		var from []int
		for v := range n.Inputs + min(i, chosen) {
			if random.IntN(3) > 0 {
				from = append(from, v)
			}
		}
		n.Add(f, from)
		n.Units[i].Steepness = []float64{0, .5, 2}[random.IntN(3)]
		if i > 0 && random.IntN(3) == 0 { // share some weights
			u := &n.Units[i]
			for k := range u.Weights {
				u.Weights[k] = random.IntN(u.Bias)
			}
			if random.IntN(2) == 0 {
				u.Bias = None
			}
		}
		if random.IntN(2) == 0 || i == units-1 {
			n.Outputs = append(n.Outputs, i)
		}
	}
	n.Randomise(1, random)
	return n
}

func randoms(n int, random *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	return x
}

// Back-propagation is the gradient, on any acyclic graph.
func TestGradientOfAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := anyNetwork(t, random)
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		e := Example{randoms(n.Inputs, random), randoms(len(n.Outputs), random)}
		loss := SquaredError
		if rapid.Bool().Draw(t, "cross entropy") {
			loss = CrossEntropy
			for k, o := range n.Outputs {
				e.Target[k] = random.Float64()
				if f := n.Units[o].Function; f != Sigmoid && f != Softmax {
					e.Target[k] = math.NaN() // not a probability: not asked
				}
			}
		}
		p := n.NewPass()
		got := make([]float64, len(n.Weights))
		p.Gradient(e, loss, got)
		// A rectifier's kink is no place to measure slopes.
		for i, u := range n.Units {
			if u.Function == Rectifier && math.Abs(p.Values[n.Inputs+i]) < 1e-3 {
				return
			}
		}
		sameSlopes(t, "gradient", got, slope(n.Weights, func() float64 { return n.Error([]Example{e}, loss) }))
	})
}

func TestGradientOfLayers(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, f := range []Function{Sigmoid, Tanh, Rectifier} {
		for _, out := range []Function{Sigmoid, Tanh, Linear, Softmax} {
			n := Layered(f, out, 3, 5, 4, 2)
			n.Randomise(1, random)
			e := Example{randoms(3, random), []float64{.3, .7}}
			for _, loss := range []Loss{SquaredError, CrossEntropy} {
				if loss == CrossEntropy && (out == Tanh || out == Linear) {
					continue
				}
				got := make([]float64, len(n.Weights))
				n.NewPass().Gradient(e, loss, got)
				sameSlopes(t, "layers", got, slope(n.Weights, func() float64 { return n.Error([]Example{e}, loss) }))
			}
		}
	}
}

func TestGradientOfTangents(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, f := range []Function{Sigmoid, Tanh, Linear} {
		n := Layered(f, Sigmoid, 3, 4, 3, 2)
		n.Randomise(1, random)
		n.Units[1].Steepness, n.Units[8].Steepness = 1.5, .7
		e := Tangent{Example{randoms(3, random), randoms(2, random)}, [][]float64{randoms(3, random), randoms(3, random)}}
		got, ignored := make([]float64, len(n.Weights)), make([]float64, len(n.Weights))
		if _, err := n.TangentError(e, .7, got); err != nil {
			t.Fatal(err)
		}
		sameSlopes(t, "tangents", got, slope(n.Weights, func() float64 {
			sum, _ := n.TangentError(e, .7, ignored)
			return sum
		}))
	}
	if _, err := Layered(Sigmoid, Softmax, 1, 1).TangentError(Tangent{}, 1, nil); err == nil {
		t.Error("softmax is accepted")
	}
}

func TestGradientOfRectangle(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	var points [][2]float64
	var targets []float64
	for range 200 {
		x, y := 4*random.Float64()-2, 4*random.Float64()-2
		points = append(points, [2]float64{x, y})
		inside := 0.0
		if x > -1 && x < .5 && y > -.7 && y < 1.2 {
			inside = 1
		}
		targets = append(targets, inside)
	}
	w := []float64{-.5, -.4, .6, .3}
	at := func() *Rectangle { return &Rectangle{w[0], w[1], w[2], w[3], 4} }
	_, got := at().Gradient(points, targets)
	sameSlopes(t, "rectangle", got[:], slope(w, func() float64 { e, _ := at().Gradient(points, targets); return e }))

	r := at()
	r.Steepness = 10
	r.Train(points, targets, Constant(.01), 2000)
	wrong := 0
	for i, p := range points {
		if (r.Inside(p[0], p[1]) > .5) != (targets[i] == 1) {
			wrong++
		}
	}
	if wrong > 4 { // 2 %: points within a tenth of an edge, which is as sharp as edges get
		t.Errorf("the rectangle %+v is wrong on %d of 200 points", *r, wrong)
	}
}

func TestGradientOfCovariance(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var seen, errors [][]float64
	for range 12 {
		seen, errors = append(seen, randoms(3, random)), append(errors, randoms(2, random))
	}
	errors = centre(errors)
	w := randoms(4, random)
	got := make([]float64, 4)
	covariance(w, seen, errors, got)
	sameSlopes(t, "covariance", got, slope(w, func() float64 { return -covariance(w, seen, errors, nil) }))
}

// TestTangentByHand: a unit of weights .1 and (.5, −.3) at (1, 2), whose slopes
// should be .2 and 0. The error is half of Σ(t−o)² + μΣ(slopes)², so that worked
// figures are twice ours.
func TestTangentByHand(t *testing.T) {
	n := Layered(Sigmoid, Sigmoid, 2, 1)
	copy(n.Weights, []float64{.1, .5, -.3})
	gradient := make([]float64, 3)
	e, err := n.TangentError(Tangent{Example{[]float64{1, 2}, []float64{.8}}, [][]float64{{.2, 0}}}, .5, gradient)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.095625, -.15, -.16875, -.31875} {
		got := e
		if i > 0 {
			got = gradient[i-1]
		}
		if math.Abs(2*got-want) > 1e-12 {
			t.Errorf("figure %d is %v, expected %v", i, 2*got, want)
		}
	}
}
