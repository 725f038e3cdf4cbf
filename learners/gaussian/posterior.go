package gaussian

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// view is a model made ready to explain rows by all columns but one: numbers
// of the units packed row by row, as the rows themselves are.
type view struct {
	model   *Model
	numeric []int // columns
	nominal []int
	// base is ln P(unit) and the peaks of all numeric columns.
	base []float64
	// mean and precision, the latter over √2, of unit i and numeric column
	// c are at i·D+c.
	mean, precision []float64
	room            []float64 // for a stripe's cells

	// Of a model with full covariance:
	without  int    // the column whose cells are not looked at
	given    *given // it, from the others
	rows     sample
	gap      *gap
	expected column // what units expect of it given a row
}

// view returns the view without the cells of a column, which may be -1. It is
// not safe for concurrent use; share gives each goroutine its own.
func (m *Model) view(without int) *view {
	v := &view{model: m, base: append([]float64(nil), m.logPrior...), without: without}
	for j := range m.columns {
		switch c := &m.columns[j]; {
		case j == without:
		case c.share != nil && len(c.share) == 0: // it had no known cell so far
		case c.share != nil:
			v.nominal = append(v.nominal, j)
		case c.precision != nil:
			v.numeric = append(v.numeric, j)
		}
	}
	for i := range v.base {
		for _, j := range v.numeric {
			c := &m.columns[j]
			v.base[i] += c.peak[i]
			v.mean = append(v.mean, c.mean[i])
			v.precision = append(v.precision, c.precision[i]*math.Sqrt(0.5))
		}
	}
	if m.joint != nil {
		v.given = m.joint.given(without)
	}
	return v
}

// share returns the view for another goroutine.
func (v *view) share() *view {
	w := *v
	w.room, w.rows, w.gap, w.expected = nil, sample{}, nil, column{}
	return &w
}

// explain fills in, for some rows, the logs of P(unit) times the density of
// the row's known cells in it, K numbers a row. A row's numbers are added in
// one order whatever rows stand around it.
func (v *view) explain(t *table.Table, lo, hi int, logs []float64) {
	if v.given != nil {
		v.given.gather(v.model, t, lo, hi, &v.rows)
		v.given.kernel.logs(&v.rows, 0, hi-lo, logs)
	} else {
		v.numbers(t, lo, hi, logs)
	}
	for _, j := range v.nominal {
		v.model.columns[j].addNominal(logs, t.Columns[j].Codes[lo:hi], len(v.base))
	}
}

// expect returns what units expect of the column that is left out, given the
// n-th of the rows that were explained last. It holds until the next call.
func (v *view) expect(n int) *column {
	c := &v.model.columns[v.without]
	if v.given == nil || v.given.slope == nil {
		return c
	}
	if v.gap == nil {
		v.gap = newGap(len(v.given.numeric))
		v.expected = column{scale: c.scale, mean: make([]float64, len(c.mean)), deviation: make([]float64, len(c.mean))}
	}
	v.given.expect(&v.model.overall[v.without], &v.rows, n, v.gap, &v.expected)
	return &v.expected
}

// numbers is explain of the numeric columns, which are independent.
func (v *view) numbers(t *table.Table, lo, hi int, logs []float64) {
	k, d := len(v.base), len(v.numeric)
	if len(v.room) < (hi-lo)*d {
		v.room = make([]float64, (hi-lo)*d)
	}
	gaps := v.gather(t, lo, hi)
	rows := hi - lo
	x := v.room[:rows*d]
	for r := 0; r < rows; {
		if r+4 <= rows && (gaps == nil || !gaps[r] && !gaps[r+1] && !gaps[r+2] && !gaps[r+3]) {
			v.four(x[r*d:(r+4)*d], logs[r*k:(r+4)*k])
			r += 4
			continue
		}
		if gaps != nil && gaps[r] {
			v.gapped(x[r*d:(r+1)*d], logs[r*k:(r+1)*k])
		} else {
			v.one(x[r*d:(r+1)*d], logs[r*k:(r+1)*k])
		}
		r++
	}
}

// gather packs the numeric cells of rows, in the units of their levels. It
// returns which rows have cells that say nothing, nil if none has.
func (v *view) gather(t *table.Table, lo, hi int) (gaps []bool) {
	d := len(v.numeric)
	for n, j := range v.numeric {
		c := &v.model.columns[j]
		for r, x := range t.Columns[j].Floats[lo:hi] {
			if finite(x) {
				v.room[r*d+n] = c.unit(x)
				continue
			}
			if gaps == nil {
				gaps = make([]bool, hi-lo)
			}
			gaps[r] = true
			v.room[r*d+n] = table.NA
		}
	}
	return gaps
}

// four explains four complete rows at a time, so that a unit's numbers are
// read once for all of them.
func (v *view) four(x, logs []float64) {
	k, d := len(v.base), len(v.numeric)
	x0, x1, x2, x3 := x[:d], x[d:][:d], x[2*d:][:d], x[3*d:][:d]
	for i, base := range v.base {
		mean, precision := v.mean[i*d:][:d], v.precision[i*d:][:d]
		l0, l1, l2, l3 := base, base, base, base
		for j, m := range mean {
			p := precision[j]
			z0, z1, z2, z3 := (x0[j]-m)*p, (x1[j]-m)*p, (x2[j]-m)*p, (x3[j]-m)*p
			l0 -= float64(z0 * z0)
			l1 -= float64(z1 * z1)
			l2 -= float64(z2 * z2)
			l3 -= float64(z3 * z3)
		}
		logs[i], logs[k+i], logs[2*k+i], logs[3*k+i] = l0, l1, l2, l3
	}
}

// one explains a complete row.
func (v *view) one(x, logs []float64) {
	d := len(x)
	for i, l := range v.base {
		mean, precision := v.mean[i*d:][:d], v.precision[i*d:][:d]
		for j, m := range mean {
			z := (x[j] - m) * precision[j]
			l -= float64(z * z)
		}
		logs[i] = l
	}
}

// gapped explains a row by the cells that are known.
func (v *view) gapped(x, logs []float64) {
	copy(logs, v.model.logPrior)
	for n, j := range v.numeric {
		if finite(x[n]) {
			v.model.columns[j].addNumber(logs, x[n])
		}
	}
}

// addNumber adds the log densities of a number in the unit of the column's
// level.
func (c *column) addNumber(logs []float64, x float64) {
	mean, precision, peak := c.mean[:len(logs)], c.precision[:len(logs)], c.peak[:len(logs)]
	for i := range logs {
		z := (x - mean[i]) * precision[i]
		logs[i] += peak[i] - float64(0.5*z*z)
	}
}
