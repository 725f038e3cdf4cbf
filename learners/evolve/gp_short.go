package evolve

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/formula"
)

// probes is how many rows short expressions are told apart by.
const probes = 32

// shortSet is all short expressions in the order of their length, each value
// once: equal values on the probe rows are one expression, the shortest.
type shortSet struct {
	rows   int
	made   []composed
	values []float64 // rows for each
	level  []int     // level[n] is the first expression of more than n nodes
	known  map[uint64]struct{}
	like   map[uint64][]int32 // expressions by their values up to a·v + b
	most   int
	units  []unit             // of each; nil for none
	ranges []formula.Interval // of each, where it is to have a value throughout; else nil
	nested bool
}

// composed is an operator and the expressions that it is applied to, or a
// variable or a constant.
type composed struct {
	node formula.Node
	a, b int32
	deep bool // it has a function that does not stand within another
	two  bool // it has two values: a function of it is a line over it
}

// transcends reports whether an operator is a function that is not to stand
// within another: all but roots and arithmetic.
func transcends(o formula.Op) bool {
	return o >= formula.Exp && o < formula.Inverse && o != formula.Abs || o == formula.ProtectedLog
}

// nests reports whether a formula has such a function within another.
func nests(t formula.Tree) bool {
	does := func(i int) bool {
		return transcends(t[i].Op) && !(t[i].Op == formula.Pow && t[i-1].Op == formula.Const)
	}
	for i := range t {
		for k := t.Start(i); k < i && does(i); k++ {
			if does(k) {
				return true
			}
		}
	}
	return false
}

// of returns an expression's values.
func (s *shortSet) of(i int) []float64 { return s.values[i*s.rows : (i+1)*s.rows] }

// tree writes an expression as a formula.
func (s *shortSet) tree(i int) formula.Tree {
	c := &s.made[i]
	switch c.node.Op.Arity() {
	case 0:
		return formula.Tree{c.node}
	case 1:
		return formula.Apply(c.node.Op, s.tree(int(c.a)))
	}
	return formula.Apply(c.node.Op, s.tree(int(c.a)), s.tree(int(c.b)))
}

// newShortSet makes all short expressions of variables, whose values on the
// probe rows are given, until there are so many. Where the ranges of variables are
// given, expressions have a value throughout.
func newShortSet(ctx context.Context, x [][]float64, functions []formula.Op, most int, units []unit, ranges []formula.Interval, nested bool) *shortSet {
	s := &shortSet{rows: len(x[0]), known: map[uint64]struct{}{}, like: map[uint64][]int32{}, most: most, nested: nested}
	room := make([]float64, s.rows)
	for i := range x {
		if copy(room, x[i]); s.fits(room) {
			if s.add(composed{node: formula.Node{Op: formula.Var, Index: int32(i)}}, room, unitAt(units, i)) && ranges != nil {
				s.ranges = append(s.ranges, ranges[i])
			}
		}
	}
	for i := range room {
		room[i] = 1
	}
	s.made = append(s.made, composed{node: formula.Node{Op: formula.Const, Value: 1}})
	s.values = append(s.values, room...)
	s.units = append(s.units, unit{})
	if ranges != nil {
		s.ranges = append(s.ranges, formula.Interval{Low: 1, High: 1})
	}
	s.level = []int{0, len(s.made)}
	for nodes := 2; nodes <= 11 && len(s.made) < s.most && ctx.Err() == nil; nodes++ {
		s.grow(ctx, nodes, functions, units != nil, room)
		s.level = append(s.level, len(s.made))
	}
	for i := range s.made {
		if key, ok := affineKey(s.of(i)); ok {
			s.like[key] = append(s.like[key], int32(i))
		}
	}
	return s
}

func unitAt(units []unit, i int) unit {
	if units == nil {
		return nil
	}
	return units[i]
}

// grow makes the expressions of so many nodes.
func (s *shortSet) grow(ctx context.Context, nodes int, functions []formula.Op, measured bool, room []float64) {
	for _, o := range functions {
		if o.Arity() == 1 {
			for a := s.level[nodes-2]; a < s.level[nodes-1]; a++ {
				if !s.apply(ctx, o, a, a, measured, room) {
					return
				}
			}
			continue
		}
		for left := 1; left <= nodes-2; left++ {
			right := nodes - 1 - left
			if right < 1 || right >= len(s.level) || left >= len(s.level) {
				continue
			}
			for a := s.level[left-1]; a < s.level[left]; a++ {
				from := s.level[right-1]
				if o == formula.Add || o == formula.Mul {
					from = max(from, a) // a + b is b + a
				}
				for b := from; b < s.level[right]; b++ {
					if !s.apply(ctx, o, a, b, measured, room) {
						return
					}
				}
			}
		}
	}
}

// apply adds the expression of an operator and its arguments, if it is sound
// and new; false when there are enough.
func (s *shortSet) apply(ctx context.Context, o formula.Op, a, b int, measured bool, room []float64) bool {
	u, within, ok := unit(nil), formula.Interval{}, true
	if measured || s.ranges != nil {
		t := formula.Tree{{Op: formula.Var, Index: 0}, {Op: formula.Var, Index: 1}}[:o.Arity()]
		if t = append(t, formula.Node{Op: o}); measured {
			if u, ok = unitOf(t, []unit{s.units[a], s.units[b]}); !ok {
				return true
			}
		}
		if s.ranges != nil {
			if within, ok = t.Range([]formula.Interval{s.ranges[a], s.ranges[b]}); !ok {
				return true
			}
		}
	}
	deep := s.made[a].deep || s.made[b].deep
	if transcends(o) && deep && !s.nested || (o.Arity() == 1 || o == formula.Pow) && (s.made[a].two || s.made[b].two) {
		return true
	}
	formula.ApplyTo(o, room, s.of(a), s.of(b))
	if s.fits(room) {
		if s.add(composed{formula.Node{Op: o}, int32(a), int32(b), deep || transcends(o), false}, room, u) && s.ranges != nil {
			s.ranges = append(s.ranges, within)
		}
	}
	if len(s.made)%4096 == 0 && ctx.Err() != nil {
		return false
	}
	return len(s.made) < s.most
}

// fits reports whether values are finite, moderate, and not all the same.
func (s *shortSet) fits(v []float64) bool {
	low, high := v[0], v[0]
	for _, x := range v {
		if !(x > -1e12 && x < 1e12) {
			return false
		}
		low, high = min(low, x), max(high, x)
	}
	return high-low > 1e-9*max(-low, high)
}

// add keeps an expression unless its values are known, and says whether it did.
func (s *shortSet) add(c composed, v []float64, u unit) bool {
	key := uint64(14695981039346656037)
	for _, x := range v {
		bits := math.Float64bits(x+0) + 1<<17 // the last 18 bits may be rounding
		key = (key ^ bits>>18) * 1099511628211
		key ^= key >> 29
	}
	if _, known := s.known[key]; known {
		return false
	}
	s.known[key] = struct{}{}
	other := slices.IndexFunc(v, func(x float64) bool { return x != v[0] })
	c.two = !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] && x != v[max(other, 0)] })
	s.made = append(s.made, c)
	s.values = append(s.values, v...)
	s.units = append(s.units, u)
	return true
}

// affineKey is equal for v and a·v + b: values are set in proportion to the
// difference of the first two.
func affineKey(v []float64) (uint64, bool) {
	if len(v) < 8 {
		return 0, false
	}
	d := v[1] - v[0]
	if !(math.Abs(d) > 1e-9*(math.Abs(v[0])+math.Abs(v[1]))) {
		return 0, false
	}
	key := uint64(14695981039346656037)
	for _, x := range v[2:min(10, len(v))] {
		z := (x - v[0]) / d
		if !(math.Abs(z) < 1e9) {
			return 0, false
		}
		key = (key ^ uint64(int64(math.Round(z*1e6)))) * 1099511628211
		key ^= key >> 29
	}
	return key, true
}

// shape is a function of the answer and its inverse: y = f(s) where s is a
// weighted sum. Formulas are found through it that are deeper than any short
// expression.
type shape struct {
	undo func(y float64) float64
	wrap func(t formula.Tree) formula.Tree
	op   formula.Op // that it needs
}

var shapes = []shape{
	{func(y float64) float64 { return y }, func(t formula.Tree) formula.Tree { return t }, formula.Add},
	{func(y float64) float64 { return 1 / y }, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Div, formula.Number(1), t) }, formula.Div},
	{func(y float64) float64 { return y * y }, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Sqrt, t) }, formula.Sqrt},
	{func(y float64) float64 { return 1 / (y * y) }, func(t formula.Tree) formula.Tree {
		return formula.Apply(formula.Div, formula.Number(1), formula.Apply(formula.Sqrt, t))
	}, formula.Sqrt},
	{math.Log, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Exp, t) }, formula.Exp},
	{math.Sqrt, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Pow, t, formula.Number(2)) }, formula.Pow},
	{math.Exp, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Log, t) }, formula.Log},
	{math.Asin, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Sin, t) }, formula.Sin},
	{math.Acos, func(t formula.Tree) formula.Tree { return formula.Apply(formula.Cos, t) }, formula.Cos},
}

// scored is an expression and how much of the variance of something it explains.
type scored struct {
	at    int
	score float64
}

// best returns the n expressions that correlate most with y.
func (s *shortSet) best(y []float64, n int) []scored {
	all := make([]scored, 0, len(s.made))
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	total := 0.0
	centred := make([]float64, len(y))
	for i, v := range y {
		centred[i] = v - mean
		total += centred[i] * centred[i]
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return nil
	}
	for i := range s.made {
		v := s.of(i)
		sum, cross, square := 0.0, 0.0, 0.0
		for k, c := range centred {
			sum += v[k]
			cross += v[k] * c
			square += v[k] * v[k]
		}
		if spread := square - sum*sum/float64(len(v)); spread > 1e-12*square {
			all = append(all, scored{i, cross * cross / (spread * total)})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all[:min(n, len(all))]
}

// found is a formula that the short expressions make up: f · shape(Σ terms), or
// its reciprocal's.
type found struct {
	terms  []int
	shape  int
	factor int  // -1 for none
	under  bool // it divides
}

// products finds y = f · shape(a·g + b) and shape(a·g + b) / f for pairs of short
// expressions f and g: what is left of y without f is looked up among the
// expressions, up to a and b.
func (s *shortSet) products(ctx context.Context, y []float64, allowed []formula.Op, most int) []found {
	var all []found
	z := make([]float64, s.rows)
	for f := -1; f < len(s.made) && len(all) < most; f++ {
		if f%1024 == 0 && ctx.Err() != nil {
			break
		}
		for _, under := range []bool{false, true} {
			if under && (f < 0 || !slices.Contains(allowed, formula.Div)) {
				continue
			}
			for k, sh := range shapes {
				if sh.op != formula.Add && !slices.Contains(allowed, sh.op) || f >= 0 && k > 4 {
					continue
				}
				for i, v := range y {
					switch {
					case f < 0:
						z[i] = sh.undo(v)
					case under:
						z[i] = sh.undo(v * s.of(f)[i])
					default:
						z[i] = sh.undo(v / s.of(f)[i])
					}
				}
				key, ok := affineKey(z)
				if !ok {
					continue
				}
				for _, g := range s.like[key][:min(3, len(s.like[key]))] {
					if correlation(z, s.of(int(g))) > 1-1e-9 {
						all = append(all, found{[]int{int(g)}, k, f, under})
					}
				}
			}
		}
	}
	return all
}

// correlation squared.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	ma, mb := 0.0, 0.0
	for i := range a {
		ma += a[i] / n
		mb += b[i] / n
	}
	aa, bb, ab := 0.0, 0.0, 0.0
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	return ab * ab / (aa * bb)
}

// pursuit is a sum on its way: an orthonormal basis of its terms and what is
// left of y.
type pursuit struct {
	terms []int
	basis [][]float64
	left  []float64
	rest  float64
}

// pursue finds sums of a few expressions that come close to y: to each of the
// best sums so far the expressions are added that explain most of what is left
// (orthogonal matching pursuit, with a beam).
func (s *shortSet) pursue(ctx context.Context, y []float64, terms, beam, library int) [][]int {
	first := &pursuit{left: slices.Clone(y)}
	constant := make([]float64, s.rows)
	for i := range constant {
		constant[i] = 1 / math.Sqrt(float64(s.rows))
	}
	first.project(constant)
	whole := first.rest
	if !(whole > 0) || math.IsInf(whole, 0) {
		return nil
	}
	library = min(library, len(s.made))
	states := []*pursuit{first}
	var sums [][]int
	for range terms {
		var next []*pursuit
		for _, p := range states {
			if ctx.Err() != nil {
				return sums
			}
			for _, c := range s.candidates(p, library, beam) {
				next = append(next, p.with(c.at, s.of(c.at)))
			}
		}
		slices.SortStableFunc(next, func(a, b *pursuit) int { return cmp.Compare(a.rest, b.rest) })
		states = states[:0]
		for _, p := range next {
			if len(states) == beam {
				break
			}
			if n := len(states); n == 0 || math.Abs(states[n-1].rest-p.rest) > 1e-12*whole { // the same terms in another order
				states = append(states, p)
			}
		}
		for _, p := range states {
			sums = append(sums, p.terms)
		}
		if len(states) == 0 || states[0].rest < 1e-22*whole {
			break
		}
	}
	return sums
}

// project takes the part along a unit vector out of what is left.
func (p *pursuit) project(q []float64) {
	dot := 0.0
	for i, v := range p.left {
		dot += v * q[i]
	}
	p.rest = 0
	for i := range p.left {
		p.left[i] -= dot * q[i]
		p.rest += p.left[i] * p.left[i]
	}
	p.basis = append(p.basis, q)
}

// with is the sum with a term more.
func (p *pursuit) with(at int, v []float64) *pursuit {
	q := slices.Clone(v)
	for range 2 {
		for _, b := range p.basis {
			dot := 0.0
			for i := range q {
				dot += q[i] * b[i]
			}
			for i := range q {
				q[i] -= dot * b[i]
			}
		}
	}
	norm := 0.0
	for _, x := range q {
		norm += x * x
	}
	for i := range q {
		q[i] /= math.Sqrt(norm)
	}
	next := &pursuit{terms: append(slices.Clone(p.terms), at), basis: slices.Clone(p.basis), left: slices.Clone(p.left)}
	next.project(q)
	return next
}

// candidates returns the expressions that explain most of what is left.
func (s *shortSet) candidates(p *pursuit, library, n int) []scored {
	var best []scored
	for i := range library {
		v := s.of(i)
		cross, square := 0.0, 0.0
		for k, l := range p.left {
			cross += v[k] * l
			square += v[k] * v[k]
		}
		out := square
		for _, b := range p.basis {
			dot := 0.0
			for k := range v {
				dot += v[k] * b[k]
			}
			out -= dot * dot
		}
		if !(out > 1e-10*square) {
			continue
		}
		score := cross * cross / out
		if len(best) == n && score <= best[n-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(b scored, x float64) int { return cmp.Compare(x, b.score) })
		if best = slices.Insert(best, at, scored{i, score}); len(best) > n {
			best = best[:n]
		}
	}
	return best
}
