package genetic

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Net is a network of one layer of hidden sigmoid units, as a genome (exercise
// 9.4): each hidden unit is its input weights, its bias and its weights to the
// outputs, and parents exchange whole units. Its shape, which units and links
// there are, evolves too: a link that is not there has the weight 0. Step is how
// far weights mutate, and mutates with them.
type Net struct {
	Units [][]float64
	Bias  []float64 // of the outputs
	Step  float64
}

// Answer returns the sums of the outputs, which are not yet squashed, in a slice
// that it is given.
func (n Net) Answer(x, sums []float64) []float64 {
	copy(sums, n.Bias)
	for _, u := range n.Units {
		in := u[len(x)]
		for i, v := range x {
			in += u[i] * v
		}
		out := 1 / (1 + math.Exp(-in))
		for k := range sums {
			sums[k] += u[len(x)+1+k] * out
		}
	}
	return sums
}

// Links counts the links that are there.
func (n Net) Links() int {
	links := 0
	for _, u := range n.Units {
		for _, w := range u {
			if w != 0 {
				links++
			}
		}
	}
	return links
}

// NetTask is what networks are to answer: a loss of the outputs' sums for each
// row. Most is how many hidden units a network may have; Cost is what a link
// counts beside the mean loss of a row.
type NetTask struct {
	Inputs        [][]float64
	Outputs, Most int
	Loss          func(row int, sums []float64) float64
	Cost          float64
}

// Error is the mean loss of a network.
func (t *NetTask) Error(n Net) float64 {
	sum, sums := 0.0, make([]float64, t.Outputs)
	for row, x := range t.Inputs {
		sum += t.Loss(row, n.Answer(x, sums))
	}
	return sum / float64(len(t.Inputs))
}

// Species are the networks that may answer a task.
func (t *NetTask) Species() Species[Net] {
	return Species[Net]{
		Random: func(r *rand.Rand) Net {
			n := Net{Step: 0.5, Bias: make([]float64, t.Outputs)}
			for k := range n.Bias {
				n.Bias[k] = r.NormFloat64()
			}
			for range 1 + r.IntN(t.Most) {
				n.Units = append(n.Units, t.unit(r))
			}
			return n
		},
		Fitness: func(n Net) float64 { return 1 / (1e-3 + t.Error(n) + t.Cost*float64(n.Links())) },
		Cross: func(r *rand.Rand, a, b Net) (Net, Net) {
			c, d := a, b
			c.Units, d.Units = slices.Clone(a.Units), slices.Clone(b.Units)
			i, j := r.IntN(len(c.Units)), r.IntN(len(d.Units))
			c.Units[i], d.Units[j] = d.Units[j], c.Units[i]
			return c, d
		},
		Mutate:   t.mutate,
		Distance: func(a, b Net) float64 { return math.Abs(t.Error(a) - t.Error(b)) },
	}
}

// unit is a random hidden unit.
func (t *NetTask) unit(r *rand.Rand) []float64 {
	u := make([]float64, len(t.Inputs[0])+1+t.Outputs)
	for i := range u {
		u[i] = 3 * r.NormFloat64() / math.Sqrt(float64(len(t.Inputs[0]))/2)
	}
	return u
}

// mutate moves the weights of one unit or of all by the network's own steps, which
// change first; or a unit comes, one goes, or a link does either.
func (t *NetTask) mutate(r *rand.Rand, n Net) Net {
	m := Net{Bias: slices.Clone(n.Bias), Step: min(max(n.Step*math.Exp(0.3*r.NormFloat64()), 1e-3), 3)}
	for k := range m.Bias {
		m.Bias[k] += m.Step * r.NormFloat64()
	}
	only := r.IntN(2 * len(n.Units)) // beyond the last: all move
	for at, u := range n.Units {
		v := slices.Clone(u)
		for i := range v {
			if v[i] != 0 && (only >= len(n.Units) || only == at) {
				v[i] += m.Step * r.NormFloat64()
			}
		}
		m.Units = append(m.Units, v)
	}
	at := r.IntN(len(m.Units))
	switch r.IntN(12) {
	case 0:
		if len(m.Units) < t.Most {
			m.Units = append(m.Units, t.unit(r))
		}
	case 1:
		if len(m.Units) > 1 {
			m.Units = slices.Delete(m.Units, at, at+1)
		}
	case 2, 3:
		m.Units[at][r.IntN(len(m.Units[at]))] = 0
	case 4:
		m.Units[at][r.IntN(len(m.Units[at]))] = r.NormFloat64()
	}
	return m
}

// Reals writes the weights of a network of a shape as numbers, for a Strategy, and
// FromReals reads them.
func (n Net) Reals() []float64 { return slices.Concat(append(slices.Clone(n.Units), n.Bias)...) }

// FromReals is a network of so many inputs and outputs, the other way round.
func FromReals(x []float64, inputs, outputs int) Net {
	n := Net{Bias: x[len(x)-outputs:]}
	for width := inputs + 1 + outputs; len(x) > outputs; x = x[width:] {
		n.Units = append(n.Units, x[:width])
	}
	return n
}
