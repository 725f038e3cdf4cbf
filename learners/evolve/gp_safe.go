package evolve

import (
	"math"

	"github.com/accrete-ml/accrete/internal/formula"
)

// What keeps formulas from having no value where they are asked: nothing
// ("plain"), operators that have one for every number (Koza 1992), or interval
// arithmetic over the ranges of the rows (Keijzer 2003).
const (
	protected = "protected"
	interval  = "interval"
)

// protectedForm is the operator that stands for another among protected ones.
func protectedForm(o formula.Op) (formula.Op, bool) {
	switch o {
	case formula.Div, formula.Inverse:
		return formula.ProtectedInverse, true
	case formula.Sqrt:
		return formula.ProtectedSqrt, true
	case formula.Log:
		return formula.ProtectedLog, true
	case formula.Pow:
		return formula.Square, true
	case formula.Asin, formula.Acos:
		return o, false
	}
	return o, true
}

// safe reports whether a formula has a value wherever the settings ask for one.
func (s *search) safe(t formula.Tree) bool {
	switch s.settings.Operators {
	case interval:
		_, ok := t.Range(s.ranges)
		return ok
	case protected:
		return total(t)
	}
	return true
}

// total reports whether no operator of a formula lacks a value for some numbers.
// What is divided by, and exponents, are constants.
func total(t formula.Tree) bool {
	for i, n := range t {
		switch last := i > 0 && t[i-1].Op == formula.Const; n.Op {
		case formula.Div:
			if !last || t[i-1].Value == 0 {
				return false
			}
		case formula.Pow:
			if !last || t[i-1].Value < 0 || t[i-1].Value != math.Trunc(t[i-1].Value) {
				return false
			}
		default:
			if o, ok := protectedForm(n.Op); !ok || o != n.Op {
				return false
			}
		}
	}
	return true
}

// rangesOf returns the ranges of variables in the rows.
func rangesOf(inputs []input) []formula.Interval {
	all := make([]formula.Interval, len(inputs))
	for i := range inputs {
		all[i] = formula.Interval{Low: inputs[i].Low, High: inputs[i].High}
	}
	return all
}
