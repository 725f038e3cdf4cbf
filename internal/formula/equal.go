package formula

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Equal reports whether two formulas are the same after simplification: both are
// written as quotients of sums of products of powers, products multiplied out, and
// a·d − b·c is to have no term left, but for coefficients that are so small a share
// of the largest. Logarithms of products, powers of products and exponentials of
// sums are taken apart; other functions are equal if their arguments are. Sums of
// logarithms are also compared as products of what the logarithms are of. What it
// does not know, such as sin(2x) = 2 sin(x) cos(x), it calls unequal.
func Equal(a, b Tree, share float64) bool {
	isLog := func(n Node) bool { return n.Op == Log }
	return equal(a, b, share) || slices.ContainsFunc(a, isLog) && slices.ContainsFunc(b, isLog) && equal(exponential(a), exponential(b), share)
}

// exponential returns e to a formula, that of a sum as a product, and of whole
// multiples as powers.
func exponential(t Tree) Tree {
	end := len(t) - 1
	switch t[end].Op {
	case Log:
		return t[:end]
	case Add, Sub, Mul:
		middle := t.Start(end - 1)
		left, right := t[:middle], t[middle:end]
		switch {
		case t[end].Op == Add:
			return Apply(Mul, exponential(left), exponential(right))
		case t[end].Op == Sub:
			return Apply(Div, exponential(left), exponential(right))
		case whole(left):
			return Apply(Pow, exponential(right), left)
		case whole(right):
			return Apply(Pow, exponential(left), right)
		}
	}
	return Apply(Exp, t)
}

func whole(t Tree) bool {
	return len(t) == 1 && t[0].Op == Const && t[0].Value == math.Round(t[0].Value)
}

func equal(a, b Tree, share float64) bool {
	p, okA := quotientOf(a)
	q, okB := quotientOf(b)
	if !okA || !okB {
		return false
	}
	left, okA := p.num.times(q.den)
	right, okB := q.num.times(p.den)
	if !okA || !okB {
		return false
	}
	largest := 0.0
	for _, t := range left {
		largest = max(largest, math.Abs(t.coef))
	}
	for _, t := range left.plus(right, -1) {
		if !(math.Abs(t.coef) <= share*largest) {
			return false
		}
	}
	return true
}

// polynomial is a sum of products of powers, by what stands beside the coefficient.
type polynomial map[string]monomial

type monomial struct {
	coef  float64
	power map[string]float64 // of each atom
}

// quotient is a polynomial over another.
type quotient struct{ num, den polynomial }

// mostTerms is how many products a sum may have.
const mostTerms = 3000

func (p monomial) key() string {
	var b strings.Builder
	for _, atom := range slices.Sorted(maps.Keys(p.power)) {
		fmt.Fprintf(&b, "%s^%.6g·", atom, p.power[atom])
	}
	return b.String()
}

func numberOf(c float64) polynomial { return polynomial{"": {c, nil}} }

func atomPower(atom string, e float64) polynomial {
	p := monomial{1, map[string]float64{atom: e}}
	return polynomial{p.key(): p}
}

// plus returns p + k·q.
func (p polynomial) plus(q polynomial, k float64) polynomial {
	sum := maps.Clone(p)
	for key, t := range q {
		t.coef = sum[key].coef + k*t.coef
		if sum[key] = t; t.coef == 0 {
			delete(sum, key)
		}
	}
	return sum
}

func (p polynomial) times(q polynomial) (polynomial, bool) {
	if len(p)*len(q) > mostTerms {
		return nil, false
	}
	all := polynomial{}
	for _, a := range p {
		for _, b := range q {
			t := monomial{a.coef * b.coef, map[string]float64{}}
			for _, from := range []map[string]float64{a.power, b.power} {
				for atom, e := range from {
					if t.power[atom] += e; math.Abs(t.power[atom]) < 1e-9 {
						delete(t.power, atom)
					}
				}
			}
			key := t.key()
			t.coef += all[key].coef
			all[key] = t
		}
	}
	return all, true
}

// single returns the only monomial of a quotient, if it is one.
func (q quotient) single() (monomial, bool) {
	if len(q.num) != 1 || len(q.den) != 1 {
		return monomial{}, false
	}
	var t monomial
	for _, t = range q.num {
	}
	for _, under := range q.den {
		t.coef /= under.coef
		t.power = maps.Clone(t.power)
		if t.power == nil {
			t.power = map[string]float64{}
		}
		for atom, e := range under.power {
			if t.power[atom] -= e; math.Abs(t.power[atom]) < 1e-9 {
				delete(t.power, atom)
			}
		}
	}
	return t, true
}

// settled divides by a denominator of one monomial.
func (q quotient) settled() quotient {
	if len(q.den) != 1 {
		return q
	}
	for _, under := range q.den {
		inverse := monomial{1 / under.coef, map[string]float64{}}
		for atom, e := range under.power {
			inverse.power[atom] = -e
		}
		if num, ok := q.num.times(polynomial{inverse.key(): inverse}); ok {
			return quotient{num, numberOf(1)}
		}
	}
	return q
}

// text writes a quotient in one way alone, and the sign of its first term.
func (q quotient) text() (text string, sign float64) {
	q = q.settled()
	write := func(p polynomial, by float64) string {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(p)) {
			if c := p[key].coef * by; c != 0 {
				fmt.Fprintf(&b, "%+.5g%s", c, key)
			}
		}
		return b.String()
	}
	first := func(p polynomial) float64 {
		for _, key := range slices.Sorted(maps.Keys(p)) {
			if c := p[key].coef; c != 0 {
				return c
			}
		}
		return 1
	}
	scale := first(q.den)
	if sign = 1; first(q.num)/scale < 0 {
		sign = -1
	}
	return write(q.num, sign/scale) + "/" + write(q.den, 1/scale), sign
}

// quotientOf writes a formula as a quotient; not ok if it is too long for that.
func quotientOf(t Tree) (quotient, bool) {
	var stack []quotient
	for _, n := range t {
		var r quotient
		ok := true
		switch n.Op.Arity() {
		case 0:
			if r = (quotient{numberOf(n.Value), numberOf(1)}); n.Op == Var {
				r.num = atomPower(fmt.Sprintf("v%d", n.Index), 1)
			}
		case 1:
			r, ok = applied(n.Op, stack[len(stack)-1])
			stack = stack[:len(stack)-1]
		default:
			r, ok = joinedBy(n.Op, stack[len(stack)-2], stack[len(stack)-1])
			stack = stack[:len(stack)-2]
		}
		if !ok {
			return r, false
		}
		stack = append(stack, r)
	}
	return stack[0], true
}

// joinedBy is a quotient of two.
func joinedBy(o Op, a, b quotient) (quotient, bool) {
	switch o {
	case Div:
		if len(b.num) == 0 {
			return a, false
		}
		b = quotient{b.den, b.num}
		fallthrough
	case Mul:
		num, okN := a.num.times(b.num)
		den, okD := a.den.times(b.den)
		return quotient{num, den}, okN && okD
	case Pow:
		if e, ok := b.single(); ok && len(e.power) == 0 {
			return raisedTo(a, e.coef)
		}
		log, _ := applied(Log, a)
		inner, ok := joinedBy(Mul, b, log)
		if !ok {
			return a, false
		}
		return applied(Exp, inner)
	}
	k := 1.0
	if o == Sub {
		k = -1
	}
	left, okL := a.num.times(b.den)
	right, okR := b.num.times(a.den)
	den, okD := a.den.times(b.den)
	if !okL || !okR || !okD {
		return a, false
	}
	return quotient{left.plus(right, k), den}.settled(), true
}

// raisedTo is a power with a constant exponent.
func raisedTo(a quotient, e float64) (quotient, bool) {
	if e < 0 {
		a, e = quotient{a.den, a.num}, -e
	}
	if n := math.Round(e); math.Abs(e-n) < 1e-9 && n <= 12 {
		r, ok := quotient{numberOf(1), numberOf(1)}, true
		for range int(n) {
			if r, ok = joinedBy(Mul, r, a); !ok {
				return r, false
			}
		}
		return r, true
	}
	if t, ok := a.single(); ok && t.coef > 0 {
		p := monomial{math.Pow(t.coef, e), map[string]float64{}}
		for atom, k := range t.power {
			p.power[atom] = k * e
		}
		return quotient{polynomial{p.key(): p}, numberOf(1)}, true
	}
	text, sign := a.text()
	return quotient{atomPower(fmt.Sprintf("(%+.0f %s)", sign, text), e), numberOf(1)}, true
}

// applied is a function of a quotient.
func applied(o Op, a quotient) (quotient, bool) {
	switch o {
	case Neg:
		return quotient{polynomial{}.plus(a.num, -1), a.den}, true
	case Square:
		return joinedBy(Mul, a, a)
	case Inverse:
		return joinedBy(Div, quotient{numberOf(1), numberOf(1)}, a)
	case Sqrt:
		return raisedTo(a, 0.5)
	case Exp:
		if a = a.settled(); len(a.den) == 1 && a.den[""].coef != 0 {
			p := monomial{1, map[string]float64{}}
			for key, t := range a.num {
				if c := t.coef / a.den[""].coef; key == "" {
					p.coef = math.Exp(c)
				} else {
					p.power["exp("+key+")"] += c
				}
			}
			return quotient{polynomial{p.key(): p}, numberOf(1)}, true
		}
	case Log:
		if t, ok := a.single(); ok && t.coef > 0 {
			sum := numberOf(math.Log(t.coef))
			for atom, e := range t.power {
				sum = sum.plus(atomPower("log("+atom+")", 1), e)
			}
			return quotient{sum, numberOf(1)}, true
		}
	}
	text, sign := a.text()
	k := 1.0
	switch o {
	case Sin, Tan, Tanh, Asin, Atan: // odd
		k = sign
	case Cos, Abs: // even
	default:
		text = fmt.Sprintf("%+.0f %s", sign, text)
	}
	return quotient{polynomial{}.plus(atomPower(o.String()+"("+text+")", 1), k), numberOf(1)}, true
}
