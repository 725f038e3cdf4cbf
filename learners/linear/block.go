package linear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
)

// block is the sufficient statistics of one source, in its own schema: the
// weight of its rows, and the means and co-moments of their terms. Of a model
// of numbers the target is the last term; a block without a numeric target has
// none.
type block struct {
	source learn.Source
	*layout
	frames []frame // of numeric columns, the target's included
	weight float64
	mean   []float64
	// moments are Σ w·(tᵢ − mean)·(tⱼ − mean) for j ≤ i, at i·size + j.
	moments []float64
}

func newBlock(source learn.Source, l *layout) *block {
	b := &block{source: source, layout: l, frames: make([]frame, len(l.schema.Attributes))}
	b.mean, b.moments = make([]float64, b.size()), make([]float64, b.size()*b.size())
	return b
}

// size is the number of terms, the target's among them.
func (b *block) size() int {
	if b.hasNumber() {
		return b.terms + 1
	}
	return b.terms
}

func (b *block) hasNumber() bool { return b.target >= 0 && b.numeric(b.target) }

func (b *block) attribute() *table.Attribute { return &b.schema.Attributes[b.target] }

// moment returns the co-moment of two terms.
func (b *block) moment(i, j int) float64 { return b.moments[max(i, j)*b.size()+min(i, j)] }

// known returns the rows of a table that have a target and a weight, and what
// they weigh.
func (b *block) known(t *table.Table) (rows []int32, total float64, err error) {
	rows = make([]int32, 0, t.Rows())
	number := b.hasNumber()
	for r := range t.Rows() {
		w := t.Weight(r)
		if w == 0 {
			continue
		}
		if number {
			y := t.Columns[b.target].Floats[r]
			if table.IsMissing(y) {
				continue
			}
			if math.IsInf(y, 0) {
				return nil, 0, fmt.Errorf("target %q is infinite in row %d; leave the row out or empty the cell", b.attribute().Name, r+1)
			}
		}
		rows = append(rows, int32(r))
		total += w
	}
	return rows, total, nil
}

// checkWeight refuses rows that weigh more than moments can hold.
func checkWeight(total float64) error {
	if !(total <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	return nil
}

// learn takes in the rows of a table in the block's schema. On an error the
// block is of no use.
func (b *block) learn(ctx context.Context, t *table.Table) error {
	rows, total, err := b.known(t)
	if err != nil {
		return err
	}
	if err := checkWeight(b.weight + total); err != nil || len(rows) == 0 {
		return err
	}
	whole, err := b.reach(ctx, t.Columns, rows)
	if err != nil {
		return err
	}
	sums, err := b.sum(ctx, t, rows, whole)
	if err != nil {
		return err
	}
	b.join(sums.weight, sums.mean, sums.moments)
	return ctx.Err()
}

// reach gives columns whose first numbers come a frame, and raises the units
// of those whose numbers lie too far out. It says which have no gaps.
func (b *block) reach(ctx context.Context, columns []table.Column, rows []int32) (whole []bool, err error) {
	frames := slices.Clone(b.frames)
	whole = make([]bool, len(frames))
	err = learn.Each(ctx, len(frames), func(j int) {
		if b.numeric(j) && (b.count(j) > 0 || j == b.target) {
			frames[j], whole[j] = frames[j].reaching(columns[j].Floats, rows)
		}
	})
	if err != nil {
		return nil, err
	}
	if b.weight > 0 && slices.ContainsFunc(b.frames, func(f frame) bool { return f.Set }) && !slices.Equal(frames, b.frames) {
		moved := newBlock(b.source, b.layout)
		moved.frames = frames
		moved.absorb(b)
		*b = *moved
	}
	b.frames = frames
	return whole, nil
}

// spanRows are summed up by one goroutine, spansAtOnce side by side: neither
// depends on the number of cores, and so the sums do not.
const (
	spanRows    = 16 * tileRows
	spansAtOnce = 4
)

// sum returns the statistics of rows. They are summed as differences from the
// mean of the first rows, so that little is lost when their mean is taken out.
// Columns of numbers that have no gaps and whose rows are all there are summed
// where they are.
func (b *block) sum(ctx context.Context, t *table.Table, rows []int32, whole []bool) (*block, error) {
	n, weighted := b.size(), t.Weights != nil
	pivot, bare := b.pivot(t, rows[:min(len(rows), tileRows)])
	for j := range bare {
		bare[j] = bare[j] && whole[j] && len(rows) == t.Rows() && b.frames[j].mild()
	}
	total := newSpan(b, n, weighted)
	spans := make([]*span, min(spansAtOnce, (len(rows)+spanRows-1)/spanRows))
	for i := range spans {
		spans[i] = newSpan(b, n, weighted)
		spans[i].bare = bare
	}
	for lo := 0; lo < len(rows); lo += spansAtOnce * spanRows {
		busy := spans[:min(len(spans), (len(rows)-lo+spanRows-1)/spanRows)]
		err := learn.Each(ctx, len(busy), func(i int) {
			from := lo + i*spanRows
			busy[i].add(ctx, t, rows[from:min(len(rows), from+spanRows)], pivot)
		})
		if err != nil {
			return nil, err
		}
		for _, s := range busy {
			total.weight += s.weight
			floats.Add(total.sums, s.sums)
			floats.Add(total.products, s.products)
		}
		learn.Report(ctx, float64(min(lo+spansAtOnce*spanRows, len(rows)))/float64(len(rows))*almostAll)
	}
	m := b.measure(pivot, bare)
	m.products(total.products, total.sums, total.weight, n)
	m.sums(total.sums, total.weight)
	of := newBlock(b.source, b.layout)
	of.weight = total.weight
	for i := range n {
		share := total.sums[i] / total.weight
		of.mean[i] = pivot[i] + share
		for j := range i {
			of.moments[i*n+j] = total.products[i*n+j] - share*total.sums[j]
		}
		of.moments[i*n+i] = max(0, total.products[i*n+i]-share*total.sums[i])
	}
	return of, nil
}

// measure returns how the terms less their pivots follow from the cells of bare
// columns.
func (b *block) measure(pivot []float64, bare []bool) *measure {
	m := newMeasure(len(pivot))
	for j, is := range bare {
		if i := b.first[j]; is {
			m.by[i], m.off[i] = b.frames[j].scale(), b.frames[j].Shift+pivot[i]
		}
	}
	return m
}

// almostAll is the part of the work that summing is.
const almostAll = 0.9

// pivot returns what is taken from each term before it is summed: for powers
// and the target their mean over some rows, for indicators nothing; and of a
// model of classes the columns whose numbers lie around 0 in those rows.
func (b *block) pivot(t *table.Table, rows []int32) (pivot []float64, bare []bool) {
	at := newTile(b.layout, b.frames, b.size())
	at.fill(t.Columns, rows)
	b.fillTarget(at, t, rows)
	pivot, bare = make([]float64, b.size()), make([]bool, len(b.frames))
	for j := range b.frames {
		first, last := b.first[j], b.missing(j)
		if j == b.target && b.hasNumber() {
			first, last = b.terms, b.terms+1
		} else if !b.numeric(j) {
			continue
		}
		for i := first; i < last; i++ {
			pivot[i] = floats.Sum(at.term(i, len(rows))) / float64(len(rows))
		}
		if j != b.target && !b.hasNumber() && b.degree == 1 {
			squares := 0.0
			for _, z := range at.term(first, len(rows)) {
				squares += (z - pivot[first]) * (z - pivot[first])
			}
			off := pivot[first] + b.frames[j].Shift
			bare[j] = off*off <= mostOff*mostOff*squares/float64(len(rows))
		}
	}
	return pivot, bare
}

// fillTarget lays the target out behind the terms.
func (b *block) fillTarget(at *tile, t *table.Table, rows []int32) {
	if !b.hasNumber() {
		return
	}
	ys, scale, shift := t.Columns[b.target].Floats, b.frames[b.target].scale(), b.frames[b.target].Shift
	y := at.term(b.terms, len(rows))
	for r, row := range rows {
		y[r] = ys[row]*scale - shift
	}
	at.live[b.terms] = true
}

// span is the sums of some rows' terms and of their products.
type span struct {
	of             *block
	at             *tile
	weight         float64
	bare           []bool      // columns that are summed as they are
	x              [][]float64 // terms that are not 0 throughout, some of the last again to make them groups of four
	live           []int       // which they are
	weights        []float64   // of a tile's rows; nil: all 1
	heavy          []float64   // a term's cells times their weights
	sums, products []float64
}

func newSpan(b *block, n int, weighted bool) *span {
	s := &span{of: b, at: newTile(b.layout, b.frames, n), sums: make([]float64, n), products: make([]float64, n*n)}
	if weighted {
		s.weights, s.heavy = make([]float64, tileRows), make([]float64, tileRows)
	}
	return s
}

// add starts again and sums up rows.
func (s *span) add(ctx context.Context, t *table.Table, rows []int32, pivot []float64) {
	s.weight = 0
	clear(s.sums)
	clear(s.products)
	for lo := 0; lo < len(rows) && ctx.Err() == nil; lo += tileRows {
		some := rows[lo:min(len(rows), lo+tileRows)]
		s.at.fillBut(t.Columns, some, s.bare)
		s.of.fillTarget(s.at, t, some)
		s.weight += float64(len(some))
		if s.weights != nil {
			s.weight -= float64(len(some))
			for r, row := range some {
				s.weights[r] = t.Weights[row]
				s.weight += s.weights[r]
			}
		}
		s.multiply(int(some[0]), len(some), t.Columns, pivot)
	}
}

// multiply adds the products of the tile's terms.
func (s *span) multiply(from, rows int, columns []table.Column, pivot []float64) {
	n := len(s.sums)
	s.x, s.live = s.x[:0], s.live[:0]
	for j := range s.of.frames {
		if i := s.of.first[j]; s.bare[j] {
			s.x, s.live = append(s.x, columns[j].Floats[from:from+rows]), append(s.live, i)
			continue
		}
		last := s.of.first[j] + s.of.count(j)
		for i := s.of.first[j]; i < last; i++ {
			s.lives(i, rows, pivot[i])
		}
	}
	if n > s.of.terms {
		s.lives(s.of.terms, rows, pivot[s.of.terms])
	}
	for len(s.x)%lanes > 0 {
		s.x = append(s.x, s.x[0])
	}
	for k, i := range s.live {
		x := s.x[k]
		if s.weights != nil {
			floats.MulTo(s.heavy[:rows], s.weights[:rows], x)
			x = s.heavy[:rows]
		}
		s.sums[i] += floats.Sum(x)
		row := s.products[i*n:]
		for first := 0; first <= k; first += lanes {
			var products [lanes]float64
			dotFour(x, (*[lanes][]float64)(s.x[first:]), &products)
			for l := first; l < min(first+lanes, k+1); l++ {
				row[s.live[l]] += products[l-first]
			}
		}
	}
}

// lives takes in a term of the tile, less its pivot, if it is not 0 throughout.
func (s *span) lives(i, rows int, pivot float64) {
	if pivot != 0 {
		s.at.live[i] = true
		floats.AddConst(-pivot, s.at.term(i, rows))
	}
	if s.at.live[i] {
		s.x, s.live = append(s.x, s.at.term(i, rows)), append(s.live, i)
	}
}

// join adds statistics of the same terms in the same frames (Chan, Golub and
// LeVeque 1983).
func (b *block) join(weight float64, mean, moments []float64) {
	if weight == 0 {
		return
	}
	n, before := b.size(), b.weight
	b.weight += weight
	share := weight / b.weight
	apart := make([]float64, n)
	for i := range n {
		apart[i] = mean[i] - b.mean[i]
		if before == 0 {
			apart[i], b.mean[i] = 0, mean[i]
		}
		b.mean[i] += apart[i] * share
	}
	for i := range n {
		to, from, d := b.moments[i*n:], moments[i*n:], apart[i]*before*share
		for j := range i + 1 {
			to[j] += from[j] + d*apart[j]
		}
	}
}
