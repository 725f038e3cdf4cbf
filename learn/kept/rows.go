// Package kept is the ground of learners that keep the rows they learnt from:
// each source's distinct rows with their weights, packed (Rows), read without
// a copy (View), saved source by source (Lesson), and learnt again when more
// come, when models are merged and when a source is forgotten (Relearner).
//
// It stands between learn, whose contract it fulfils, and the learners.
package kept

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Rows are the rows that a model learnt from, for learners whose updates are
// exact because they learn again: each source's distinct rows, counted. Rows
// are immutable; what adds to them or takes from them returns new ones that
// share the sources left alone.
//
// The table that they stand for (Table) is a function of the multiset of
// rows: which source brought a row, in what order rows came and how values
// were coded leave no trace in it.
type Rows struct {
	blocks []*block // in the order in which sources came
	shelf  *bundle.Shelf[*block]
}

// with returns rows of other blocks that remember how these were saved.
func (r *Rows) with(blocks []*block) *Rows {
	shelf := r.shelf
	if shelf == nil {
		shelf = &bundle.Shelf[*block]{}
	}
	return &Rows{blocks, shelf}
}

// block is what one source brought. Its schema is its own: the columns it
// had and the values it declared or used. Rows with the same cells and the
// same weight are one row with a count. Counting equal weights instead of
// adding them up keeps sums exact: however rows are spread over sources, the
// same products are added in the same order in the end.
type block struct {
	source  learn.Source
	schema  *table.Schema // values in canonical order
	columns []cells
	weights []float64 // nil: all 1
	counts  []float64 // nil: all 1
	rows    int
	whole   *whole // that it was read with; nil: none

	// recode is set while blocks are joined: for each column the codes of
	// its values in the schema of all; nil where they are the same.
	recode [][]int32
	from   []int // of each column: which of the block's own it is; -1: none
}

// cells are a column of a block: narrow or codes if it is nominal, floats if
// it is numeric, words if it is text, and none if the block lacks the column.
type cells struct {
	narrow []uint8 // up to 255 values
	codes  []int32 // otherwise, and in tables
	floats []float64
	words  *table.Bag
}

// narrowMissing is a missing cell in a narrow column.
const narrowMissing = math.MaxUint8

// blockOf returns a block that reads a table's cells where they are.
func blockOf(source learn.Source, t *table.Table) *block {
	b := &block{source: source, schema: t.Schema, columns: make([]cells, len(t.Columns)), weights: t.Weights, rows: t.Rows()}
	for i, c := range t.Columns {
		b.columns[i] = cells{codes: c.Codes, floats: c.Floats, words: c.Words}
	}
	return b
}

// Gathering is rows in the making: one source's new rows on top of rows that
// are there. It is not safe for concurrent use.
type Gathering struct {
	base    *Rows
	source  learn.Source
	target  int
	known   *table.Schema
	texts   bool     // are kept
	pending []*block // sizes at least halve from one to the next
}

// Gather begins to add rows of one source. Rows whose target is missing are
// left out, unless there is no target (NoTarget), and so are text columns, unless
// the known schema has some or they are asked for (Texts). Values that the known
// schema has do not count as declared by this source just because tables
// made to fit that schema list them; nil if there was no model before.
func (r *Rows) Gather(source learn.Source, target int, known *table.Schema) *Gathering {
	return &Gathering{base: r, source: source, target: target, known: known, texts: known != nil && hasText(known)}
}

// Texts has text columns kept, too, and returns the gathering.
func (g *Gathering) Texts() *Gathering {
	g.texts = true
	return g
}

// Add takes in the table's rows. The table is not kept.
func (g *Gathering) Add(ctx context.Context, t *table.Table) error {
	b, err := g.digest(ctx, t)
	if err != nil {
		return err
	}
	g.pending = append(g.pending, b)
	// Joining blocks of like size keeps the cost of adding rows one at a
	// time to a logarithm each.
	for n := len(g.pending); n > 1 && g.pending[n-2].rows < 2*g.pending[n-1].rows; n-- {
		joined, err := joinBlocks(ctx, g.source, g.pending[n-2:])
		if err != nil {
			return err
		}
		g.pending = append(g.pending[:n-2], joined)
	}
	return nil
}

// Rows returns what was there together with what was added. Adding may go on.
func (g *Gathering) Rows(ctx context.Context) (*Rows, error) {
	if len(g.pending) == 0 {
		return g.base, nil
	}
	blocks := slices.Clone(g.base.blocks)
	i := slices.IndexFunc(blocks, func(b *block) bool { return b.source.ID == g.source.ID })
	mine := g.pending
	if i >= 0 {
		mine = append([]*block{blocks[i]}, g.pending...)
	}
	b := mine[0]
	if len(mine) > 1 {
		var err error
		if b, err = joinBlocks(ctx, mine[0].source, mine); err != nil {
			return nil, err
		}
	}
	if i >= 0 {
		blocks[i] = b
	} else {
		if n := len(blocks); n > 0 && b.schema != blocks[n-1].schema && alikeSchemas(blocks[n-1].schema, b.schema) {
			b.schema = blocks[n-1].schema
		}
		blocks = append(blocks, b)
	}
	return g.base.with(blocks), nil
}

// digest makes a block of a table: the cells in canonical form, rows that
// carry nothing left out, values that only the model knew not declared.
func (g *Gathering) digest(ctx context.Context, t *table.Table) (*block, error) {
	target := g.target
	if !g.texts {
		t, target = t.WithoutText(target)
	}
	raw := blockOf(g.source, t)
	if g.known != nil {
		raw.schema = &table.Schema{Attributes: slices.Clone(t.Schema.Attributes)}
		for i := range raw.schema.Attributes {
			a := &raw.schema.Attributes[i]
			k := g.known.IndexNear(a.Name, i)
			if k < 0 || a.Kind == table.Numeric {
				continue
			}
			known := min(len(g.known.Attributes[k].Values), len(a.Values))
			if a.Kind == table.Text {
				a.Values, raw.columns[i].words = dropIdleWords(a.Values, known, t.Columns[i].Words)
			} else {
				a.Values, raw.columns[i].codes = dropIdle(a.Values, known, t.Columns[i].Codes)
			}
		}
	}
	j, err := join(ctx, []*block{raw}, withoutTarget(t, target))
	if err != nil {
		return nil, err
	}
	return j.block(ctx, g.source)
}

// withoutTarget returns what tells the rows whose target is missing; nil if
// there is no target.
func withoutTarget(t *table.Table, target int) func(row int) bool {
	if target == learn.NoTarget {
		return nil
	}
	cells := t.Columns[target]
	if t.Schema.Attributes[target].Kind == table.Nominal {
		return func(row int) bool { return cells.Codes[row] < 0 }
	}
	return func(row int) bool { return table.IsMissing(cells.Floats[row]) }
}

// dropIdle drops those of the first known values that no cell has.
func dropIdle(values []string, known int, codes []int32) ([]string, []int32) {
	used := make([]bool, len(values))
	for _, c := range codes {
		if c >= 0 {
			used[c] = true
		}
	}
	code := make([]int32, len(values))
	var kept []string
	for v, name := range values {
		if v >= known || used[v] {
			code[v] = int32(len(kept))
			kept = append(kept, name)
		}
	}
	if len(kept) == len(values) {
		return values, codes
	}
	recoded := make([]int32, len(codes))
	for r, c := range codes {
		recoded[r] = table.Missing
		if c >= 0 {
			recoded[r] = code[c]
		}
	}
	return kept, recoded
}

// MergeRows returns the rows of several models. What a source with the same ID
// brought to more than one is counted as often, as learning a file twice is.
func MergeRows(ctx context.Context, models ...*Rows) (*Rows, error) {
	var merged []*block
	of := map[string][]*block{}
	for _, r := range models {
		for _, b := range r.blocks {
			if of[b.source.ID] == nil {
				merged = append(merged, b)
			}
			of[b.source.ID] = append(of[b.source.ID], b)
		}
	}
	for i, b := range merged {
		if same := of[b.source.ID]; len(same) > 1 {
			joined, err := joinBlocks(ctx, b.source, same)
			if err != nil {
				return nil, err
			}
			merged[i] = joined
		}
	}
	if _, err := unionSchema(inWholes(merged)); err != nil {
		return nil, err
	}
	return models[0].with(merged), nil
}

// Forget returns the rows of the other sources.
func (r *Rows) Forget(ids ...string) (*Rows, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(r.blocks, func(b *block) bool { return b.source.ID == id }) {
			known := make([]string, len(r.blocks))
			for i, b := range r.blocks {
				known[i] = b.source.ID
			}
			return nil, fmt.Errorf("unknown source %q%s", id, spell.Hint(id, known))
		}
	}
	var left []*block
	for _, b := range r.blocks {
		if !slices.Contains(ids, b.source.ID) {
			left = append(left, b)
		}
	}
	return r.with(left), nil
}

// Sources lists the sources in the order in which they came.
func (r *Rows) Sources() []learn.Source {
	sources := make([]learn.Source, len(r.blocks))
	for i, b := range r.blocks {
		sources[i] = b.source
	}
	return sources
}

// Weight returns the weight of all rows.
func (r *Rows) Weight() float64 {
	sum := 0.0
	for _, b := range r.blocks {
		for row := range b.rows {
			sum += b.weight(row) * b.count(row)
		}
	}
	return sum
}

// Table returns the distinct rows of all sources with their weights, in
// canonical order over a canonical schema: columns in the order in which they
// were first seen, each with the values that some source declared or used in
// canonical order (SortValues). The caller must not change it.
func (r *Rows) Table(ctx context.Context) (*table.Table, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return v.Table(ctx)
}

// Canonical returns a table's rows as they stand, over the schema that Table has
// of them once they are gathered: without text columns, values in canonical
// order. Cells are shared where they are the same.
func Canonical(t *table.Table) (*table.Table, error) {
	t, _ = t.WithoutText(learn.NoTarget)
	schema, err := unionSchema([]*block{blockOf(learn.Source{}, t)})
	if err != nil {
		return nil, err
	}
	t, _, err = table.Conform(t, schema, false)
	return t, err
}

func (b *block) weight(row int) float64 {
	if b.weights == nil {
		return 1
	}
	return b.weights[row]
}

func (b *block) count(row int) float64 {
	if b.counts == nil {
		return 1
	}
	return b.counts[row]
}

// unionSchema returns the union of the blocks' schemas with all values in
// canonical order, whatever order each source had them in.
func unionSchema(blocks []*block) (*table.Schema, error) {
	var schemas []*table.Schema
	for i, b := range blocks {
		if i == 0 || b.schema != blocks[i-1].schema {
			schemas = append(schemas, b.schema)
		}
	}
	s, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	for i := range s.Attributes {
		table.SortValues(s.Attributes[i].Values)
	}
	return s, nil
}

// ref is a row of one of several blocks.
type ref struct{ block, row int32 }

// joined is the distinct rows of blocks over the union of their columns, in
// canonical order, which is by hash and then by content. They stay where they
// are until somebody asks for a copy.
type joined struct {
	schema  *table.Schema
	blocks  []*block // fitted to the schema
	refs    []ref    // nil: all rows of the only block
	rows    int
	weights []float64 // nil: all 1
	counts  []float64 // nil: all 1
}

// join finds the distinct rows of blocks. Rows of the first block for which
// leave is true are left out, and rows without weight.
func join(ctx context.Context, blocks []*block, leave func(row int) bool) (*joined, error) {
	schema, err := unionSchema(blocks)
	if err == nil {
		err = ctx.Err() // of very many columns that took a while
	}
	if err != nil {
		return nil, err
	}
	j := &joined{schema: schema, blocks: make([]*block, len(blocks))}
	var hashes []uint64
	var salt *salts
	for i, b := range blocks {
		if i > 0 && b.schema == blocks[i-1].schema {
			j.blocks[i] = b.fitAs(j.blocks[i-1])
		} else {
			j.blocks[i], salt = fit(b, schema), saltsOf(b)
		}
		all, err := b.hashes(ctx, salt)
		if err != nil {
			return nil, err
		}
		j.refs = slices.Grow(j.refs, b.rows)
		kept := all[:0]
		for row, h := range all {
			if b.weight(row) == 0 || i == 0 && leave != nil && leave(row) {
				continue
			}
			j.refs = append(j.refs, ref{int32(i), int32(row)})
			kept = append(kept, h)
		}
		if i == 0 {
			hashes = kept
		} else {
			hashes = append(hashes, kept...)
		}
	}
	radix.Sort(hashes, j.refs)
	j.collapse(hashes)
	return j, nil
}

// joinBlocks makes one block of several.
func joinBlocks(ctx context.Context, source learn.Source, blocks []*block) (*block, error) {
	j, err := join(ctx, blocks, nil)
	if err != nil {
		return nil, err
	}
	return j.block(ctx, source)
}

// block returns a copy of the rows.
func (j *joined) block(ctx context.Context, source learn.Source) (*block, error) {
	b := &block{source: source, schema: j.schema, columns: make([]cells, len(j.schema.Attributes)), weights: j.weights, counts: j.counts, rows: j.rows}
	err := columnwise(ctx, len(b.columns), j.rows, func(i int) {
		c := &b.columns[i]
		switch a := &j.schema.Attributes[i]; {
		case a.Kind == table.Numeric:
			c.floats = j.floats(i)
		case a.Kind == table.Text:
			c.words = j.bag(i)
		case len(a.Values) <= narrowMissing:
			c.narrow = j.narrow(i, narrowMissing)
		default:
			c.codes = j.codes(i)
		}
	})
	return b, err
}

// fewRows are not worth waking other cores for, and the cells of so many columns of
// them not worth asking whether to go on.
const (
	fewRows    = 256
	fewColumns = 1024
)

// columnwise calls work for each column, on all cores if there are rows enough.
func columnwise(ctx context.Context, columns, rows int, work func(i int)) error {
	if rows > fewRows {
		return learn.Each(ctx, columns, work)
	}
	for i := range columns {
		if i%fewColumns == 0 && ctx.Err() != nil {
			break
		}
		work(i)
	}
	return ctx.Err()
}

// at returns where a row is.
func (j *joined) at(row int) (*block, int32) {
	if j.refs == nil {
		return j.blocks[0], int32(row)
	}
	r := j.refs[row]
	return j.blocks[r.block], r.row
}

func (j *joined) code(col, row int) int32 {
	b, r := j.at(row)
	return b.code(col, r)
}

func (j *joined) float(col, row int) float64 {
	b, r := j.at(row)
	return canonical(b.float(col, r))
}

// codes returns a copy of a nominal column.
func (j *joined) codes(col int) []int32 {
	codes := make([]int32, j.rows)
	for row := range codes {
		codes[row] = j.code(col, row)
	}
	return codes
}

// narrow returns a copy of a nominal column of few values, with a code for
// missing cells.
func (j *joined) narrow(col int, missing uint8) []uint8 {
	narrow := make([]uint8, j.rows)
	b := j.blocks[0]
	if codes := b.columns[col].codes; len(j.blocks) == 1 && j.refs != nil && codes != nil && (b.recode == nil || b.recode[col] == nil) {
		// The rows of one table as they are, which is what learning begins with.
		for row, r := range j.refs {
			code := codes[r.row]
			if narrow[row] = uint8(code); code < 0 {
				narrow[row] = missing
			}
		}
		return narrow
	}
	for row := range narrow {
		code := j.code(col, row)
		if narrow[row] = uint8(code); code < 0 {
			narrow[row] = missing
		}
	}
	return narrow
}

// floats returns a copy of a numeric column.
func (j *joined) floats(col int) []float64 {
	if from := j.blocks[0].columns[col].floats; len(j.blocks) == 1 && j.refs != nil && from != nil {
		floats := append([]float64(nil), from[:j.rows]...) // in their order first, so that both lie in the cache
		for row, r := range j.refs {
			floats[row] = canonical(from[r.row])
		}
		return floats
	}
	floats := make([]float64, j.rows)
	for row := range floats {
		floats[row] = j.float(col, row)
	}
	return floats
}

// collapse leaves one of each kind of row among rows sorted by hash, and sets
// their weights and counts.
func (j *joined) collapse(hashes []uint64) {
	blocks, sorted := j.blocks, j.refs
	content := func(a, b ref) int {
		return compareRows(blocks[a.block], int(a.row), blocks[b.block], int(b.row))
	}
	weigh := func(a, b ref) int {
		return cmp.Compare(blocks[a.block].weight(int(a.row)), blocks[b.block].weight(int(b.row)))
	}
	same := func(a, b ref) int { return cmp.Or(content(a, b), weigh(a, b)) }
	plain := len(blocks) == 1 && blocks[0].weights == nil && blocks[0].counts == nil
	kept := sorted[:0]
	for lo := 0; lo < len(sorted); {
		hi := lo + 1
		for hi < len(sorted) && hashes[hi] == hashes[lo] {
			hi++
		}
		run := sorted[lo:hi]
		if plain && len(run) == 1 { // as most rows of numbers are
			if j.counts != nil {
				j.counts = append(j.counts, 1)
			}
			kept = append(kept, run[0])
			lo = hi
			continue
		}
		if len(run) > 1 && !slices.IsSortedFunc(run, same) {
			slices.SortFunc(run, same)
		}
		for i := 0; i < len(run); {
			first := run[i]
			count := blocks[first.block].count(int(first.row))
			for i++; i < len(run) && same(first, run[i]) == 0; i++ {
				count += blocks[run[i].block].count(int(run[i].row))
			}
			j.counts = note(j.counts, len(kept), count)
			j.weights = note(j.weights, len(kept), blocks[first.block].weight(int(first.row)))
			kept = append(kept, first)
		}
		lo = hi
	}
	j.refs, j.rows = kept, len(kept)
}

// note appends a number to n others that are there, or are all 1 and nil.
func note(numbers []float64, n int, x float64) []float64 {
	if numbers == nil {
		if x == 1 {
			return nil
		}
		numbers = make([]float64, n, n+1)
		for i := range numbers {
			numbers[i] = 1
		}
	}
	return append(numbers, x)
}

// fit lays a block out for a schema that has all of its columns and values.
// Columns that it lacks are left without cells.
func fit(b *block, schema *table.Schema) *block {
	fitted := *b
	fitted.schema = schema
	fitted.columns = make([]cells, len(schema.Attributes))
	fitted.recode = make([][]int32, len(schema.Attributes))
	fitted.from = make([]int, len(schema.Attributes))
	at := make(map[string]int, len(b.columns))
	for i := range b.schema.Attributes {
		at[b.schema.Attributes[i].Name] = i
	}
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		from, has := at[a.Name]
		if fitted.from[i] = -1; !has {
			continue
		}
		own := &b.schema.Attributes[from]
		if own.Kind != a.Kind {
			continue // the block has no cell of it
		}
		fitted.columns[i], fitted.from[i] = b.columns[from], from
		if !slices.Equal(own.Values, a.Values) {
			fitted.recode[i] = table.Recoding(own, a)
		}
	}
	return &fitted
}

// fitAs lays a block out as another of its schema was.
func (b *block) fitAs(like *block) *block {
	fitted := *b
	fitted.schema, fitted.recode, fitted.from = like.schema, like.recode, like.from
	fitted.columns = make([]cells, len(like.columns))
	for i, from := range like.from {
		if from >= 0 {
			fitted.columns[i] = b.columns[from]
		}
	}
	return &fitted
}

// alikeSchemas reports whether two schemas say the same.
func alikeSchemas(a, b *table.Schema) bool {
	return a.Sequence == b.Sequence && slices.EqualFunc(a.Attributes, b.Attributes, func(a, b table.Attribute) bool {
		return a.Name == b.Name && a.Kind == b.Kind && a.Date == b.Date && a.Time == b.Time && a.Style == b.Style && slices.Equal(a.Values, b.Values)
	})
}

// code returns a nominal cell, unseen ones as missing.
func (b *block) code(col int, row int32) int32 {
	c := &b.columns[col]
	code := table.Missing
	if c.narrow != nil {
		if n := c.narrow[row]; n != narrowMissing {
			code = int32(n)
		}
	} else if c.codes != nil {
		code = max(c.codes[row], table.Missing)
	}
	if code >= 0 && b.recode != nil && b.recode[col] != nil {
		return b.recode[col][code]
	}
	return code
}

func (b *block) float(col int, row int32) float64 {
	if floats := b.columns[col].floats; floats != nil {
		return floats[row]
	}
	return table.NA
}

// canonical returns a number so that equal cells have equal bits.
func canonical(x float64) float64 {
	if table.IsMissing(x) {
		return table.NA
	}
	return x + 0 // -0 becomes 0
}

// compareRows orders rows of blocks with one schema by their cells.
func compareRows(a *block, i int, b *block, j int) int {
	for col := range a.schema.Attributes {
		var d int
		if kind := a.schema.Attributes[col].Kind; kind == table.Text {
			d = compareTexts(a, i, b, j, col)
		} else if kind == table.Nominal {
			d = cmp.Compare(a.code(col, int32(i)), b.code(col, int32(j)))
		} else {
			d = cmp.Compare(a.float(col, int32(i)), b.float(col, int32(j))) // NaN equals NaN
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

// HoldOut says how much of a row's weight belongs to a sample that holds a
// share of all rows, by the row's hash and a seed: each unit of weight is
// drawn on its own, as if equal rows had never been put together.
func HoldOut(hash, seed uint64, weight, share float64) float64 {
	const most = 1 << 12 // units drawn one by one; of more, the share itself is close enough
	if weight > most {
		return weight * share
	}
	limit := uint64(share * (1 << 53))
	held := 0.0
	state := scramble(hash ^ scramble(seed))
	for unit := 0.0; unit < weight; unit++ {
		state = scramble(state)
		if state>>11 < limit {
			held += min(1, weight-unit)
		}
	}
	return held
}

// Learnt returns each source's rows, in a model's schema.
func (r *Rows) Learnt(ctx context.Context, schema *table.Schema) ([]learn.Learnt, error) {
	all := make([]learn.Learnt, len(r.blocks))
	for i, b := range r.blocks {
		t, err := (&Rows{blocks: []*block{b}}).Table(ctx)
		if err != nil {
			return nil, err
		}
		if t, _, err = table.Conform(t, schema, false); err != nil {
			return nil, err
		}
		all[i] = learn.Learnt{Source: b.source, Table: t}
	}
	return all, nil
}

// Holder is an update of a learner that can begin with no rows, and holds those
// that come all the same: it is not for more rows than there is memory for.
type Holder interface{ KeepsRows() }

// Holds reports whether a learner that can begin with no rows holds those of a
// task. Of the task's table it looks at the schema alone.
func Holds(l learn.Starter, task learn.Task) bool {
	u, err := l.Start(task)
	if err != nil {
		return false // which is said where it is started to learn
	}
	_, holds := u.(Holder)
	return holds
}
