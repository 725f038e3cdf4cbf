// Package formula holds formulas as people write them: infix over names of
// columns, with + - * / ^ and functions of one argument. It parses, prints,
// simplifies, evaluates them over whole columns and differentiates them by
// their constants.
//
// A formula is a Tree: its nodes in postfix order, so that a subtree is a
// stretch of it, and evaluating is one pass with a stack. Every value on the
// stack is a block of rows: an operator costs one loop over them.
//
// learners/evolve breeds formulas, life prints them.
package formula

import (
	"math"
)

// Op is what a node does.
type Op uint8

// The operators. Const and Var take no argument; Add to Pow two; the others one.
const (
	Const Op = iota
	Var
	Add
	Sub
	Mul
	Div
	Pow
	Neg
	Square
	Sqrt
	Exp
	Log
	Sin
	Cos
	Tan
	Tanh
	Abs
	Asin
	Acos
	Atan
	Inverse
	// The protected ones have a value for every number (Koza 1992).
	ProtectedSqrt    // √|x|
	ProtectedLog     // log |x|, and 0 of 0
	ProtectedInverse // 1/x, and 0 of 0
	ops
)

// names of functions; operators are written otherwise.
var names = [ops]string{
	Add: "+", Sub: "-", Mul: "*", Div: "/", Pow: "^", Square: "square", Sqrt: "sqrt", Exp: "exp", Log: "log", Sin: "sin", Cos: "cos", Tan: "tan",
	Tanh: "tanh", Abs: "abs", Asin: "asin", Acos: "acos", Atan: "atan", Neg: "neg", Inverse: "inv",
	ProtectedSqrt: "psqrt", ProtectedLog: "plog", ProtectedInverse: "pinv",
}

// String is the operator's sign or the function's name.
func (o Op) String() string { return names[o] }

// Named returns the operator or function of a name.
func Named(name string) (Op, bool) {
	if name == "**" {
		return Pow, true
	}
	for o := Add; o < ops; o++ {
		if names[o] == name {
			return o, true
		}
	}
	return 0, false
}

// Arity is how many arguments an operator takes.
func (o Op) Arity() int {
	switch {
	case o <= Var:
		return 0
	case o <= Pow:
		return 2
	}
	return 1
}

// Node is a constant (Value), a variable (Index) or an operator.
type Node struct {
	Op    Op      `cbor:"op"`
	Index int32   `cbor:"index,omitempty"`
	Value float64 `cbor:"value,omitempty"`
}

// Tree is a formula: its nodes, arguments before their operator.
type Tree []Node

// Number is a formula that is a constant.
func Number(x float64) Tree { return Tree{{Op: Const, Value: x}} }

// Variable is a formula that is a column.
func Variable(i int) Tree { return Tree{{Op: Var, Index: int32(i)}} }

// Apply is a formula of an operator and its arguments.
func Apply(o Op, arguments ...Tree) Tree {
	n := 1
	for _, a := range arguments {
		n += len(a)
	}
	t := make(Tree, 0, n)
	for _, a := range arguments {
		t = append(t, a...)
	}
	return append(t, Node{Op: o})
}

// Start returns where the subtree that ends at a node begins.
func (t Tree) Start(end int) int {
	need := 1
	i := end
	for ; ; i-- {
		if need += t[i].Op.Arity() - 1; need == 0 {
			return i
		}
	}
}

// Sound reports whether the nodes are one formula over so many variables.
func (t Tree) Sound(variables int) bool {
	depth := 0
	for _, n := range t {
		if n.Op >= ops || n.Op == Var && (n.Index < 0 || int(n.Index) >= variables) || n.Op == Const && (math.IsNaN(n.Value) || math.IsInf(n.Value, 0)) {
			return false
		}
		if depth -= n.Op.Arity(); depth < 0 {
			return false
		}
		depth++
	}
	return depth == 1
}

// Bits is the length of a formula when it is sent to somebody who knows so many
// variables: of each node which operator, variable or number it is, and so many
// bits of each number.
func (t Tree) Bits(variables int, number float64) float64 {
	bits := float64(len(t)) * math.Log2(float64(int(ops)-1+max(1, variables)))
	return bits + number*float64(len(t.Constants()))
}

// Constants returns where the constants are.
func (t Tree) Constants() []int {
	var at []int
	for i, n := range t {
		if n.Op == Const {
			at = append(at, i)
		}
	}
	return at
}

// scalar applies an operator to numbers.
func scalar(o Op, a, b float64) float64 {
	switch o {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div:
		return a / b
	case Pow:
		return math.Pow(a, b)
	case Neg:
		return -a
	case Square:
		return a * a
	case Inverse:
		return 1 / a
	}
	return functions[o](a)
}

var functions = [ops]func(float64) float64{
	Sqrt: math.Sqrt, Exp: math.Exp, Log: math.Log, Sin: math.Sin, Cos: math.Cos, Tan: math.Tan, Tanh: math.Tanh, Abs: math.Abs,
	Asin: math.Asin, Acos: math.Acos, Atan: math.Atan,
	ProtectedSqrt: func(x float64) float64 { return math.Sqrt(math.Abs(x)) },
	ProtectedLog: func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return math.Log(math.Abs(x))
	},
	ProtectedInverse: func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return 1 / x
	},
}

// Front is a formula, and those that are shorter and err more, or are longer and
// err less, on rows that were held out.
type Front struct {
	Class   string  `json:"class,omitempty"` // that it speaks for
	Formula string  `json:"formula"`
	Text    string  `json:"-"` // for people: constants in six digits
	Error   float64 `json:"error"`
	Length  int     `json:"length"`
	// Range is where its values lie as long as cells lie within the ranges of the
	// rows; nil: it may have none there.
	Range  *Interval `json:"range,omitempty"`
	Others []Point   `json:"front"`
}

// Point is a formula of a front.
type Point struct {
	Formula string  `json:"formula"`
	Text    string  `json:"-"`
	Error   float64 `json:"error"`
	Length  int     `json:"length"`
}

// Fronted is a model that is formulas.
type Fronted interface {
	Formulas() []Front
}
