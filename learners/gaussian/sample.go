package gaussian

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// overall is what a column is like over all rows: what NORMAL and z-scores
// refer to.
type overall struct {
	level  moment.Level
	moment moment.Moment // numeric, in the unit of the level
	counts []float64     // nominal, by code
}

// deviation returns the column's deviation, 0 if it never varies.
func (o *overall) deviation() float64 { return math.Sqrt(o.moment.Variance()) }

// score returns a finite cell in deviations from the mean.
func (o *overall) score(x, precision float64) float64 {
	return (x*o.level.Scale() - o.moment.Mean) * precision
}

// finite reports whether a cell says anything: NaN is missing, and what is
// infinite lies nowhere.
func finite(x float64) bool { return x-x == 0 }

// measure returns the statistics of the columns over some rows of a table.
// Each column is summed by one goroutine in the order of the rows, so that
// the sums do not depend on the number of cores.
func measure(ctx context.Context, t *table.Table, rows []int) ([]overall, error) {
	columns := make([]overall, len(t.Columns))
	err := learn.Each(ctx, len(columns), func(j int) {
		c := &columns[j]
		if t.Schema.Attributes[j].Kind == table.Nominal {
			c.counts = make([]float64, len(t.Schema.Attributes[j].Values))
			for _, r := range rows {
				if code := t.Columns[j].Codes[r]; code >= 0 {
					c.counts[code] += t.Weight(r)
				}
			}
			return
		}
		c.level = moment.Tiny
		for _, r := range rows {
			if x := t.Columns[j].Floats[r]; finite(x) && math.Abs(x) >= c.level.Limit() {
				c.level = moment.LevelOf(x)
			}
		}
		c.moment = momentOf(t, j, rows, c.level.Scale())
	})
	return columns, err
}

// momentOf sums up the finite cells of a column, in two passes. Differences
// are taken from the first number, so that equal numbers have no variance.
func momentOf(t *table.Table, j int, rows []int, scale float64) moment.Moment {
	var m moment.Moment
	first, sum := 0.0, 0.0
	for _, r := range rows {
		if x := t.Columns[j].Floats[r]; finite(x) {
			if m.N == 0 {
				first = x * scale
			}
			m.N += t.Weight(r)
			sum += t.Weight(r) * (x*scale - first)
		}
	}
	if m.N == 0 {
		return moment.Moment{}
	}
	m.Mean = first + sum/m.N
	for _, r := range rows {
		if x := t.Columns[j].Floats[r]; finite(x) {
			m.M2 += t.Weight(r) * (x*scale - m.Mean) * (x*scale - m.Mean)
		}
	}
	if sum == 0 && m.M2 <= 1e-28*m.N*m.Mean*m.Mean {
		m.M2 = 0
	}
	return m
}

// newShape returns the shape of mixtures over a schema's columns but one,
// which may be -1 for none.
func newShape(schema *table.Schema, columns []overall, without int) *shape {
	s := &shape{}
	for j := range schema.Attributes {
		switch a := &schema.Attributes[j]; {
		case j == without:
		case a.Kind == table.Nominal:
			s.nominal = append(s.nominal, j)
			s.values = append(s.values, len(a.Values))
			s.offset = append(s.offset, s.total)
			s.total += len(a.Values)
		default:
			s.numeric = append(s.numeric, j)
			s.flat = append(s.flat, !(columns[j].deviation() > 0))
		}
	}
	return s
}

// sample is rows as EM sees them: dense z-scores, row after row, 0 where a
// cell is missing, and codes.
type sample struct {
	*shape
	rows    int
	weights []float64 // nil if every row counts once
	weight  float64   // of all rows
	x       []float64 // rows×D
	codes   []int32   // rows×Q, negative where nothing is known
	// missing are the numeric columns of missing cells: those of row r are
	// missing[start[r]:start[r+1]]. start is nil if no cell is missing.
	missing []int32
	start   []int
}

// newSample reads some rows of a table.
func newSample(ctx context.Context, s *shape, columns []overall, t *table.Table, rows []int) (*sample, error) {
	d, q := len(s.numeric), len(s.nominal)
	to := &sample{shape: s, rows: len(rows), x: make([]float64, len(rows)*d), codes: make([]int32, len(rows)*q)}
	gaps := make([]bool, d)
	err := learn.Each(ctx, d+q, func(c int) {
		if c >= d {
			from := t.Columns[s.nominal[c-d]].Codes
			for i, r := range rows {
				to.codes[i*q+c-d] = from[r]
			}
			return
		}
		from, o := t.Columns[s.numeric[c]].Floats, &columns[s.numeric[c]]
		precision := 0.0
		if !s.flat[c] {
			precision = 1 / o.deviation()
		}
		for i, r := range rows {
			if finite(from[r]) {
				to.x[i*d+c] = o.score(from[r], precision)
			} else {
				gaps[c] = true
			}
		}
	})
	if err != nil {
		return nil, err
	}
	to.listMissing(t, rows, gaps)
	to.weight = float64(len(rows))
	if t.Weights != nil {
		to.weights, to.weight = make([]float64, len(rows)), 0
		for i, r := range rows {
			to.weights[i] = t.Weights[r]
			to.weight += t.Weights[r]
		}
	}
	return to, nil
}

// listMissing notes the missing cells of the columns that have gaps.
func (s *sample) listMissing(t *table.Table, rows []int, gaps []bool) {
	var columns []int
	for c, gap := range gaps {
		if gap {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return
	}
	s.start = make([]int, len(rows)+1)
	for i, r := range rows {
		for _, c := range columns {
			if !finite(t.Columns[s.numeric[c]].Floats[r]) {
				s.missing = append(s.missing, int32(c))
			}
		}
		s.start[i+1] = len(s.missing)
	}
}

// weightOf returns the weight of a row.
func (s *sample) weightOf(row int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[row]
}

// missingOf returns the numeric columns of a row's missing cells.
func (s *sample) missingOf(row int) []int32 {
	if s.start == nil {
		return nil
	}
	return s.missing[s.start[row]:s.start[row+1]]
}

// known reports whether a numeric cell is.
func (s *sample) known(row, column int) bool {
	return !slices.Contains(s.missingOf(row), int32(column))
}

// pick returns some rows of the sample.
func (s *sample) pick(rows []int) *sample {
	d, q := len(s.numeric), len(s.nominal)
	to := &sample{shape: s.shape, rows: len(rows), x: make([]float64, 0, len(rows)*d), codes: make([]int32, 0, len(rows)*q)}
	if s.start != nil {
		to.start = make([]int, 1, len(rows)+1)
	}
	for _, r := range rows {
		to.x = append(to.x, s.x[r*d:(r+1)*d]...)
		to.codes = append(to.codes, s.codes[r*q:(r+1)*q]...)
		if s.start != nil {
			to.missing = append(to.missing, s.missing[s.start[r]:s.start[r+1]]...)
			to.start = append(to.start, len(to.missing))
		}
		if s.weights != nil {
			to.weights = append(to.weights, s.weights[r])
		}
		to.weight += s.weightOf(r)
	}
	return to
}

// join returns the rows of both samples, which are of one shape.
func (s *sample) join(o *sample) *sample {
	to := &sample{shape: s.shape, rows: s.rows + o.rows, weight: s.weight + o.weight}
	to.x = append(append(to.x, s.x...), o.x...)
	to.codes = append(append(to.codes, s.codes...), o.codes...)
	if s.start != nil || o.start != nil {
		to.start = make([]int, 1, to.rows+1)
	}
	for _, part := range []*sample{s, o} {
		for r := range part.rows {
			if to.start != nil {
				if part.start != nil {
					to.missing = append(to.missing, part.missing[part.start[r]:part.start[r+1]]...)
				}
				to.start = append(to.start, len(to.missing))
			}
			if s.weights != nil || o.weights != nil {
				to.weights = append(to.weights, part.weightOf(r))
			}
		}
	}
	return to
}
