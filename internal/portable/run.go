package portable

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// Runner computes a program for the rows of tables whose columns are the program's,
// in their order, and maybe more behind them. It is for one goroutine.
type Runner struct {
	program *Program
	values  [][]float64 // of each step
}

// NewRunner returns a runner of a program that passed its check.
func NewRunner(p *Program) *Runner {
	r := &Runner{p, make([][]float64, len(p.Steps))}
	for i := range p.Steps {
		r.values[i] = make([]float64, p.Steps[i].Width)
	}
	return r
}

// Row computes all steps for one row.
func (r *Runner) Row(t *table.Table, row int) {
	for i := range r.program.Steps {
		r.step(&r.program.Steps[i], r.values[i], t, row)
	}
}

// Value is what a step gave for the row that was computed last.
func (r *Runner) Value(of Ref) []float64 { return r.values[of] }

func (r *Runner) step(s *Step, to []float64, t *table.Table, row int) {
	switch s.Op {
	case Constant:
		copy(to, s.Numbers)
	case Cell:
		if to[0] = t.Columns[s.Column].Floats[row]; table.IsMissing(to[0]) {
			to[0] = s.Numbers[0]
		}
	case Lookup:
		at := int(t.Columns[s.Column].Codes[row]) + 2
		if at >= s.rows() {
			at = 0
		}
		copy(to, s.row(at))
	case First:
		at := 0
		for at < len(s.Tests) && !r.holds(&s.Tests[at], t, row) {
			at++
		}
		copy(to, s.row(at))
	case Sum:
		copy(to, s.row(0))
		for i := range s.Tests {
			if r.holds(&s.Tests[i], t, row) {
				for k, x := range s.row(i + 1) {
					to[k] += x
				}
			}
		}
	case Walk:
		clear(to)
		r.walk(s, 0, 1, to, t, row)
	case Choose:
		from := r.values[s.Of[1]]
		if r.holds(&s.Tests[0], t, row) {
			from = r.values[s.Of[0]]
		}
		copy(to, from)
	default:
		r.arithmetic(s, to)
	}
}

// walk adds the leaves that a row comes to from a node on.
func (r *Runner) walk(s *Step, at int, share float64, to []float64, t *table.Table, row int) {
	n := &s.Nodes[at]
	if len(n.Branches) == 0 {
		for k, x := range s.row(n.Row) {
			to[k] += share * x
		}
		return
	}
	for i := range n.Branches {
		if r.holds(&n.Branches[i].Test, t, row) {
			r.walk(s, n.Branches[i].To, share, to, t, row)
			return
		}
	}
	for i := range n.Branches {
		if b := &n.Branches[i]; b.Share > 0 {
			r.walk(s, b.To, share*b.Share, to, t, row)
		}
	}
}

// arithmetic computes a step of other steps alone.
func (r *Runner) arithmetic(s *Step, to []float64) {
	x := r.values[s.Of[0]]
	switch s.Op {
	case Affine:
		for k := range to {
			factors := s.Numbers[k*(len(x)+1):]
			to[k] = factors[0]
			for i, v := range x {
				to[k] += float64(factors[i+1] * v)
			}
		}
	case Join:
		for _, of := range s.Of {
			to = to[copy(to, r.values[of]):]
		}
	case Take:
		to[0] = x[s.Index]
	case Softmax:
		softmax(s, x, to)
	case Best:
		best := s.Order[0]
		for _, i := range s.Order {
			if x[i] > x[best] {
				best = i
			}
		}
		clear(to)
		to[best] = 1
	case Add, Subtract, Multiply, Divide, Least, Greatest:
		y := r.values[s.Of[1]]
		for k := range to {
			to[k] = two(s.Op, x[min(k, len(x)-1)], y[min(k, len(y)-1)])
		}
	default:
		for k := range to {
			to[k] = one(s.Op, x[k])
		}
	}
}

func softmax(s *Step, x, to []float64) {
	most, total := math.Inf(-1), 0.0
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	for i, v := range x {
		to[i] = 0
		if len(s.Numbers) == 0 || v-most > s.Numbers[0] {
			to[i] = math.Exp(v - most)
		}
		total += to[i]
	}
	for i := range to {
		to[i] /= total
	}
}

func one(op Op, x float64) float64 {
	switch op {
	case Exp:
		return math.Exp(x)
	case Log:
		return math.Log(x)
	case Sqrt:
		return math.Sqrt(x)
	case Tanh:
		return math.Tanh(x)
	case Logistic:
		return 1 / (1 + math.Exp(-x))
	}
	return max(x, 0)
}

func two(op Op, x, y float64) float64 {
	switch op {
	case Add:
		return x + y
	case Subtract:
		return x - y
	case Multiply:
		return x * y
	case Divide:
		return x / y
	case Least:
		return min(x, y)
	}
	return max(x, y)
}

func (r *Runner) holds(q *Test, t *table.Table, row int) bool {
	switch q.Op {
	case Between, Among:
		return q.number(t.Columns[q.Column].Floats[row])
	case In, NotIn:
		code := int(t.Columns[q.Column].Codes[row])
		if code == int(table.Missing) {
			return false
		}
		for _, v := range q.Values {
			if v == code {
				return q.Op == In
			}
		}
		return q.Op == NotIn
	case Missing, Known:
		c := &t.Columns[q.Column]
		gone := c.Codes != nil && c.Codes[row] == table.Missing || c.Codes == nil && table.IsMissing(c.Floats[row])
		return gone == (q.Op == Missing)
	case Above:
		return r.values[q.Of][0] > *q.Low
	case AtMost:
		return r.values[q.Of][0] <= *q.High
	}
	count := 0
	for i := range q.Tests {
		if r.holds(&q.Tests[i], t, row) {
			count++
		}
	}
	switch q.Op {
	case Not:
		return count == 0
	case All:
		return count == len(q.Tests)
	}
	return count >= q.Count
}

// number decides a test of a known or missing number.
func (q *Test) number(x float64) bool {
	if q.Op == Among {
		for _, p := range q.Points {
			if x == p {
				return true
			}
		}
		return false
	}
	return (q.Low == nil || x >= *q.Low) && (q.High == nil || x <= *q.High)
}
