package logic

import (
	"errors"
	"fmt"
	"math"
)

// builtIns are the predicates that are not clauses. Each either holds, having
// bound what it binds, or does not.
var builtIns map[Predicate]func(s *search, args []Term) (bool, error)

func init() {
	is := func(test func(Term) bool) func(*search, []Term) (bool, error) {
		return func(s *search, args []Term) (bool, error) { return test(s.walk(args[0])), nil }
	}
	compare := func(holds func(order int) bool) func(*search, []Term) (bool, error) {
		return func(s *search, args []Term) (bool, error) {
			x, err := s.value(args[0])
			if err != nil {
				return false, err
			}
			y, err := s.value(args[1])
			if err != nil {
				return false, err
			}
			return holds(compareNumbers(x, y)), nil
		}
	}
	order := func(holds func(order int) bool) func(*search, []Term) (bool, error) {
		return func(s *search, args []Term) (bool, error) {
			return holds(Compare(s.resolve(args[0]), s.resolve(args[1]))), nil
		}
	}
	builtIns = map[Predicate]func(*search, []Term) (bool, error){
		{"true", 0}:  func(*search, []Term) (bool, error) { return true, nil },
		{"fail", 0}:  func(*search, []Term) (bool, error) { return false, nil },
		{"false", 0}: func(*search, []Term) (bool, error) { return false, nil },
		{"=", 2}:     func(s *search, args []Term) (bool, error) { return s.unify(args[0], args[1]), nil },
		{`\=`, 2}: func(s *search, args []Term) (bool, error) {
			trail, room := s.mark()
			equal := s.unify(args[0], args[1])
			s.undo(trail, room)
			return !equal, nil
		},
		{"==", 2}: order(func(o int) bool { return o == 0 }), {`\==`, 2}: order(func(o int) bool { return o != 0 }),
		{"!", 0}: func(*search, []Term) (bool, error) {
			return false, errCut
		},
		{"is", 2}: func(s *search, args []Term) (bool, error) {
			x, err := s.value(args[1])
			return err == nil && s.unify(args[0], x), err
		},
		{"<", 2}: compare(func(o int) bool { return o < 0 }), {">", 2}: compare(func(o int) bool { return o > 0 }),
		{"=<", 2}: compare(func(o int) bool { return o <= 0 }), {">=", 2}: compare(func(o int) bool { return o >= 0 }),
		{"=:=", 2}: compare(func(o int) bool { return o == 0 }), {`=\=`, 2}: compare(func(o int) bool { return o != 0 }),
		{"@<", 2}: order(func(o int) bool { return o < 0 }), {"@>", 2}: order(func(o int) bool { return o > 0 }),
		{"@=<", 2}: order(func(o int) bool { return o <= 0 }), {"@>=", 2}: order(func(o int) bool { return o >= 0 }),
		{"integer", 1}:  is(func(t Term) bool { _, ok := t.(Int); return ok }),
		{"float", 1}:    is(func(t Term) bool { _, ok := t.(Float); return ok }),
		{"number", 1}:   is(func(t Term) bool { _, ok := number(t); return ok }),
		{"atom", 1}:     is(func(t Term) bool { _, ok := t.(Atom); return ok }),
		{"var", 1}:      is(func(t Term) bool { _, ok := t.(Var); return ok }),
		{"nonvar", 1}:   is(func(t Term) bool { _, ok := t.(Var); return !ok }),
		{"compound", 1}: is(func(t Term) bool { _, ok := t.(*Compound); return ok }),
		{"atomic", 1}: is(func(t Term) bool {
			_, isVar := t.(Var)
			_, isCompound := t.(*Compound)
			return !isVar && !isCompound
		}),
		{"callable", 1}: is(func(t Term) bool { _, ok := predicateOf(t); return ok }),
		{"ground", 1}:   func(s *search, args []Term) (bool, error) { return isGround(s.resolve(args[0])), nil },
	}
}

// IsBuiltIn reports whether a predicate is one that needs no clauses.
func IsBuiltIn(p Predicate) bool { return builtIns[p] != nil || p == Predicate{"not", 1} }

// compareNumbers compares whole numbers as such.
func compareNumbers(x, y Term) int {
	a, isA := x.(Int)
	b, isB := y.(Int)
	if isA && isB {
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	v, _ := number(x)
	w, _ := number(y)
	switch {
	case v < w:
		return -1
	case v > w:
		return 1
	}
	return 0
}

// value returns what an arithmetic term comes to.
func (s *search) value(t Term) (Term, error) {
	switch t := s.walk(t).(type) {
	case Int, Float:
		return t, nil
	case Var:
		return nil, errors.New("a number is not known yet; expected literals that find it to stand before")
	case *Compound:
		values := make([]Term, len(t.Args))
		for i, a := range t.Args {
			var err error
			if values[i], err = s.value(a); err != nil {
				return nil, err
			}
		}
		switch len(values) {
		case 1:
			return ofOne(t.Functor, values[0])
		case 2:
			return ofTwo(t.Functor, values[0], values[1])
		}
		return nil, fmt.Errorf("%s/%d is not arithmetic", shorten(t.Functor), len(t.Args))
	case Atom:
		switch t {
		case "pi":
			return Float(math.Pi), nil
		case "e":
			return Float(math.E), nil
		}
	}
	return nil, fmt.Errorf("%s is not a number", shorten(Format(s.walk(t), nil)))
}

var errCut = errors.New("the cut is not understood; write the conditions out, or use -> or \\+")

var errOverflow = errors.New("the result is too large for a number of 64 bits")

func ofOne(functor string, x Term) (Term, error) {
	n, isInt := x.(Int)
	v, _ := number(x)
	switch functor {
	case "-":
		return ofTwo("-", Int(0), x)
	case "+":
		return x, nil
	case "abs":
		if isInt && n == math.MinInt64 {
			return nil, errOverflow
		}
		if v < 0 {
			return ofOne("-", x)
		}
		return x, nil
	case "sign":
		sign, _ := ofTwo("-", truth(v > 0), truth(v < 0))
		if !isInt {
			return ofOne("float", sign)
		}
		return sign, nil
	case "float":
		return finite(v)
	}
	if of := ofReal[functor]; of != nil {
		return finite(of(v))
	}
	if round := toWhole[functor]; round != nil {
		if isInt {
			return x, nil
		}
		if y := round(v); math.Abs(y) < 1<<63 {
			return Int(y), nil
		}
		return nil, errOverflow
	}
	return nil, fmt.Errorf("%s/1 is not arithmetic that is known here", shorten(functor))
}

func truth(holds bool) Term {
	if holds {
		return Int(1)
	}
	return Int(0)
}

// ofReal are functions whose value is no whole number.
var ofReal = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "log2": math.Log2, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
	"asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
}

// toWhole are functions whose value is one.
var toWhole = map[string]func(float64) float64{
	"truncate": math.Trunc, "integer": math.Round, "round": math.Round, "floor": math.Floor, "ceiling": math.Ceil,
}

func finite(x float64) (Term, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, errors.New("the result is not a finite number")
	}
	return Float(x), nil
}

func ofTwo(functor string, x, y Term) (Term, error) {
	a, isA := x.(Int)
	b, isB := y.(Int)
	if isA && isB {
		return ofInts(functor, a, b)
	}
	v, _ := number(x)
	w, _ := number(y)
	switch functor {
	case "+":
		return finite(v + w)
	case "-":
		return finite(v - w)
	case "*":
		return finite(v * w)
	case "/":
		return finite(v / w)
	case "**", "^":
		return finite(math.Pow(v, w))
	case "min":
		return finite(min(v, w))
	case "max":
		return finite(max(v, w))
	}
	return nil, fmt.Errorf("%s/2 is not arithmetic of such numbers", shorten(functor))
}

func ofInts(functor string, a, b Int) (Term, error) {
	switch functor {
	case "+":
		if c := a + b; (c > a) == (b > 0) {
			return c, nil
		}
		return nil, errOverflow
	case "-":
		if c := a - b; (c < a) == (b > 0) {
			return c, nil
		}
		return nil, errOverflow
	case "*":
		if a == 0 || b == 0 {
			return Int(0), nil
		}
		if c := a * b; c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64) {
			return c, nil
		}
		return nil, errOverflow
	case "/", "//", "mod", "rem":
		if b == 0 {
			return nil, errors.New("division by zero")
		}
		if a == math.MinInt64 && b == -1 {
			return nil, errOverflow
		}
		switch r := a % b; {
		case functor == "rem":
			return r, nil
		case functor == "mod":
			if r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r, nil
		case functor == "/" && r != 0:
			return finite(float64(a) / float64(b))
		}
		return a / b, nil
	case "min":
		return min(a, b), nil
	case "max":
		return max(a, b), nil
	case "**", "^":
		x := math.Pow(float64(a), float64(b))
		if b < 0 || math.Abs(x) >= 1<<53 {
			return finite(x)
		}
		return Int(x), nil
	}
	return nil, fmt.Errorf("%s/2 is not arithmetic that is known here", shorten(functor))
}
