package prior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model predicts the same for every row.
type Model struct {
	blocks []*block // in the order in which the sources came
	total  *block   // their sum, in the union of their schemas

	written *bundle.Shelf[*block] // the saved form of blocks, for the models that come from this one too

	p               []float64 // of each class
	mean, deviation float64   // of a number
	low, high       float64
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
)

// newModel adds up the blocks, in the order of their identifiers, so that the
// sum does not depend on the order in which the sources came.
func newModel(blocks []*block, written *bundle.Shelf[*block]) (*Model, error) {
	var schemas []*table.Schema
	known := map[*table.Schema]bool{}
	for _, b := range blocks {
		if !known[b.schema] {
			known[b.schema] = true
			schemas = append(schemas, b.schema)
		}
	}
	union, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	m := &Model{blocks: blocks, written: written, total: newBlock(learn.Source{}, union, union.Index(blocks[0].attribute().Name))}
	for _, b := range slices.SortedFunc(slices.Values(blocks), func(a, b *block) int { return cmp.Compare(a.source.ID, b.source.ID) }) {
		m.total.absorb(b)
	}
	rows := m.total.rows()
	if err := checkWeight(rows); err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, fmt.Errorf("no row with a target is left to learn from")
	}
	if m.total.classes == nil {
		m.interval()
	}
	for _, w := range m.total.classes {
		m.p = append(m.p, w/rows)
	}
	return m, nil
}

// normal95 is the number of deviations that hold 95 % of a normal sample.
const normal95 = 1.959963984540054

// interval estimates the mean and how far a new observation may lie from it.
// The sum of squares is divided by n − 1, as one row's worth of it went into
// the mean; below two rows' worth by half the weight, or little weight would
// look like great deviation.
func (m *Model) interval() {
	of, scale := m.total.moments, m.total.level.Scale()
	variance := of.M2 / max(of.N-1, of.N/2) * (1 + 1/of.N)
	m.mean = of.Mean / scale
	m.deviation = min(math.Sqrt(variance)/scale, math.MaxFloat64/4)
	m.low = max(m.mean-normal95*m.deviation, -math.MaxFloat64)
	m.high = min(m.mean+normal95*m.deviation, math.MaxFloat64)
}

// Learner returns "prior".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes that the model knows.
func (m *Model) Schema() *table.Schema { return m.total.schema }

// Target returns the index of the predicted column.
func (m *Model) Target() int { return m.total.target }

// Size counts the rows, and a rule for each class.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: m.total.rows(), Rules: max(1, len(m.p))}
}

// Predict fills in the same answer for all rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.total.schema, t); err != nil {
		return err
	}
	rows := t.Rows()
	if m.p == nil {
		if min(len(out.Mean), len(out.Low), len(out.High)) < rows {
			return fmt.Errorf("room for %d predictions, expected %d", min(len(out.Mean), len(out.Low), len(out.High)), rows)
		}
		return learn.Split(ctx, rows, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				out.Mean[r], out.Low[r], out.High[r] = m.mean, m.low, m.high
			}
		})
	}
	if len(out.P) < rows*len(m.p) {
		return fmt.Errorf("room for %d probabilities, expected %d rows of %d", len(out.P), rows, len(m.p))
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(out.P[r*len(m.p):(r+1)*len(m.p)], m.p)
		}
	})
}
