package units

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/accrete-ml/accrete/internal/pocket"
)

// Perceptron is the weights of a threshold unit (Rosenblatt 1958): first the
// bias, then one for each input. It answers 1 if their sum is positive, else
// −1, and so divides its inputs by a hyperplane.
type Perceptron []float64

// Labelled is an example for a perceptron: inputs and the answer, 1 or −1.
type Labelled struct {
	Input []float64
	Label float64
}

// Sum returns the biased sum of the inputs.
func (w Perceptron) Sum(x []float64) float64 {
	sum := w[0]
	for i, v := range x {
		sum += w[i+1] * v
	}
	return sum
}

// Output returns 1 or −1. A sum of exactly 0 gives −1.
func (w Perceptron) Output(x []float64) float64 {
	if w.Sum(x) > 0 {
		return 1
	}
	return -1
}

// Errors counts the examples that are answered wrongly.
func (w Perceptron) Errors(examples []Labelled) int {
	wrong := 0
	for _, e := range examples {
		if w.Output(e.Input) != e.Label {
			wrong++
		}
	}
	return wrong
}

// Correct is the perceptron training rule for one example (Mitchell 1997,
// section 4.4.2): w_i ← w_i + η(t−o)x_i. It reports whether the answer was
// wrong, which alone changes the weights.
func (w Perceptron) Correct(e Labelled, rate float64) bool {
	difference := e.Label - w.Output(e.Input)
	if difference == 0 {
		return false
	}
	w[0] += rate * difference
	for i, x := range e.Input {
		w[i+1] += rate * difference * x
	}
	return true
}

// Train goes through the examples in order, again and again, until an epoch
// passes without a wrong answer, and reports whether that happened. If a
// hyperplane separates the examples it will; epochs is for when none does.
func (w Perceptron) Train(examples []Labelled, rate Schedule, epochs int) bool {
	for epoch := range epochs {
		wrong := 0
		for _, e := range examples {
			if w.Correct(e, rate(epoch+1)) {
				wrong++
			}
		}
		if wrong == 0 {
			return true
		}
	}
	return w.Errors(examples) == 0
}

// Pocket trains a perceptron by the pocket algorithm with ratchet (Gallant
// 1990; package pocket) for the fewest wrong answers, which the perceptron
// rule alone wanders past where no hyperplane separates the examples.
func Pocket(examples []Labelled, presentations int, random *rand.Rand) Perceptron {
	if len(examples) == 0 {
		return nil
	}
	width := len(examples[0].Input) + 1
	x, weights := make([]float64, 0, len(examples)*width), make([]float64, len(examples))
	var positive, negative []int32
	for i, e := range examples {
		x = append(append(x, e.Input...), 1)
		weights[i] = 1
		if e.Label > 0 {
			positive = append(positive, int32(i))
		} else {
			negative = append(negative, int32(i))
		}
	}
	w := make(Perceptron, width)
	switch {
	case len(negative) == 0:
		w[0] = 1 // always the one answer
		return w
	case len(positive) == 0:
		return w
	}
	errors := pocket.Criterion{Value: func(missedPos, _, missedNeg, _ float64) float64 { return missedPos + missedNeg }, Rising: true}
	best, value := pocket.Train(pocket.New(width, x, positive, negative, weights), errors, presentations, random)
	switch {
	case best != nil && value <= float64(len(negative)):
		w[0] = best[width-1] // the bias comes first here
		copy(w[1:], best)
	case len(negative) < len(positive):
		w[0] = 1
	}
	return w
}

// Separate finds weights by linear programming: the least sum of s_d such
// that t_d(w·x_d) ≥ m_d − s_d, s_d ≥ 0 (after Duda & Hart 1973, section 5.10),
// with margins m_d from 1 to 1 1/16. What is returned is the weights' slack
// below a margin of 1. It is 0, but for rounding, if and only if a hyperplane
// separates the examples, and the weights then are one. It takes memory in
// the square of the number of examples.
func Separate(examples []Labelled) (w Perceptron, slack float64, err error) {
	if len(examples) == 0 {
		return nil, 0, fmt.Errorf("no examples to separate")
	}
	inputs := len(examples[0].Input)
	// The simplex method wants all variables positive and equations: each
	// weight is the difference of two; a surplus makes up for ≥.
	used := []int{0}
	for i := range inputs {
		if slices.ContainsFunc(examples, func(e Labelled) bool { return e.Input[i] != 0 }) {
			used = append(used, i+1) // an input that is always 0 needs no weight
		}
	}
	m, n := len(examples), len(used)
	columns := 2*n + 2*m
	a := mat.NewDense(m, columns, nil)
	cost, margins, basic := make([]float64, columns), make([]float64, m), make([]int, m)
	for d, e := range examples {
		for k, i := range used {
			x := 1.0
			if i > 0 {
				x = e.Input[i-1]
			}
			a.Set(d, k, e.Label*x)
			a.Set(d, n+k, -e.Label*x)
		}
		s := 2*n + d
		a.Set(d, s, 1)
		a.Set(d, s+m, -1)
		// Margins that differ a little keep the method from walking in
		// circles among the many equal corners that whole margins have.
		_, odd := math.Modf(float64(d+1) * math.Phi)
		cost[s], margins[d], basic[d] = 1, 1+odd/16, s
	}
	_, solution, err := lp.Simplex(cost, a, margins, 1e-10, basic)
	if err != nil {
		return nil, 0, fmt.Errorf("separating %d examples: %w", m, err)
	}
	w = make(Perceptron, inputs+1)
	for k, i := range used {
		w[i] = solution[k] - solution[n+k]
	}
	for _, e := range examples {
		slack += max(0, 1-e.Label*w.Sum(e.Input))
	}
	return w, slack, nil
}

// MOfN returns the unit that says whether at least m of n inputs are 1, the
// others being 0, or −1 if signed: AND for m = n, OR for m = 1.
func MOfN(m, n int, signed bool) Perceptron {
	w := make(Perceptron, n+1)
	for i := range w {
		w[i] = 0.5
	}
	w[0] = 0.25 - 0.5*float64(m)
	if signed {
		w[0] = float64(n)/2 - float64(m) + 0.5
	}
	return w
}

// Not returns the unit with the opposite answer, but where the sum is 0.
func (w Perceptron) Not() Perceptron {
	to := make(Perceptron, len(w))
	for i, v := range w {
		to[i] = -v
	}
	return to
}

// TwoLevels is units that read the inputs, and one that reads their answers.
type TwoLevels struct {
	Hidden []Perceptron
	Out    Perceptron
}

// TruthTable returns units for any function of n inputs of −1 or 1: a hidden
// unit for each row on which the function is true, which fires on that row
// alone, and an output that fires if any of them does.
func TruthTable(n int, function func(x []float64) bool) TwoLevels {
	var t TwoLevels
	for row := range 1 << n {
		unit := make(Perceptron, n+1)
		for i := range n {
			unit[i+1] = -1
			if row>>i&1 == 1 {
				unit[i+1] = 1
			}
		}
		if function(unit[1:]) {
			unit[0] = 1 - float64(n) // the sum is 1 on the row, −1 or less elsewhere
			t.Hidden = append(t.Hidden, unit)
		}
	}
	t.Out = make(Perceptron, len(t.Hidden)+1)
	for i := range t.Out {
		t.Out[i] = 1
	}
	t.Out[0] = float64(len(t.Hidden)) - 1
	return t
}

// Output returns 1 or −1.
func (t TwoLevels) Output(x []float64) float64 {
	answers := make([]float64, len(t.Hidden))
	for i, unit := range t.Hidden {
		answers[i] = unit.Output(x)
	}
	return t.Out.Output(answers)
}
