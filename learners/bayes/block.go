package bayes

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// block is the sufficient statistics of one source, in its own schema.
type block struct {
	source  learn.Source
	schema  *table.Schema
	target  int
	classes []float64 // weight of the rows of each class
	columns []column  // one for each attribute; the target's is empty
	// packed are the numbers of a block that was read and checked, but not
	// asked for yet (see open). It has no columns.
	packed *bundle.PackedSource
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

// open returns the block with its columns.
func (b *block) open() *block { return (&reader{}).open(b) }

// reader opens blocks one after the other, each in the room of the last one of
// its schema: sources that stand together share theirs.
type reader struct {
	rooms   map[*table.Schema]*block
	room    *block // of the last
	numbers []float64
}

// open returns a block with its columns, which are good until the next call.
func (r *reader) open(b *block) *block {
	if b.packed == nil {
		return b
	}
	r.read(b) // no error: it was checked when it came
	return r.room
}

// read fills the room with a packed block.
func (r *reader) read(b *block) error {
	if r.room = r.rooms[b.schema]; r.room == nil || r.room.target != b.target {
		if r.rooms == nil {
			r.rooms = map[*table.Schema]*block{}
		}
		r.room = newBlock(b.source, b.schema, b.target)
		r.rooms[b.schema] = r.room
	}
	r.room.source = b.source
	var err error
	if r.numbers, err = b.packed.Unpack(r.numbers); err != nil {
		return err
	}
	return r.room.fill(r.numbers)
}

// column is what a block knows of one attribute.
type column struct {
	counts  []float64       // nominal and text: weight of value or word v in class c at v·classes + c
	text    *text           // text: what is known besides words; nil of others, which stay small
	level   moment.Level    // numeric: the unit of the moments
	moments []moment.Moment // numeric: of each class
}

// text is what a block knows of a text column besides its words.
type text struct {
	known []float64 // weight of the rows of each class that have one
	full  []float64 // what the words of each class count before long texts are cut to their length
}

// known is the weight of the rows of each class that have a text.
func (c *column) known() []float64 {
	if c.text == nil {
		return nil
	}
	return c.text.known
}

// newBlock returns the block of no rows. Its counts stand in one piece of
// memory, and so do its moments.
func newBlock(source learn.Source, schema *table.Schema, target int) *block {
	classes := len(schema.Attributes[target].Values)
	b := &block{source: source, schema: schema, target: target, columns: make([]column, len(schema.Attributes))}
	values, numbers := 0, 0
	for j := range schema.Attributes {
		switch a := &schema.Attributes[j]; {
		case j == target:
		case a.Kind == table.Nominal:
			values += len(a.Values)
		case a.Kind == table.Text:
			values += len(a.Values) + 2
		default:
			numbers++
		}
	}
	counts, moments := make([]float64, (1+values)*classes), make([]moment.Moment, numbers*classes)
	b.classes, counts = cut(counts, classes)
	for j := range schema.Attributes {
		switch a := &schema.Attributes[j]; {
		case j == target:
		case a.Kind == table.Nominal:
			b.columns[j].counts, counts = cut(counts, len(a.Values)*classes)
		case a.Kind == table.Text:
			b.columns[j].text = &text{}
			b.columns[j].text.known, counts = cut(counts, classes)
			b.columns[j].text.full, counts = cut(counts, classes)
			b.columns[j].counts, counts = cut(counts, len(a.Values)*classes)
		default:
			b.columns[j].level = moment.Tiny
			b.columns[j].moments, moments = cut(moments, classes)
		}
	}
	return b
}

// cut returns the first n of a list, and the rest.
func cut[T any](list []T, n int) (first, rest []T) { return list[:n:n], list[n:] }

// clone returns a copy that shares nothing that can be changed.
func (b *block) clone() *block {
	b = b.open()
	to := newBlock(b.source, b.schema, b.target)
	copy(to.classes, b.classes)
	for j := range b.columns {
		to.columns[j].level = b.columns[j].level
		copy(to.columns[j].counts, b.columns[j].counts)
		copy(to.columns[j].known(), b.columns[j].known())
		copy(to.columns[j].moments, b.columns[j].moments)
	}
	return to
}

// promote moves a numeric column's moments to the level that x needs.
func (c *column) promote(x float64) {
	to := moment.LevelOf(x)
	for i := range c.moments {
		c.moments[i] = c.moments[i].Move(c.level, to)
	}
	c.level = to
}

// addRow takes in one row of a table in the block's schema.
func (b *block) addRow(t *table.Table, row int, how words) {
	class, w := t.Columns[b.target].Codes[row], t.Weight(row)
	if class < 0 || w == 0 {
		return
	}
	b.classes[class] += w
	for j := range b.columns {
		c := &b.columns[j]
		switch {
		case c.text != nil:
			c.read(t.Columns[j].Words, t.Weights, []int32{int32(row)}, int(class), len(b.classes), how)
		case c.counts != nil:
			if code := t.Columns[j].Codes[row]; code >= 0 {
				c.counts[int(code)*len(b.classes)+int(class)] += w
			}
		case c.moments != nil:
			x := t.Columns[j].Floats[row]
			if x-x != 0 { // missing or infinite
				continue
			}
			if math.Abs(x) >= c.level.Limit() {
				c.promote(x)
			}
			c.moments[class].Add(x*c.level.Scale(), w)
		}
	}
}

// checkWeights refuses tables whose rows weigh more than moments can hold.
func (b *block) checkWeights(t *table.Table) error {
	total := sum(b.classes) + float64(t.Rows())
	if t.Weights != nil {
		total = sum(b.classes) + sum(t.Weights)
	}
	if !(total <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	return checkCounts(t)
}

// learn takes in the rows of a table whose dictionaries are the block's; how
// says how often words count. On an error the block is of no use.
func (b *block) learn(ctx context.Context, t *table.Table, how words) error {
	if err := b.checkWeights(t); err != nil {
		return err
	}
	rows := groupByClass(t, b.target, len(b.classes))
	for _, run := range rows.runs {
		if t.Weights == nil {
			b.classes[run.class] += float64(run.end - run.start)
			continue
		}
		for _, r := range rows.order[run.start:run.end] {
			b.classes[run.class] += t.Weights[r]
		}
	}

	var mutex sync.Mutex
	next, done := 0, 0
	tasks := b.tasks()
	work := func() {
		for {
			mutex.Lock()
			i := next
			next++
			mutex.Unlock()
			if i >= len(tasks) {
				return
			}
			task := tasks[i]
			b.columns[task.column].learn(ctx, &t.Columns[task.column], t.Weights, rows, task, len(b.classes), how)
			if ctx.Err() != nil {
				return
			}
			mutex.Lock()
			done++
			learn.Report(ctx, float64(done)/float64(len(tasks)))
			mutex.Unlock()
		}
	}
	// Each cell of a block is summed by one goroutine in the order of its
	// rows, so that the sums do not depend on the number of cores.
	workers := min(runtime.GOMAXPROCS(0), len(tasks))
	if len(rows.order) < chunk {
		workers = 1
	}
	if workers == 1 {
		work()
		return ctx.Err()
	}
	var group crew.Group
	for range workers {
		group.Go(work)
	}
	group.Wait()
	return ctx.Err()
}

// task is a column, or the part of it that belongs to some classes.
type task struct{ column, from, to int }

// tasks returns the columns in pieces that are worth a goroutine: texts have
// many cells, so that there are two for each.
func (b *block) tasks() []task {
	tasks := make([]task, 0, len(b.columns)+1)
	classes := len(b.classes)
	for j := range b.columns {
		if b.columns[j].text != nil {
			tasks = append(tasks, task{j, 0, classes / 2}, task{j, classes / 2, classes})
			continue
		}
		tasks = append(tasks, task{j, 0, classes})
	}
	return tasks
}

// chunk is the number of rows that are grouped by class at a time: few enough
// for a column's cells of them to stay in the cache.
const chunk = 4096

// classRuns are the rows that count, chunk by chunk, each grouped by class.
type classRuns struct {
	order []int32 // row numbers
	runs  []run   // consecutive ranges of order
}

type run struct {
	class      int32
	start, end int
}

// groupByClass sorts the rows of each chunk by class and leaves out those
// that have none, or no weight.
func groupByClass(t *table.Table, target, classes int) classRuns {
	codes := t.Columns[target].Codes
	g := classRuns{order: make([]int32, 0, len(codes))}
	at := make([]int, classes)
	for lo := 0; lo < len(codes); lo += chunk {
		hi := min(lo+chunk, len(codes))
		clear(at)
		for r := lo; r < hi; r++ {
			if c := codes[r]; c >= 0 && (t.Weights == nil || t.Weights[r] > 0) {
				at[c]++
			}
		}
		end := len(g.order)
		for c, n := range at {
			at[c] = end
			if n > 0 {
				g.runs = append(g.runs, run{class: int32(c), start: end, end: end + n})
				end += n
			}
		}
		g.order = g.order[:end]
		for r := lo; r < hi; r++ {
			if c := codes[r]; c >= 0 && (t.Weights == nil || t.Weights[r] > 0) {
				g.order[at[c]] = int32(r)
				at[c]++
			}
		}
	}
	return g
}

// learn takes in the cells of one column, of some classes.
func (c *column) learn(ctx context.Context, cells *table.Column, weights []float64, rows classRuns, of task, classes int, how words) {
	for i, run := range rows.runs {
		if (i%16 == 0 || c.text != nil) && ctx.Err() != nil {
			return
		}
		if int(run.class) < of.from || int(run.class) >= of.to {
			continue
		}
		order := rows.order[run.start:run.end]
		switch {
		case c.text != nil:
			c.read(cells.Words, weights, order, int(run.class), classes, how)
		case c.counts != nil:
			c.count(cells.Codes, weights, order, int(run.class), classes)
		case c.moments != nil:
			m := &c.moments[run.class]
			*m = moment.Join(*m, c.sample(cells.Floats, weights, order))
		}
	}
}

// count adds the nominal cells of rows of one class.
func (c *column) count(codes []int32, weights []float64, order []int32, class, classes int) {
	if weights == nil {
		for _, r := range order {
			if code := codes[r]; code >= 0 {
				c.counts[int(code)*classes+class]++
			}
		}
		return
	}
	for _, r := range order {
		if code := codes[r]; code >= 0 {
			c.counts[int(code)*classes+class] += weights[r]
		}
	}
}

// sample returns the moments of the numeric cells of some rows, in the
// column's level, which it raises if a cell needs it. Sums are of differences
// from the first number: those of equal numbers are exactly 0, and as the
// difference of the first from the mean is at most the root of n deviations,
// no more than log10(n) digits of M2 are lost.
func (c *column) sample(floats, weights []float64, order []int32) moment.Moment {
	limit, scale := c.level.Limit(), c.level.Scale()
	var n, s1, s2, first float64
	for _, r := range order {
		x := floats[r]
		if !(math.Abs(x) < limit) {
			if x-x != 0 { // missing or infinite
				continue
			}
			c.promote(x)
			return c.sample(floats, weights, order)
		}
		x *= scale
		if n == 0 {
			first = x
		}
		d := x - first
		if weights == nil {
			n++
			s1 += d
			s2 += d * d
		} else {
			w := weights[r]
			n += w
			s1 += w * d
			s2 += w * d * d
		}
	}
	if n == 0 {
		return moment.Moment{}
	}
	return moment.Moment{N: n, Mean: first + s1/n, M2: max(0, s2-s1*(s1/n))}
}

// absorb adds the statistics of another block. Columns, values and classes
// are matched by name; what b's schema does not have is left out.
func (b *block) absorb(o *block) {
	o = o.open()
	var classes, values [64]int32 // room for the codes of most columns
	classOf := table.AppendRecoding(classes[:0], &o.schema.Attributes[o.target], &b.schema.Attributes[b.target])
	valueOf := values[:0]
	for c, w := range o.classes {
		if to := classOf[c]; to >= 0 {
			b.classes[to] += w
		}
	}
	for j := range o.columns {
		from := &o.columns[j]
		k := b.schema.IndexNear(o.schema.Attributes[j].Name, j)
		if k < 0 || j == o.target {
			continue
		}
		to := &b.columns[k]
		if from.moments != nil {
			if from.level > to.level {
				for c := range to.moments {
					to.moments[c] = to.moments[c].Move(to.level, from.level)
				}
				to.level = from.level
			}
			for c, m := range from.moments {
				if at := classOf[c]; at >= 0 {
					to.moments[at] = moment.Join(to.moments[at], m.Move(from.level, to.level))
				}
			}
			continue
		}
		for c, w := range from.known() {
			if at := classOf[c]; at >= 0 {
				to.text.known[at] += w
				to.text.full[at] += from.text.full[c]
			}
		}
		valueOf = table.AppendRecoding(valueOf[:0], &o.schema.Attributes[j], &b.schema.Attributes[k])
		for v, at := range valueOf {
			if at < 0 {
				continue
			}
			row := to.counts[int(at)*len(b.classes):]
			for c, w := range from.counts[v*len(o.classes) : (v+1)*len(o.classes)] {
				if class := classOf[c]; class >= 0 {
					row[class] += w
				}
			}
		}
	}
}
