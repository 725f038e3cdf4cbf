package formula

import "math"

// blockRows is how many rows a value on the stack has: a few of them fit into
// the first cache.
const blockRows = 256

// Machine evaluates formulas. It is not safe for concurrent use; its memory is
// used again.
type Machine struct {
	room  [][]float64 // blocks
	stack []value
}

// value is what the stack holds: a block of rows, or one number for all.
type value struct {
	v      []float64
	number float64
}

// block returns the block of a place on the stack.
func (m *Machine) block(i, rows int) []float64 {
	for len(m.room) <= i {
		m.room = append(m.room, make([]float64, blockRows))
	}
	return m.room[i][:rows]
}

// Eval writes the values of a formula for the rows of columns. All columns have
// as many rows as out.
func (m *Machine) Eval(t Tree, columns [][]float64, out []float64) {
	for lo := 0; lo < len(out); lo += blockRows {
		hi := min(lo+blockRows, len(out))
		r := m.rows(t, columns, lo, hi)
		if r.v != nil {
			copy(out[lo:hi], r.v)
			continue
		}
		for i := lo; i < hi; i++ {
			out[i] = r.number
		}
	}
}

// rows evaluates one block.
func (m *Machine) rows(t Tree, columns [][]float64, lo, hi int) value {
	s := m.stack[:0]
	for i := range t {
		n := &t[i]
		switch n.Op {
		case Const:
			s = append(s, value{number: n.Value})
		case Var:
			s = append(s, value{v: columns[n.Index][lo:hi]})
		default:
			if n.Op.Arity() == 1 {
				a := &s[len(s)-1]
				if a.v == nil {
					a.number = scalar(n.Op, a.number, 0)
					continue
				}
				dst := m.block(len(s)-1, hi-lo)
				unary(n.Op, dst, a.v)
				a.v = dst
				continue
			}
			a, b := &s[len(s)-2], &s[len(s)-1]
			if a.v == nil && b.v == nil {
				a.number = scalar(n.Op, a.number, b.number)
			} else {
				dst := m.block(len(s)-2, hi-lo)
				binary(n.Op, dst, a, b)
				a.v = dst
			}
			s = s[:len(s)-1]
		}
	}
	m.stack = s[:0]
	return s[0]
}

func unary(o Op, dst, a []float64) {
	a = a[:len(dst)]
	switch o {
	case Neg:
		for i, x := range a {
			dst[i] = -x
		}
	case Square:
		for i, x := range a {
			dst[i] = x * x
		}
	case Inverse:
		for i, x := range a {
			dst[i] = 1 / x
		}
	case Sqrt:
		for i, x := range a {
			dst[i] = math.Sqrt(x)
		}
	case Abs:
		for i, x := range a {
			dst[i] = math.Abs(x)
		}
	default:
		f := functions[o]
		for i, x := range a {
			dst[i] = f(x)
		}
	}
}

func binary(o Op, dst []float64, a, b *value) {
	switch {
	case b.v == nil:
		withNumber(o, dst, a.v[:len(dst)], b.number)
	case a.v == nil:
		numberWith(o, dst, a.number, b.v[:len(dst)])
	default:
		both(o, dst, a.v[:len(dst)], b.v[:len(dst)])
	}
}

func both(o Op, dst, a, b []float64) {
	switch o {
	case Add:
		for i, x := range a {
			dst[i] = x + b[i]
		}
	case Sub:
		for i, x := range a {
			dst[i] = x - b[i]
		}
	case Mul:
		for i, x := range a {
			dst[i] = x * b[i]
		}
	case Div:
		for i, x := range a {
			dst[i] = x / b[i]
		}
	case Pow:
		for i, x := range a {
			dst[i] = math.Pow(x, b[i])
		}
	}
}

func withNumber(o Op, dst, a []float64, k float64) {
	switch o {
	case Add:
		for i, x := range a {
			dst[i] = x + k
		}
	case Sub:
		for i, x := range a {
			dst[i] = x - k
		}
	case Mul:
		for i, x := range a {
			dst[i] = x * k
		}
	case Div:
		for i, x := range a {
			dst[i] = x / k
		}
	case Pow:
		power(dst, a, k)
	}
}

// power raises to a number; small whole ones are products.
func power(dst, a []float64, k float64) {
	switch k {
	case 2:
		for i, x := range a {
			dst[i] = x * x
		}
	case 3:
		for i, x := range a {
			dst[i] = x * x * x
		}
	case 4:
		for i, x := range a {
			dst[i] = (x * x) * (x * x)
		}
	case 0.5:
		for i, x := range a {
			dst[i] = math.Sqrt(x)
		}
	case -1:
		for i, x := range a {
			dst[i] = 1 / x
		}
	default:
		for i, x := range a {
			dst[i] = math.Pow(x, k)
		}
	}
}

func numberWith(o Op, dst []float64, k float64, b []float64) {
	switch o {
	case Add:
		for i, x := range b {
			dst[i] = k + x
		}
	case Sub:
		for i, x := range b {
			dst[i] = k - x
		}
	case Mul:
		for i, x := range b {
			dst[i] = k * x
		}
	case Div:
		for i, x := range b {
			dst[i] = k / x
		}
	case Pow:
		for i, x := range b {
			dst[i] = math.Pow(k, x)
		}
	}
}

// Slopes writes a formula's values and its derivatives by its constants, in the
// order of Constants, a column each. It keeps a value for every node.
func (m *Machine) Slopes(t Tree, columns [][]float64, out []float64, by [][]float64) {
	for lo := 0; lo < len(out); lo += blockRows {
		hi := min(lo+blockRows, len(out))
		m.slopes(t, columns, lo, hi, out, by)
	}
}

func (m *Machine) slopes(t Tree, columns [][]float64, lo, hi int, out []float64, by [][]float64) {
	n, rows := len(t), hi-lo
	arguments := make([][2]int, n)
	var stack []int
	for i := range t {
		v := m.block(i, rows)
		switch k := t[i].Op.Arity(); {
		case t[i].Op == Const:
			for r := range v {
				v[r] = t[i].Value
			}
		case t[i].Op == Var:
			copy(v, columns[t[i].Index][lo:hi])
		case k == 1:
			arguments[i][0] = stack[len(stack)-1]
			unary(t[i].Op, v, m.block(arguments[i][0], rows))
			stack = stack[:len(stack)-1]
		default:
			arguments[i] = [2]int{stack[len(stack)-2], stack[len(stack)-1]}
			both(t[i].Op, v, m.block(arguments[i][0], rows), m.block(arguments[i][1], rows))
			stack = stack[:len(stack)-2]
		}
		stack = append(stack, i)
	}
	copy(out[lo:hi], m.block(n-1, rows))
	last := m.block(2*n-1, rows)
	for r := range last {
		last[r] = 1
	}
	constant := len(by)
	for i := n - 1; i >= 0; i-- {
		slope := m.block(n+i, rows)
		switch t[i].Op.Arity() {
		case 0:
			if t[i].Op == Const {
				constant--
				copy(by[constant][lo:hi], slope)
			}
		case 1:
			a := arguments[i][0]
			slopeOfOne(t[i].Op, m.block(n+a, rows), slope, m.block(a, rows), m.block(i, rows))
		default:
			a, b := arguments[i][0], arguments[i][1]
			slopeOfTwo(t[i].Op, m.block(n+a, rows), m.block(n+b, rows), slope, m.block(a, rows), m.block(b, rows), m.block(i, rows))
		}
	}
}

// slopeOfOne passes a slope on to the argument x of f = o(x).
func slopeOfOne(o Op, to, slope, x, f []float64) {
	for r, s := range slope {
		switch o {
		case Neg:
			to[r] = -s
		case Square:
			to[r] = 2 * s * x[r]
		case Inverse, ProtectedInverse:
			to[r] = -s * f[r] * f[r]
		case ProtectedSqrt:
			to[r] = math.Copysign(s/(2*f[r]), s*x[r])
		case ProtectedLog:
			if to[r] = 0; x[r] != 0 {
				to[r] = s / x[r]
			}
		case Sqrt:
			to[r] = s / (2 * f[r])
		case Exp:
			to[r] = s * f[r]
		case Log:
			to[r] = s / x[r]
		case Sin:
			to[r] = s * math.Cos(x[r])
		case Cos:
			to[r] = -s * math.Sin(x[r])
		case Tan:
			to[r] = s * (1 + f[r]*f[r])
		case Tanh:
			to[r] = s * (1 - f[r]*f[r])
		case Abs:
			to[r] = math.Copysign(s, s*x[r])
		case Asin:
			to[r] = s / math.Sqrt(1-x[r]*x[r])
		case Acos:
			to[r] = -s / math.Sqrt(1-x[r]*x[r])
		case Atan:
			to[r] = s / (1 + x[r]*x[r])
		}
	}
}

// slopeOfTwo passes a slope on to the arguments of f = a o b.
func slopeOfTwo(o Op, toA, toB, slope, a, b, f []float64) {
	for r, s := range slope {
		switch o {
		case Add:
			toA[r], toB[r] = s, s
		case Sub:
			toA[r], toB[r] = s, -s
		case Mul:
			toA[r], toB[r] = s*b[r], s*a[r]
		case Div:
			toA[r], toB[r] = s/b[r], -s*f[r]/b[r]
		case Pow:
			toA[r] = s * b[r] * math.Pow(a[r], b[r]-1)
			if toB[r] = 0; a[r] > 0 {
				toB[r] = s * f[r] * math.Log(a[r])
			}
		}
	}
}

// ApplyTo writes an operator's values for those of its arguments; an operator of
// one argument looks at the first alone.
func ApplyTo(o Op, dst, a, b []float64) {
	if o.Arity() == 1 {
		unary(o, dst, a)
		return
	}
	both(o, dst, a, b)
}
