package theory

import "math"

// tangentPass is room to run a network of one hidden layer forward, its
// derivatives along directions beside it, and the errors of both back
// (TangentProp, Simard et al. 1992).
type tangentPass struct {
	example
	of                *Explained
	hidden, outputs   int
	linear            bool
	h, out            []float64 // values
	alpha1, xi1       []float64 // derivatives of the hidden units' sums and values
	alpha2, slope     []float64 // of the outputs'
	beta1, beta2      []float64 // the error's by sums
	gamma1, gamma2    []float64 // the error's by derivatives of sums
	bend1, bend2, psi []float64
}

func (m *Explained) newTangentPass() *tangentPass {
	h, k := m.lesson.Settings.Hidden, m.outputs()
	room := func(n int) []float64 { return make([]float64, n) }
	return &tangentPass{
		example: example{at: make([]int32, 0, m.most()), x: make([]float64, 0, m.most())}, of: m,
		hidden: h, outputs: k, linear: m.regression(), h: room(h), out: room(k), alpha1: room(h), xi1: room(h), alpha2: room(k), slope: room(k),
		beta1: room(h), beta2: room(k), gamma1: room(h), gamma2: room(k), bend1: room(h), bend2: room(k), psi: room(h),
	}
}

// parts returns where biases and the weights to the outputs begin.
func (p *tangentPass) parts() (bias1, up, bias2 int) {
	bias1 = p.of.width * p.hidden
	return bias1, bias1 + p.hidden, bias1 + p.hidden + p.hidden*p.outputs
}

// forward computes the values.
func (p *tangentPass) forward(w []float64, e *example) {
	bias1, up, bias2 := p.parts()
	copy(p.h, w[bias1:up])
	for i, at := range e.at {
		row, x := w[int(at)*p.hidden:][:p.hidden], e.x[i]
		for u := range row {
			p.h[u] += x * row[u]
		}
	}
	copy(p.out, w[bias2:])
	for u, sum := range p.h {
		p.h[u] = sigmoid(sum)
		for k := range p.out {
			p.out[k] += p.h[u] * w[up+u*p.outputs+k]
		}
	}
	if !p.linear {
		for k, sum := range p.out {
			p.out[k] = sigmoid(sum)
		}
	}
}

// steep returns the first and second derivative of an output by its sum.
func (p *tangentPass) steep(k int) (first, second float64) {
	if p.linear {
		return 1, 0
	}
	o := p.out[k]
	return o * (1 - o), o * (1 - o) * (1 - 2*o)
}

// along computes the derivatives of the outputs along a direction.
func (p *tangentPass) along(w []float64, s *slope) {
	_, up, _ := p.parts()
	copy(p.alpha1, w[int(s.to)*p.hidden:][:p.hidden])
	if s.from != none {
		for u, x := range w[int(s.from)*p.hidden:][:p.hidden] {
			p.alpha1[u] -= x
		}
	}
	clear(p.alpha2)
	for u, a := range p.alpha1 {
		p.xi1[u] = p.h[u] * (1 - p.h[u]) * a
		for k := range p.alpha2 {
			p.alpha2[k] += p.xi1[u] * w[up+u*p.outputs+k]
		}
	}
	for k, a := range p.alpha2 {
		first, _ := p.steep(k)
		p.slope[k] = first * a
	}
}

// learn returns the error of a row, and adds its slope by the weights to gradient.
func (p *tangentPass) learn(w []float64, e *explainedRow, gradient []float64) float64 {
	bias1, up, bias2 := p.parts()
	p.forward(w, &e.example)
	clear(p.bend1)
	clear(p.bend2)
	sum := 0.0
	if e.mu > 0 {
		for i := range e.slopes {
			sum += p.learnSlope(w, &e.slopes[i], e.mu*e.times, gradient)
		}
	}
	for k, o := range p.out {
		first, _ := p.steep(k)
		off := o - e.want[k]
		sum += e.times * off * off
		p.beta2[k] = e.times*2*off*first + p.bend2[k]
		gradient[bias2+k] += p.beta2[k]
	}
	for u, h := range p.h {
		blame := 0.0
		for k, b := range p.beta2 {
			gradient[up+u*p.outputs+k] += h * b
			blame += w[up+u*p.outputs+k] * b
		}
		p.beta1[u] = blame*h*(1-h) + p.bend1[u]
		gradient[bias1+u] += p.beta1[u]
	}
	for i, at := range e.at {
		row, x := gradient[int(at)*p.hidden:][:p.hidden], e.x[i]
		for u := range row {
			row[u] += x * p.beta1[u]
		}
	}
	return sum
}

// learnSlope does so for the error of a slope, and leaves in bend what it adds to
// the blame of sums.
func (p *tangentPass) learnSlope(w []float64, s *slope, mu float64, gradient []float64) float64 {
	_, up, _ := p.parts()
	p.along(w, s)
	sum := 0.0
	for k, have := range p.slope {
		first, second := p.steep(k)
		off := have - s.want[k]
		sum += mu * off * off
		psi := 2 * mu * off
		p.gamma2[k] = psi * first
		p.bend2[k] += psi * p.alpha2[k] * second
	}
	to := gradient[int(s.to)*p.hidden:][:p.hidden]
	for u, h := range p.h {
		psi := 0.0
		for k, g := range p.gamma2 {
			gradient[up+u*p.outputs+k] += p.xi1[u] * g
			psi += w[up+u*p.outputs+k] * g
		}
		p.bend1[u] += psi * p.alpha1[u] * h * (1 - h) * (1 - 2*h)
		p.gamma1[u] = psi * h * (1 - h)
		to[u] += p.gamma1[u]
	}
	if s.from != none {
		for u, g := range p.gamma1 {
			gradient[int(s.from)*p.hidden+u] -= g
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}
