package nearest

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// What is chosen by the rows, k, m, the spread, factors of axes and the units of
// the metric, is settled by the first of them in row order: by all below 512, and
// from there on by all but less than a 32nd, the last to come. A row that
// brings a class or a value, or a target of another size than all before, settles
// it anew, and so does every 32nd to 64th part of rows more. In between a row costs
// its own place alone. Learnt one by one and all at once they make the same model,
// because what is settled is a function of the rows in their order.

// fewRows is below how many rows choices are always made by all.
const fewRows = 512

// settles returns by which of so many rows choices are made: a multiple of the
// power of two that is a 32nd to a 64th part of them.
func settles(weight float64) float64 {
	if weight < fewRows {
		return weight
	}
	step := 1.0
	for step*64 <= weight && step < 1<<40 {
		step *= 2
	}
	return math.Floor(weight/step) * step
}

// settled returns how many rows choices are made by, and what those brought; nil
// if always all are needed.
func (c *cases) settled(s *settings) (int, *seen) {
	rows := c.table.Rows()
	if s.Ties != byRow || s.Prototypes != none || s.Distance == "hamming" {
		return rows, nil
	}
	settles := settles(c.weight)
	first, weight := 0, 0.0
	n := c.unseen()
	for r := range rows {
		// A row that comes several times in turn is as one that weighs more.
		if n.add(c, r) || weight < settles || first == r && c.alike(r, c.table.Columns, r-1) {
			first = r + 1
		}
		weight += c.worth[r]
	}
	return first, n
}

// alike reports whether a row has the cells of another.
func (c *cases) alike(row int, columns []table.Column, other int) bool {
	for j := range columns {
		if codes := columns[j].Codes; codes != nil {
			if max(codes[other], table.Missing) != c.table.Columns[j].Codes[row] {
				return false
			}
		} else if x, y := canonical(columns[j].Floats[other]), c.table.Columns[j].Floats[row]; x != y && (x == x || y == y) {
			return false
		}
	}
	return true
}

// seen is what rows have brought so far, of which more would change how far rows
// are from each other by more than a unit.
type seen struct {
	values [][]bool  // of each nominal column
	number []float64 // of each numeric input: a known number, NaN if there is none
	varies []bool    // it has more than one
	most   float64   // of a numeric target
}

func (c *cases) unseen() *seen {
	n := &seen{values: make([][]bool, len(c.schema.Attributes)), number: make([]float64, len(c.schema.Attributes)), varies: make([]bool, len(c.schema.Attributes))}
	for j := range c.schema.Attributes {
		n.values[j], n.number[j] = make([]bool, len(c.schema.Attributes[j].Values)), math.NaN()
	}
	return n
}

// add takes a row in, and reports whether it is new.
func (n *seen) add(c *cases, row int) bool {
	is := n.isNew(c, c.table.Columns, row)
	if !is {
		return false
	}
	for j := range c.schema.Attributes {
		column := &c.table.Columns[j]
		switch {
		case column.Codes != nil:
			if v := column.Codes[row]; v >= 0 {
				n.values[j][v] = true
			}
		case j == c.target:
			n.most = max(n.most, math.Abs(column.Floats[row]))
		case !table.IsMissing(column.Floats[row]) && !math.IsInf(column.Floats[row], 0):
			n.varies[j] = n.varies[j] || n.number[j] == n.number[j] && n.number[j] != column.Floats[row]
			n.number[j] = column.Floats[row]
		}
	}
	return true
}

// isNew reports whether a row brings a class or a value, makes a column vary or a
// target larger than its unit.
func (n *seen) isNew(c *cases, columns []table.Column, row int) bool {
	for j := range c.schema.Attributes {
		if codes := columns[j].Codes; codes != nil {
			if v := codes[row]; v >= 0 && !n.values[j][v] {
				return true
			}
			continue
		}
		x := columns[j].Floats[row]
		switch {
		case j == c.target:
			if scaleOf(max(n.most, math.Abs(x))) != scaleOf(n.most) {
				return true
			}
		case !n.varies[j] && !table.IsMissing(x) && !math.IsInf(x, 0) && x != n.number[j]:
			return true
		}
	}
	return false
}

// first returns the first of the cases, where each row is one.
func (c *cases) first(rows int) *cases {
	if rows == c.table.Rows() {
		return c
	}
	f := *c
	f.table = c.table.Slice(0, rows)
	f.source, f.place = c.source[:rows], c.place[:rows]
	f.starts, f.worth = c.starts[:rows+1], c.worth[:rows]
	f.weight = 0
	for _, w := range f.worth {
		f.weight += w
	}
	if c.classes != nil {
		f.classes = c.classes[:rows]
	} else {
		f.numbers, f.means = c.numbers[:rows], c.means[:rows]
	}
	return &f
}

// estate is the memory behind cases that grow. Of several models that go on from
// one, the first may write behind what they share, and the others copy it.
type estate struct {
	mutex   sync.Mutex
	rows    int              // that are in use
	sources map[string]int32 // the number of a source, if it is the one that is named so
}

// claim reports whether somebody who has so many rows may write some behind them.
func (e *estate) claim(rows, more int, id string, number int32) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.rows != rows {
		return false
	}
	e.rows += more
	e.sources[id] = number
	return true
}

// found returns the number that a source had when it was written down.
func (e *estate) found(id string) (int32, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	number, ok := e.sources[id]
	return number, ok
}

// own gives cases an estate of their own.
func (c *cases) own() {
	c.estate = &estate{rows: c.table.Rows(), sources: make(map[string]int32, len(c.named))}
	for i, s := range c.named {
		c.estate.sources[s.ID] = int32(i)
	}
}

// numbered returns the number of a source, -1 if it is not there.
func (c *cases) numbered(id string) int32 {
	if i, ok := c.estate.found(id); ok && int(i) < len(c.named) && c.named[i].ID == id {
		return i
	}
	return int32(slices.IndexFunc(c.named, func(s learn.Source) bool { return s.ID == id }))
}

// more is a source's new rows, as they came: those without a target count for the
// places of the others alone.
type more struct {
	table  *table.Table
	before int // the place of the last row before them
}

// appended returns the cases with more rows of one source behind them, and whether
// what they had was copied. The schema is theirs.
func (c *cases) appended(source learn.Source, all []more) (grown *cases, copied bool, err error) {
	g := *c
	number := c.numbered(source.ID)
	if number < 0 {
		number = int32(len(c.named))
	}
	rows := 0
	for _, m := range all {
		for r := range m.table.Rows() {
			if c.counts(m.table, r) {
				rows++
			}
		}
	}
	if rows == 0 {
		return c, false, nil
	}
	columns := slices.Clone(c.table.Columns)
	weights := c.table.Weights
	if copied = !c.estate.claim(c.table.Rows(), rows, source.ID, number); copied {
		for j := range columns {
			columns[j].Codes, columns[j].Floats = slices.Clip(columns[j].Codes), slices.Clip(columns[j].Floats)
		}
		weights = slices.Clip(weights)
		g.source, g.place, g.named = slices.Clip(g.source), slices.Clip(g.place), slices.Clip(g.named)
		g.starts, g.worth = slices.Clip(g.starts), slices.Clip(g.worth)
		g.numbers, g.means = slices.Clip(g.numbers), slices.Clip(g.means)
	}
	if int(number) == len(c.named) {
		g.named = append(g.named, source)
	}
	for _, m := range all {
		for r := range m.table.Rows() {
			if !c.counts(m.table, r) {
				continue
			}
			for j := range columns {
				if from := &m.table.Columns[j]; columns[j].Codes != nil {
					columns[j].Codes = append(columns[j].Codes, max(from.Codes[r], table.Missing))
				} else {
					columns[j].Floats = append(columns[j].Floats, canonical(from.Floats[r]))
				}
			}
			w := m.table.Weight(r)
			weights = append(weights, w)
			g.source, g.place = append(g.source, number), append(g.place, int32(m.before+r+1))
			g.starts, g.worth, g.weight = append(g.starts, int32(len(weights))), append(g.worth, w), g.weight+w
			if c.classes == nil {
				y := canonical(m.table.Columns[c.target].Floats[r]) / c.scale
				g.numbers, g.means = append(g.numbers, y), append(g.means, w*y/w)
			}
		}
	}
	if g.table, err = c.table.Grown(columns, weights); err != nil {
		return nil, false, err
	}
	if c.classes != nil {
		g.classes = columns[c.target].Codes
	}
	if copied {
		g.own()
	}
	return &g, copied, nil
}

// canonical returns a number as it is kept.
func canonical(x float64) float64 {
	if table.IsMissing(x) {
		return table.NA
	}
	return x + 0 // -0 becomes 0
}

// counts reports whether a row is kept: it has a target and a weight.
func (c *cases) counts(t *table.Table, row int) bool {
	if t.Weight(row) == 0 {
		return false
	}
	if codes := t.Columns[c.target].Codes; codes != nil {
		return codes[row] >= 0
	}
	return !table.IsMissing(t.Columns[c.target].Floats[row])
}

// holding is the rows of a model in their packed form, as far as somebody asked
// for it.
type holding struct {
	mutex sync.Mutex
	rows  *kept.Rows
	first int // so many of the cases are in it
}

// next returns what there is for a model that goes on from this one.
func (h *holding) next() *holding {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return &holding{rows: h.rows, first: h.first}
}

// all returns the rows of all cases.
func (h *holding) all(ctx context.Context, c *cases) (*kept.Rows, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for h.first < c.table.Rows() {
		from, to := h.first, h.first+1
		for to < c.table.Rows() && c.source[to] == c.source[from] {
			to++
		}
		places := make([]float64, to-from)
		for i := range places {
			places[i] = float64(c.place[from+i])
		}
		t, err := withPlaces(c.table.Slice(from, to), places)
		if err != nil {
			return nil, err
		}
		gathering := h.rows.Gather(c.named[c.source[from]], c.target, c.schema)
		if err := gathering.Add(ctx, t); err != nil {
			return nil, err
		}
		rows, err := gathering.Rows(ctx)
		if err != nil {
			return nil, err
		}
		h.rows, h.first = rows, to
	}
	return h.rows, nil
}

// grower is a model that goes on with more cases, as long as nothing is to be
// settled anew.
type grower interface {
	caseBased
	novelty() *seen // nil: each row more settles all anew
	settledBy() (rows int, weight float64)
	grown(ctx context.Context, c *cases, copied bool) (grower, error)
}

// growth adds rows to a model. Rows that settle nothing anew cost their own place;
// with others all are learnt again.
type growth struct {
	model  grower
	source learn.Source
	before int // the place of the last row that came
	more   []more
	weight float64      // of all rows
	again  learn.Update // nil as long as nothing is to be settled
}

// beginGrowth returns an update of a model.
func beginGrowth(m grower, source learn.Source) (learn.Update, error) {
	c := m.caseBase()
	at := c.numbered(source.ID)
	if m.novelty() == nil || at >= 0 && int(at) != len(c.named)-1 {
		return begin(m, c, source)
	}
	g := &growth{model: m, source: source, weight: c.weight}
	if at >= 0 && c.source[len(c.source)-1] == at {
		g.before = int(c.place[len(c.place)-1])
	}
	return g, nil
}

func (g *growth) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(g.model.Schema(), t.Schema); err != nil {
		return err
	}
	if g.again == nil && g.unsettles(t) {
		if err := g.relearn(ctx); err != nil {
			return err
		}
	}
	if g.again != nil {
		return g.again.Add(ctx, t)
	}
	all := make([]int, t.Rows())
	for r := range all {
		all[r] = r
	}
	g.more = append(g.more, more{t.Select(all), g.before})
	g.before += t.Rows()
	return ctx.Err()
}

// unsettles reports whether rows are too many, or bring something new.
func (g *growth) unsettles(t *table.Table) bool {
	c := g.model.caseBase()
	for j := range c.schema.Attributes {
		if a, b := &c.schema.Attributes[j], &t.Schema.Attributes[j]; a.Kind != b.Kind || len(a.Values) != len(b.Values) {
			return true
		}
	}
	rows, weight := g.model.settledBy()
	for r := range t.Rows() {
		g.weight += t.Weight(r)
	}
	if weight < settles(g.weight) {
		return true // many at once: to be learnt together, and not to be copied
	}
	if rows == c.table.Rows() && len(g.more) == 0 && t.Rows() > 0 && (!c.counts(t, 0) || c.alike(rows-1, t.Columns, 0)) {
		return true
	}
	for r := range t.Rows() {
		if c.counts(t, r) && g.model.novelty().isNew(c, t.Columns, r) {
			return true
		}
	}
	return false
}

// relearn has the rows that came so far, and those that will, learnt with all
// others.
func (g *growth) relearn(ctx context.Context) (err error) {
	if g.again, err = begin(g.model, g.model.caseBase(), g.source); err != nil {
		return err
	}
	for _, m := range g.more {
		if err := g.again.Add(ctx, m.table); err != nil {
			return err
		}
	}
	g.more = nil
	return nil
}

func (g *growth) Freeze(ctx context.Context) (learn.Model, error) {
	if g.again != nil {
		return g.again.Freeze(ctx)
	}
	if len(g.more) == 0 {
		return g.model, ctx.Err()
	}
	c := g.model.caseBase()
	rows := 0
	for _, m := range g.more {
		for r := range m.table.Rows() {
			if c.counts(m.table, r) {
				rows++
			}
		}
	}
	if rows == 0 {
		if err := g.relearn(ctx); err != nil {
			return nil, err
		}
		return g.again.Freeze(ctx)
	}
	grown, copied, err := c.appended(g.source, g.more)
	if err != nil {
		return nil, err
	}
	m, err := g.model.grown(ctx, grown, copied)
	if err != nil {
		return nil, err
	}
	g.model, g.more, g.weight = m, nil, grown.weight
	return m, nil
}
