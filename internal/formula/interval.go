package formula

import "math"

// Interval is the numbers from Low to High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Range returns an interval that has every value of a formula whose variables lie
// in given intervals, by interval arithmetic (Moore 1966; Keijzer 2003): each
// operator's worst cases. It is false if the formula may have no value there, or
// an infinite one; as each place of a variable is reckoned with for itself, it can
// be false for a formula that always has one (x/(x*x - x + 1)).
func (t Tree) Range(of []Interval) (Interval, bool) {
	var stack []Interval
	for i, n := range t {
		var r Interval
		ok := true
		switch n.Op.Arity() {
		case 0:
			if r = (Interval{n.Value, n.Value}); n.Op == Var {
				r = of[n.Index]
			}
		case 1:
			r, ok = rangeOfOne(n.Op, stack[len(stack)-1])
			stack = stack[:len(stack)-1]
		default:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			if r, ok = rangeOfTwo(n.Op, a, b); n.Op == Mul && same(t[:i]) && r.Low < 0 {
				r, ok = rangeOfOne(Square, a)
			}
			stack = stack[:len(stack)-2]
		}
		if r = r.widened(n.Op); !ok || !(r.Low <= r.High) || math.IsInf(r.Low, 0) || math.IsInf(r.High, 0) {
			return Interval{}, false
		}
		stack = append(stack, r)
	}
	return stack[0], true
}

// same reports whether the last two formulas on the stack are one and the same
// variable, as in x*x.
func same(t Tree) bool {
	n := len(t)
	return n >= 2 && t[n-1].Op == Var && t[n-2].Op == Var && t[n-1].Index == t[n-2].Index
}

// widened makes room for what rounding may do to an operator's value.
func (r Interval) widened(o Op) Interval {
	if o.Arity() == 0 {
		return r
	}
	const room = 4e-16
	return Interval{r.Low - room*math.Abs(r.Low), r.High + room*math.Abs(r.High)}
}

func (r Interval) has(x float64) bool { return r.Low <= x && x <= r.High }

// hull is the interval from the least of some numbers to the greatest; of numbers
// that are none it is none.
func hull(all ...float64) Interval {
	r := Interval{all[0], all[0]}
	for _, x := range all[1:] {
		r.Low, r.High = min(r.Low, x), max(r.High, x)
	}
	return r
}

func rangeOfOne(o Op, a Interval) (Interval, bool) {
	switch o {
	case Neg:
		return Interval{-a.High, -a.Low}, true
	case Square, Abs, ProtectedSqrt:
		r := hull(scalar(o, a.Low, 0), scalar(o, a.High, 0))
		if a.has(0) {
			r.Low = 0
		}
		return r, true
	case Inverse, ProtectedInverse, ProtectedLog:
		return hull(scalar(o, a.Low, 0), scalar(o, a.High, 0)), !a.has(0)
	case Sqrt:
		return hull(math.Sqrt(a.Low), math.Sqrt(a.High)), a.Low >= 0
	case Log:
		return hull(math.Log(a.Low), math.Log(a.High)), a.Low > 0
	case Sin:
		return wave(Interval{a.Low - math.Pi/2, a.High - math.Pi/2}, math.Sin(a.Low), math.Sin(a.High)), true
	case Cos:
		return wave(a, math.Cos(a.Low), math.Cos(a.High)), true
	case Tan: // it jumps half way between whole multiples of π
		return hull(math.Tan(a.Low), math.Tan(a.High)), math.Floor(a.Low/math.Pi+.5) == math.Floor(a.High/math.Pi+.5)
	case Asin, Acos:
		return hull(scalar(o, a.Low, 0), scalar(o, a.High, 0)), a.Low >= -1 && a.High <= 1
	}
	return hull(scalar(o, a.Low, 0), scalar(o, a.High, 0)), true // those that only rise: exp, tanh, atan
}

// wave is the range of the cosine over an interval at whose ends it has two values.
func wave(a Interval, first, last float64) Interval {
	r := hull(first, last)
	if math.Floor(a.High/(2*math.Pi)) >= math.Ceil(a.Low/(2*math.Pi)) {
		r.High = 1
	}
	if math.Floor((a.High-math.Pi)/(2*math.Pi)) >= math.Ceil((a.Low-math.Pi)/(2*math.Pi)) {
		r.Low = -1
	}
	return r
}

func rangeOfTwo(o Op, a, b Interval) (Interval, bool) {
	corners := func() Interval {
		return hull(scalar(o, a.Low, b.Low), scalar(o, a.Low, b.High), scalar(o, a.High, b.Low), scalar(o, a.High, b.High))
	}
	switch o {
	case Add:
		return Interval{a.Low + b.Low, a.High + b.High}, true
	case Sub:
		return Interval{a.Low - b.High, a.High - b.Low}, true
	case Mul:
		return corners(), true
	case Div:
		return corners(), !b.has(0)
	}
	k := b.Low
	switch whole := k == math.Trunc(k); {
	case k != b.High: // the exponent varies
		return corners(), a.Low > 0
	case whole && k >= 0:
		r := corners()
		if math.Mod(k, 2) == 0 && a.has(0) {
			r.Low = min(r.Low, scalar(o, 0, k))
		}
		return r, true
	case whole:
		return corners(), !a.has(0)
	default:
		return corners(), a.Low > 0 || a.Low == 0 && k > 0
	}
}
