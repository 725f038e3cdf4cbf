package neuraltree

import (
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// Network is the tree as a feed-forward network of threshold units. A unit
// listens to the inputs and to its ancestors in the tree (the paper's equation
// 1), and output units to the units.
type Network struct {
	Inputs  []NetworkInput
	Units   []NetworkUnit
	Outputs []NetworkOutput // one for two classes, which fires for the second; else one a class
	Classes []string
	reads   []reading
}

// NetworkInput is what an input is worth for a row: a known number as it is
// (Numeric), or −1 and 1 for a column of two values, or 1 for a row with a
// value, or for a missing cell, and 0 for others.
type NetworkInput struct {
	Name    string
	Numeric bool
}

// NetworkUnit is a hidden unit: S = sgn(Σ Weights·inputs + Bias + Σ
// From.Weight·S of the ancestor). The bias contains the sum of all |From.Weight|
// (the paper's third rule), so that S = +1 for rows that are not the unit's.
type NetworkUnit struct {
	Weights []float64
	Bias    float64
	From    []NetworkLink
	own     float64 // the bias before the sum was added
}

// NetworkLink is a connection from a unit.
type NetworkLink struct {
	Unit   int
	Weight float64
}

// NetworkOutput fires if the sum over units and the bias is above 0.
type NetworkOutput struct {
	Class int
	From  []NetworkLink
	Bias  float64
}

// reading says how an input is read from a row.
type reading struct {
	column  int
	value   int32 // code, or one of the following
	missing bool
}

const (
	theNumber = -1
	twoValues = -2
)

// beyondReach is how many times as large as any number learnt from a number
// may be for the ancestors still to silence a unit. It costs nothing: their
// sum is exactly 0 for rows that are the unit's own.
const beyondReach = 1e6

// Network returns the tree as a network. Both answer alike for every row
// without infinite cells, whose numbers are no more than a million times as
// large as those learnt from.
func (m *Model) Network() *Network {
	net := &Network{Classes: m.classes()}
	at := m.networkInputs(net)
	numbers := m.unitNumbers()
	for i := range m.nodes {
		u := m.nodes[i].unit
		if u == nil {
			continue
		}
		unit := NetworkUnit{Weights: make([]float64, len(net.Inputs)), own: -u.threshold}
		most := math.Abs(u.threshold)
		for _, t := range u.terms {
			unit.Weights[at[t.column].value] = t.factor
			unit.Weights[at[t.column].missing] = t.missing
			most += math.Abs(t.factor)*m.reach[t.column]*beyondReach + math.Abs(t.missing)
		}
		for _, t := range u.tables {
			first, heaviest := at[t.column].value, math.Abs(t.missing)
			unit.Weights[at[t.column].missing] = t.missing
			for v, w := range t.weights {
				heaviest = max(heaviest, math.Abs(w))
				if len(t.weights) != 2 {
					unit.Weights[first+v] = w
				} else if v == 1 {
					unit.Weights[first] = w
				}
			}
			most += heaviest
		}
		unit.Bias = unit.own
		for k := i; m.nodes[k].parent >= 0; k = int(m.nodes[k].parent) {
			parent := m.nodes[k].parent
			v := 1 + most
			unit.Bias += v
			if m.nodes[parent].right == int32(k) {
				v = -v
			}
			unit.From = append(unit.From, NetworkLink{numbers[parent] - 1, v})
		}
		net.Units = append(net.Units, unit)
	}
	m.networkOutputs(net, numbers)
	return net
}

// places are the first input of a column's values, and that of a missing cell.
type places struct{ value, missing int }

// networkInputs lists the inputs in the order in which a unit's sum is taken:
// numbers first, then what else cells add.
func (m *Model) networkInputs(net *Network) []places {
	at := make([]places, len(m.schema.Attributes))
	add := func(column int, value int32, missing bool, text string) int {
		name := m.schema.Attributes[column].Name
		net.Inputs = append(net.Inputs, NetworkInput{name + text, value == theNumber && !missing})
		net.reads = append(net.reads, reading{column, value, missing})
		return len(net.Inputs) - 1
	}
	each := func(kind table.Kind, do func(column int, values []string)) {
		for j := range m.schema.Attributes {
			if a := &m.schema.Attributes[j]; j != m.target && a.Kind == kind {
				do(j, a.Values)
			}
		}
	}
	each(table.Numeric, func(j int, _ []string) { at[j].value = add(j, theNumber, false, "") })
	each(table.Numeric, func(j int, _ []string) { at[j].missing = add(j, theNumber, true, " IS MISSING") })
	each(table.Nominal, func(j int, values []string) {
		at[j].value = len(net.Inputs)
		if len(values) == 2 {
			add(j, twoValues, false, " = "+strconv.Quote(values[1]))
		} else {
			for v, value := range values {
				add(j, int32(v), false, " = "+strconv.Quote(value))
			}
		}
		at[j].missing = add(j, 0, true, " IS MISSING")
	})
	return at
}

// networkOutputs finds the output units. Whether a row comes to a leaf is a
// sum over units: a unit is −1 for the rows on its left and for no others, so
// (1 − S)/2 says whether a row is there; and a row is on a unit's right if it
// is the unit's own, and not on its left. An output takes 1 less twice the
// leaves of other classes. If all these are left ones, as in the paper, their
// units have the weight 1 and the bias is −(N − 1) (equations 5 and 6).
func (m *Model) networkOutputs(net *Network, numbers []int) {
	classes := m.classes()
	for class := range classes {
		if len(classes) <= 2 && class != len(classes)-1 {
			continue
		}
		bias := 1.0
		weights := make([]float64, len(net.Units))
		for i := range m.nodes {
			if m.nodes[i].unit != nil || m.nodes[i].label(classes) == class {
				continue
			}
			bias -= m.leafSum(i, numbers, weights)
		}
		out := NetworkOutput{Class: class, Bias: bias}
		for u, w := range weights {
			if w != 0 {
				out.From = append(out.From, NetworkLink{u, w})
			}
		}
		net.Outputs = append(net.Outputs, out)
	}
}

// leafSum subtracts twice the sum that tells whether a row comes to a leaf
// from the weights, and returns twice its constant.
func (m *Model) leafSum(i int, numbers []int, weights []float64) float64 {
	constant := 0.0
	for {
		parent := m.nodes[i].parent
		if parent < 0 {
			return constant + 2
		}
		u := numbers[parent] - 1
		if m.nodes[parent].left == int32(i) {
			weights[u]++
			return constant + 1
		}
		weights[u]--
		constant--
		i = int(parent)
	}
}

// Read returns the inputs of a row of a table that has the model's columns.
func (n *Network) Read(t *table.Table, row int) []float64 {
	x := make([]float64, len(n.reads))
	for i, r := range n.reads {
		c := &t.Columns[r.column]
		var missing bool
		var code int32
		if c.Floats != nil {
			missing = table.IsMissing(c.Floats[row])
		} else {
			code = c.Codes[row]
			missing = code == table.Missing
		}
		switch {
		case r.missing && missing, !r.missing && r.value >= 0 && code == r.value && c.Codes != nil:
			x[i] = 1
		case r.missing || missing:
		case r.value == theNumber:
			x[i] = c.Floats[row]
		case r.value == twoValues && code >= 0:
			x[i] = float64(2*code - 1)
		}
	}
	return x
}

// Fire returns the states of the units, −1 or +1, and the class that the
// outputs tell.
func (n *Network) Fire(inputs []float64) (states []float64, class int) {
	states = make([]float64, len(n.Units))
	for k := range n.Units {
		u := &n.Units[k]
		numbers, rest := 0.0, 0.0
		for j, w := range u.Weights {
			switch {
			case w == 0:
			case n.Inputs[j].Numeric:
				numbers += float64(w * inputs[j])
			default:
				rest += float64(w * inputs[j])
			}
		}
		// The bias is taken apart again: what an ancestor that does not
		// object adds to it is then exactly 0.
		field := numbers - (-u.own - rest)
		for _, from := range u.From {
			field += math.Abs(from.Weight) + from.Weight*states[from.Unit]
		}
		states[k] = -1
		if field > 0 {
			states[k] = 1
		}
	}
	for _, o := range n.Outputs {
		field := o.Bias
		for _, from := range o.From {
			field += from.Weight * states[from.Unit]
		}
		if field > 0 {
			return states, o.Class
		}
	}
	return states, 0
}
