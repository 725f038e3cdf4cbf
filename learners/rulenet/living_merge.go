package rulenet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Forget returns the network without the rows of some sources. While the
// reservoir has every row it is what learning the others at once gives. Beyond,
// it is learnt again from the others' rows that the reservoir has: nothing of the
// source is left, but only these rows are behind it, and the network says so.
func (m *Living) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := m.state()
	known := make([]string, len(s.origins))
	for i, o := range s.origins {
		known[i] = o.ID
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("unknown source %q%s", id, spell.Hint(id, known))
		}
	}
	place := make([]int32, len(s.origins))
	var left []origin
	for i, o := range s.origins {
		if place[i] = -1; !slices.Contains(ids, o.ID) {
			place[i] = int32(len(left))
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return nil, errors.New("no source would be left to learn from; delete the model instead")
	}
	rows, err := s.keptRows(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(rows.Sources(), func(o learn.Source) bool { return o.ID == id }) {
			continue
		}
		if rows, err = rows.Forget(id); err != nil {
			return nil, err
		}
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	name := s.schema.Attributes[s.target].Name
	if t.Rows() == 0 || t.Schema.Index(name) < 0 {
		return nil, errors.New("no row of the other sources is kept, as when they were forgotten because later rows said something else; learn them again")
	}
	if s.whole && s.settings.Update == automaticUpdate {
		return learnRows(ctx, rows, name, s.seed, s.settings) // which may be too few to live
	}
	n := newLiving(t.Schema, t.Schema.Index(name), s.seed, s.settings)
	n.origins, n.whole = left, s.whole
	for _, r := range s.reservoirRows() {
		if to := place[s.log.source[r]]; to >= 0 {
			n.adopt(s, r, to)
		}
	}
	n.ever = n.n
	if !s.whole {
		n.ever = 0
		for _, o := range left {
			n.ever += o.weight
		}
		n.notes = []string{fmt.Sprintf("the network was learnt again from the %d rows of other sources that its reservoir of %d had: nothing of what was forgotten is left, and only these rows are behind it, of %.6g that other sources brought", len(n.drawn), s.most(), n.ever)}
	}
	return n.taughtAgain(ctx)
}

// adopt takes a row of another state into the reservoir.
func (s *living) adopt(from *living, row, source int32) {
	for col := range s.log.codes {
		at := from.schema.IndexNear(s.schema.Attributes[col].Name, col)
		switch {
		case s.log.floats[col] != nil:
			x := table.NA
			if at >= 0 && from.log.floats[at] != nil {
				x = from.log.floats[at][row]
			}
			s.log.floats[col] = append(s.log.floats[col], x)
		case s.log.codes[col] != nil:
			code := table.Missing
			if at >= 0 && from.log.codes[at] != nil {
				if own := from.log.codes[at][row]; own >= 0 {
					code = s.schema.Attributes[col].Code(from.schema.Attributes[at].Values[own])
				}
			}
			s.log.codes[col] = append(s.log.codes[col], code)
		}
	}
	class := s.schema.Attributes[s.target].Code(from.schema.Attributes[from.target].Values[from.log.class[row]])
	weight := from.log.weight[row]
	o := &s.origins[source]
	number := from.log.number[row]
	s.log.class, s.log.weight, s.log.source = append(s.log.class, class), append(s.log.weight, weight), append(s.log.source, source)
	s.log.number, s.log.key = append(s.log.number, number), append(s.log.key, o.key(number))
	s.log.loss = append(s.log.loss, table.NA)
	s.drawn.take(&s.log, int32(s.log.rows()-1), math.MaxInt)
	s.counts[class] += weight
	s.n += weight
	s.rows++
}

// taughtAgain returns the network that the reservoir's rows teach.
func (s *living) taughtAgain(ctx context.Context) (learn.Model, error) {
	s.recent = min(windowRows, s.log.rows())
	s.drawn.heap(&s.log)
	if err := s.teachAnew(ctx); err != nil {
		return nil, err
	}
	return s.frozen(), nil
}

// Without learns again what is left without some sources.
func (m *Living) Without(ctx context.Context, ids ...string) (learn.Model, bool, error) {
	again, err := m.Forget(ctx, ids...)
	return again, true, err
}

// Merge returns the network of all models' rows. While one reservoir has room for
// all rows it is what learning them at once gives; beyond, it has the rules of all
// that are worth it, weighed by what each network knows of its rows
// (living_union.go), and the rows of the least keys of all reservoirs.
func (m *Living) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := []*living{m.state()}
	schemas := []*table.Schema{m.s.schema}
	for _, other := range others {
		o, err := stateOf(ctx, other)
		if err != nil {
			return nil, err
		}
		if a, b := m.s.schema.Attributes[m.s.target].Name, o.schema.Attributes[o.target].Name; a != b {
			return nil, fmt.Errorf("one network predicts %q and the other %q; merge models of one target", a, b)
		}
		if m.s.settings != o.settings {
			return nil, errors.New("the networks were learnt with different settings; learn one of them again with the other's")
		}
		all, schemas = append(all, o), append(schemas, o.schema)
	}
	union, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	n := newLiving(canonicalSchema(union), union.Index(m.s.schema.Attributes[m.s.target].Name), m.s.seed, m.s.settings)
	limit := uint64(math.MaxUint64) // keys above are not drawn alike from all
	for _, s := range all {
		if !s.whole && len(s.drawn) > 0 {
			n.whole = false
			limit = min(limit, s.drawn.greatest(&s.log))
		}
	}
	counts := make([]float64, n.classes())
	rows := make([][]int32, len(all)) // that each brings
	for i, s := range all {
		first := n.log.rows()
		place := make([]int32, len(s.origins))
		for j, o := range s.origins {
			place[j] = n.originOf(o.Source)
			to := &n.origins[place[j]]
			to.rows, to.weight = max(to.rows, o.rows), to.weight+o.weight
		}
		for _, r := range s.reservoirRows() {
			if s.log.key[r] <= limit {
				n.adopt(s, r, place[s.log.source[r]])
			}
		}
		for c, x := range s.counts {
			counts[n.schema.Attributes[n.target].Code(s.schema.Attributes[s.target].Values[c])] += x
		}
		n.ever += s.ever
		for r := first; r < n.log.rows(); r++ {
			rows[i] = append(rows[i], int32(r))
		}
	}
	if n.whole && len(n.drawn) <= n.most() {
		return n.taughtAgain(ctx)
	}
	n.whole, n.counts = false, counts
	if err := n.unite(ctx, all, rows); err != nil {
		return nil, err
	}
	n.notes = []string{fmt.Sprintf("the networks were merged by what they know of %.6g rows: %d rows of their reservoirs, and the slopes of their rules over all", n.ever, len(n.drawn))}
	return n.frozen(), nil
}

// stateOf returns the state of a living network, or of one whose rows were too few
// for it to live, without rules.
func stateOf(ctx context.Context, m learn.Model) (*living, error) {
	switch m := m.(type) {
	case *Living:
		return m.state(), nil
	case *Model:
		if m.settings.Update != automaticUpdate || m.rows == nil {
			break
		}
		came, err := m.rows.Learnt(ctx, m.coding.schema)
		if err != nil {
			return nil, err
		}
		s := newLiving(m.coding.schema, m.coding.target, m.seed, m.settings)
		return s, s.begin(ctx, came)
	}
	return nil, fmt.Errorf("a living network cannot be merged with this model of %s; merge models of one learner and one way to update", m.Learner())
}

// canonicalSchema returns a schema with all values in canonical order.
func canonicalSchema(s *table.Schema) *table.Schema {
	to := table.CopySchema(s)
	for i := range to.Attributes {
		table.SortValues(to.Attributes[i].Values)
	}
	return to
}

// trim leaves as many rows in the reservoir as it may have, and reports whether
// there were more.
func (s *living) trim() bool {
	if len(s.drawn) <= s.most() {
		s.drawn.heap(&s.log)
		return false
	}
	rows := s.reservoirRows()[:s.most()]
	slices.Sort(rows)
	s.log, s.blocks, s.saving = s.log.pick(rows, 0), nil, nil
	s.drawn, s.n, s.rows = nil, 0, 0
	for r := range rows {
		s.drawn.take(&s.log, int32(r), s.most())
		s.n += s.log.weight[r]
		s.rows++
	}
	return true
}
