package genetic

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Net is a network of one layer of hidden sigmoid units and a sigmoid output, as
// a genome (exercise 9.4): each hidden unit is its input weights, its bias and
// its weight to the output, and parents exchange whole units. Its shape, the
// number of units, evolves too.
type Net struct {
	Units [][]float64
	Bias  float64
}

// Answer is what the network says to an input.
func (n Net) Answer(x []float64) float64 {
	sum := n.Bias
	for _, u := range n.Units {
		in := u[len(x)]
		for i, v := range x {
			in += u[i] * v
		}
		sum += u[len(x)+1] / (1 + math.Exp(-in))
	}
	return 1 / (1 + math.Exp(-sum))
}

// NetSpecies are networks of up to so many hidden units, judged by their squared
// error on rows; of equal ones the smaller is a little fitter.
func NetSpecies(x [][]float64, y []float64, most int) Species[Net] {
	unit := func(r *rand.Rand) []float64 {
		u := make([]float64, len(x[0])+2)
		for i := range u {
			u[i] = 3 * r.NormFloat64()
		}
		return u
	}
	return Species[Net]{
		Random: func(r *rand.Rand) Net {
			n := Net{Bias: r.NormFloat64()}
			for range 1 + r.IntN(most) {
				n.Units = append(n.Units, unit(r))
			}
			return n
		},
		Fitness: func(n Net) float64 {
			sum := 0.0
			for i := range x {
				e := n.Answer(x[i]) - y[i]
				sum += e * e
			}
			return 1 / (1e-3 + sum/float64(len(y)) + 1e-3*float64(len(n.Units)))
		},
		Cross: func(r *rand.Rand, a, b Net) (Net, Net) {
			c, d := Net{slices.Clone(a.Units), a.Bias}, Net{slices.Clone(b.Units), b.Bias}
			i, j := r.IntN(len(c.Units)), r.IntN(len(d.Units))
			c.Units[i], d.Units[j] = d.Units[j], c.Units[i]
			return c, d
		},
		Mutate: func(r *rand.Rand, n Net) Net {
			m := Net{Bias: n.Bias + r.NormFloat64()/2}
			for _, u := range n.Units {
				v := slices.Clone(u)
				for i := range v {
					v[i] += r.NormFloat64() / 2
				}
				m.Units = append(m.Units, v)
			}
			switch r.IntN(10) {
			case 0:
				if len(m.Units) < most {
					m.Units = append(m.Units, unit(r))
				}
			case 1:
				if len(m.Units) > 1 {
					m.Units = m.Units[1:]
				}
			}
			return m
		},
	}
}
