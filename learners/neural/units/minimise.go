package units

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Minimise descends the error over all examples by a method of gonum's
// optimize, such as &optimize.CG{} (conjugate gradients, Fletcher & Reeves
// 1964), &optimize.LBFGS{} (Liu & Nocedal 1989) or &optimize.GradientDescent{}
// (the steepest way, as far as it goes down), for at most so many iterations,
// each a line search. They need far fewer steps than plain
// descent, and batches of all examples. It returns the iterations taken.
func (n *Network) Minimise(ctx context.Context, examples []Example, loss Loss, method optimize.Method, iterations int) (int, error) {
	p, gradient := n.NewPass(), make([]float64, len(n.Weights))
	e := func(w, g []float64) float64 {
		copy(n.Weights, w)
		clear(gradient)
		sum := 0.0
		for _, x := range examples {
			sum += p.Gradient(x, loss, gradient)
		}
		copy(g, gradient)
		return sum
	}
	w, taken, err := MinimiseFunc(ctx, e, append([]float64(nil), n.Weights...), method, iterations, nil)
	copy(n.Weights, w)
	return taken, err
}

// MinimiseFunc finds the least of a function that also gives its gradient. The
// best point met is returned, also when the method gave up because nothing
// lower is to be found near it. After each iteration it calls after, unless
// that is nil, and ends with its first error, without returning it.
func MinimiseFunc(ctx context.Context, f func(w, gradient []float64) float64, start []float64, method optimize.Method, iterations int, after func(w []float64) error) ([]float64, int, error) {
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return f(w, nil) },
		Grad: func(g, w []float64) { f(w, g) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	if len(start) == 0 || math.IsNaN(f(start, nil)) {
		return start, 0, errors.New("nothing to minimise: no weights, or an error that is not a number")
	}
	// The start counts as an iteration there.
	s := &optimize.Settings{MajorIterations: iterations + 1, GradientThreshold: 1e-9, Converger: optimize.NeverTerminate{}}
	if after != nil {
		s.Recorder = iterationRecorder(after)
	}
	result, err := optimize.Minimize(problem, start, s, method)
	if ended := ctx.Err(); ended != nil {
		return start, 0, ended
	}
	if result == nil {
		return start, 0, fmt.Errorf("minimising: %w", err)
	}
	return result.X, result.MajorIterations - 1, nil
}

// iterationRecorder hears of each point that ends an iteration.
type iterationRecorder func(w []float64) error

// Init does nothing.
func (iterationRecorder) Init() error { return nil }

// Record calls the function.
func (after iterationRecorder) Record(l *optimize.Location, op optimize.Operation, stats *optimize.Stats) error {
	if op != optimize.MajorIteration || stats.MajorIterations < 2 { // the first is the start
		return nil
	}
	return after(l.X)
}
