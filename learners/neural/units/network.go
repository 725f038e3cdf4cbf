package units

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// Network is an acyclic graph of units. Its values are numbered: first the
// inputs, then the units in order; a unit reads values before its own.
//
// Connections name their weight by its number. Several that name the same one
// share it, as the copies of a recurrent network's weights do.
type Network struct {
	Inputs  int
	Units   []Unit
	Outputs []int // the units that are outputs
	Weights []float64
}

// Unit is one unit: its function of its bias and of the values that it reads,
// each times a weight.
type Unit struct {
	Function  Function
	Steepness float64 // of the function: its argument is the biased sum times this; 0 means 1
	Bias      int     // number of the weight; None for no bias
	From      []int
	Weights   []int // the number of the weight of each value in From
}

func (u *Unit) steepness() float64 { return cmp.Or(u.Steepness, 1) }

// None is the Bias of a unit that has none.
const None = -1

// Layered returns a network of layers, each fully connected to the next. The
// sizes are those of the inputs, the hidden layers and the outputs. All
// weights are 0: see Randomise.
func Layered(hidden, output Function, sizes ...int) *Network {
	n := &Network{Inputs: sizes[0]}
	before := make([]int, n.Inputs)
	for i := range before {
		before[i] = i
	}
	for level, size := range sizes[1:] {
		function := hidden
		if level == len(sizes)-2 {
			function = output
		}
		var layer []int
		for range size {
			layer = append(layer, n.Add(function, before))
		}
		before = layer
	}
	for _, value := range before {
		n.Outputs = append(n.Outputs, value-n.Inputs)
	}
	return n
}

// Add appends a unit that reads some values, with a bias and weights of its
// own, all 0, and returns the number of its value.
func (n *Network) Add(function Function, from []int) int {
	u := Unit{Function: function, Bias: len(n.Weights), From: append([]int(nil), from...)}
	for i := range from {
		u.Weights = append(u.Weights, u.Bias+1+i)
	}
	n.Weights = append(n.Weights, make([]float64, len(from)+1)...)
	n.Units = append(n.Units, u)
	return n.Inputs + len(n.Units) - 1
}

// Randomise sets all weights to random numbers from −size to size.
func (n *Network) Randomise(size float64, random *rand.Rand) {
	for i := range n.Weights {
		n.Weights[i] = size * (2*random.Float64() - 1)
	}
}

// Check reports what is wrong with a network that was put together by hand.
func (n *Network) Check() error {
	weight := func(i, w int) error {
		if w < 0 || w >= len(n.Weights) {
			return fmt.Errorf("unit %d has the weight number %d of %d", i, w, len(n.Weights))
		}
		return nil
	}
	softmax := false
	for i, u := range n.Units {
		if len(u.From) != len(u.Weights) {
			return fmt.Errorf("unit %d reads %d values by %d weights", i, len(u.From), len(u.Weights))
		}
		for k, from := range u.From {
			if from < 0 || from >= n.Inputs+i {
				return fmt.Errorf("unit %d reads value %d, which does not come before it", i, from)
			}
			if err := weight(i, u.Weights[k]); err != nil {
				return err
			}
		}
		if u.Bias != None {
			if err := weight(i, u.Bias); err != nil {
				return err
			}
		}
		if softmax && u.Function != Softmax {
			return fmt.Errorf("unit %d comes after a softmax unit; expected those last", i)
		}
		softmax = u.Function == Softmax
	}
	for _, o := range n.Outputs {
		if o < 0 || o >= len(n.Units) {
			return fmt.Errorf("output %d is no unit", o)
		}
	}
	return nil
}

// Drop takes out the connections and biases with this weight.
func (n *Network) Drop(weight int) {
	for i := range n.Units {
		u := &n.Units[i]
		if u.Bias == weight {
			u.Bias = None
		}
		kept := Unit{Function: u.Function, Steepness: u.Steepness, Bias: u.Bias}
		for k, w := range u.Weights {
			if w != weight {
				kept.From, kept.Weights = append(kept.From, u.From[k]), append(kept.Weights, w)
			}
		}
		*u = kept
	}
	n.Weights[weight] = 0
}

// copies counts the connections that share each weight.
func (n *Network) copies() []float64 {
	count := make([]float64, len(n.Weights))
	for _, u := range n.Units {
		if u.Bias != None {
			count[u.Bias]++
		}
		for _, w := range u.Weights {
			count[w]++
		}
	}
	return count
}

// Example is inputs and what the outputs should be. A target that is not a
// number (NaN) asks nothing of its output.
type Example struct {
	Input, Target []float64
}

// Loss is how wrong outputs are.
type Loss uint8

// The losses, both summed over the outputs.
const (
	SquaredError Loss = iota // ½(t−o)²
	// CrossEntropy is −t ln o − (1−t) ln(1−o), for targets and outputs that
	// are probabilities (Mitchell 1997, section 6.5); for softmax outputs,
	// which are those of one choice, −t ln o.
	CrossEntropy
)

// Pass is the room for running a network forward and backward. Not safe for
// concurrent use.
type Pass struct {
	net    *Network
	Values []float64 // of inputs and units
	Deltas []float64 // of units: −∂E/∂(biased sum)
	blame  []float64 // of inputs and units: −∂E/∂value
}

// NewPass returns room for a network's values.
func (n *Network) NewPass() *Pass {
	values := n.Inputs + len(n.Units)
	return &Pass{n, make([]float64, values), make([]float64, len(n.Units)), make([]float64, values)}
}

// Output returns the value of the k-th output.
func (p *Pass) Output(k int) float64 { return p.Values[p.net.Inputs+p.net.Outputs[k]] }

// Forward computes the values of all units.
func (p *Pass) Forward(input []float64) {
	n := p.net
	copy(p.Values[:n.Inputs], input)
	chosen := len(n.Units) // the first softmax unit
	for i := range n.Units {
		u := &n.Units[i]
		sum := 0.0
		if u.Bias != None {
			sum = n.Weights[u.Bias]
		}
		for k, from := range u.From {
			sum += n.Weights[u.Weights[k]] * p.Values[from]
		}
		sum *= u.steepness()
		if u.Function == Softmax {
			p.Values[n.Inputs+i] = sum
			chosen = min(chosen, i)
			continue
		}
		p.Values[n.Inputs+i] = u.Function.At(sum)
	}
	logsum.Normalise(p.Values[n.Inputs+chosen:])
}

// Error returns the loss of the outputs of the last Forward.
func (p *Pass) Error(target []float64, loss Loss) float64 {
	sum := 0.0
	for k, t := range target {
		o := p.Output(k)
		switch {
		case math.IsNaN(t):
		case loss == SquaredError:
			sum += (t - o) * (t - o) / 2
		default:
			sum -= xlog(t, o)
			if p.net.Units[p.net.Outputs[k]].Function != Softmax {
				sum -= xlog(1-t, 1-o)
			}
		}
	}
	return sum
}

// xlog is x ln y, and 0 for x = 0 whatever y.
func xlog(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

// Backward computes the deltas of all units, after Forward: δ = −∂E/∂net,
// from the outputs back, each unit's out of those that read it (Mitchell
// 1997, equation 4.20).
func (p *Pass) Backward(target []float64, loss Loss) {
	n := p.net
	clear(p.blame)
	clear(p.Deltas)
	asked := 0.0 // of softmax outputs, which matter to one another
	for k, t := range target {
		if math.IsNaN(t) {
			continue
		}
		i := n.Outputs[k]
		o := p.Values[n.Inputs+i]
		switch f := n.Units[i].Function; {
		case loss == SquaredError:
			p.blame[n.Inputs+i] += t - o
		case f == Sigmoid:
			p.Deltas[i] += t - o // the slope o(1−o) cancels
		case f == Softmax:
			p.Deltas[i] += t
			asked += t
		default:
			p.blame[n.Inputs+i] += (t - o) / (o * (1 - o))
		}
	}
	mean := 0.0 // blame of the softmax units, weighted by their values
	for i := len(n.Units) - 1; i >= 0 && n.Units[i].Function == Softmax; i-- {
		mean += p.blame[n.Inputs+i] * p.Values[n.Inputs+i]
	}
	for i := len(n.Units) - 1; i >= 0; i-- {
		u := &n.Units[i]
		value, blame := p.Values[n.Inputs+i], p.blame[n.Inputs+i]
		if u.Function == Softmax {
			p.Deltas[i] += value * (blame - mean - asked)
		} else {
			p.Deltas[i] += u.Function.Slope(value) * blame
		}
		p.Deltas[i] *= u.steepness()
		for k, from := range u.From {
			p.blame[from] += n.Weights[u.Weights[k]] * p.Deltas[i]
		}
	}
}

// Gradient adds ∂E/∂w of an example to gradient, and returns its error.
func (p *Pass) Gradient(e Example, loss Loss, gradient []float64) float64 {
	p.Forward(e.Input)
	p.Backward(e.Target, loss)
	for i := range p.net.Units {
		u := &p.net.Units[i]
		if u.Bias != None {
			gradient[u.Bias] -= p.Deltas[i]
		}
		for k, from := range u.From {
			gradient[u.Weights[k]] -= p.Deltas[i] * p.Values[from]
		}
	}
	return p.Error(e.Target, loss)
}

// Error returns the loss over examples.
func (n *Network) Error(examples []Example, loss Loss) float64 {
	p, sum := n.NewPass(), 0.0
	for _, e := range examples {
		p.Forward(e.Input)
		sum += p.Error(e.Target, loss)
	}
	return sum
}

// Answer returns the outputs for an input.
func (n *Network) Answer(input []float64) []float64 {
	p := n.NewPass()
	p.Forward(input)
	out := make([]float64, len(n.Outputs))
	for k := range out {
		out[k] = p.Output(k)
	}
	return out
}
