package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// crowd is models that answer for the same columns, though each may know other
// values of them.
type crowd struct {
	schema *table.Schema
	target int
	groups []*group
}

// group is members whose models have one schema, into which the cells of a
// table are translated once.
type group struct {
	schema  *table.Schema
	codes   [][]int32 // of each column: from the crowd's codes; nil where they are the same
	classes []int     // the crowd's, of each class of the members
	members []*member
}

// Schema returns the attributes.
func (m *crowd) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *crowd) Target() int { return m.target }

func (m *crowd) classes() []string { return m.schema.Attributes[m.target].Values }

// enlist puts a member into the group of its schema.
func (m *crowd) enlist(of *member) error {
	schema := of.model.Schema()
	if of.model.Target() != m.target || len(schema.Attributes) != len(m.schema.Attributes) {
		return fmt.Errorf("a member predicts column %d of %d, expected %d of %d", of.model.Target()+1, len(schema.Attributes), m.target+1, len(m.schema.Attributes))
	}
	for _, g := range m.groups {
		if sameSchema(g.schema, schema) {
			g.members = append(g.members, of)
			return nil
		}
	}
	g := &group{schema: schema, codes: make([][]int32, len(schema.Attributes)), members: []*member{of}}
	for j := range schema.Attributes {
		own, all := &schema.Attributes[j], &m.schema.Attributes[j]
		if own.Name != all.Name || own.Kind != all.Kind && !own.Open() {
			return fmt.Errorf("column %d of a member is %q (%v), expected %q (%v)", j+1, own.Name, own.Kind, all.Name, all.Kind)
		}
		if !slices.Equal(own.Values, all.Values) {
			g.codes[j] = table.Recoding(all, own)
		}
	}
	for _, c := range table.Recoding(&schema.Attributes[m.target], &m.schema.Attributes[m.target]) {
		if c < 0 {
			return fmt.Errorf("a member knows a class that the others do not")
		}
		g.classes = append(g.classes, int(c))
	}
	m.groups = append(m.groups, g)
	return nil
}

func sameSchema(a, b *table.Schema) bool {
	return a == b || slices.EqualFunc(a.Attributes, b.Attributes, func(x, y table.Attribute) bool {
		return x.Name == y.Name && x.Kind == y.Kind && slices.Equal(x.Values, y.Values)
	})
}

// view returns a table of the crowd's schema as one of the group's.
func (g *group) view(t *table.Table) (*table.Table, error) {
	if !g.recodes(t) {
		v := *t
		v.Schema, v.Weights = g.schema, nil
		return &v, nil
	}
	columns := slices.Clone(t.Columns)
	for j, codes := range g.codes {
		if g.schema.Attributes[j].Kind == table.Nominal && columns[j].Codes == nil { // the members know nothing of it
			columns[j] = table.Column{Codes: slices.Repeat([]int32{table.Missing}, t.Rows())}
			continue
		}
		if codes == nil {
			continue
		}
		to := make([]int32, len(columns[j].Codes))
		for r, c := range columns[j].Codes {
			if to[r] = c; c >= 0 {
				to[r] = codes[c]
			}
		}
		columns[j].Codes = to
	}
	return table.New(g.schema, columns, nil)
}

// recodes reports whether some column of a table is other cells to the group.
func (g *group) recodes(t *table.Table) bool {
	for j, codes := range g.codes {
		if codes != nil || g.schema.Attributes[j].Kind == table.Nominal && t.Columns[j].Codes == nil {
			return true
		}
	}
	return false
}

// block is the most rows that are answered at a time.
const block = 4096

// split calls work for consecutive ranges that cover 0 ≤ row < rows. Every row
// costs what it costs each member: the more there are, the fewer rows are worth
// a core's while.
func (m *crowd) split(ctx context.Context, rows int, work func(lo, hi int) error) error {
	members, cores := 0, runtime.GOMAXPROCS(0)
	for _, g := range m.groups {
		members += len(g.members)
	}
	size := min(block, max(1, (rows+cores-1)/cores, block/max(1, members)))
	if rows <= size {
		return cmp.Or(ctx.Err(), work(0, rows))
	}
	errs := make([]error, (rows+size-1)/size)
	err := learn.Each(ctx, len(errs), func(i int) { errs[i] = work(i*size, min((i+1)*size, rows)) })
	return cmp.Or(err, cmp.Or(errs...))
}

// stretch returns rows lo ≤ row < hi of a table, the table itself if they are all.
func stretch(t *table.Table, lo, hi int) *table.Table {
	if lo == 0 && hi == t.Rows() {
		return t
	}
	return t.Slice(lo, hi)
}

// ask calls visit with what every member says of a table's rows, in the order
// in which they were enlisted within a group. The predictions are only lent.
func (m *crowd) ask(ctx context.Context, t *table.Table, visit func(g *group, of *member, out *learn.Predictions)) error {
	var room []float64
	for _, g := range m.groups {
		view, err := g.view(t)
		if err != nil {
			return err
		}
		out := &learn.Predictions{}
		if a := &g.schema.Attributes[m.target]; a.Kind == table.Nominal {
			cells := t.Rows() * len(a.Values)
			out.Classes, out.P = len(a.Values), slices.Grow(room[:0], cells)[:cells]
			room = out.P
		} else {
			out = learn.NewPredictions(g.members[0].model, t.Rows())
		}
		for _, of := range g.members {
			if err := of.model.Predict(ctx, view, out); err != nil {
				return err
			}
			visit(g, of, out)
		}
	}
	return nil
}

// each calls visit with every member's answer to every row, member by member.
func (m *crowd) each(ctx context.Context, t *table.Table, visit func(of *member, row, class int)) error {
	return m.ask(ctx, t, func(g *group, of *member, out *learn.Predictions) {
		names := g.schema.Attributes[m.target].Values
		for r := range t.Rows() {
			visit(of, r, g.classes[learn.Best(out.Row(r), names)])
		}
	})
}
