package gaussian

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// update is a model to which one source adds rows.
type update struct {
	model      *Model
	current    *Model // what new rows are split by; follows behind
	view       *view  // of current
	at         int    // of the source's block among the model's
	block      *block // the source's rows so far, in the vocabulary's schema
	places     []int  // of current's units in block; -1 for an expert's
	vocabulary *table.Vocabulary
	fresh      []*table.Table // rows that get units of their own
	pending    float64        // weight added since current was made
	correlated []bool         // columns of current that hang together; nil if none do
	opened     bool           // first cells of a column came: rows get units of their own
	changed    bool
}

// lag is the weight of rows, relative to all, that the units may be behind.
const lag = 0.05

// Begin returns a private copy to add the source's rows to.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	u := &update{model: m, current: m, at: slices.IndexFunc(m.blocks, func(b *block) bool { return b.source.ID == source.ID })}
	var own *table.Schema
	var known *block
	if u.at < 0 {
		u.at = len(m.blocks)
	} else {
		known = m.blocks[u.at]
		if err := known.load(); err != nil {
			return nil, err
		}
		own, source = known.schema, known.source
	}
	u.vocabulary = table.NewVocabulary(m.total.schema, own)
	u.block = newBlock(source, u.vocabulary.Schema(), m.total.target)
	if known != nil {
		u.block.absorb(known)
	}
	u.locate()
	return u, nil
}

// locate finds the current model's units in the block, and makes room for
// those that are not there yet.
func (u *update) locate() {
	index := make(map[string]int, len(u.block.units))
	for i := range u.block.units {
		index[u.block.units[i].key] = i
	}
	u.view, u.places = u.current.view(-1), u.places[:0]
	for i := range u.current.total.units {
		of := u.current.total.units[i].unit
		at, known := index[of.key]
		switch {
		case of.expert:
			at = -1
		case !known:
			at = len(u.block.units)
			of.normal = slices.Clone(of.normal)
			u.block.units = append(u.block.units, newShare(of, u.block.schema))
		}
		u.places = append(u.places, at)
	}
	if x := u.current.joint; x != nil {
		u.correlated = make([]bool, len(u.block.columns))
		for _, j := range x.numeric {
			u.correlated[j] = true
		}
	}
}

// Add learns the table's rows: all of them or, on an error, none.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	same := u.vocabulary.Same(t.Schema)
	if !same {
		if err := u.vocabulary.Check(t.Schema); err != nil {
			return err
		}
	}
	total := u.current.rows + u.pending
	for r := range t.Rows() {
		total += t.Weight(r)
	}
	if !(total <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	if !same {
		u.vocabulary.Admit(t.Schema)
		wider := newBlock(u.block.source, u.vocabulary.Schema(), u.block.target)
		wider.absorb(u.block)
		u.block = wider
		u.locate()
		if !u.vocabulary.Same(t.Schema) { // it lacks values, or has them in another order
			var err error
			if t, _, err = table.Conform(t, u.vocabulary.Schema(), false); err != nil {
				return err
			}
		}
	}
	f := fit{task: learn.Task{Table: t}, target: u.block.target}
	u.opened = u.opened || u.opens(t)
	k := len(u.places)
	logs := make([]float64, k)
	var at, units, fresh []int
	var shares []float64
	for row := range t.Rows() {
		w := t.Weight(row)
		if w == 0 || !f.hasTarget(row) {
			continue
		}
		u.changed = true
		if u.model.settings.Update == "add" || u.opened {
			fresh = append(fresh, row)
			continue
		}
		u.view.explain(t, row, row+1, logs)
		at, units, shares = at[:0], units[:0], shares[:0]
		for i, place := range u.places {
			if place >= 0 && u.belongs(t, row, i) {
				at, units, shares = append(at, place), append(units, i), append(shares, logs[i])
			}
		}
		if _, total := normalise(shares); total == 0 {
			fresh = append(fresh, row) // of a class that no unit speaks of
			continue
		}
		u.block.addRow(t, row, at, shares, u.correlated)
		if x := u.current.joint; x != nil {
			for n, r := range shares {
				if r > leastWeight {
					x.addRow(u.current, t, row, u.view, units[n], w*r, u.block, &u.block.units[at[n]])
				}
			}
		}
		if u.pending += w; u.pending > lag*u.current.rows {
			if err := u.refresh(); err != nil {
				return err
			}
			logs = make([]float64, len(u.places))
		}
	}
	if len(fresh) > 0 {
		rows := t.Select(fresh)
		rows.Schema = u.vocabulary.Schema() // the table's own may change
		u.fresh = append(u.fresh, rows)
	}
	return nil
}

// opens reports whether a table has the first known cells of a column. The
// units that there are were found without it and cannot tell its values apart.
func (u *update) opens(t *table.Table) bool {
	for j := range t.Columns {
		if u.model.unknown(j) && (slices.ContainsFunc(t.Columns[j].Codes, func(c int32) bool { return c >= 0 }) || slices.ContainsFunc(t.Columns[j].Floats, finite)) {
			return true
		}
	}
	return false
}

// belongs reports whether a unit can have brought a row forth: it is not of
// another class.
func (u *update) belongs(t *table.Table, row, i int) bool {
	of := &u.current.total.units[i]
	if of.class < 0 {
		return true
	}
	return t.Columns[u.block.target].Codes[row] == of.class
}

// refresh makes the current model that of all rows so far.
func (u *update) refresh() error {
	m, err := u.model.with(u.at, u.block)
	if err != nil {
		return err
	}
	u.current, u.pending = m, 0
	u.locate()
	return nil
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !u.changed {
		return u.model, nil
	}
	fresh, err := u.learnFresh(ctx)
	if err != nil {
		return nil, err
	}
	occurs := func(column, value int) bool {
		n := u.block.columns[column].counts[value]
		if fresh != nil {
			n += fresh.columns[column].counts[value]
		}
		return n > 0
	}
	own := newBlock(u.block.source, u.vocabulary.Own(occurs), u.block.target)
	own.absorb(u.block)
	if fresh != nil {
		own.absorb(fresh)
	}
	own.units = slices.DeleteFunc(own.units, func(s share) bool { return s.n == 0 })
	return u.model.with(u.at, own)
}

// learnFresh returns the block of the rows that get units of their own, nil
// if there are none.
func (u *update) learnFresh(ctx context.Context) (*block, error) {
	if len(u.fresh) == 0 {
		return nil, nil
	}
	schema := u.vocabulary.Schema()
	columns := make([]table.Column, len(schema.Attributes))
	var weights []float64
	for _, t := range u.fresh {
		seen, _, err := table.Conform(t, schema, false)
		if err != nil {
			return nil, err
		}
		for j := range columns {
			columns[j].Codes = append(columns[j].Codes, seen.Columns[j].Codes...)
			columns[j].Floats = append(columns[j].Floats, seen.Columns[j].Floats...)
		}
		for r := range seen.Rows() {
			weights = append(weights, seen.Weight(r))
		}
	}
	all, err := table.New(schema, columns, weights)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(u.block.source.ID))
	s := u.model.settings
	f, err := newFit(ctx, &s, learn.Task{Table: all, Source: u.block.source, Seed: h.Sum64()}.At(u.block.target), nil)
	if err != nil {
		return nil, err
	}
	blocks, err := f.learn(ctx, func(float64) {})
	if err != nil {
		return nil, err
	}
	return blocks[0], nil
}

// mostLost is how many nats of log loss a row an update may cost for each
// column that is predicted, compared with learning everything at once.
const mostLost = 0.3

// Promise is that the log loss of an updated model lies within mostLost of what
// learning everything at once gives.
func (m *Model) Promise() learn.Promise {
	predicted := 1
	if m.Target() == learn.NoTarget {
		predicted = len(m.Schema().Attributes)
	}
	return learn.Promise{Contract: learn.Bounded, Measure: learn.LogLoss, Bound: mostLost * float64(predicted)}
}
