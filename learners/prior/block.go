package prior

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// block is what one source brought, in its own schema.
type block struct {
	source  learn.Source
	schema  *table.Schema
	target  int
	classes []float64    // nominal target: the weight of each class
	level   moment.Level // numeric target: the unit of its moments
	moments moment.Moment
	// later is the part of a block that was not read (see load): it knows its
	// source alone.
	later *bundle.Later[block]
}

// load reads the part of blocks that wait. Whoever looks at more of a model's
// block than its source calls it first.
func load(blocks ...*block) error {
	for _, b := range blocks {
		if b.later != nil {
			if err := b.later.Load(); err != nil {
				return err
			}
		}
	}
	return nil
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
	for c, code := range table.Recoding(&o.schema.Attributes[o.target], &b.schema.Attributes[b.target]) {
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
