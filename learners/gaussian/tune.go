package gaussian

import (
	"context"
	"math"
)

// tune changes all parameters of the network y = Σ w_i n_i(x) so that the
// squared error of a numeric target falls (section 7.3), beginning with EM's:
// first the output weights by least squares (equation 2), then weights,
// centres, log widths and log priors down the gradient, each with a step of its
// own that grows while the sign of its derivative stays and is halved when it
// turns (Rprop without backtracking, Igel & Hüsken 2000). It ends with the
// least error on the way, which is never larger than EM's. Afterwards b_i(x) is
// how much a unit's conclusion weighs, no longer a density of the rows.
func tune(ctx context.Context, s *sample, m *mixture, target, steps int, floor float64) error {
	n := newTuner(s, m, target, floor)
	n.leastSquares()
	best, least := m.clone(), math.Inf(1)
	var size, last []float64
	for done := range steps + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, e := n.gradient()
		if e < least {
			best, least = m.clone(), e
		}
		if done == steps {
			break
		}
		if last == nil {
			size, last = make([]float64, len(g)), make([]float64, len(g))
			for i := range size {
				size[i] = firstStep
			}
		}
		for i := range g {
			switch turn := g[i] * last[i]; {
			case turn > 0:
				size[i] = min(1.2*size[i], longestStep)
			case turn < 0:
				size[i], g[i] = max(0.5*size[i], shortestStep), 0
			}
			last[i] = g[i]
			switch {
			case g[i] > 0:
				g[i] = -size[i]
			case g[i] < 0:
				g[i] = size[i]
			}
		}
		n.move(m, g)
	}
	*m = *best
	return nil
}

// Steps of a parameter, in deviations or in logs.
const (
	firstStep    = 0.01
	shortestStep = 1e-6
	longestStep  = 0.2
)

// tuner has the rows whose target is known, the target's cells hidden.
type tuner struct {
	*sample
	m      *mixture
	target int
	floor  float64
	y      []float64
}

func newTuner(s *sample, m *mixture, target int, floor float64) *tuner {
	n := &tuner{sample: s.hide(target), m: m, target: target, floor: floor, y: make([]float64, s.rows)}
	for r := range n.y {
		n.y[r] = s.x[r*len(s.numeric)+target]
	}
	return n
}

// outputs fills in the n_i(x) of all rows.
func (n *tuner) outputs(m *mixture) []float64 {
	k := len(m.prior)
	shares := make([]float64, n.rows*k)
	m.kernel().logs(n.sample, 0, n.rows, shares)
	for r := range n.rows {
		normalise(shares[r*k : (r+1)*k])
	}
	return shares
}

// error returns the mean squared error of the target.
func (n *tuner) error(m *mixture) float64 {
	k, d := len(m.prior), len(m.numeric)
	shares := n.outputs(m)
	sum := 0.0
	for r, y := range n.y {
		e := -y
		for i, share := range shares[r*k : (r+1)*k] {
			e += share * m.centre[i*d+n.target]
		}
		sum += n.weightOf(r) * e * e
	}
	return sum / n.weight
}

// leastSquares sets the output weights to (n'n + λ)⁻¹ n't, the λ of one case
// at EM's weights, which keeps a unit that no row asks for where it was. It is
// undone if the error does not fall.
func (n *tuner) leastSquares() {
	m := n.m
	k, d := len(m.prior), len(m.numeric)
	before := n.error(m)
	shares := n.outputs(m)
	a := make([][]float64, k) // k rows of k+1: the normal equations
	for i := range a {
		a[i] = make([]float64, k+1)
		a[i][i] = 1
		a[i][k] = m.centre[i*d+n.target]
	}
	for r, y := range n.y {
		row := shares[r*k : (r+1)*k]
		for i, s := range row {
			w := n.weightOf(r) * s
			if w == 0 {
				continue
			}
			for j, t := range row {
				a[i][j] += w * t
			}
			a[i][k] += w * y
		}
	}
	// The matrix is positive definite: elimination needs no pivots.
	for i := range k {
		for j := i + 1; j < k; j++ {
			f := a[j][i] / a[i][i]
			for c := i; c <= k; c++ {
				a[j][c] -= f * a[i][c]
			}
		}
	}
	old := m.clone()
	for i := k - 1; i >= 0; i-- {
		w := a[i][k]
		for j := i + 1; j < k; j++ {
			w -= a[i][j] * m.centre[j*d+n.target]
		}
		m.centre[i*d+n.target] = w / a[i][i]
	}
	if !(n.error(m) <= before) {
		*m = *old
	}
}

// gradient returns the derivative of the mean squared error by the weights,
// centres, log widths and log priors of the units: those of centres and
// widths at i·D+j, the target's centre being the weight, then the priors. It
// also returns the error.
func (n *tuner) gradient() ([]float64, float64) {
	m := n.m
	k, d := len(m.prior), len(m.numeric)
	g := make([]float64, 2*k*d+k)
	shares := n.outputs(m)
	squares := 0.0
	for r, y := range n.y {
		row := shares[r*k : (r+1)*k]
		out := 0.0
		for i, s := range row {
			out += s * m.centre[i*d+n.target]
		}
		squares += n.weightOf(r) * (out - y) * (out - y)
		f := 2 * n.weightOf(r) * (out - y) / n.weight
		for i, s := range row {
			if s == 0 {
				continue
			}
			g[i*d+n.target] += f * s
			b := f * s * (m.centre[i*d+n.target] - out) // by ln b_i
			g[2*k*d+i] += b
			for j, x := range n.x[r*d : (r+1)*d] {
				if j == n.target || m.flat[j] || n.start != nil && !n.known(r, j) {
					continue
				}
				z := (x - m.centre[i*d+j]) / m.width[i*d+j]
				g[i*d+j] += b * z / m.width[i*d+j]
				g[k*d+i*d+j] += b * (z*z - 1)
			}
		}
	}
	return g, squares / n.weight
}

// move takes a step. NORMAL conclusions stay.
func (n *tuner) move(m *mixture, step []float64) {
	k, d, q := len(m.prior), len(m.numeric), len(m.nominal)
	total := 0.0
	for i := range k {
		for j := range d {
			if m.normal[i*(d+q)+j] {
				continue
			}
			m.centre[i*d+j] += step[i*d+j]
			if j != n.target {
				m.width[i*d+j] = max(n.floor, m.width[i*d+j]*math.Exp(step[k*d+i*d+j]))
			}
		}
		m.prior[i] *= math.Exp(step[2*k*d+i])
		total += m.prior[i]
	}
	for i := range k {
		m.prior[i] /= total
	}
}
