package prior

import (
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
	sum    *tally   // of them, in the union of their schemas; nil if there is one
	total  *block   // the same, rounded

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

// newModel adds up the blocks. The union of their schemas is found where it is not given.
func newModel(blocks []*block, union *table.Schema, written *bundle.Shelf[*block]) (*Model, error) {
	if err := load(blocks...); err != nil {
		return nil, err
	}
	if len(blocks) == 1 {
		total := newBlock(learn.Source{}, blocks[0].schema, blocks[0].target)
		total.absorb(blocks[0])
		return newModelOf(nil, total, blocks, written)
	}
	if union == nil {
		var err error
		if union, err = unionOf(blocks); err != nil {
			return nil, err
		}
	}
	sum := newTally(union, union.Index(blocks[0].attribute().Name))
	for _, b := range blocks {
		sum.add(b, 1)
	}
	return newModelOf(sum, sum.block(), blocks, written)
}

// unionOf returns the union of the blocks' schemas.
func unionOf(blocks []*block) (*table.Schema, error) {
	if err := load(blocks...); err != nil {
		return nil, err
	}
	var schemas []*table.Schema
	known := map[*table.Schema]bool{}
	for _, b := range blocks {
		if !known[b.schema] {
			known[b.schema] = true
			schemas = append(schemas, b.schema)
		}
	}
	return table.Union(schemas...)
}

// with returns the model with a source's block replaced, or added if its place
// is after the others. If the union of the schemas is known nobody looks at the
// others.
func (m *Model) with(at int, own *block, union *table.Schema) (*Model, error) {
	blocks := slices.Clone(m.blocks)
	if at == len(blocks) {
		blocks = append(blocks, nil)
	}
	blocks[at] = own
	if m.sum == nil {
		return newModel(blocks, union, m.written)
	}
	if union == nil {
		var err error
		if union, err = unionOf(blocks); err != nil {
			return nil, err
		}
	}
	sum := m.sum.in(union, union.Index(m.total.attribute().Name))
	sum.add(own, 1)
	if at < len(m.blocks) {
		sum.add(m.blocks[at], -1)
	}
	return newModelOf(sum, sum.block(), blocks, m.written)
}

// newModelOf is newModel where the sum is known.
func newModelOf(sum *tally, total *block, blocks []*block, written *bundle.Shelf[*block]) (*Model, error) {
	m := &Model{blocks: blocks, written: written, sum: sum, total: total}
	rows := total.rows()
	if err := checkWeight(rows); err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, fmt.Errorf("no row with a target is left to learn from")
	}
	if total.classes == nil {
		m.interval()
	}
	for _, w := range total.classes {
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
		p := out.P[lo*len(m.p) : hi*len(m.p)]
		for n := copy(p, m.p); n < len(p); n += copy(p[n:], p[:n]) { // twice as many each time
		}
	})
}
