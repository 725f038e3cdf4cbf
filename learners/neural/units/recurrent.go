package units

import (
	"fmt"
	"math"
)

// Feedback is what a recurrent network remembers from one step to the next.
type Feedback uint8

// The feedbacks.
const (
	Elman  Feedback = iota // its hidden units' values (Elman 1990)
	Jordan                 // its outputs (Jordan 1986)
)

// Recurrent is a network that reads a series step by step. Its hidden units
// see the inputs and the context: what was fed back one step before.
type Recurrent struct {
	Inputs, Hidden, Outputs int
	Feedback                Feedback
	Function                Function // of the hidden units
	Output                  Function // of the outputs; not Softmax
	Start                   float64  // the context before the first step
}

func (r *Recurrent) context() int {
	if r.Feedback == Jordan {
		return r.Outputs
	}
	return r.Hidden
}

// Unfold returns the network of so many steps in time, an acyclic one whose
// steps share their weights (Mitchell 1997, figure 4.11): trained, it is the
// recurrent network trained by back-propagation through time. Its inputs are
// the first context, then each step's inputs; its outputs those of each step.
func (r *Recurrent) Unfold(steps int) *Network {
	n := &Network{Inputs: r.context() + steps*r.Inputs}
	context := make([]int, r.context())
	for i := range context {
		context[i] = i
	}
	for step := range steps {
		var seen, hidden, outputs []int
		for i := range r.Inputs {
			seen = append(seen, r.context()+step*r.Inputs+i)
		}
		for range r.Hidden {
			hidden = append(hidden, n.Add(r.Function, append(seen, context...)))
		}
		for range r.Outputs {
			outputs = append(outputs, n.Add(r.Output, hidden))
			n.Outputs = append(n.Outputs, len(n.Units)-1)
		}
		context = hidden
		if r.Feedback == Jordan {
			context = outputs
		}
	}
	n.share(r.Hidden + r.Outputs)
	return n
}

// share makes the units of each step use the weights of the first step's.
func (n *Network) share(units int) {
	for i := units; i < len(n.Units); i++ {
		n.Units[i].Bias, n.Units[i].Weights = n.Units[i-units].Bias, n.Units[i-units].Weights
	}
	used := 0
	for _, u := range n.Units[:min(units, len(n.Units))] {
		used += len(u.Weights) + 1
	}
	n.Weights = n.Weights[:used]
}

// Example returns a series as an example for the network of as many steps. A
// step without a target (nil) asks nothing of the outputs.
func (r *Recurrent) Example(inputs, targets [][]float64) (Example, error) {
	if len(inputs) != len(targets) {
		return Example{}, fmt.Errorf("a series of %d inputs and %d targets; expected as many", len(inputs), len(targets))
	}
	var e Example
	for range r.context() {
		e.Input = append(e.Input, r.Start)
	}
	for step, x := range inputs {
		y := targets[step]
		if y == nil {
			for range r.Outputs {
				y = append(y, math.NaN())
			}
		}
		if len(x) != r.Inputs || len(y) != r.Outputs {
			return Example{}, fmt.Errorf("step %d has %d inputs and %d targets; expected %d and %d", step+1, len(x), len(y), r.Inputs, r.Outputs)
		}
		e.Input, e.Target = append(e.Input, x...), append(e.Target, y...)
	}
	return e, nil
}
