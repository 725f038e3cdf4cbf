// Package prior is the learner that looks at nothing but the target: it
// predicts the frequencies of the classes or, for a number, the mean. It is
// what every other learner has to beat.
//
// The interval of a predicted number is the mean ± 1.96 deviations of a new
// observation from it. An infinite target has no mean and is refused.
//
// A model is the sum of its sources, each kept as the weights of its classes
// or the moments of its numbers. Learning more adds to a source, merging puts
// sources side by side, forgetting drops one; each equals learning from the
// rows themselves.
package prior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "prior"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "the frequencies of the classes, or the mean: what others have to beat",
		Source:   "the default rule of Witten & Frank 2000 (ZeroR)",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true},
		Contract: learn.Exact,
		Keeps:    "statistics per source: weights of the classes, or moments of the target",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes models of the target alone. It has no parameters.
type Learner struct{}

var _ learn.Learner = (*Learner)(nil)

// Learn returns the model of the task's rows.
func (*Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	attributes := task.Table.Schema.Attributes
	if task.Target == learn.NoTarget {
		return nil, fmt.Errorf("prior predicts one column and needs a target")
	}
	if task.Target < 0 || task.Target >= len(attributes) {
		return nil, fmt.Errorf("target column %d is not one of the table's %d columns", task.Target+1, len(attributes))
	}
	if err := learn.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	b := newBlock(task.Source, learn.CopySchema(task.Table.Schema), task.Target)
	if err := b.learn(ctx, task.Table); err != nil {
		return nil, err
	}
	if b.rows() == 0 {
		return nil, fmt.Errorf("no row has a target: column %q is missing, or the weight 0, in all %d rows", attributes[task.Target].Name, task.Table.Rows())
	}
	return newModel([]*block{b})
}

// block is what one source brought, in its own schema.
type block struct {
	source  learn.Source
	schema  *table.Schema
	target  int
	classes []float64    // nominal target: the weight of each class
	level   moment.Level // numeric target: the unit of its moments
	moments moment.Moment
}

func newBlock(source learn.Source, schema *table.Schema, target int) *block {
	b := &block{source: source, schema: schema, target: target, level: moment.Tiny}
	if a := &schema.Attributes[target]; a.Kind == table.Nominal {
		b.classes = make([]float64, len(a.Values))
	}
	return b
}

// rows returns the weight of the rows.
func (b *block) rows() float64 {
	total := b.moments.N
	for _, w := range b.classes {
		total += w
	}
	return total
}

// learn takes in the rows of a table in the block's schema. On an error the
// block is of no use.
func (b *block) learn(ctx context.Context, t *table.Table) error {
	total := b.rows()
	for r := range t.Rows() {
		total += t.Weight(r)
	}
	if err := checkWeight(total); err != nil {
		return err
	}
	for r := range t.Rows() {
		if r%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := b.add(t, r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// checkWeight refuses rows that weigh more than moments can hold.
func checkWeight(total float64) error {
	if !(total <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	return nil
}

// add takes in the target of one row, if there is one.
func (b *block) add(t *table.Table, row int) error {
	w := t.Weight(row)
	if w == 0 {
		return nil
	}
	if b.classes != nil {
		if class := t.Columns[b.target].Codes[row]; class >= 0 {
			b.classes[class] += w
		}
		return nil
	}
	x := t.Columns[b.target].Floats[row]
	switch {
	case table.IsMissing(x):
		return nil
	case math.IsInf(x, 0):
		return fmt.Errorf("target %q is infinite in row %d; leave the row out or empty the cell", b.attribute().Name, row+1)
	}
	b.raise(moment.LevelOf(x))
	b.moments.Add(x*b.level.Scale(), w)
	return nil
}

// raise moves the moments to a level, if theirs is lower.
func (b *block) raise(level moment.Level) {
	if level > b.level {
		b.moments, b.level = b.moments.Move(b.level, level), level
	}
}

// absorb adds the statistics of another block; classes are matched by name.
func (b *block) absorb(o *block) {
	for c, code := range learn.Recoding(&o.schema.Attributes[o.target], &b.schema.Attributes[b.target]) {
		if code >= 0 {
			b.classes[code] += o.classes[c]
		}
	}
	if b.classes == nil {
		b.raise(o.level)
		b.moments = moment.Join(b.moments, o.moments.Move(o.level, b.level))
	}
}

func (b *block) attribute() *table.Attribute { return &b.schema.Attributes[b.target] }

// Model predicts the same for every row.
type Model struct {
	blocks []*block // in the order in which the sources came
	total  *block   // their sum, in the union of their schemas

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
func newModel(blocks []*block) (*Model, error) {
	schemas := make([]*table.Schema, len(blocks))
	for i, b := range blocks {
		schemas[i] = b.schema
	}
	union, err := learn.Union(schemas...)
	if err != nil {
		return nil, err
	}
	m := &Model{blocks: blocks, total: newBlock(learn.Source{}, union, union.Index(blocks[0].attribute().Name))}
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
	if err := learn.Fits(m.total.schema, t); err != nil {
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
