package units

import "fmt"

// Tangent is an example of which also slopes are known: how each target
// changes with each input (∂t_k/∂x_j at Slopes[k][j]).
type Tangent struct {
	Example
	Slopes [][]float64
}

// TangentError adds to gradient the derivative of an error that counts slopes
// too, ½Σ_k[(t_k−o_k)² + μΣ_j(∂t_k/∂x_j − ∂o_k/∂x_j)²] (Simard et al. 1992;
// Mitchell 1997, section 4.8.1), and returns it. Beside each value runs its
// derivative by one input; both are propagated forward, and the error of both
// back. It does not know softmax units.
func (n *Network) TangentError(e Tangent, mu float64, gradient []float64) (float64, error) {
	for i, u := range n.Units {
		if u.Function == Softmax {
			return 0, fmt.Errorf("unit %d is a softmax unit; expected sigmoid, tanh, linear or rectifier", i)
		}
	}
	p := n.NewPass()
	sum := p.Gradient(e.Example, SquaredError, gradient)
	values := n.Inputs + len(n.Units)
	tangent, net := make([]float64, values), make([]float64, values)
	blame, blameTangent := make([]float64, values), make([]float64, values)
	for j := range n.Inputs {
		clear(tangent)
		tangent[j] = 1
		for i, u := range n.Units {
			s := 0.0
			for k, from := range u.From {
				s += n.Weights[u.Weights[k]] * tangent[from]
			}
			net[n.Inputs+i] = s
			tangent[n.Inputs+i] = u.steepness() * u.Function.Slope(p.Values[n.Inputs+i]) * s
		}
		clear(blame)
		clear(blameTangent)
		for k, o := range n.Outputs {
			difference := tangent[n.Inputs+o] - e.Slopes[k][j]
			sum += mu / 2 * difference * difference
			blameTangent[n.Inputs+o] += mu * difference
		}
		for i := len(n.Units) - 1; i >= 0; i-- {
			u, at := &n.Units[i], n.Inputs+i
			value := p.Values[at]
			k := u.steepness()
			slope := k * u.Function.Slope(value)
			deltaTangent := slope * blameTangent[at]
			delta := slope*blame[at] + k*k*u.Function.curve(value)*net[at]*blameTangent[at]
			if u.Bias != None {
				gradient[u.Bias] += delta
			}
			for k, from := range u.From {
				w := u.Weights[k]
				gradient[w] += delta*p.Values[from] + deltaTangent*tangent[from]
				blame[from] += n.Weights[w] * delta
				blameTangent[from] += n.Weights[w] * deltaTangent
			}
		}
	}
	return sum, nil
}

// curve is the second derivative, given the function's value.
func (f Function) curve(value float64) float64 {
	switch f {
	case Sigmoid:
		return value * (1 - value) * (1 - 2*value)
	case Tanh:
		return -2 * value * (1 - value*value)
	}
	return 0
}
