package evolve

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/table"
)

// Forms whose constants stand where no short expression has any: quotients of
// sums, powers that are no whole numbers, and waves of any length. The constants
// are found by least squares where the form is a line in disguise, and fitted to
// the answer afterwards.

// tryForms offers what the forms make of a number; of a class, which is 0 or 1, they
// make nothing.
func (s *search) tryForms(ctx context.Context, m *formula.Machine) {
	if s.d.table.Schema.Attributes[s.d.target].Kind != table.Numeric {
		return
	}
	for _, try := range []func(*formula.Machine){s.powerLaws, s.quotients, s.polynomialQuotients, s.waves} {
		if ctx.Err() != nil || s.reached() {
			return
		}
		s.bar = leap
		for _, c := range s.front {
			s.bar = min(s.bar, leap*c.left)
		}
		try(m)
	}
}

// values evaluates terms on the rows of the search.
func (s *search) values(m *formula.Machine, terms []formula.Tree) [][]float64 {
	all := make([][]float64, len(terms))
	for k, t := range terms {
		all[k] = make([]float64, len(s.few.y))
		m.Eval(t, s.few.x, all[k])
	}
	return all
}

// leap is the share of what is left by then that a form may leave: constants in its
// depth fit a little more of anything, and a law much more.
const leap = 0.5

// offerFitted fits a formula's constants and offers it, if it has the answer's
// unit and leaves much less than what was there before its form was tried.
func (s *search) offerFitted(t formula.Tree, m *formula.Machine) {
	t = s.few.refine(formula.Simplify(dropTiny(formula.Snap(t, 1e-9))), m, 20)
	if left := s.few.left(t, m); left < s.bar && s.measures(t) {
		s.offer(t, left)
	}
}

// powerLaws tries a·Πxᵢ^kᵢ, which is a line between logarithms, over the variables
// that are above zero, one by one and together, exponents of few digits or small
// fractions first.
func (s *search) powerLaws(m *formula.Machine) {
	low, high := slices.Min(s.few.y), slices.Max(s.few.y)
	if !slices.Contains(s.functions, formula.Pow) || !(low*high > 0) {
		return
	}
	logs := make([]float64, len(s.few.y))
	for i, y := range s.few.y {
		logs[i] = math.Log(math.Abs(y))
	}
	on := newSample(s.few.x, logs, s.few.w, true)
	var above []int
	for j, r := range s.ranges {
		if r.Low > 0 || r.Low == 0 && slices.Min(s.few.x[j]) > 0 {
			above = append(above, j)
		}
	}
	try := func(variables []int) {
		terms := make([]formula.Tree, len(variables))
		for k, j := range variables {
			terms[k] = formula.Apply(formula.Log, formula.Variable(j))
		}
		exponents, constant, _, ok := on.weigh(s.values(m, terms))
		if !ok {
			return
		}
		for _, fraction := range []bool{true, false} {
			t := formula.Number(math.Copysign(math.Exp(constant), low))
			for k, j := range variables {
				e := exponents[k]
				if fraction {
					e = nearFraction(e)
				}
				if math.Abs(e) > 1e-6 {
					t = formula.Apply(formula.Mul, t, formula.Apply(formula.Pow, formula.Variable(j), formula.Number(e)))
				}
			}
			s.offerFitted(t, m)
		}
	}
	if !(on.spread > 0) {
		return
	}
	for _, j := range above {
		try([]int{j})
	}
	if len(above) > 1 && len(above) <= 12 {
		try(above)
	}
}

// nearFraction is the fraction nearest to a number whose denominator is at most 6,
// if one is near.
func nearFraction(x float64) float64 {
	for q := 1.; q <= 6; q++ {
		if p := math.Round(x * q); math.Abs(x-p/q) < 0.01 {
			return p / q
		}
	}
	return x
}

// quotients tries (a + b·t)/(1 + c·t) for short expressions t, which is a line in
// t and in t·y: y = a + b·t − c·t·y.
func (s *search) quotients(m *formula.Machine) {
	if !slices.Contains(s.functions, formula.Div) {
		return
	}
	y := centredProbes(s.few.y)
	if len(y) < 8 {
		return
	}
	var best []scored
	product := make([]float64, len(y))
	for i := range s.short.made {
		t := s.short.of(i)
		for k := range product {
			product[k] = t[k] * y[k]
		}
		if told := toldByTwo(t, product, y); told > 0 {
			best = append(best, scored{i, told})
		}
	}
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, b := range best[:min(len(best), 12)] {
		t := []formula.Tree{s.short.tree(b.at)}
		s.quotient(m, t, t)
	}
}

// centredProbes is the answer on the probe rows, less its mean.
func centredProbes(y []float64) []float64 {
	some := pick(y, stride(0, len(y), probes))
	mean := 0.0
	for _, v := range some {
		mean += v / float64(len(some))
	}
	for i := range some {
		some[i] -= mean
	}
	return some
}

// toldByTwo is how much of the variance of y, whose mean is 0, two columns and a
// constant tell: to as many digits as ranking them needs.
func toldByTwo(a, b, y []float64) float64 {
	n := float64(len(y))
	var sa, sb, aa, ab, bb, ay, by, yy float64
	for i, v := range y {
		p, q := a[i], b[i]
		sa, sb = sa+p, sb+q
		aa, ab, bb = aa+p*p, ab+p*q, bb+q*q
		ay, by, yy = ay+p*v, by+q*v, yy+v*v
	}
	aa, ab, bb = aa-sa*sa/n, ab-sa*sb/n, bb-sb*sb/n
	det := aa*bb - ab*ab
	if !(det > 1e-9*aa*bb) {
		return 0
	}
	told := (bb*ay*ay - 2*ab*ay*by + aa*by*by) / (det * yy)
	if !(told > 0 && told < 2) { // not a number, or rounding's
		return 0
	}
	return math.Round(told*1e9) / 1e9 // of equals the first is the shortest
}

// quotient offers Σ above / (1 + Σ below), each with its weights and the sum above
// with a constant, and what is left of it when terms that add least go.
func (s *search) quotient(m *formula.Machine, above, below []formula.Tree) {
	terms := slices.Concat(above, below)
	values, over := s.values(m, terms), len(above)
	for _, v := range values[over:] {
		for i, y := range s.few.y {
			v[i] *= y
		}
	}
	for len(terms) > over {
		weights, constant, _, ok := s.few.weigh(values)
		if !ok {
			return
		}
		up := whole(terms[:over], &judgement{weights: weights[:over], constant: constant})
		down := formula.Number(1)
		for k, t := range terms[over:] {
			down = formula.Apply(formula.Add, down, formula.Apply(formula.Mul, formula.Number(-weights[over+k]), t))
		}
		s.offerFitted(formula.Apply(formula.Div, up, down), m)
		at := s.addsLeast(values, weights)
		if at < over {
			over--
		}
		terms, values = slices.Delete(terms, at, at+1), slices.Delete(values, at, at+1)
	}
}

// addsLeast is the term that adds least to a weighted sum.
func (s *search) addsLeast(values [][]float64, weights []float64) int {
	least, at := math.Inf(1), 0
	for k, v := range values {
		_, _, norm, ok := s.few.centred(v)
		if !ok {
			norm = 0
		}
		if c := math.Abs(weights[k]) * norm; c < least {
			least, at = c, k
		}
	}
	return at
}

// polynomialQuotients tries quotients of the polynomials of few variables.
func (s *search) polynomialQuotients(m *formula.Machine) {
	if s.d.units != nil || !slices.Contains(s.functions, formula.Div) || !slices.Contains(s.functions, formula.Mul) {
		return
	}
	for _, degrees := range map[int][][2]int{1: {{3, 2}, {4, 2}, {6, 4}}, 2: {{2, 2}, {3, 2}}, 3: {{2, 2}}, 4: {{2, 1}}, 5: {{2, 1}}}[len(s.d.x)] {
		above, below := monomials(len(s.d.x), degrees[0]), monomials(len(s.d.x), degrees[1])
		if len(above)+len(below) < len(s.few.y)-4 {
			s.quotient(m, above, below)
		}
	}
}

// What waves are tried: along the shortest expressions, times the shortest ones,
// of lengths down to a tenth of the range.
const (
	waveAlong, waveTimes, waveSteps, wavesKept = 30, 10, 40, 8
)

// waves tries f·(a·sin ωt + b·cos ωt) + c for short expressions f and t.
func (s *search) waves(m *formula.Machine) {
	if s.d.units != nil || !slices.Contains(s.functions, formula.Sin) || !slices.Contains(s.functions, formula.Mul) {
		return
	}
	y := centredProbes(s.few.y)
	if len(y) < 12 {
		return
	}
	type wave struct {
		along, times int
		omega, told  float64
	}
	var best []wave
	sin, cos := make([]float64, len(y)), make([]float64, len(y))
	for t := range min(waveAlong, len(s.short.made)) {
		v := s.short.of(t)
		width := slices.Max(v) - slices.Min(v)
		if s.short.made[t].deep || !(width > 0) {
			continue
		}
		for f := -1; f < min(waveTimes, len(s.short.made)); f++ {
			for k := range waveSteps {
				w := wave{t, f, float64(k+1) * math.Pi / (2 * width), 0}
				for i, x := range v {
					if sin[i], cos[i] = math.Sincos(w.omega * x); f >= 0 {
						sin[i], cos[i] = sin[i]*s.short.of(f)[i], cos[i]*s.short.of(f)[i]
					}
				}
				if w.told = toldByTwo(sin, cos, y); w.told > 0 {
					best = append(best, w)
				}
			}
		}
	}
	slices.SortStableFunc(best, func(a, b wave) int { return cmp.Compare(b.told, a.told) })
	for _, w := range best[:min(len(best), wavesKept)] {
		s.wave(m, s.short.tree(w.along), w.times, w.omega)
	}
}

// wave offers a wave, and its sine and its cosine alone.
func (s *search) wave(m *formula.Machine, along formula.Tree, times int, omega float64) {
	at := formula.Apply(formula.Mul, formula.Number(omega), along)
	var both []formula.Tree
	for _, o := range []formula.Op{formula.Sin, formula.Cos} {
		t := formula.Apply(o, at)
		if times >= 0 {
			t = formula.Apply(formula.Mul, s.short.tree(times), t)
		}
		both = append(both, t)
	}
	for _, terms := range [][]formula.Tree{both, both[:1], both[1:]} {
		if weights, constant, left, ok := s.few.weigh(s.values(m, terms)); ok {
			s.offerFitted(whole(terms, &judgement{weights, constant, left}), m)
		}
	}
}
