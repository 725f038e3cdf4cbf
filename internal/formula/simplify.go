package formula

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Simplify returns a formula that says the same in a canonical form: like terms
// are added up, equal factors become powers, constants are folded. Where the
// given formula is defined, so is the result, with the same value but for
// rounding; it may be defined where the given one is not (x/x is 1).
func Simplify(t Tree) Tree {
	var stack []*sum
	for _, n := range t {
		switch n.Op.Arity() {
		case 0:
			if n.Op == Const {
				stack = append(stack, &sum{constant: n.Value})
			} else {
				stack = append(stack, one(&atom{variable: int(n.Index), key: "v" + strconv.Itoa(int(n.Index))}, 1))
			}
		case 1:
			stack[len(stack)-1] = simplifyOne(n.Op, stack[len(stack)-1])
		default:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = append(stack[:len(stack)-2], simplifyTwo(n.Op, a, b))
		}
	}
	simple := stack[0].tree()
	if !simple.finite() { // a constant that overflows is better left as it was
		return t
	}
	return simple
}

func (t Tree) finite() bool {
	return !slices.ContainsFunc(t, func(n Node) bool { return n.Op == Const && (math.IsNaN(n.Value) || math.IsInf(n.Value, 0)) })
}

// sum is constant + Σ coef·Π factors, the terms in the order of their keys.
type sum struct {
	constant float64
	terms    []term
}

type term struct {
	coef    float64
	factors []factor
	key     string
}

type factor struct {
	base *atom
	exp  float64
}

// atom is what is not taken apart: a variable, a function of a sum, a sum with
// several terms, or a power with an exponent that varies.
type atom struct {
	key      string
	variable int
	function Op   // Const for a variable or a sum
	inner    *sum // of a function or a sum; the base of a power
	exponent *sum
}

func one(a *atom, exp float64) *sum {
	t := term{coef: 1, factors: []factor{{a, exp}}}
	t.key = t.makeKey()
	return &sum{terms: []term{t}}
}

func (t *term) makeKey() string {
	var b strings.Builder
	for _, f := range t.factors {
		b.WriteString(f.base.key + "^" + strconv.FormatFloat(f.exp, 'g', 9, 64) + "·")
	}
	return b.String()
}

func (s *sum) key() string {
	var b strings.Builder
	b.WriteString("(" + strconv.FormatFloat(s.constant, 'g', 9, 64))
	for i := range s.terms {
		b.WriteString("+" + strconv.FormatFloat(s.terms[i].coef, 'g', 9, 64) + s.terms[i].key)
	}
	return b.String() + ")"
}

func (s *sum) isNumber() bool { return len(s.terms) == 0 }

func (s *sum) isTerm() bool { return s.constant == 0 && len(s.terms) == 1 }

func (s *sum) scaled(k float64) *sum {
	if k == 0 {
		return &sum{}
	}
	r := &sum{constant: s.constant * k, terms: slices.Clone(s.terms)}
	for i := range r.terms {
		r.terms[i].coef *= k
	}
	return r
}

func plus(a, b *sum) *sum {
	r := &sum{constant: a.constant + b.constant}
	all := append(slices.Clone(a.terms), b.terms...)
	slices.SortStableFunc(all, func(x, y term) int { return strings.Compare(x.key, y.key) })
	for _, t := range all {
		if n := len(r.terms); n > 0 && r.terms[n-1].key == t.key {
			before := math.Abs(r.terms[n-1].coef)
			if r.terms[n-1].coef += t.coef; math.Abs(r.terms[n-1].coef) <= 1e-14*before {
				r.terms = r.terms[:n-1]
			}
			continue
		}
		r.terms = append(r.terms, t)
	}
	if math.Abs(r.constant) <= 1e-14*math.Abs(a.constant) {
		r.constant = 0
	}
	return r
}

// asTerm returns a sum as a product: of one factor, unless it is one already.
// What its first term is multiplied by comes before it.
func (s *sum) asTerm() term {
	switch {
	case s.isNumber():
		return term{coef: s.constant}
	case s.isTerm():
		return s.terms[0]
	}
	lead := math.Abs(s.terms[0].coef)
	inner := s.scaled(1 / lead)
	t := term{coef: lead, factors: []factor{{&atom{key: inner.key(), inner: inner}, 1}}}
	t.key = t.makeKey()
	return t
}

func times(a, b *sum) *sum {
	switch {
	case a.isNumber():
		return b.scaled(a.constant)
	case b.isNumber():
		return a.scaled(b.constant)
	}
	return product(a.asTerm(), b.asTerm())
}

func product(a, b term) *sum {
	t := term{coef: a.coef * b.coef}
	all := append(slices.Clone(a.factors), b.factors...)
	slices.SortStableFunc(all, func(x, y factor) int { return strings.Compare(x.base.key, y.base.key) })
	for _, f := range all {
		if n := len(t.factors); n > 0 && t.factors[n-1].base.key == f.base.key {
			if t.factors[n-1].exp += f.exp; t.factors[n-1].exp == 0 {
				t.factors = t.factors[:n-1]
			}
			continue
		}
		t.factors = append(t.factors, f)
	}
	switch {
	case t.coef == 0:
		return &sum{}
	case len(t.factors) == 0:
		return &sum{constant: t.coef}
	case len(t.factors) == 1 && t.factors[0].exp == 1 && t.factors[0].base.isSum():
		return t.factors[0].base.inner.scaled(t.coef)
	}
	t.key = t.makeKey()
	return &sum{terms: []term{t}}
}

func (a *atom) isSum() bool { return a.function == Const && a.inner != nil }

// raised is a sum to a constant power.
func raised(s *sum, k float64) *sum {
	switch {
	case k == 0:
		return &sum{constant: 1}
	case k == 1:
		return s
	case s.isNumber():
		return &sum{constant: math.Pow(s.constant, k)}
	}
	t := s.asTerm()
	whole := k == math.Trunc(k)
	if !whole && (t.coef < 0 || len(t.factors) > 1 || math.Mod(t.factors[0].exp, 2) == 0) {
		// √(x²) is not x, and √(x·y) not √x·√y.
		lead := math.Abs(t.coef)
		inner := (&sum{terms: []term{t}}).scaled(1 / lead)
		a := &atom{key: inner.key(), inner: inner}
		return one(a, k).scaled(math.Pow(lead, k))
	}
	r := term{coef: math.Pow(t.coef, k)}
	for _, f := range t.factors {
		r.factors = append(r.factors, factor{f.base, f.exp * k})
	}
	return product(r, term{coef: 1})
}

func simplifyTwo(o Op, a, b *sum) *sum {
	switch o {
	case Add:
		return plus(a, b)
	case Sub:
		return plus(a, b.scaled(-1))
	case Mul:
		return times(a, b)
	case Div:
		return times(a, raised(b, -1))
	}
	if b.isNumber() {
		return raised(a, b.constant)
	}
	return one(&atom{key: "pow" + a.key() + b.key(), function: Pow, inner: a, exponent: b}, 1)
}

func simplifyOne(o Op, a *sum) *sum {
	switch o {
	case Neg:
		return a.scaled(-1)
	case Square:
		return raised(a, 2)
	case Sqrt:
		return raised(a, 0.5)
	case Inverse:
		return raised(a, -1)
	}
	if a.isNumber() {
		return &sum{constant: scalar(o, a.constant, 0)}
	}
	if a.isTerm() { // the inverse function takes it back
		if f := a.terms[0].factors; len(f) == 1 && f[0].exp == 1 && a.terms[0].coef == 1 && (o == Exp && f[0].base.function == Log || o == Log && f[0].base.function == Exp) {
			return f[0].base.inner
		}
	}
	factor := 1.0
	if leading := a.terms[0].coef; leading < 0 {
		switch o {
		case Sin, Tan, Tanh, Asin, Atan:
			a, factor = a.scaled(-1), -1
		case Cos, Abs:
			a = a.scaled(-1)
		}
	}
	if o == Exp && a.constant != 0 && math.Abs(a.constant) < 300 {
		factor = math.Exp(a.constant)
		a = &sum{terms: a.terms}
	}
	return one(&atom{key: names[o] + a.key(), function: o, inner: a}, 1).scaled(factor)
}

// tree writes a sum as a formula.
func (s *sum) tree() Tree {
	if s.isNumber() {
		return Number(s.constant)
	}
	order := slices.Clone(s.terms)
	slices.SortStableFunc(order, func(a, b term) int { // what is added stands before what is taken away
		switch {
		case a.coef > 0 && b.coef < 0:
			return -1
		case a.coef < 0 && b.coef > 0:
			return 1
		}
		return 0
	})
	var t Tree
	if first := &order[0]; first.coef < 0 && s.constant > 0 {
		t = Apply(Sub, Number(s.constant), first.tree(-first.coef))
	} else {
		t = first.tree(first.coef)
		if rest := order[1:]; len(rest) == 0 && s.constant != 0 {
			return addNumber(t, s.constant)
		}
	}
	for i := range order[1:] {
		if next := &order[i+1]; next.coef < 0 {
			t = Apply(Sub, t, next.tree(-next.coef))
		} else {
			t = Apply(Add, t, next.tree(next.coef))
		}
	}
	if s.constant != 0 && !(order[0].coef < 0 && s.constant > 0) {
		t = addNumber(t, s.constant)
	}
	return t
}

func addNumber(t Tree, c float64) Tree {
	if c < 0 {
		return Apply(Sub, t, Number(-c))
	}
	return Apply(Add, t, Number(c))
}

// tree writes a product: what is divided by stands behind a stroke.
func (t *term) tree(coef float64) Tree {
	var above, below Tree
	times := func(to, x Tree) Tree {
		if to == nil {
			return x
		}
		return Apply(Mul, to, x)
	}
	negative := coef < 0
	coef = math.Abs(coef)
	inverse := math.Round(1 / coef)
	up := slices.ContainsFunc(t.factors, func(f factor) bool { return f.exp > 0 })
	down := slices.ContainsFunc(t.factors, func(f factor) bool { return f.exp < 0 })
	switch {
	case up && !down && inverse > 1 && inverse < 1e6 && math.Abs(1/coef-inverse) < 1e-12*inverse:
		below = Number(inverse) // x/3, not 0.333·x
	case coef != 1 || !up:
		above = Number(coef)
	}
	for _, f := range t.factors {
		if f.exp < 0 {
			below = times(below, f.tree(-f.exp))
		} else {
			above = times(above, f.tree(f.exp))
		}
	}
	if below != nil {
		above = Apply(Div, above, below)
	}
	if negative {
		if above[0].Op == Const && (len(above) == 1 || above[len(above)-1].Op == Mul || above[len(above)-1].Op == Div) {
			above = slices.Clone(above)
			above[0].Value = -above[0].Value
			return above
		}
		return Apply(Neg, above)
	}
	return above
}

func (f *factor) tree(exp float64) Tree {
	var base Tree
	switch a := f.base; {
	case a.function == Pow:
		base = Apply(Pow, a.inner.tree(), a.exponent.tree())
	case a.function != Const:
		base = Apply(a.function, a.inner.tree())
	case a.inner != nil:
		base = a.inner.tree()
	default:
		base = Variable(a.variable)
	}
	switch exp {
	case 1:
		return base
	case 0.5:
		return Apply(Sqrt, base)
	}
	return Apply(Pow, base, Number(exp))
}

// Snap replaces constants that are within a relative distance of a number with
// few digits by that number.
func Snap(t Tree, tolerance float64) Tree {
	snapped := slices.Clone(t)
	for i := range snapped {
		if snapped[i].Op != Const {
			continue
		}
		x := snapped[i].Value
		for digits := 1; digits <= 8; digits++ {
			near, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
			if math.Abs(near-x) <= tolerance*math.Abs(x) {
				snapped[i].Value = near
				break
			}
		}
	}
	return snapped
}
