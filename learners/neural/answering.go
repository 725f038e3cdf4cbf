package neural

import (
	"math"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

// A network learns in single precision and answers in double, from the weights as
// they are kept: what is computed from them elsewhere, in a database or a browser,
// is then the same to the last digits.

// doubled is room for the values of all units on some rows, the inputs first, as
// answers are computed from.
type doubled struct {
	stride int // of a row of inputs
	values [][]float64
}

func (d *dense) newDoubled(rows int) *doubled {
	rows = padded(rows)
	s := &doubled{stride: strideOf(d.inputs)}
	s.values = append(s.values, make([]float64, rows*s.stride))
	for i := range d.layers {
		s.values = append(s.values, make([]float64, rows*d.layers[i].stride))
	}
	return s
}

// row returns the outputs of a row.
func (s *doubled) row(d *dense, r int) []float64 {
	l := d.last()
	return s.values[len(d.layers)][r*l.stride:][:l.out]
}

// answer computes the values of all units from the inputs of the first rows.
func (d *dense) answer(s *doubled, rows int) {
	ld := s.stride
	for i := range d.layers {
		l := &d.layers[i]
		l.sum(s.values[i], ld, rows, s.values[i+1])
		if i < len(d.layers)-1 {
			d.squash(l, s.values[i+1], rows)
		}
		ld = l.stride
	}
}

// sum is apply in double precision.
func (l *layer) sum(x []float64, ld, rows int, out []float64) {
	var c [side * side]float64
	for j := 0; j < l.out; j += side {
		bias := (*[side]float32)(l.b[j:])
		for i := 0; i < rows; i += side {
			if l.in > 0 {
				multiplyDouble(l.in, x[i*ld:], ld, l.w[j:], l.stride, &c)
			}
			for r := range side {
				to, sums := (*[side]float64)(out[(i+r)*l.stride+j:]), (*[side]float64)(c[r*side:])
				for k := range side {
					to[k] = sums[k] + float64(bias[k])
				}
			}
		}
	}
}

// squash is activate in double precision.
func (d *dense) squash(l *layer, sums []float64, rows int) {
	for r := range rows {
		row := sums[r*l.stride:][:l.out]
		switch d.activation {
		case units.Rectifier:
			for i, x := range row {
				row[i] = max(x, 0)
			}
		case units.Tanh:
			for i, x := range row {
				row[i] = math.Tanh(x)
			}
		default:
			for i, x := range row {
				row[i] = 1 / (1 + math.Exp(-x))
			}
		}
	}
}
