package linear

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// plane adds up what the cells of a row say: to one number, or to a score for
// each class.
type plane struct {
	*layout
	frames  []frame
	mean    []float64 // of each term
	outputs int
	weights []float64 // of term i for output k at i·outputs + k
	middle  []float64 // what column j adds on average, at j·outputs + k
	prior   []float64 // where the sums start
	unit    float64   // of a number
}

func newPlane(l *layout, frames []frame, mean []float64, outputs int) *plane {
	return &plane{
		layout: l, frames: frames, mean: mean, outputs: outputs, unit: 1,
		weights: make([]float64, l.terms*outputs), middle: make([]float64, len(frames)*outputs), prior: make([]float64, outputs),
	}
}

// weigh gives the terms their weights.
func (p *plane) weigh(weights []float64) {
	copy(p.weights, weights)
	clear(p.middle)
	for j := range p.frames {
		for i := p.first[j]; i < p.first[j]+p.count(j); i++ {
			for k := range p.outputs {
				p.middle[j*p.outputs+k] += p.mean[i] * p.weights[i*p.outputs+k]
			}
		}
	}
}

// most is the largest number that one column adds.
const most = 0x1p1000

// says returns the term of a nominal or missing cell, -1 of a number; false if
// the cell says nothing, because no row had such a one.
func (p *plane) says(j int, column *table.Column, row int) (term int, says bool) {
	switch {
	case p.count(j) == 0:
		return 0, false
	case p.numeric(j):
		if x := column.Floats[row]; x-x == 0 {
			return -1, p.frames[j].Set
		}
		term = p.missing(j)
	default:
		code := column.Codes[row]
		if code == table.Unseen {
			return 0, false
		}
		if term = p.first[j] + int(code); code < 0 {
			term = p.missing(j)
		}
	}
	return term, p.mean[term] > 0
}

// farOut bounds numbers far from all that was seen, so that their powers stay
// finite.
func (p *plane) farOut(z float64) float64 {
	limit := math.Ldexp(1, 480/p.degree)
	return min(max(z, -limit), limit)
}

// contribution returns what a column's cell adds to an output.
func (p *plane) contribution(j int, column *table.Column, row, output int) float64 {
	term, says := p.says(j, column, row)
	if !says {
		return 0
	}
	sum := -p.middle[j*p.outputs+output]
	if term >= 0 {
		sum += p.weights[term*p.outputs+output]
	} else {
		z, power := p.farOut(p.frames[j].in(column.Floats[row])), 1.0
		for i := p.first[j]; i < p.missing(j); i++ {
			power *= z
			sum += p.weights[i*p.outputs+output] * power
		}
	}
	sum *= p.unit
	if !(math.Abs(sum) <= most) { // an overflow, or the difference of two
		sum = math.Copysign(most, sum)
	}
	return sum
}

// scores fills in the sums of a row.
func (p *plane) scores(columns []table.Column, row int, scores []float64) {
	copy(scores, p.prior)
	for j := range p.frames {
		if p.count(j) == 0 {
			continue
		}
		for k := range scores {
			scores[k] += p.contribution(j, &columns[j], row, k)
		}
	}
	if p.outputs == 1 {
		scores[0] = bounded(scores[0])
	}
}

// centred fills in the terms of a row, less their means; 0 where a cell says
// nothing.
func (p *plane) centred(columns []table.Column, row int, terms []float64) {
	for j := range p.frames {
		first, last := p.first[j], p.first[j]+p.count(j)
		if first == last {
			continue
		}
		term, says := p.says(j, &columns[j], row)
		if !says {
			clear(terms[first:last])
			continue
		}
		for i := first; i < last; i++ {
			terms[i] = -p.mean[i]
		}
		if term >= 0 {
			terms[term]++
			continue
		}
		z, power := p.farOut(p.frames[j].in(columns[j].Floats[row])), 1.0
		for i := first; i < last-1; i++ {
			power *= z
			terms[i] += power
		}
	}
}

// ruleCount returns how many rules nominal columns give (see rules).
func (p *plane) ruleCount() int {
	n := 0
	for j := range p.frames {
		for i := p.first[j]; i < p.first[j]+p.count(j); i++ {
			if p.isRule(j, i) {
				n++
			}
		}
	}
	return n
}

// isRule reports whether a term is a rule: an indicator that some rows had.
func (p *plane) isRule(j, i int) bool {
	return (!p.numeric(j) || i == p.missing(j)) && p.mean[i] > 0
}

// parts fills in what the cells of a column add to each output, of which the
// caller has more; of column −1, where the sums start.
func (p *plane) parts(t *table.Table, col int, at []int, of int, out []float64) {
	for r := range t.Rows() {
		for k, place := range at {
			if col < 0 {
				out[r*of+place] = p.prior[k]
			} else if p.count(col) > 0 {
				out[r*of+place] = p.contribution(col, &t.Columns[col], r, k)
			}
		}
	}
}

// Adds fills in what the cells of a column add to the number, row by row; of
// column −1, where the sum starts.
func (m *Model) Adds(t *table.Table, col int, out []float64) {
	m.plane.parts(t, col, []int{0}, 1, out)
}

// Adds fills in what the cells of a column add to the score of each class, row by
// row; of column −1, where the sums start.
func (m *Classes) Adds(t *table.Table, col int, out []float64) {
	if col < 0 {
		for i := range out {
			out[i] = math.Inf(-1)
		}
	}
	m.plane.parts(t, col, m.seen, len(m.classes()), out)
}
