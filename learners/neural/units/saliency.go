package units

// Saliences says of each weight how much the squared error would grow without
// it, each example counting once.
func (n *Network) Saliences(examples []Example) []float64 {
	return n.WeightedSaliences(examples, nil, SquaredError)
}

// WeightedSaliences says of each weight how much the error would grow without
// it: ½ h w², where h is the second derivative of the error by the weight,
// summed over the examples, each times its weight (optimal brain damage, Le
// Cun, Denker & Solla 1990). At a minimum the first derivative says nothing. As
// there, second derivatives are propagated back along the diagonal, and what
// the outputs' error times the curvature of functions adds is left out
// (Levenberg and Marquardt's approximation). Softmax units count as sigmoids.
//
// To prune: train, Drop the weight with the least salience, train again.
func (n *Network) WeightedSaliences(examples []Example, weights []float64, loss Loss) []float64 {
	p := n.NewPass()
	curvature := make([]float64, len(n.Weights))
	outward := make([]float64, n.Inputs+len(n.Units)) // second derivative by each value
	for d, e := range examples {
		weight := 1.0
		if weights != nil {
			weight = weights[d]
		}
		p.Forward(e.Input)
		clear(outward)
		for k, t := range e.Target {
			if t == t {
				outward[n.Inputs+n.Outputs[k]] += weight * n.outputCurvature(n.Outputs[k], p, loss)
			}
		}
		for i := len(n.Units) - 1; i >= 0; i-- {
			u := &n.Units[i]
			slope := u.steepness() * u.Function.Slope(p.Values[n.Inputs+i])
			h := slope * slope * outward[n.Inputs+i]
			if u.Bias != None {
				curvature[u.Bias] += h
			}
			for k, from := range u.From {
				w, x := n.Weights[u.Weights[k]], p.Values[from]
				curvature[u.Weights[k]] += h * x * x
				outward[from] += h * w * w
			}
		}
	}
	for i, w := range n.Weights {
		curvature[i] *= w * w / 2
	}
	return curvature
}

// outputCurvature is the second derivative of the error by an output's value:
// 1 of the squared error; of cross entropy 1/o(1−o), so that by the output's
// sum it is o(1−o).
func (n *Network) outputCurvature(unit int, p *Pass, loss Loss) float64 {
	f, o := n.Units[unit].Function, p.Values[n.Inputs+unit]
	if loss == SquaredError || f != Sigmoid && f != Softmax {
		return 1
	}
	return 1 / max(o*(1-o), 1e-200)
}

// LeastSalient returns the weight, among those that some connection uses,
// whose loss would cost least; −1 if there is none.
func (n *Network) LeastSalient(examples []Example) int {
	least, saliences := -1, n.Saliences(examples)
	for w, copies := range n.copies() {
		if copies > 0 && (least < 0 || saliences[w] < saliences[least]) {
			least = w
		}
	}
	return least
}
