package markov

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// block is the sufficient statistics of one source, in its own schema: counts
// where the states are known, expected counts where they are hidden. State h of
// class c is c·sub + h; without a target there is one class.
type block struct {
	source  learn.Source
	schema  *table.Schema
	target  int
	sub     int       // hidden states of a class
	order   int       // cells before it that a cell depends on
	start   []float64 // weight of the sequences that begin in a state
	visits  []float64 // weight of the rows in a state
	moves   []float64 // from state i to state j at i·states + j
	columns []column  // one for each attribute; the target's is empty
}

// column is what a block knows of one attribute.
type column struct {
	counts  []float64        // nominal: weight of value v in state s at v·states + s
	grams   map[gram]float64 // nominal, of order 1 or more
	level   moment.Level     // numeric: the unit of the moments
	moments []moment.Moment  // numeric: of each state
}

// gram is a cell in its context: the state, the cell, and the cells before it,
// the nearest first; those beyond the order are 0.
type gram struct {
	state, value int32
	before       past
}

// past is the cells before a cell, the nearest first.
type past [maxOrder]int32

// Cells of a context that have no code.
const (
	beginning int32 = -1 // of the sequence
	unknown   int32 = -2 // missing, or never seen
)

// newBlock returns the block of no rows.
func newBlock(source learn.Source, schema *table.Schema, target int, s *settings) *block {
	b := &block{source: source, schema: schema, target: target, sub: s.States, order: s.Order, columns: make([]column, len(schema.Attributes))}
	n := b.sub
	if target != learn.NoTarget {
		n *= len(schema.Attributes[target].Values)
	}
	b.start, b.visits, b.moves = make([]float64, n), make([]float64, n), make([]float64, n*n)
	for j := range schema.Attributes {
		switch a := &schema.Attributes[j]; {
		case j == target:
		case a.Kind == table.Nominal:
			b.columns[j].counts = make([]float64, len(a.Values)*n)
			if b.order > 0 {
				b.columns[j].grams = map[gram]float64{}
			}
		default:
			b.columns[j].level = moment.Tiny
			b.columns[j].moments = make([]moment.Moment, n)
		}
	}
	return b
}

// empty returns the block of no rows of the same kind, in another schema.
func (b *block) empty(schema *table.Schema) *block {
	target := b.target
	if target != learn.NoTarget {
		target = schema.Index(b.schema.Attributes[b.target].Name)
	}
	return newBlock(b.source, schema, target, &settings{States: b.sub, Order: b.order})
}

// clone returns a copy that shares nothing that can be changed.
func (b *block) clone() *block {
	to := *b
	to.start, to.visits, to.moves = slices.Clone(b.start), slices.Clone(b.visits), slices.Clone(b.moves)
	to.columns = slices.Clone(b.columns)
	for j := range to.columns {
		c := &to.columns[j]
		c.counts, c.grams, c.moments = slices.Clone(c.counts), maps.Clone(c.grams), slices.Clone(c.moments)
	}
	return &to
}

func (b *block) states() int { return len(b.start) }

// rows is the weight of the rows that the block has learnt from.
func (b *block) rows() float64 { return sum(b.visits) }

// className is the target, "" if there is none.
func (b *block) className() string {
	if b.target == learn.NoTarget {
		return ""
	}
	return b.schema.Attributes[b.target].Name
}

// checkWeights refuses tables whose rows weigh more than moments can hold.
func (b *block) checkWeights(t *table.Table) error {
	total := b.rows() + float64(t.Rows())
	if t.Weights != nil {
		total = b.rows() + sum(t.Weights)
	}
	if !(total <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	return nil
}

// label returns the class of a row that counts, -1 for others: they have no
// class, or no weight. They break a sequence: what is before and after them does
// not follow each other.
func (b *block) label(t *table.Table, row int) int {
	switch {
	case t.Weights != nil && t.Weights[row] == 0:
		return -1
	case b.target == learn.NoTarget:
		return 0
	}
	return int(max(-1, t.Columns[b.target].Codes[row]))
}

// count takes in the rows of a table whose dictionaries are the block's, and
// whose states are known. Its first sequence goes on from the tail of the rows
// before, if that is of the same sequence.
func (b *block) count(t *table.Table, tail *tail) {
	n := b.states()
	labels := make([]int32, t.Rows())
	t.Groups(func(from, to int) {
		last := int32(-1)
		for row := from; row < to; row++ {
			s, w := int32(b.label(t, row)), t.Weight(row)
			labels[row] = s
			before := row > from
			if row == 0 && tail.continues(t) {
				before, last = true, tail.label(b)
			}
			if s >= 0 {
				b.visits[s] += w
				switch {
				case !before:
					b.start[s] += w
				case last >= 0:
					b.moves[int(last)*n+int(s)] += w
				}
			}
			last = s
		}
	})
	for j := range b.columns {
		switch c := &b.columns[j]; {
		case c.moments != nil:
			c.weigh(t.Columns[j].Floats, labels, t.Weights)
		case c.counts != nil:
			c.tally(t.Columns[j].Codes, labels, t.Weights, n)
			if b.order > 0 {
				b.tallyGrams(t, j, labels, tail)
			}
		}
	}
}

// tally counts nominal cells by state.
func (c *column) tally(codes, labels []int32, weights []float64, n int) {
	if weights == nil {
		for r, code := range codes {
			if s := labels[r]; s >= 0 && code >= 0 {
				c.counts[int(code)*n+int(s)]++
			}
		}
		return
	}
	for r, code := range codes {
		if s := labels[r]; s >= 0 && code >= 0 {
			c.counts[int(code)*n+int(s)] += weights[r]
		}
	}
}

// tallyGrams counts nominal cells by state and by the cells before them.
func (b *block) tallyGrams(t *table.Table, j int, labels []int32, tail *tail) {
	codes, c := t.Columns[j].Codes, &b.columns[j]
	t.Groups(func(from, to int) {
		before := opening(b.order)
		if from == 0 && tail.continues(t) {
			before = tail.past(b, j)
		}
		for row := from; row < to; row++ {
			if s := labels[row]; s >= 0 && codes[row] >= 0 {
				c.grams[gram{s, codes[row], before}] += t.Weight(row)
			}
			before = before.then(codes[row], b.order)
		}
	})
}

// opening is the context of the first cell of a sequence.
func opening(order int) past {
	var before past
	for i := range order {
		before[i] = beginning
	}
	return before
}

// then is the context of the next cell.
func (before past) then(code int32, order int) past {
	if code < 0 {
		code = unknown
	}
	copy(before[1:order], before[:order])
	before[0] = code
	return before
}

// weigh adds numeric cells to the moments of their states.
func (c *column) weigh(cells []float64, labels []int32, weights []float64) {
	for r, x := range cells {
		s := labels[r]
		if s < 0 || x-x != 0 { // missing or infinite
			continue
		}
		w := 1.0
		if weights != nil {
			w = weights[r]
		}
		c.add(int(s), x, w)
	}
}

// add takes a number in.
func (c *column) add(state int, x, weight float64) {
	if math.Abs(x) >= c.level.Limit() {
		c.promote(moment.LevelOf(x))
	}
	c.moments[state].Add(x*c.level.Scale(), weight)
}

// promote moves the moments to a higher level.
func (c *column) promote(to moment.Level) {
	for i := range c.moments {
		c.moments[i] = c.moments[i].Move(c.level, to)
	}
	c.level = to
}

// occurs reports whether a row of the block has a value.
func (b *block) occurs(column, value int) bool {
	if column == b.target {
		return sum(b.visits[value*b.sub:][:b.sub]) > 0
	}
	n := b.states()
	return sum(b.columns[column].counts[value*n:][:n]) > 0
}

// absorb adds the statistics of another block. Columns, values and classes are
// matched by name; what b's schema does not have is left out.
func (b *block) absorb(o *block) {
	stateOf := b.stateCodes(o)
	n, from := b.states(), o.states()
	for s, to := range stateOf {
		if to < 0 {
			continue
		}
		b.start[to] += o.start[s]
		b.visits[to] += o.visits[s]
		for next, at := range stateOf {
			if at >= 0 {
				b.moves[int(to)*n+int(at)] += o.moves[s*from+next]
			}
		}
	}
	for j := range o.columns {
		k := b.schema.IndexNear(o.schema.Attributes[j].Name, j)
		if k < 0 || j == o.target || k == b.target {
			continue
		}
		switch c := &o.columns[j]; {
		case c.moments != nil && b.columns[k].moments != nil:
			b.columns[k].absorbMoments(c, stateOf)
		case c.counts != nil && b.columns[k].counts != nil:
			b.columns[k].absorbCounts(c, stateOf, table.Recoding(&o.schema.Attributes[j], &b.schema.Attributes[k]), n)
		}
	}
}

// stateCodes returns the state in b of each state of o, -1 for none.
func (b *block) stateCodes(o *block) []int32 {
	codes := make([]int32, o.states())
	if b.target == learn.NoTarget {
		for s := range codes {
			codes[s] = int32(s)
		}
		return codes
	}
	for class, to := range table.Recoding(&o.schema.Attributes[o.target], &b.schema.Attributes[b.target]) {
		for h := range o.sub {
			codes[class*o.sub+h] = max(-1, to*int32(b.sub)+int32(h))
			if to < 0 {
				codes[class*o.sub+h] = -1
			}
		}
	}
	return codes
}

func (c *column) absorbMoments(o *column, stateOf []int32) {
	if o.level > c.level {
		c.promote(o.level)
	}
	for s, m := range o.moments {
		if to := stateOf[s]; to >= 0 {
			c.moments[to] = moment.Join(c.moments[to], m.Move(o.level, c.level))
		}
	}
}

func (c *column) absorbCounts(o *column, stateOf, valueOf []int32, n int) {
	from := len(stateOf)
	for v, at := range valueOf {
		if at < 0 {
			continue
		}
		for s, w := range o.counts[v*from:][:from] {
			if to := stateOf[s]; to >= 0 && w != 0 {
				c.counts[int(at)*n+int(to)] += w
			}
		}
	}
	// In a fixed order: a sum of floats depends on it.
	for _, g := range o.sortedGrams() {
		w := o.grams[g]
		if g.state, g.value = stateOf[g.state], valueOf[g.value]; g.state < 0 || g.value < 0 {
			continue
		}
		for i, code := range g.before {
			if code >= 0 {
				g.before[i] = max(unknown, valueOfContext(valueOf, code))
			}
		}
		c.grams[g] += w
	}
}

func valueOfContext(valueOf []int32, code int32) int32 {
	if int(code) < len(valueOf) && valueOf[code] >= 0 {
		return valueOf[code]
	}
	return unknown
}

// sortedGrams returns the grams in a fixed order.
func (c *column) sortedGrams() []gram {
	return slices.SortedFunc(maps.Keys(c.grams), func(a, b gram) int {
		if a.value != b.value {
			return int(a.value - b.value)
		}
		if a.state != b.state {
			return int(a.state - b.state)
		}
		return slices.Compare(a.before[:], b.before[:])
	})
}

// tail is the end of the rows that an update has taken in, so that a sequence may
// go on in the next table. Names are kept, as dictionaries grow meanwhile.
type tail struct {
	sequence string
	known    bool
	class    string     // of the last row, "" if it does not count
	counts   bool       // the last row does
	cells    [][]string // of each nominal column, the nearest first; "" is unknown
	shorter  int        // rows of the sequence so far, where fewer than the order
}

// continues reports whether a table begins with the sequence of the tail.
func (e *tail) continues(t *table.Table) bool {
	return e != nil && e.known && t.Sequence != nil && t.Rows() > 0 && t.SequenceNames[t.Sequence[0]] == e.sequence
}

// label returns the state of the last row in a block's codes.
func (e *tail) label(b *block) int32 {
	switch {
	case !e.counts:
		return -1
	case b.target == learn.NoTarget:
		return 0
	}
	return max(-1, b.schema.Attributes[b.target].Code(e.class))
}

// past returns the last cells of a column in a block's codes.
func (e *tail) past(b *block, j int) past {
	before := opening(b.order)
	for i := range min(b.order, e.shorter) {
		before[i] = unknown
		if cell := e.cells[j][i]; cell != "" {
			before[i] = max(unknown, b.schema.Attributes[j].Code(cell))
		}
	}
	return before
}

// follow returns the tail after a table's rows.
func (b *block) follow(e *tail, t *table.Table) *tail {
	rows := t.Rows()
	if rows == 0 || t.Sequence == nil {
		return e
	}
	last := rows - 1
	next := &tail{sequence: t.SequenceNames[t.Sequence[last]], known: true, cells: make([][]string, len(t.Columns))}
	if b.label(t, last) >= 0 {
		next.counts = true
		if b.target != learn.NoTarget {
			next.class = t.Text(last, b.target)
		}
	}
	from := last
	for from > 0 && last-from+1 < b.order && t.Sequence[from-1] == t.Sequence[last] {
		from--
	}
	for j := range t.Columns {
		if j == b.target || t.Columns[j].Codes == nil {
			continue
		}
		for r := last; r >= from && len(next.cells[j]) < b.order; r-- {
			cell := ""
			if t.Columns[j].Codes[r] >= 0 {
				cell = t.Text(r, j)
			}
			next.cells[j] = append(next.cells[j], cell)
		}
		if from == 0 && e.continues(t) { // the whole table is of one sequence
			next.cells[j] = append(next.cells[j], e.cells[j]...)
		}
		next.cells[j] = next.cells[j][:min(b.order, len(next.cells[j]))]
		next.shorter = max(next.shorter, len(next.cells[j]))
	}
	return next
}
