package linear

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
)

// logit is the search for the weights that make the rows' classes most probable
// under a normal prior (Mitchell 1997, section 6.5): the least of
//
//	−Σ w·ln P(class | row) + ridge/2·Σ weight²
//
// over the weights of standardised terms. With two classes there is one sum,
// the log odds of the second (equation 6.15 is its gradient); with more a sum
// for each class.
type logit struct {
	table   *table.Table
	of      *block
	choice  *choice
	terms   []int
	class   []int32 // of each row, among those seen
	outputs int     // 1, or the number of classes
	ridge   float64
	total   float64 // weight of all rows

	// design is the standardised terms of all rows, tile by tile, as far as
	// they were asked for (laid); nil if they would take too much memory.
	design []float64
	laid   []bool
	spans  []*passes
	factor []float64 // of the curvature, as it was when last looked at
	at     []float64 // weights: of term i for output k at i·outputs + k, then the constants
}

// trace is the ridge that stands for none, so that classes that can be told
// apart do not send the weights to infinity.
const trace = 1e-6

// mostDesign is how many cells are laid out once, and not at every pass: 128 MB.
const mostDesign = 1 << 24

func newLogit(t *table.Table, of *block, c *choice, m *Classes) *logit {
	l := &logit{table: t, of: of, choice: c, outputs: len(m.seen), ridge: max(m.settings.Ridge, trace), total: of.weight}
	if l.outputs == 2 {
		l.outputs = 1
	}
	if l.terms = c.varying(of); m.settings.Ridge == 0 {
		l.terms = c.terms
	}
	place := make([]int32, len(m.counts))
	for i, code := range m.seen {
		place[code] = int32(i)
	}
	l.class = make([]int32, t.Rows())
	for r, code := range t.Columns[m.target].Codes {
		l.class[r] = place[code]
	}
	l.at = make([]float64, (len(l.terms)+1)*l.outputs)
	constants := l.at[len(l.terms)*l.outputs:]
	if l.outputs == 1 {
		constants[0] = math.Log(m.counts[m.seen[1]] / m.counts[m.seen[0]])
	} else {
		for k, code := range m.seen {
			constants[k] = math.Log(m.counts[code] / l.total)
		}
	}
	if tiles := (t.Rows() + tileRows - 1) / tileRows; tiles*tileRows*len(l.terms) <= mostDesign {
		l.design, l.laid = make([]float64, tiles*tileRows*len(l.terms)), make([]bool, tiles)
	}
	for range min(spansAtOnce, (t.Rows()+spanRows-1)/spanRows) {
		l.spans = append(l.spans, l.newPasses())
	}
	return l
}

// spread returns the weights of all terms for all classes, as they are, and
// gives the plane its priors. Two classes get half of the log odds each.
func (l *logit) spread(p *plane) []float64 {
	weights := make([]float64, l.of.terms*p.outputs)
	constants := l.at[len(l.terms)*l.outputs:]
	for j, i := range l.terms {
		for k := range p.outputs {
			w := l.at[j*l.outputs+k%l.outputs] / l.choice.deviation[i]
			if l.outputs == 1 {
				w *= float64(k) - 0.5
			}
			weights[i*p.outputs+k] = w
		}
	}
	for k := range p.prior {
		p.prior[k] = constants[k%l.outputs]
		if l.outputs == 1 {
			p.prior[k] *= float64(k) - 0.5
		}
	}
	return weights
}

// minimise finds the weights.
func (l *logit) minimise(ctx context.Context) error {
	if l.outputs == 1 {
		return l.newton(ctx)
	}
	return l.descend(ctx)
}

// passes is what one goroutine sums up over some rows: the loss, its slope and,
// with two classes, its curvature.
type passes struct {
	of        *logit
	at        *tile
	loss      float64
	slope     []float64
	curvature []float64
	scores    []float64 // of output k for a tile's row r at k·tileRows + r
	heavy     []float64
	rows      []int32
	own, x    []float64 // standardised terms: room for a tile, and those of the one at hand
}

// term returns the cells of a term in use, for n rows.
func (s *passes) term(j, n int) []float64 { return s.x[j*tileRows:][:n] }

func (l *logit) newPasses() *passes {
	s := &passes{of: l, at: newTile(l.of.layout, l.of.frames, l.of.terms), slope: make([]float64, len(l.at)),
		scores: make([]float64, (l.outputs+1)*tileRows), heavy: make([]float64, tileRows), rows: make([]int32, tileRows)}
	if n := len(l.at); l.outputs == 1 {
		s.curvature = make([]float64, n*n)
	}
	if l.design == nil {
		s.own = make([]float64, len(l.terms)*tileRows)
	}
	return s
}

// pass returns the loss at some weights, and its slope and curvature. Sums
// are over spans of rows in their order, whatever the number of cores.
func (l *logit) pass(ctx context.Context, at []float64, rows int, curved bool) (loss float64, slope, curvature []float64, err error) {
	slope = make([]float64, len(at))
	if curved {
		curvature = make([]float64, len(at)*len(at))
	}
	for lo := 0; lo < rows; lo += spansAtOnce * spanRows {
		busy := l.spans[:min(len(l.spans), (rows-lo+spanRows-1)/spanRows)]
		err := learn.Each(ctx, len(busy), func(i int) {
			from := lo + i*spanRows
			busy[i].add(ctx, at, from, min(rows, from+spanRows), curved)
		})
		if err != nil {
			return 0, nil, nil, err
		}
		for _, s := range busy {
			loss += s.loss
			floats.Add(slope, s.slope)
			if curved {
				floats.Add(curvature, s.curvature)
			}
		}
	}
	shrunk := len(l.terms) * l.outputs
	share := float64(rows) / float64(l.table.Rows())
	loss += share * l.ridge / 2 * floats.Dot(at[:shrunk], at[:shrunk])
	floats.AddScaled(slope[:shrunk], share*l.ridge, at[:shrunk])
	for i := 0; curved && i < shrunk; i++ {
		curvature[i*len(at)+i] += share * l.ridge
	}
	return loss, slope, curvature, nil
}

// add starts again and sums up a range of rows.
func (s *passes) add(ctx context.Context, at []float64, from, to int, curved bool) {
	s.loss = 0
	clear(s.slope)
	clear(s.curvature)
	for lo := from; lo < to && ctx.Err() == nil; lo += tileRows {
		n := min(tileRows, to-lo)
		s.lay(lo, n)
		s.score(at, n)
		if s.of.outputs == 1 {
			s.binary(lo, n)
			s.bend(n, curved)
		} else {
			s.several(lo, n)
		}
	}
}

// lay finds or lays out a tile's terms as deviations from their means.
func (s *passes) lay(lo, n int) {
	tile, size := lo/tileRows, len(s.of.terms)*tileRows
	if s.x = s.own; s.of.design != nil {
		if s.x = s.of.design[tile*size:][:size]; s.of.laid[tile] {
			return
		}
		s.of.laid[tile] = true
	}
	for r := range n {
		s.rows[r] = int32(lo + r)
	}
	s.at.fill(s.of.table.Columns, s.rows[:n])
	for j, i := range s.of.terms {
		x, mean, by := s.term(j, n), s.of.of.mean[i], 1/s.of.choice.deviation[i]
		for r, cell := range s.at.term(i, n) {
			x[r] = (cell - mean) * by
		}
	}
}

// score adds up the terms.
func (s *passes) score(at []float64, n int) {
	outputs := s.of.outputs
	constants := at[len(s.of.terms)*outputs:]
	for k := range outputs {
		sum := s.scores[k*tileRows:][:n]
		for r := range sum {
			sum[r] = constants[k]
		}
		for j := range s.of.terms {
			floats.AddScaled(sum, at[j*outputs+k], s.term(j, n))
		}
	}
}

// binary turns log odds into the slopes of the loss, and leaves its curvatures
// behind them.
func (s *passes) binary(lo, n int) {
	sum, bent := s.scores[:n], s.scores[tileRows:][:n]
	product, weights := 1.0, s.of.table.Weights
	for r, odds := range sum {
		w, class := 1.0, float64(s.of.class[lo+r])
		e := math.Exp(-math.Abs(odds))
		p := 1 / (1 + e)
		if weights == nil { // many logarithms at once: each factor is at most 2
			if product *= 1 + e; r%512 == 511 {
				s.loss += math.Log(product)
				product = 1
			}
		} else {
			w = weights[lo+r]
			s.loss += w * math.Log1p(e)
		}
		s.loss += w * (max(odds, 0) - class*odds)
		bent[r] = w * p * (1 - p)
		if odds < 0 {
			p = e * p
		}
		sum[r] = w * (p - class)
	}
	s.loss += math.Log(product)
}

// bend adds the slopes by weight and the curvature of two classes.
func (s *passes) bend(n int, curved bool) {
	terms := s.of.terms
	size := len(s.slope)
	slopes, bent := s.scores[:n], s.scores[tileRows:][:n]
	for j := range terms {
		x := s.term(j, n)
		s.slope[j] += floats.Dot(slopes, x)
		if !curved {
			continue
		}
		floats.MulTo(s.heavy[:n], bent, x)
		row := s.curvature[j*size:]
		for k := range j + 1 {
			row[k] += floats.Dot(s.heavy[:n], s.term(k, n))
		}
		s.curvature[(size-1)*size+j] += floats.Sum(s.heavy[:n])
	}
	s.slope[size-1] += floats.Sum(slopes)
	s.curvature[size*size-1] += floats.Sum(bent)
}

// several turns scores into the slopes of the loss, and adds those by weight.
func (s *passes) several(lo, n int) {
	outputs := s.of.outputs
	for r := range n {
		most, total := math.Inf(-1), 0.0
		for k := range outputs {
			most = max(most, s.scores[k*tileRows+r])
		}
		w, class := s.of.table.Weight(lo+r), int(s.of.class[lo+r])
		s.loss += w * (most - s.scores[class*tileRows+r])
		for k := range outputs {
			e := math.Exp(s.scores[k*tileRows+r] - most)
			s.scores[k*tileRows+r] = e
			total += e
		}
		s.loss += w * math.Log(total)
		for k := range outputs {
			s.scores[k*tileRows+r] *= w / total
		}
		s.scores[class*tileRows+r] -= w
	}
	for k := range outputs {
		slopes := s.scores[k*tileRows:][:n]
		for j := range s.of.terms {
			s.slope[j*outputs+k] += floats.Dot(slopes, s.term(j, n))
		}
		s.slope[len(s.of.terms)*outputs+k] += floats.Sum(slopes)
	}
}

// enough is the step, in nats a row, below which there is nothing to be gained.
const enough = 1e-18

// lastStep is the step, in nats a row, that is taken unseen: steps near the end
// shrink the gain a hundredfold and more, and a weight's error is its root.
const lastStep = 1e-15

// newton solves for the weights of two classes: each step is a weighted least
// squares problem. The first steps look at some rows alone.
func (l *logit) newton(ctx context.Context) error {
	rows := l.table.Rows()
	if some := rows / 16 / spanRows * spanRows; some > 0 { // whole tiles: they are laid out once
		if err := l.newtonOn(ctx, some, 1e-6); err != nil {
			return err
		}
	}
	return l.newtonOn(ctx, rows, enough)
}

func (l *logit) newtonOn(ctx context.Context, rows int, enough float64) error {
	n := len(l.at)
	moved, before := make([]float64, n), math.Inf(1)
	loss, slope, factor, err := l.pass(ctx, l.at, rows, true)
	for step := 0; step < 100 && err == nil; step++ {
		if factor != nil {
			for i := range n { // rounding may leave nothing of the constant's own
				factor[i*n+i] += 1e-12 * l.total
			}
			cholesky(factor, n)
			l.factor = factor
		}
		move := solveFactor(l.factor, slope, n)
		gain, length := floats.Dot(move, slope), 1.0
		if !(gain > enough*l.total) {
			return nil
		}
		if gain < lastStep*l.total { // what would be left is rounding
			floats.AddScaled(l.at, -1, move)
			return nil
		}
		// Near the end the curvature of the step before will do, as long as
		// steps shrink.
		curved := gain > 1e-3*l.total || gain > before/4
		before = gain
		for ; ; length /= 2 {
			floats.AddScaledTo(moved, l.at, -length, move)
			var now float64
			var slopeNow []float64
			if now, slopeNow, factor, err = l.pass(ctx, moved, rows, curved); err != nil {
				return err
			}
			if now <= loss-1e-4*length*gain || length < 1e-6 {
				loss, slope = now, slopeNow
				break
			}
		}
		copy(l.at, moved)
		if length < 1e-6 {
			return nil
		}
		learn.Report(ctx, almostAll)
	}
	return err
}

// solveFactor solves a system by Cholesky's factor.
func solveFactor(factor, b []float64, n int) []float64 {
	x := make([]float64, n)
	for i := range n {
		x[i] = (b[i] - floats.Dot(factor[i*n:i*n+i], x[:i])) / factor[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] /= factor[i*n+i]
		floats.AddScaled(x[:i], -x[i], factor[i*n:i*n+i])
	}
	return x
}
