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
	class   []int32   // of each row, among those seen
	second  []float64 // of two: 1 for rows of the second
	outputs int       // 1, or the number of classes
	ridge   float64
	total   float64 // weight of all rows

	// Terms are read where they are if they are numbers without gaps around 0
	// (bare), and how they differ from standardised ones is made up for in the
	// sums (measure). The others are laid out standardised: design has them for
	// all rows, tile by tile, as far as they were asked for (laid); nil if they
	// would take too much memory.
	bare    [][]float64
	measure *measure
	apart   []int // place of each term among those laid out, -1: bare
	laying  int   // how many are
	design  []float64
	laid    []bool
	spans   []*passes
	factor  []float64 // of the curvature, as it was when last looked at
	at      []float64 // weights: of term i for output k at i·outputs + k, then the constants
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
	l.second = make([]float64, t.Rows())
	for r, code := range t.Columns[m.target].Codes {
		l.class[r] = place[code]
		l.second[r] = float64(place[code])
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
	l.bareTerms()
	if tiles := (t.Rows() + tileRows - 1) / tileRows; tiles*tileRows*l.laying <= mostDesign {
		l.design, l.laid = make([]float64, tiles*tileRows*l.laying), make([]bool, tiles)
	}
	for range min(spansAtOnce, (t.Rows()+spanRows-1)/spanRows) {
		l.spans = append(l.spans, l.newPasses())
	}
	return l
}

// bareTerms finds the terms that need not be laid out.
func (l *logit) bareTerms() {
	n := len(l.terms)
	l.bare, l.measure, l.apart = make([][]float64, n), newMeasure(n), make([]int, n)
	for j := range l.of.frames {
		if l.of.count(j) == 0 {
			continue
		}
		for k, i := range l.terms {
			if i != l.of.first[j] || !l.of.numeric(j) || l.of.mean[l.of.missing(j)] != 0 {
				continue
			}
			f, deviation := l.of.frames[j], l.choice.deviation[i]
			if off := (f.Shift + l.of.mean[i]) / deviation; f.mild() && math.Abs(off) <= mostOff {
				l.bare[k], l.measure.by[k], l.measure.off[k] = l.table.Columns[j].Floats, f.scale()/deviation, off
			}
		}
	}
	for k, x := range l.bare {
		if l.apart[k] = -1; x == nil {
			l.apart[k] = l.laying
			l.laying++
		}
	}
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

// mostCurved bounds (outputs + 1)·terms, which is how many times as long as a pass
// without it, times eight, a pass with a curvature takes.
const mostCurved = 160

// curvable reports whether steps by curvature are worth their while.
func curvable(classes, terms int) bool {
	return classes == 2 || (classes+1)*(terms+1) <= mostCurved
}

// minimise finds the weights.
func (l *logit) minimise(ctx context.Context) error {
	if l.outputs == 1 || curvable(l.outputs, len(l.terms)) {
		return l.newton(ctx)
	}
	_, err := l.descend(ctx, l.startCurvature(), mostSteps)
	return err
}

// passes is what one goroutine sums up over some rows: the loss, its slope and, where
// it is asked for, its curvature: of each pair of outputs a block, whose lower triangle
// has the terms, then the constant.
type passes struct {
	of        *logit
	at        *tile
	loss      float64
	slope     []float64
	curvature []float64
	scores    []float64 // of output k for a tile's row r at k·tileRows + r
	heavy     []float64
	rows      []int32
	own       []float64   // room for the terms of a tile that are laid out
	x         [][]float64 // the terms of the tile at hand, some of the last again to make them groups of four
}

// group returns four terms from the j-th on.
func (s *passes) group(j int) *[lanes][]float64 { return (*[lanes][]float64)(s.x[j:]) }

func (l *logit) newPasses() *passes {
	s := &passes{of: l, at: newTile(l.of.layout, l.of.frames, l.of.terms), slope: make([]float64, len(l.at)),
		scores: make([]float64, (l.outputs+1)*tileRows), heavy: make([]float64, tileRows), rows: make([]int32, tileRows),
		x: make([][]float64, (len(l.terms)+lanes-1)/lanes*lanes)}
	if l.design == nil {
		s.own = make([]float64, l.laying*tileRows)
	}
	return s
}

// pass returns the loss at some weights, and its slope and curvature, over all
// tiles or every so manieth. Sums are over spans of rows in their order,
// whatever the number of cores.
func (l *logit) pass(ctx context.Context, at []float64, every int, curved bool) (loss float64, slope, curvature []float64, err error) {
	slope = make([]float64, len(at))
	var blocks []float64
	if curved {
		blocks = make([]float64, l.blocks())
	}
	bare, rows := l.measure.weights(at, l.outputs), l.visited(every)
	for lo := 0; lo < rows; lo += spansAtOnce * spanRows {
		busy := l.spans[:min(len(l.spans), (rows-lo+spanRows-1)/spanRows)]
		err := learn.Each(ctx, len(busy), func(i int) {
			from := lo + i*spanRows
			busy[i].add(ctx, bare, from, min(rows, from+spanRows), every, curved)
		})
		if err != nil {
			return 0, nil, nil, err
		}
		for _, s := range busy {
			loss += s.loss
			floats.Add(slope, s.slope)
			if curved {
				floats.Add(blocks, s.curvature)
			}
		}
	}
	l.measure.slopes(slope, l.outputs)
	if curved {
		curvature = l.joined(blocks)
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

// blocks is how many numbers the curvature has, block by block.
func (l *logit) blocks() int {
	m := len(l.terms) + 1
	return l.outputs * (l.outputs + 1) / 2 * m * m
}

// joined makes one lower triangle of the blocks of pairs of outputs. Nothing changes
// where the weights of all classes move alike: what is added there keeps the triangle
// sound, and moves nothing else.
func (l *logit) joined(blocks []float64) []float64 {
	m, n := len(l.terms)+1, len(l.at)
	whole := make([]float64, n*n)
	for k := range l.outputs {
		for of := range k + 1 {
			block := blocks[(k*(k+1)/2+of)*m*m:][:m*m]
			l.measure.products(block, block[(m-1)*m:], block[m*m-1], m)
			l.measure.sums(block[(m-1)*m:], block[m*m-1])
			for i := range m {
				for j := range i + 1 {
					whole[(i*l.outputs+k)*n+j*l.outputs+of] = block[i*m+j]
					if j < i {
						whole[(i*l.outputs+of)*n+j*l.outputs+k] = block[i*m+j]
					}
				}
				if l.outputs > 1 {
					whole[(i*l.outputs+k)*n+i*l.outputs+of] += l.total
				}
			}
		}
	}
	return whole
}

// visited returns how many rows there are in every so manieth tile, as many as
// make whole spans: some that stand for all of them, in whatever order they came.
func (l *logit) visited(every int) int {
	if every == 1 {
		return l.table.Rows()
	}
	return l.table.Rows() / every / spanRows * spanRows
}

// add starts again and sums up a range of the rows that are visited.
func (s *passes) add(ctx context.Context, at []float64, from, to, every int, curved bool) {
	s.loss = 0
	clear(s.slope)
	if curved && s.curvature == nil {
		s.curvature = make([]float64, s.of.blocks())
	}
	clear(s.curvature)
	for ; from < to && ctx.Err() == nil; from += tileRows {
		n, lo := min(tileRows, to-from), from*every
		s.lay(lo, n)
		s.score(at, n)
		if s.of.outputs == 1 {
			s.binary(lo, n)
			s.slopes(0, n)
			if curved {
				s.bend(s.scores[tileRows:][:n], s.curvature)
			}
		} else {
			s.several(lo, n, curved)
		}
	}
}

// lay finds a tile's terms, or lays them out as deviations from their means.
func (s *passes) lay(lo, n int) {
	l := s.of
	tile, size, room, done := lo/tileRows, l.laying*tileRows, s.own, l.laying == 0
	if l.design != nil {
		room, done = l.design[tile*size:][:size], done || l.laid[tile]
		l.laid[tile] = true
	}
	for j := range s.x {
		k := min(j, len(l.terms)-1)
		if s.x[j] = l.bare[k]; s.x[j] != nil {
			s.x[j] = s.x[j][lo : lo+n]
		} else {
			s.x[j] = room[l.apart[k]*tileRows:][:n]
		}
	}
	if done {
		return
	}
	for r := range n {
		s.rows[r] = int32(lo + r)
	}
	s.at.fill(l.table.Columns, s.rows[:n])
	for j, i := range l.terms {
		if l.bare[j] != nil {
			continue
		}
		x, mean, by := s.x[j], l.of.mean[i], 1/l.choice.deviation[i]
		for r, cell := range s.at.term(i, n) {
			x[r] = (cell - mean) * by
		}
	}
}

// score adds up the terms.
func (s *passes) score(at []float64, n int) {
	outputs, terms := s.of.outputs, len(s.of.terms)
	constants := at[terms*outputs:]
	for k := range outputs {
		sum := s.scores[k*tileRows:][:n]
		for r := range sum {
			sum[r] = constants[k]
		}
		for j := 0; j < terms; j += lanes {
			var a [lanes]float64
			for i := j; i < min(j+lanes, terms); i++ {
				a[i-j] = at[i*outputs+k]
			}
			addFour(sum, s.group(j), &a)
		}
	}
}

// binary turns log odds into the slopes of the loss, and leaves its curvatures
// behind them.
func (s *passes) binary(lo, n int) {
	if s.of.table.Weights != nil {
		s.weighed(lo, n)
		return
	}
	s.loss += logistic(s.scores[:n], s.of.second[lo:lo+n], s.scores[tileRows:][:n])
}

// weighed is binary where rows weigh differently.
func (s *passes) weighed(lo, n int) {
	sum, bent := s.scores[:n], s.scores[tileRows:][:n]
	for r, odds := range sum {
		w, is := s.of.table.Weights[lo+r], float64(s.of.class[lo+r])
		size := math.Abs(odds)
		e := math.Exp(-size)
		p := 1 / (1 + e)
		s.loss += w * (math.Log1p(e) + (odds+size)/2 - is*odds)
		bent[r] = w * e * p * p
		sum[r] = w * (0.5 + math.Copysign(p-0.5, odds) - is)
	}
}

// slopes adds the slopes of an output by weight.
func (s *passes) slopes(k, n int) {
	outputs, terms := s.of.outputs, len(s.of.terms)
	own := s.scores[k*tileRows:][:n]
	s.multiply(own, terms, s.slope[k:], outputs)
	s.slope[terms*outputs+k] += floats.Sum(own)
}

// bend adds the curvature of a pair of outputs to its block, given that of each row.
func (s *passes) bend(bent, block []float64) {
	terms := len(s.of.terms)
	m, heavy := terms+1, s.heavy[:len(bent)]
	for j := range terms {
		floats.MulTo(heavy, bent, s.x[j])
		s.multiply(heavy, j+1, block[j*m:], 1)
		block[terms*m+j] += floats.Sum(heavy)
	}
	block[m*m-1] += floats.Sum(bent)
}

// multiply adds the products of a column with the first terms to every step-th
// number.
func (s *passes) multiply(y []float64, terms int, to []float64, step int) {
	for j := 0; j < terms; j += lanes {
		var products [lanes]float64
		dotFour(y, s.group(j), &products)
		for k := j; k < min(j+lanes, terms); k++ {
			to[k*step] += products[k-j]
		}
	}
}

// several turns scores into probabilities, adds the curvature of each pair of classes if
// asked to, and the slopes of the loss by weight.
func (s *passes) several(lo, n int, curved bool) {
	weights, class := s.of.table.Weights, s.of.class[lo:lo+n]
	if weights != nil {
		weights = weights[lo : lo+n]
	}
	s.softmax(class, weights)
	if curved {
		s.bendPairs(n, weights)
	}
	for r, k := range class {
		s.scores[int(k)*tileRows+r]--
	}
	for k := range s.of.outputs {
		if weights != nil {
			floats.Mul(s.output(k, n), weights)
		}
		s.slopes(k, n)
	}
}

// output is what belongs to an output, a number for each row of a tile.
func (s *passes) output(k, n int) []float64 { return s.scores[k*tileRows:][:n] }

// mostProduct is how large a product of totals becomes before its logarithm is taken.
const mostProduct = 1e250

// softmax turns scores into probabilities and adds the loss. Totals are at least 1 and
// at most the number of classes, so that many of them take one logarithm together.
func (s *passes) softmax(class []int32, weights []float64) {
	n := len(class)
	most, total := s.heavy[:n], s.output(s.of.outputs, n)
	copy(most, s.output(0, n))
	for k := 1; k < s.of.outputs; k++ {
		for r, x := range s.output(k, n) {
			most[r] = max(most[r], x)
		}
	}
	for r, k := range class {
		lost := most[r] - s.scores[int(k)*tileRows+r]
		if weights != nil {
			lost *= weights[r]
		}
		s.loss += lost
	}
	clear(total)
	for k := range s.of.outputs {
		own := s.output(k, n)
		for r, x := range own {
			own[r] = math.Exp(x - most[r])
			total[r] += own[r]
		}
	}
	product := 1.0
	for r, x := range total {
		if weights != nil {
			s.loss += weights[r] * math.Log(x)
		} else if product *= x; product > mostProduct {
			s.loss += math.Log(product)
			product = 1
		}
		total[r] = 1 / x
	}
	s.loss += math.Log(product)
	for k := range s.of.outputs {
		floats.Mul(s.output(k, n), total)
	}
}

// bendPairs adds the curvature of each pair of classes.
func (s *passes) bendPairs(n int, weights []float64) {
	m, bent := len(s.of.terms)+1, s.output(s.of.outputs, n)
	for k := range s.of.outputs {
		for of := range k + 1 {
			for r, p := range s.output(k, n) {
				bent[r] = -p * s.scores[of*tileRows+r]
			}
			if of == k {
				floats.Add(bent, s.output(k, n))
			}
			if weights != nil {
				floats.Mul(bent, weights)
			}
			s.bend(bent, s.curvature[(k*(k+1)/2+of)*m*m:][:m*m])
		}
	}
}

// enough is the step, in nats a row, below which there is nothing to be gained.
const enough = 1e-20

// lastStep is the step, in nats a row, that is taken unseen: steps near the end
// shrink the gain a hundredfold and more, and a weight's error is its root.
const lastStep = 1e-17

// fewSteps cost as much as two or three with a curvature.
const fewSteps = 12

// newton solves for the weights: each step is a weighted least
// squares problem. Of many rows some show where the weights lie, and how the
// loss is curved there: all of them then seldom need a curvature of their own.
func (l *logit) newton(ctx context.Context) error {
	some := 0
	for _, every := range [...]int{64, 16, 4} {
		if some = l.visited(every); some > 0 {
			// Nearer than this some do not show where the least of all rows is:
			// it lies about terms/2 nats from theirs, on the whole.
			near := float64(len(l.at)) / 16 / float64(some)
			if err := l.newtonOn(ctx, every, near); err != nil {
				return err
			}
		}
	}
	if some > 0 {
		share := float64(some) / float64(l.table.Rows())
		found, err := l.descend(ctx, func(slope []float64) []float64 {
			move := solveFactor(l.factor, slope, len(slope))
			floats.Scale(share, move)
			return move
		}, fewSteps)
		if found || err != nil {
			return err
		}
	}
	return l.newtonOn(ctx, 1, enough)
}

func (l *logit) newtonOn(ctx context.Context, every int, enough float64) error {
	n := len(l.at)
	moved, before := make([]float64, n), math.Inf(1)
	loss, slope, factor, err := l.pass(ctx, l.at, every, true)
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
			if now, slopeNow, factor, err = l.pass(ctx, moved, every, curved); err != nil {
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
