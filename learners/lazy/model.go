package lazy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is rows that answer. It is immutable.
type Model struct {
	lesson lesson
	rows   *kept.Rows
	table  *table.Table // distinct rows in canonical order
	schema *table.Schema
	target int

	classes int          // 0: the target is a number
	weight  float64      // of all rows
	columns []column     // the target's has no codes
	root    *node        // of all rows; nil unless paths answer
	kept    atomic.Int64 // rows in nodes
	unit    float64      // of a numeric target: a power of two that bounds it
	y       []float64    // the numbers, in units
	spread  float64      // its deviation, in units
	rooms   sync.Pool
}

// column is the cells of one attribute: codes of names, or ranks of numbers
// among the different ones.
type column struct {
	codes  []int32 // negative: missing; nil: no cell is known
	size   int
	values []float64 // of a numeric column, ascending
	scale  float64   // of a numeric column: 4 deviations; 0 if it never varies
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
	_ kept.Shedder    = (*Model)(nil)
)

// layOut ranks numbers and finds what they are measured in.
func (m *Model) layOut(ctx context.Context) error {
	m.columns = make([]column, len(m.table.Columns))
	err := learn.Each(ctx, len(m.columns), func(j int) {
		switch a := &m.schema.Attributes[j]; {
		case j == m.target:
		case a.Kind == table.Numeric:
			m.columns[j] = rank(m.table.Columns[j].Floats)
			m.columns[j].scale = 4 * m.deviation(m.table.Columns[j].Floats)
		case a.Kind == table.Nominal && len(a.Values) > 0:
			m.columns[j] = column{codes: m.table.Columns[j].Codes, size: len(a.Values)}
		}
	})
	if err != nil {
		return err
	}
	for r := range m.table.Rows() {
		m.weight += m.table.Weight(r)
	}
	if a := &m.schema.Attributes[m.target]; a.Kind == table.Nominal {
		m.classes = len(a.Values)
	} else {
		m.inUnits(m.table.Columns[m.target].Floats)
	}
	m.rooms.New = func() any { return m.newRoom() }
	if m.lesson.Settings.Base != pathBase {
		return nil
	}
	room := m.newRoom()
	for r := range m.table.Rows() {
		room.rows = append(room.rows, int32(r))
		m.add(room.now, int32(r))
	}
	m.root = m.newNode(room)
	return ctx.Err()
}

// inUnits keeps a numeric target's cells in units that bound them, so that
// squares stay finite.
func (m *Model) inUnits(floats []float64) {
	most := 0.0
	m.y = make([]float64, len(floats))
	for r, y := range floats {
		m.y[r] = y
		most = max(most, math.Abs(y))
	}
	_, exponent := math.Frexp(most)
	m.unit = math.Ldexp(1, max(min(exponent, 1023), -1000))
	for r := range m.y {
		m.y[r] /= m.unit
	}
	m.spread = m.deviation(m.y)
}

// rank replaces numbers by their ranks.
func rank(floats []float64) column {
	var keys []uint64
	var order []int32
	c := column{codes: make([]int32, len(floats))}
	for r, v := range floats {
		if c.codes[r] = -1; !table.IsMissing(v) {
			keys, order = append(keys, radix.Key(v)), append(order, int32(r))
		}
	}
	radix.Sort(keys, order)
	for i, r := range order {
		if i == 0 || keys[i] != keys[i-1] {
			c.values = append(c.values, floats[r]+0)
		}
		c.codes[r] = int32(len(c.values) - 1)
	}
	if c.size = len(c.values); c.size == 0 {
		return column{}
	}
	return c
}

// deviation returns the standard deviation of the finite numbers of a column,
// 0 if there is none.
func (m *Model) deviation(floats []float64) float64 {
	most := 0.0
	for _, v := range floats {
		if !table.IsMissing(v) && !math.IsInf(v, 0) {
			most = max(most, math.Abs(v))
		}
	}
	if most == 0 {
		return 0
	}
	var n, sum float64
	each := func(add func(w, v float64)) {
		for r, v := range floats {
			if !table.IsMissing(v) && !math.IsInf(v, 0) {
				add(m.table.Weight(r), v/most)
			}
		}
	}
	each(func(w, v float64) { n, sum = n+w, sum+w*v })
	mean, squares := sum/n, 0.0
	each(func(w, v float64) { squares += w * (v - mean) * (v - mean) })
	if sd := math.Sqrt(squares/n) * most; sd > 1e-9*most {
		return sd
	}
	return 0
}

// Learner returns "lazy".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the rows.
func (m *Model) Size() learn.Size { return learn.Size{Rows: m.weight} }

func (m *Model) names() []string { return m.schema.Attributes[m.target].Values }

// few is how many rows a goroutine answers at a time: each is some work.
const few = 8

// Predict learns for each row, and answers.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows := t.Rows()
	if out.Classes != m.classes || len(out.P) < rows*m.classes || m.classes == 0 && min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("there is no room for the answers to %d rows", rows)
	}
	chunks := (rows + few - 1) / few
	failed := make([]error, chunks)
	work := func(chunk int) {
		room := m.rooms.Get().(*room)
		defer m.rooms.Put(room)
		for row := chunk * few; row < min((chunk+1)*few, rows) && failed[chunk] == nil && ctx.Err() == nil; row++ {
			failed[chunk] = m.answer(ctx, room, t, row, out)
		}
	}
	if err := learn.Each(ctx, chunks, work); err != nil {
		return err
	}
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return failed[i]
	}
	return ctx.Err()
}

// answer answers for one row.
func (m *Model) answer(ctx context.Context, room *room, t *table.Table, row int, out *learn.Predictions) error {
	if m.lesson.Settings.Base != pathBase {
		return m.local(ctx, room, t, row, out)
	}
	m.path(room, t.Columns, row, nil)
	if m.classes > 0 {
		m.smooth(room.now, out.Row(row))
		return nil
	}
	out.Mean[row], out.Low[row], out.High[row] = m.interval(room.now)
	return nil
}

// smooth writes probabilities: the weights of classes with m rows more.
func (m *Model) smooth(weights, p []float64) {
	total, extra := 0.0, m.lesson.Settings.M
	for _, w := range weights {
		total += w
	}
	for c, w := range weights {
		p[c] = (w + extra/float64(len(weights))) / (total + extra)
	}
}

// interval returns the mean of rows with a number, and a 95 % interval: their
// variance, with m rows of the variance of all added.
func (m *Model) interval(moments []float64) (mean, low, high float64) {
	n, extra := moments[0], m.lesson.Settings.M
	at := moments[1] / n
	variance := max(moments[2]/n-at*at, 0)
	width := 1.96 * math.Sqrt((n*variance+extra*m.spread*m.spread)/(n+extra)*(1+1/(n+extra)))
	finite := func(x float64) float64 { return max(min(x*m.unit, math.MaxFloat64), -math.MaxFloat64) }
	return finite(at), finite(at - width), finite(at + width)
}
