package theory

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// inputs is how the cells of a row become numbers: of a nominal column a one for
// the value; numbers in deviations from the mean, or as they are if they are
// zeros and ones; a one for a missing cell where the rows or the theory have to
// do with such; and a one for each test of numbers that a theory makes and that
// holds.
type inputs struct {
	schema  *table.Schema
	target  int
	columns []columnInput
	tests   []rule.Test
	match   []*rule.Matcher // of the tests
	width   int
}

// columnInput is the inputs of a column, the first at first. Of the target there
// are none.
type columnInput struct {
	first  int32
	gap    int32 // the input that says that the cell is missing; none
	binary bool
	scale  encode.Scale
}

// savedInput is how a column was found to be.
type savedInput struct {
	Gaps   bool         `cbor:"gaps,omitempty"`
	Binary bool         `cbor:"binary,omitempty"`
	Scale  encode.Scale `cbor:"scale"`
}

// farthest is the greatest scaled number.
const farthest = 20

// lookAt finds how the columns of a table are.
func lookAt(t *table.Table, target int) []savedInput {
	found := make([]savedInput, len(t.Columns))
	for j := range t.Columns {
		s := &found[j]
		if j == target {
			continue
		}
		for _, c := range t.Columns[j].Codes {
			s.Gaps = s.Gaps || c == table.Missing
		}
		if t.Schema.Attributes[j].Kind != table.Numeric {
			continue
		}
		zeros, ones, others := 0, 0, 0
		for _, x := range t.Columns[j].Floats {
			switch {
			case table.IsMissing(x):
				s.Gaps = true
			case x == 0:
				zeros++
			case x == 1:
				ones++
			default:
				others++
			}
		}
		s.Binary = others == 0 && zeros+ones > 0
		s.Scale = encode.FitScale(t.Columns[j].Floats, t.Weights, encode.ZScore, false)
		s.Scale.Most = farthest
	}
	return found
}

// newInputs lays out the inputs of columns that were looked at.
func newInputs(schema *table.Schema, target int, found []savedInput) *inputs {
	in := &inputs{schema: schema, target: target, columns: make([]columnInput, len(found))}
	for j, s := range found {
		c := &in.columns[j]
		c.first, c.gap, c.binary, c.scale = int32(in.width), none, s.Binary, s.Scale
		switch {
		case j == target:
			continue
		case schema.Attributes[j].Kind == table.Nominal:
			in.width += len(schema.Attributes[j].Values)
		default:
			in.width++
		}
		if s.Gaps {
			in.gap(j)
		}
	}
	return in
}

// gap returns the input that says that a cell is missing.
func (in *inputs) gap(column int) int32 {
	if in.columns[column].gap == none {
		in.columns[column].gap = int32(in.width)
		in.width++
	}
	return in.columns[column].gap
}

// test returns the input that says that a test holds. Those of tests stand
// behind all others: see settle.
func (in *inputs) test(t *rule.Test) int32 {
	text := t.String()
	for i := range in.tests {
		if in.tests[i].String() == text {
			return ^int32(i)
		}
	}
	in.tests = append(in.tests, *t)
	return ^int32(len(in.tests) - 1)
}

// settle gives the tests their places, when no more inputs come.
func (in *inputs) settle(p *plan) error {
	for i := range in.tests {
		m, err := rule.NewMatcher(in.tests[i:i+1], in.schema)
		if err != nil {
			return err
		}
		in.match = append(in.match, m)
	}
	for i := range p.gates {
		for _, l := range p.gates[i].literals {
			for k, at := range l.inputs {
				if at < 0 {
					l.inputs[k] = int32(in.width) + ^at
				}
			}
		}
	}
	in.width += len(in.tests)
	return nil
}

// most is how many inputs of a row are not zero, at most.
func (in *inputs) most() int { return len(in.columns) + len(in.tests) }

// read fills in the inputs of a row; e has room for most of them.
func (in *inputs) read(t *table.Table, row int, e *example) {
	e.at, e.x = e.at[:0], e.x[:0]
	add := func(at int32, x float64) {
		if x != 0 {
			e.at, e.x = append(e.at, at), append(e.x, x)
		}
	}
	for j := range in.columns {
		c := &in.columns[j]
		if j == in.target {
			continue
		}
		if codes := t.Columns[j].Codes; codes != nil {
			switch code := codes[row]; {
			case code >= 0:
				add(c.first+code, 1)
			case code == table.Missing && c.gap != none:
				add(c.gap, 1)
			}
			continue
		}
		x := t.Columns[j].Floats[row]
		switch {
		case !table.IsMissing(x) && c.binary:
			add(c.first, min(max(x, -farthest), farthest))
		case !table.IsMissing(x):
			y := [1]float64{}
			c.scale.Apply([]float64{x}, y[:])
			add(c.first, y[0])
		case c.gap != none:
			add(c.gap, 1)
		}
	}
	for i, m := range in.match {
		if m.MatchRow(t, row) {
			add(int32(in.width-len(in.tests)+i), 1)
		}
	}
}

// examples returns the rows of a table as numbers.
func (in *inputs) examples(ctx context.Context, t *table.Table) ([]example, error) {
	all := make([]example, t.Rows())
	for r := range all {
		if r%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := &all[r]
		e.at, e.x = make([]int32, 0, in.most()), make([]float64, 0, in.most())
		in.read(t, r, e)
		e.class, e.times = t.Columns[in.target].Codes[r], t.Weight(r)
	}
	return all, nil
}

// names says what each input is, in the rule language.
func (in *inputs) names() []string {
	names := make([]string, in.width)
	for j := range in.columns {
		c, a := &in.columns[j], &in.schema.Attributes[j]
		switch {
		case j == in.target:
			continue
		case a.Kind == table.Nominal:
			for v, value := range a.Values {
				names[int(c.first)+v] = rule.Test{Op: rule.Eq, Column: a.Name, Value: value}.String()
			}
		case c.binary:
			names[c.first] = rule.Test{Op: rule.Eq, Column: a.Name, Value: "1"}.String()
		default:
			names[c.first] = a.Name
		}
		if c.gap != none {
			names[c.gap] = rule.Test{Op: rule.IsMissing, Column: a.Name}.String()
		}
	}
	for i := range in.tests {
		names[in.width-len(in.tests)+i] = in.tests[i].String()
	}
	return names
}

// checkInputs refuses what was saved and does not fit the columns.
func checkInputs(schema *table.Schema, target int, found []savedInput) error {
	if len(found) != len(schema.Attributes) {
		return fmt.Errorf("%d columns were looked at, expected %d", len(found), len(schema.Attributes))
	}
	for j := range found {
		if schema.Attributes[j].Kind == table.Numeric && j != target {
			if err := found[j].Scale.Check(); err != nil {
				return err
			}
		}
		if found[j].Binary && schema.Attributes[j].Kind != table.Numeric {
			return fmt.Errorf("column %q is no number", schema.Attributes[j].Name)
		}
	}
	return nil
}
