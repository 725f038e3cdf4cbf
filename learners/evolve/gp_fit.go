package evolve

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/formula"
)

// sample is rows that formulas are fitted to: columns, the answer, weights.
type sample struct {
	x      [][]float64
	y, w   []float64
	mean   float64
	spread float64 // Σ w (y − mean)²
	centre bool    // formulas may have a constant added
}

func newSample(x [][]float64, y, w []float64, centre bool) *sample {
	s := &sample{x: x, y: y, w: w, centre: centre}
	total := 0.0
	for i := range y {
		total += w[i]
	}
	for i := range y {
		s.mean += y[i] * (w[i] / total)
	}
	for i := range y {
		s.spread += w[i] * (y[i] - s.mean) * (y[i] - s.mean)
	}
	return s
}

// weigh finds the weights of terms, and of a constant where there may be one, by
// least squares: Gram–Schmidt, twice. It returns the share of the variance that
// is left; false if terms have no finite values or depend on each other.
func (s *sample) weigh(terms [][]float64) (weights []float64, constant, left float64, ok bool) {
	n := len(s.y)
	q := make([][]float64, 0, len(terms))
	r := make([][]float64, len(terms))
	means := make([]float64, len(terms))
	for k, v := range terms {
		u, mean, norm, ok := s.centred(v)
		if !ok {
			return nil, 0, 1, false
		}
		means[k], r[k] = mean, make([]float64, len(terms))
		for range 2 {
			for j, b := range q {
				d := dot(b, u)
				r[j][k] += d
				for i := range u {
					u[i] -= d * b[i]
				}
			}
		}
		out := math.Sqrt(dot(u, u))
		if !(out > 1e-9*norm) {
			return nil, 0, 1, false
		}
		for i := range u {
			u[i] /= out
		}
		r[k][k] = out
		q = append(q, u)
	}
	rest, _, _, ok := s.centred(s.y)
	if !ok {
		rest = make([]float64, n) // a constant answer
	}
	weights = make([]float64, len(terms))
	for k, b := range q {
		weights[k] = dot(b, rest)
		for i := range rest {
			rest[i] -= weights[k] * b[i]
		}
	}
	for k := len(terms) - 1; k >= 0; k-- {
		for j := k + 1; j < len(terms); j++ {
			weights[k] -= r[k][j] * weights[j]
		}
		weights[k] /= r[k][k]
	}
	if s.centre {
		constant = s.mean
		for k := range terms {
			constant -= weights[k] * means[k]
		}
	}
	left = dot(rest, rest) / s.spread
	if math.IsNaN(left) || math.IsInf(constant, 0) || math.IsNaN(constant) || slices.ContainsFunc(weights, func(w float64) bool { return math.IsNaN(w) || math.IsInf(w, 0) }) {
		return nil, 0, 1, false
	}
	return weights, constant, left, true
}

func dot(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// centred returns a column without its mean, where formulas may have a constant,
// times the roots of the weights.
func (s *sample) centred(v []float64) (u []float64, mean, norm float64, ok bool) {
	total, most := 0.0, 0.0
	for i, x := range v {
		mean += x * s.w[i]
		total += s.w[i]
		most = max(most, math.Abs(x))
		if math.IsNaN(x) {
			return nil, 0, 0, false
		}
	}
	if most > 1e120 || most == 0 {
		return nil, 0, 0, false
	}
	if mean /= total; !s.centre {
		mean = 0
	}
	u = make([]float64, len(v))
	for i, x := range v {
		u[i] = (x - mean) * math.Sqrt(s.w[i])
		norm += u[i] * u[i]
	}
	norm = math.Sqrt(norm)
	return u, mean, norm, norm > 1e-10*most
}

// left returns the share of the variance that a formula leaves; infinite where
// it has no value.
func (s *sample) left(t formula.Tree, m *formula.Machine) float64 {
	out := make([]float64, len(s.y))
	m.Eval(t, s.x, out)
	sum := 0.0
	for i, v := range out {
		sum += s.w[i] * (v - s.y[i]) * (v - s.y[i])
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return math.Inf(1)
	}
	return sum / s.spread
}

// refine fits the constants of a formula by their slopes (Levenberg 1944,
// Marquardt 1963). Exponents that are whole numbers, and constants within a
// power's exponent, stay.
func (s *sample) refine(t formula.Tree, m *formula.Machine, steps int) formula.Tree {
	free := freeConstants(t)
	if len(free) == 0 || len(free) > 16 {
		return t
	}
	all := t.Constants()
	n := len(s.y)
	by := make([][]float64, len(all))
	for i := range by {
		by[i] = make([]float64, n)
	}
	var slopes [][]float64
	for k, at := range all {
		if slices.Contains(free, at) {
			slopes = append(slopes, by[k])
		}
	}
	best, out := slices.Clone(t), make([]float64, n)
	rest := s.left(best, m)
	damping := 1e-3
	for range steps {
		m.Slopes(best, s.x, out, by)
		step, ok := s.normal(out, slopes, damping)
		if !ok {
			return best
		}
		trial := slices.Clone(best)
		for k, at := range free {
			trial[at].Value += step[k]
		}
		after := s.left(trial, m)
		if !(after < rest) {
			if damping *= 10; damping > 1e8 {
				break
			}
			continue
		}
		done := after > rest*(1-1e-9)
		best, rest = trial, after
		if damping = max(damping/10, 1e-12); done || rest < 1e-30 {
			break
		}
	}
	return best
}

// freeConstants returns where the constants are that may change: not exponents.
func freeConstants(t formula.Tree) []int {
	fixed := map[int]bool{}
	for i, n := range t {
		if n.Op == formula.Pow && t[i-1].Op == formula.Const {
			fixed[i-1] = true
		}
	}
	var free []int
	for _, at := range t.Constants() {
		if !fixed[at] {
			free = append(free, at)
		}
	}
	return free
}

// normal solves the damped normal equations for a step.
func (s *sample) normal(out []float64, slopes [][]float64, damping float64) ([]float64, bool) {
	p := len(slopes)
	a, b := make([][]float64, p), make([]float64, p)
	for i := range a {
		a[i] = make([]float64, p)
		for j := range i + 1 {
			sum := 0.0
			for r, w := range s.w {
				sum += w * slopes[i][r] * slopes[j][r]
			}
			a[i][j] = sum
			a[j][i] = sum
		}
		for r, w := range s.w {
			b[i] += w * slopes[i][r] * (s.y[r] - out[r])
		}
		a[i][i] = a[i][i]*(1+damping) + 1e-300
	}
	return solve(a, b)
}

// solve is elimination with pivots.
func solve(a [][]float64, b []float64) ([]float64, bool) {
	n := len(b)
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[pivot][k]) {
				pivot = i
			}
		}
		if !(math.Abs(a[pivot][k]) > 0) || math.IsInf(a[pivot][k], 0) {
			return nil, false
		}
		a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
		for i := k + 1; i < n; i++ {
			f := a[i][k] / a[k][k]
			for j := k; j < n; j++ {
				a[i][j] -= f * a[k][j]
			}
			b[i] -= f * b[k]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			b[k] -= a[k][j] * b[j]
		}
		if b[k] /= a[k][k]; math.IsNaN(b[k]) || math.IsInf(b[k], 0) {
			return nil, false
		}
	}
	return b, true
}
