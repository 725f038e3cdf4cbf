package theory

import (
	"math"
)

// network is a directed acyclic graph of sigmoid units above inputs. Units stand
// in an order in which each reads inputs and units before it alone.
//
// Inputs are mostly zero, a one for the value that a cell has. The weights that
// lead from an input stand side by side, so that an input of zero costs nothing.
type network struct {
	inputs int
	units  []unit
	// weights are, for each input, those to each unit; then the bias of each
	// unit; then those between units.
	weights []float64
	linked  []bool // of the weights from inputs: whether there is a link
}

// unit is one unit: which units it reads, and where the weights of those links
// begin.
type unit struct {
	level int // inputs are at 0; a unit is one above the highest that its theory has it read
	from  []int32
	at    int
}

// newNetwork returns a network without links.
func newNetwork(inputs, units int) *network {
	n := &network{inputs: inputs, units: make([]unit, units), linked: make([]bool, inputs*units)}
	n.weights = make([]float64, inputs*units+units)
	return n
}

// fromInput is the place of the weight from an input to a unit.
func (n *network) fromInput(input, unit int) int { return input*len(n.units) + unit }

// bias is the place of a unit's bias.
func (n *network) bias(unit int) int { return n.inputs*len(n.units) + unit }

// join links units to a unit, behind all links that there are.
func (n *network) join(unit int, from []int32) {
	u := &n.units[unit]
	u.from, u.at = from, len(n.weights)
	n.weights = append(n.weights, make([]float64, len(from))...)
}

// example is a row as numbers: the inputs that are not zero.
type example struct {
	at    []int32
	x     []float64
	class int32
	times float64 // the weight of the row

	mu     float64 // how far its explanation is trusted, and what that says of other cells
	shifts []shift
}

// forward computes the sums and the values of all units.
func (n *network) forward(w []float64, e *example, net, value []float64) {
	units := len(n.units)
	first := n.inputs * units
	copy(net, w[first:first+units])
	for i, at := range e.at {
		row, x := w[int(at)*units:][:units], e.x[i]
		for u := range row {
			net[u] += x * row[u]
		}
	}
	for i := range n.units {
		u := &n.units[i]
		sum := net[i]
		for k, from := range u.from {
			sum += w[u.at+k] * value[from]
		}
		net[i], value[i] = sum, sigmoid(sum)
	}
}

// backward adds the slope of an error to gradient, given in delta its slope by
// the sums of the outputs, and 0 for other units. Links that are not there get
// slopes too: see unlink.
func (n *network) backward(w []float64, e *example, value, delta, blame, gradient []float64) {
	units := len(n.units)
	first := n.inputs * units
	clear(blame)
	for i := units - 1; i >= 0; i-- {
		d := delta[i] + blame[i]*value[i]*(1-value[i])
		delta[i] = d
		gradient[first+i] += d
		u := &n.units[i]
		for k, from := range u.from {
			gradient[u.at+k] += d * value[from]
			blame[from] += d * w[u.at+k]
		}
	}
	for i, at := range e.at {
		row, x := gradient[int(at)*units:][:units], e.x[i]
		for u := range row {
			row[u] += x * delta[u]
		}
	}
}

// unlink clears the slopes of links that are not there.
func (n *network) unlink(gradient []float64) {
	for i, is := range n.linked {
		if !is {
			gradient[i] = 0
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
