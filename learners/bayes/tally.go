package bayes

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
// which nobody needs to look at again. Columns of texts have too many words for
// that: models with such columns have none.
type tally struct {
	schema  *table.Schema
	target  int
	classes []exact.Sum
	columns []tallyColumn
}

// tallyColumn stands as column does.
type tallyColumn struct {
	counts  []exact.Sum
	moments []moment.Total
}

// newTally returns the sum of no blocks.
func newTally(schema *table.Schema, target int) *tally {
	classes := len(schema.Attributes[target].Values)
	t := &tally{schema: schema, target: target, classes: make([]exact.Sum, classes), columns: make([]tallyColumn, len(schema.Attributes))}
	for j := range schema.Attributes {
		switch a := &schema.Attributes[j]; {
		case j == target:
		case a.Kind == table.Nominal:
			t.columns[j].counts = make([]exact.Sum, len(a.Values)*classes)
		default:
			t.columns[j].moments = make([]moment.Total, classes)
		}
	}
	return t
}

// in returns a copy in another schema, which has all that this one has.
func (t *tally) in(schema *table.Schema, target int) *tally {
	to := newTally(schema, target)
	classOf := table.Recoding(&t.schema.Attributes[t.target], &schema.Attributes[target])
	for c, from := range t.classes {
		to.classes[classOf[c]] = append(exact.Sum(nil), from...)
	}
	for j := range t.columns {
		k := schema.IndexNear(t.schema.Attributes[j].Name, j)
		from, column := &t.columns[j], &to.columns[k]
		for c := range from.moments {
			column.moments[classOf[c]] = from.moments[c].Clone()
		}
		if len(from.counts) == 0 {
			continue
		}
		valueOf := table.Recoding(&t.schema.Attributes[j], &schema.Attributes[k])
		for at, s := range from.counts {
			v, c := at/len(t.classes), at%len(t.classes)
			column.counts[int(valueOf[v])*len(to.classes)+int(classOf[c])] = append(exact.Sum(nil), s...)
		}
	}
	return to
}

// add takes in a block, or, if sign is −1, takes it out. Columns, values and
// classes are matched by name.
func (t *tally) add(o *block, sign float64) {
	var classes, values [64]int32 // room for the codes of most columns
	classOf := table.AppendRecoding(classes[:0], &o.schema.Attributes[o.target], &t.schema.Attributes[t.target])
	valueOf := values[:0]
	for c, w := range o.classes {
		t.classes[classOf[c]] = t.classes[classOf[c]].Add(sign * w)
	}
	for j := range o.columns {
		if j == o.target {
			continue
		}
		from, k := &o.columns[j], t.schema.IndexNear(o.schema.Attributes[j].Name, j)
		to := &t.columns[k]
		for c, m := range from.moments {
			to.moments[classOf[c]].Add(m, from.level, sign)
		}
		if len(from.counts) == 0 {
			continue
		}
		valueOf = table.AppendRecoding(valueOf[:0], &o.schema.Attributes[j], &t.schema.Attributes[k])
		for v, at := range valueOf {
			row := to.counts[int(at)*len(t.classes):]
			for c, w := range from.counts[v*len(o.classes) : (v+1)*len(o.classes)] {
				row[classOf[c]] = row[classOf[c]].Add(sign * w)
			}
		}
	}
}

// block returns the sum as the block of all rows.
func (t *tally) block() *block {
	b := newBlock(learn.Source{}, t.schema, t.target)
	for c, s := range t.classes {
		b.classes[c] = s.Float64()
	}
	for j := range t.columns {
		from, to := &t.columns[j], &b.columns[j]
		for i, s := range from.counts {
			to.counts[i] = s.Float64()
		}
		for c := range from.moments {
			to.level = max(to.level, from.moments[c].Level())
		}
		for c := range from.moments {
			to.moments[c] = from.moments[c].Moment(to.level)
		}
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
	for j := range t.columns {
		for _, s := range t.columns[j].counts {
			numbers = s.Flat(numbers)
		}
		for c := range t.columns[j].moments {
			numbers = t.columns[j].moments[c].Flat(numbers)
		}
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
	if m.Schema.Attributes[m.Target].Kind != table.Nominal || hasText(m.Schema) {
		return nil, nil, bad
	}
	t, rest, ok := newTally(m.Schema, m.Target), m.Numbers, false
	weights := func(sums []exact.Sum) bool {
		for i := range sums {
			if sums[i], rest, ok = exact.Cut(rest); !ok {
				return false
			}
			if w := sums[i].Float64(); !(w >= 0 && w <= moment.MaxWeight) || math.Signbit(w) {
				return false
			}
		}
		return true
	}
	if !weights(t.classes) {
		return nil, nil, bad
	}
	for j := range t.columns {
		c := &t.columns[j]
		if !weights(c.counts) {
			return nil, nil, bad
		}
		for i := range c.moments {
			if c.moments[i], rest, ok = moment.CutTotal(rest); !ok {
				return nil, nil, bad
			}
		}
	}
	if len(rest) > 0 {
		return nil, nil, bad
	}
	return t, from.Parts, nil
}
