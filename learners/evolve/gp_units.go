package evolve

import (
	"maps"
	"math"

	"github.com/accrete-ml/accrete/internal/formula"
)

// unitOf returns the unit of a formula, and whether it has one: sums need equal
// units, functions and exponents pure numbers. Constants are pure numbers.
func unitOf(t formula.Tree, of []unit) (unit, bool) {
	type measured struct {
		unit
		number float64 // of a constant, else NaN
	}
	var stack []measured
	for _, n := range t {
		switch n.Op.Arity() {
		case 0:
			if n.Op == formula.Const {
				stack = append(stack, measured{unit{}, n.Value})
			} else {
				stack = append(stack, measured{of[n.Index], math.NaN()})
			}
		case 1:
			a := &stack[len(stack)-1]
			a.number = math.NaN()
			switch n.Op {
			case formula.Neg, formula.Abs:
			case formula.Square:
				a.unit = powerOf(a.unit, 2)
			case formula.Sqrt, formula.ProtectedSqrt:
				a.unit = powerOf(a.unit, 0.5)
			case formula.Inverse, formula.ProtectedInverse:
				a.unit = powerOf(a.unit, -1)
			default:
				if len(a.unit) > 0 {
					return nil, false
				}
			}
		default:
			a, b := &stack[len(stack)-2], &stack[len(stack)-1]
			switch n.Op {
			case formula.Add, formula.Sub:
				if !maps.Equal(a.unit, b.unit) {
					return nil, false
				}
			case formula.Mul:
				a.unit = productOf(a.unit, b.unit, 1)
			case formula.Div:
				a.unit = productOf(a.unit, b.unit, -1)
			case formula.Pow:
				if len(b.unit) > 0 || len(a.unit) > 0 && math.IsNaN(b.number) {
					return nil, false
				}
				if len(a.unit) > 0 {
					a.unit = powerOf(a.unit, b.number)
				}
			}
			a.number = math.NaN()
			stack = stack[:len(stack)-1]
		}
	}
	return stack[0].unit, true
}

func powerOf(u unit, k float64) unit {
	v := unit{}
	for name, exponent := range u {
		if exponent*k != 0 {
			v[name] = exponent * k
		}
	}
	return v
}

func productOf(a, b unit, k float64) unit {
	v := maps.Clone(a)
	if v == nil {
		v = unit{}
	}
	for name, exponent := range b {
		if v[name] += k * exponent; v[name] == 0 {
			delete(v, name)
		}
	}
	return v
}
