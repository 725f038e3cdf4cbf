package units

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// Cascade grows a network a unit at a time (Cascade-Correlation, Fahlman &
// Lebiere 1990). It starts with outputs that read the inputs. While they are
// wrong, candidates that read the inputs and all hidden units before them are
// trained for the greatest covariance with the outputs' errors; the best one
// is frozen and added, and the outputs are trained again. Each hidden unit is
// a layer of its own, and none is ever trained twice.
type Cascade struct {
	Units      int     // at most; 0 means 20
	Candidates int     // a pool with different starts; 0 means 8
	Error      float64 // squared error a target at which growth ends; 0 means 0.01
	Iterations int     // of each training; 0 means 200
}

// Grown says why a unit was added.
type Grown struct {
	Covariance    float64 // with the outputs' errors, summed over outputs
	Before, After float64 // squared error without and with the unit
}

// Grow returns a network with sigmoid outputs for the examples, and a line
// for each hidden unit.
func (c *Cascade) Grow(ctx context.Context, examples []Example, random *rand.Rand) (*Network, []Grown, error) {
	if len(examples) == 0 {
		return nil, nil, fmt.Errorf("no examples to grow from")
	}
	inputs, outputs := len(examples[0].Input), len(examples[0].Target)
	units, enough := cmp.Or(c.Units, 20), cmp.Or(c.Error, 0.01)*float64(len(examples)*outputs)/2
	// The frozen part: the inputs and, one after the other, hidden units.
	hidden := &Network{Inputs: inputs}
	seen := make([][]float64, len(examples)) // values of the frozen part
	for d, e := range examples {
		seen[d] = append([]float64(nil), e.Input...)
	}
	var weights []float64
	var history []Grown
	for {
		w, residuals, before, err := c.trainOutputs(ctx, seen, examples, weights, random)
		if err != nil {
			return nil, nil, err
		}
		weights = w
		if n := len(history); n > 0 {
			history[n-1].After = before
		}
		if before <= enough || len(hidden.Units) == units {
			break
		}
		unit, covariance, err := c.trainCandidates(ctx, seen, residuals, random)
		if err != nil {
			return nil, nil, err
		}
		all := make([]int, len(seen[0]))
		for i := range all {
			all[i] = i
		}
		value := hidden.Add(Tanh, all)
		copy(hidden.Weights[hidden.Units[value-inputs].Bias:], unit)
		for d := range seen {
			seen[d] = append(seen[d], math.Tanh(Perceptron(unit).Sum(seen[d])))
		}
		history = append(history, Grown{Covariance: covariance, Before: before})
	}
	// Outputs read everything.
	all := make([]int, len(seen[0]))
	for i := range all {
		all[i] = i
	}
	for k := range outputs {
		value := hidden.Add(Sigmoid, all)
		copy(hidden.Weights[hidden.Units[value-inputs].Bias:], weights[k*(len(all)+1):(k+1)*(len(all)+1)])
		hidden.Outputs = append(hidden.Outputs, value-inputs)
	}
	return hidden, history, nil
}

// trainOutputs fits sigmoid outputs to the examples, given what they read, by
// cross entropy, which has a single minimum. It begins with the weights of
// the last time, and returns the residuals t − o and the squared error.
func (c *Cascade) trainOutputs(ctx context.Context, seen [][]float64, examples []Example, last []float64, random *rand.Rand) (weights []float64, residuals [][]float64, squared float64, err error) {
	inputs, outputs := len(seen[0]), len(examples[0].Target)
	n := Layered(Linear, Sigmoid, inputs, outputs)
	n.Randomise(0.05, random)
	if before := len(last) / outputs; last != nil {
		for k := range outputs {
			copy(n.Weights[k*(inputs+1):(k+1)*(inputs+1)], last[k*before:(k+1)*before])
		}
	}
	task := make([]Example, len(examples))
	for d := range task {
		task[d] = Example{seen[d], examples[d].Target}
	}
	if _, err := n.Minimise(ctx, task, CrossEntropy, &optimize.LBFGS{}, cmp.Or(c.Iterations, 200)); err != nil {
		return nil, nil, 0, err
	}
	for _, e := range task {
		o := n.Answer(e.Input)
		for k, t := range e.Target {
			o[k] = t - o[k]
		}
		residuals = append(residuals, o)
	}
	return n.Weights, residuals, n.Error(task, SquaredError), nil
}

// trainCandidates returns the weights of the tanh unit with the greatest
// covariance found.
func (c *Cascade) trainCandidates(ctx context.Context, seen, residuals [][]float64, random *rand.Rand) (best []float64, most float64, err error) {
	centred := centre(residuals)
	for range cmp.Or(c.Candidates, 8) {
		w := make([]float64, len(seen[0])+1)
		for i := range w {
			w[i] = 2*random.Float64() - 1
		}
		negative := func(w, g []float64) float64 { return -covariance(w, seen, centred, g) }
		w, _, err := MinimiseFunc(ctx, negative, w, &optimize.LBFGS{}, cmp.Or(c.Iterations, 200), nil)
		if err != nil {
			return nil, 0, err
		}
		if v := covariance(w, seen, centred, nil); best == nil || v > most {
			best, most = w, v
		}
	}
	return best, most, nil
}

// centre takes the mean of each column away.
func centre(rows [][]float64) [][]float64 {
	mean := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k, x := range row {
			mean[k] += x / float64(len(rows))
		}
	}
	to := make([][]float64, len(rows))
	for d, row := range rows {
		for k, x := range row {
			to[d] = append(to[d], x-mean[k])
		}
	}
	return to
}

// covariance is C = Σ_o |Σ_p V_p(E_po − Ē_o)| of a tanh unit's values V with
// the centred errors; −∂C/∂w is written to gradient unless that is nil, as
// C is to be maximised by a minimiser.
func covariance(w []float64, seen, errors [][]float64, gradient []float64) float64 {
	values := make([]float64, len(seen))
	sums := make([]float64, len(errors[0]))
	for p, x := range seen {
		values[p] = math.Tanh(Perceptron(w).Sum(x))
		for o, e := range errors[p] {
			sums[o] += values[p] * e
		}
	}
	total := 0.0
	for _, s := range sums {
		total += math.Abs(s)
	}
	if gradient == nil {
		return total
	}
	clear(gradient)
	for p, x := range seen {
		delta := 0.0
		for o, e := range errors[p] {
			delta += math.Copysign(e, e*sums[o])
		}
		delta *= Tanh.Slope(values[p])
		gradient[0] -= delta
		for i, v := range x {
			gradient[i+1] -= delta * v
		}
	}
	return total
}
