package prior

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/exact"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// tally is what blocks add up to, without rounding: the same in whichever order
// the sources came, so that another one is added to the sum of those before,
// which nobody needs to look at again.
type tally struct {
	schema  *table.Schema
	target  int
	classes []exact.Sum
	moments moment.Total
}

// newTally returns the sum of no blocks.
func newTally(schema *table.Schema, target int) *tally {
	t := &tally{schema: schema, target: target}
	if a := &schema.Attributes[target]; a.Kind == table.Nominal {
		t.classes = make([]exact.Sum, len(a.Values))
	}
	return t
}

// in returns a copy in another schema, which has all that this one has.
func (t *tally) in(schema *table.Schema, target int) *tally {
	to := newTally(schema, target)
	to.moments = t.moments.Clone()
	classOf := table.Recoding(&t.schema.Attributes[t.target], &schema.Attributes[target])
	for c, s := range t.classes {
		to.classes[classOf[c]] = append(exact.Sum(nil), s...)
	}
	return to
}

// add takes in a block, or, if sign is −1, takes it out; classes are matched by
// name.
func (t *tally) add(o *block, sign float64) {
	classOf := table.Recoding(o.attribute(), &t.schema.Attributes[t.target])
	for c, w := range o.classes {
		t.classes[classOf[c]] = t.classes[classOf[c]].Add(sign * w)
	}
	t.moments.Add(o.moments, o.level, sign)
}

// block returns the sum as the block of all rows.
func (t *tally) block() *block {
	b := newBlock(learn.Source{}, t.schema, t.target)
	for c, s := range t.classes {
		b.classes[c] = s.Float64()
	}
	if b.classes == nil {
		b.level = t.moments.Level()
		b.moments = t.moments.Moment(b.level)
	}
	return b
}

// savedSum is a derived part: what the sources add up to, and which part each
// of them is in. Who has it can answer, and add one more, without the others.
type savedSum struct {
	Parts []bundle.Listed `cbor:"parts"`
	Sum   *bundle.Packed  `cbor:"sum"` // one member, whose numbers are the tally's
}

// saved returns the sum's part.
func (t *tally) saved(parts []bundle.Listed) ([]byte, error) {
	var numbers []float64
	for _, s := range t.classes {
		numbers = s.Flat(numbers)
	}
	if t.classes == nil {
		numbers = t.moments.Flat(nil)
	}
	return learn.Marshal(savedSum{parts, bundle.Pack([]bundle.Member{{Schema: t.schema, Target: t.target, Numbers: numbers}})})
}

// decodeSum reads and checks the sum's part.
func decodeSum(data []byte) (*tally, []bundle.Listed, error) {
	var from savedSum
	if err := learn.Unmarshal(data, &from); err != nil {
		return nil, nil, err
	}
	bad := fmt.Errorf("its numbers are missing, or not what they should be")
	if from.Sum == nil || len(from.Sum.Sources) != 1 {
		return nil, nil, bad
	}
	members, err := from.Sum.Unpack()
	if err != nil {
		return nil, nil, err
	}
	m := &members[0]
	t, rest, ok := newTally(m.Schema, m.Target), m.Numbers, false
	for c := range t.classes {
		if t.classes[c], rest, ok = exact.Cut(rest); !ok {
			return nil, nil, bad
		}
		if w := t.classes[c].Float64(); !(w >= 0 && w <= moment.MaxWeight) || math.Signbit(w) {
			return nil, nil, bad
		}
	}
	if t.classes == nil {
		if t.moments, rest, ok = moment.CutTotal(rest); !ok {
			return nil, nil, bad
		}
	}
	if len(rest) > 0 {
		return nil, nil, bad
	}
	return t, from.Parts, nil
}
