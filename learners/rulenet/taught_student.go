package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/crew"
)

// The student: a small network that is picked, rule by rule, from the nodes of
// a teacher's trees, and fitted to the teacher's probabilities instead of the
// labels. Where labels are noisy the teacher has few trees and its
// probabilities are smooth; where they are not it has many, and they are
// nearly the labels.

const (
	treesLookedAt = 64   // for each batch of rules, drawn anew
	batchShare    = 0.07 // of the rules so far, that a batch adds
	leastPromise  = 0.02 // gain below which no rule is added
	studentRidge  = 1.0
	alwaysFitAll  = 10 // rules up to which every batch fits all weights
	fitAllEvery   = 3  // batches
	dropShare     = 0.1
	mostHalvings  = 12
)

// lesson is what a student learns from: rows, what the teacher says of them,
// and the nodes of its trees.
type lesson struct {
	x      *boost.Rows
	k      int       // scores
	rows   []int32   // of x, that are learnt from
	weight []float64 // of each of these
	q      []float64 // soft labels, score by score (see plane)
	trees  []boost.Tree
	leafOf [][]uint8   // of each tree: of each row
	price  [][]float64 // of each tree's nodes: tests to read; 0: no candidate
	way    [][]int8    // likewise: which way it may move the answer; 0: both
	// allowed says so of tests, and whether they may at all.
	allowed    func([]boost.Test) (int8, bool)
	ways       []int8 // of each column, likewise; nil: both
	tracks     []*track
	ridge      float64
	adderRidge float64 // that of numbers
	total      float64
	seed       uint64
}

// picked is a rule of the student.
type picked struct {
	tests   []boost.Test
	rows    []int32 // of the lesson
	held    []int32 // of the rows held out
	weights []float64
	says    []int32 // scores that it speaks of; nil: of all
	curve   float64
	found   int  // batch
	way     int8 // that it may move the answer; 0: both
}

// room is what picking and fitting use again and again.
type room struct {
	packed       []int64   // slopes and curvatures, row by row
	every        int       // of the rows, which gains are taken from
	sums         [][]int64 // of the nodes of a tree; one for each that is looked at
	gain         []promise
	along, moved []float64
	before       []float64
	step         []float64
	curves       []float64 // of each score of each rule
}

// plane returns what belongs to one score of all rows.
func (l *lesson) plane(of []float64, score int) []float64 {
	n := len(l.rows)
	return of[score*n:][:n:n]
}

// student is a network being picked. What it has of rows and scores stands score
// by score (see plane): of a step, each score is fitted by itself.
type student struct {
	*lesson
	bias   []float64
	rules  []picked
	scores []float64
	p      []float64 // of the scores
	slope  []float64 // weight · (q − p)
	curve  []float64
	loss   float64
	batch  int
	taken  [][]bool // nodes
	done   bool     // nothing promises anything any more
	held   *heldOut
	room
}

// heldOut is rows that judge a student.
type heldOut struct {
	rows   []int32
	weight []float64
}

func (l *lesson) newStudent() *student {
	n := len(l.rows)
	s := &student{lesson: l, bias: make([]float64, l.k), scores: make([]float64, n*l.k), p: make([]float64, n*l.k), slope: make([]float64, n*l.k), curve: make([]float64, n*l.k), taken: make([][]bool, len(l.trees))}
	for t := range s.taken {
		s.taken[t] = make([]bool, len(l.trees[t].Nodes))
	}
	for c := range s.bias {
		mean, q := 0.0, l.plane(l.q, c)
		for i, w := range l.weight {
			mean += w * q[i] / l.total
		}
		if s.bias[c] = math.Log(max(mean, 1e-9)); l.k == 1 {
			s.bias[c] = math.Log(max(mean, 1e-9) / max(1-mean, 1e-9))
		}
	}
	s.spread(s.scores, s.bias)
	s.loss = s.measure(s.scores)
	return s
}

// measure fills in the probabilities of scores and returns the loss against
// the soft labels.
func (s *student) measure(scores []float64) float64 {
	loss := 0.0
	if s.k == 1 {
		product, many := 1.0, 0 // of 1 + e, of which one logarithm is enough
		for i, f := range scores {
			e := math.Exp(-math.Abs(f))
			p := 1 / (1 + e)
			if f < 0 {
				p *= e
			}
			s.p[i] = p
			w := s.weight[i]
			loss += w * (max(f, 0) - s.q[i]*f)
			if w != 1 {
				loss += w * math.Log1p(e)
				continue
			}
			product *= 1 + e
			if many++; many == mostFactors {
				loss += math.Log(product)
				product, many = 1, 0
			}
		}
		return loss + math.Log(product)
	}
	for lo := 0; lo < len(s.rows); lo += measuredAtOnce {
		loss += s.measureSome(scores, lo, min(lo+measuredAtOnce, len(s.rows)))
	}
	return loss
}

// measuredAtOnce is how many rows' sums are held while the scores of several
// classes are added up.
const measuredAtOnce = 256

// measureSome does so for some rows of several classes.
func (s *student) measureSome(scores []float64, lo, hi int) (loss float64) {
	var top, norm, said [measuredAtOnce]float64
	for i, x := range s.plane(scores, 0)[lo:hi] {
		top[i] = x
	}
	for c := 1; c < s.k; c++ {
		for i, x := range s.plane(scores, c)[lo:hi] {
			top[i] = max(top[i], x)
		}
	}
	for c := range s.k {
		p, q := s.plane(s.p, c)[lo:hi], s.plane(s.q, c)[lo:hi]
		for i, x := range s.plane(scores, c)[lo:hi] {
			p[i] = math.Exp(x - top[i])
			norm[i] += p[i]
			said[i] += q[i] * x
		}
	}
	for c := range s.k {
		for i, p := 0, s.plane(s.p, c)[lo:hi]; i < len(p); i++ {
			p[i] /= norm[i]
		}
	}
	for i, w := range s.weight[lo:hi] {
		loss += w * (top[i] + math.Log(norm[i]) - said[i])
	}
	return loss
}

// spread gives all rows the same scores.
func (s *student) spread(to, scores []float64) {
	for c, x := range scores {
		for i, plane := 0, s.plane(to, c); i < len(plane); i++ {
			plane[i] = x
		}
	}
}

// mostFactors of at most 2 do not overflow when multiplied.
const mostFactors = 1000

// penalty is the ridge of all weights.
func (s *student) penalty() float64 {
	sum := 0.0
	for i := range s.rules {
		for _, w := range s.rules[i].weights {
			sum += w * w
		}
	}
	return s.ridge / 2 * sum
}

// derive fills in slopes and curvatures.
func (s *student) derive() {
	twice := 1.0
	if s.k > 1 {
		twice = 2
	}
	for c := range s.k {
		p, q, slope, curve := s.plane(s.p, c), s.plane(s.q, c), s.plane(s.slope, c), s.plane(s.curve, c)
		for i, w := range s.weight {
			slope[i] = w * (q[i] - p[i])
			curve[i] = w * twice * p[i] * (1 - p[i])
		}
	}
}

// newton takes one of Newton's steps for the biases and the rules from a place
// on: sweeps over them with slopes and curvatures as they are, and half the way,
// and half of that, while the loss rises.
func (s *student) newton(ctx context.Context, from, sweeps int) error {
	s.derive()
	s.before = append(s.before[:0], s.bias...)
	for j := from; j < len(s.rules); j++ {
		s.before = append(s.before, s.rules[j].weights...)
	}
	ofBias, err := s.bend(ctx, from)
	if err != nil {
		return err
	}
	err = s.eachScore(ctx, func(c int) {
		slope, curve := s.plane(s.slope, c), s.plane(s.curve, c)
		for range sweeps {
			s.sweepBias(c, ofBias, slope, curve)
			for j := from; j < len(s.rules); j++ {
				if r := &s.rules[j]; r.speaks(c) {
					r.sweep(c, s.ridge, slope, curve)
				}
				if j%64 == 0 && ctx.Err() != nil {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	return s.lineSearch(ctx, from)
}

// eachScore does something for each score, on all cores if it is worth it.
func (s *student) eachScore(ctx context.Context, do func(c int)) error {
	if s.k > 1 && len(s.slope) >= worthTwo {
		return crew.Each(ctx, s.k, do)
	}
	for c := range s.k {
		do(c)
	}
	return ctx.Err()
}

// speaks reports whether a rule may have a weight for a score.
func (r *picked) speaks(c int) bool { return r.says == nil || slices.Contains(r.says, int32(c)) }

// bend fills in the curvature of the rules from a place on, and returns that of
// all rows: the greatest over the scores.
func (s *student) bend(ctx context.Context, from int) (all float64, err error) {
	n := len(s.rules) - from + 1
	s.curves = slices.Grow(s.curves[:0], n*s.k)[:n*s.k]
	err = s.eachScore(ctx, func(c int) {
		curve, curves := s.plane(s.curve, c), s.curves[c*n:][:n]
		curves[0] = sum(curve)
		for j := range curves[1:] {
			curves[j+1] = 0
			if r := &s.rules[from+j]; r.speaks(c) {
				curves[j+1] = r.sum(curve)
			}
		}
	})
	most := s.curves[:n]
	for c := 1; c < s.k; c++ {
		for j, x := range s.curves[c*n:][:n] {
			most[j] = max(most[j], x)
		}
	}
	for j, x := range most[1:] {
		s.rules[from+j].curve = x
	}
	return most[0], err
}

// sum adds up what belongs to a rule's rows, four sums side by side, as one would
// wait for itself.
func (r *picked) sum(plane []float64) float64 {
	var a, b, c, d float64
	rows := r.rows
	for ; len(rows) >= 4; rows = rows[4:] {
		a += plane[rows[0]]
		b += plane[rows[1]]
		c += plane[rows[2]]
		d += plane[rows[3]]
	}
	for _, i := range rows {
		a += plane[i]
	}
	return (a + b) + (c + d)
}

// sweepBias moves the bias of a score to where the approximation of the loss is
// least, and the slopes with it.
func (s *student) sweepBias(c int, ofAll float64, slope, curve []float64) {
	d := sum(slope) / (ofAll + 1e-9)
	s.bias[c] += d
	for i, h := range curve {
		slope[i] -= h * d
	}
}

// sweep does so with a rule's weight.
func (r *picked) sweep(c int, ridge float64, slope, curve []float64) {
	to := keeps(r.way, (r.curve*r.weights[c]+r.sum(slope))/(r.curve+ridge))
	d := to - r.weights[c]
	r.weights[c] = to
	for _, i := range r.rows {
		slope[i] -= curve[i] * d
	}
}

// lineSearch goes as far towards the new weights as the loss does not rise.
func (s *student) lineSearch(ctx context.Context, from int) error {
	k := s.k
	d := append(s.step[:0], s.bias...)
	for c := range d {
		d[c] -= s.before[c]
	}
	s.step = d
	s.along = slices.Grow(s.along[:0], len(s.scores))[:len(s.scores)]
	s.spread(s.along, d)
	old := 0.0
	for j := from; j < len(s.rules); j++ {
		r := &s.rules[j]
		before := s.before[(j-from+1)*k:][:k]
		for c, w := range r.weights {
			d[c] = w - before[c]
			old += before[c]*before[c] - w*w
		}
		r.addTo(s.along, r.rows, d)
	}
	was := s.loss + s.penalty() + s.ridge/2*old
	s.moved = slices.Grow(s.moved[:0], len(s.scores))[:len(s.scores)]
	for share, tries := 1.0, 0; ; share, tries = share/2, tries+1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for at, x := range s.along {
			s.moved[at] = s.scores[at] + share*x
		}
		loss := s.measure(s.moved)
		if loss+s.penalty() <= was*(1+1e-12) || tries == mostHalvings {
			s.scores, s.moved, s.loss = s.moved, s.scores, loss
			return nil
		}
		for j := from; j < len(s.rules); j++ { // half the way back
			for c := range s.rules[j].weights {
				w := &s.rules[j].weights[c]
				*w = (*w + s.before[(j-from+1)*k+c]) / 2
			}
		}
		for c := range s.bias {
			s.bias[c] = (s.bias[c] + s.before[c]) / 2
		}
	}
}

// addTo adds a rule's weights, or how they differ, to the scores of rows.
func (r *picked) addTo(scores []float64, rows []int32, weights []float64) {
	n := len(scores) / len(weights)
	for c, x := range weights {
		if !r.speaks(c) {
			continue
		}
		plane := scores[c*n:][:n]
		for _, i := range rows {
			plane[i] += x
		}
	}
}

// promise is a node that may become a rule.
type promise struct {
	tree, node int32
	line       int32 // of the number along a track, counted from 1; 0: none
	gain       float64
}

// promising returns the nodes of greatest gain among those of some trees. Of very
// many rows and classes every second is looked at, or third, and so on, the next
// time others: it is the order of gains that counts.
func (s *student) promising(ctx context.Context, most int) ([]promise, error) {
	s.derive()
	s.every = max(1, len(s.slope)>>16)
	if s.k == 1 {
		s.every = 1
	}
	scale := (1 << 30) / max(s.total, 1)
	s.packed = slices.Grow(s.packed[:0], len(s.slope))[:len(s.slope)]
	for c := range s.k {
		slope, curve := s.plane(s.slope, c), s.plane(s.curve, c)
		for i := s.batch % s.every; i < len(slope); i += s.every {
			s.packed[i*s.k+c] = boost.Pack(slope[i]*scale, curve[i]*scale)
		}
	}
	trees := s.drawTrees(s.batch)
	s.gain = s.gain[:0]
	for len(s.sums) < len(trees) {
		s.sums = append(s.sums, nil)
	}
	if len(s.slope)/s.every*len(trees) < worthTwo {
		for at := range trees {
			s.gain = append(s.gain, s.gains(at, trees[at], scale)...)
		}
		return best(s.gain, most), ctx.Err()
	}
	found := make([][]promise, len(trees))
	err := crew.Each(ctx, len(trees), func(at int) { found[at] = s.gains(at, trees[at], scale) })
	for _, f := range found {
		s.gain = append(s.gain, f...)
	}
	return best(s.gain, most), err
}

// worthTwo is the number of additions that are worth a second goroutine.
const worthTwo = 1 << 18

// best returns the most promising, in order.
func best(all []promise, most int) []promise {
	if most < len(all)/2 { // most of them need not be put in order
		gains := make([]float64, len(all))
		for i, p := range all {
			gains[i] = p.gain
		}
		least := greatest(gains, most)
		all = slices.DeleteFunc(all, func(p promise) bool { return p.gain < least })
	}
	slices.SortFunc(all, func(a, b promise) int {
		return cmp.Or(-cmp.Compare(a.gain, b.gain), cmp.Compare(a.tree, b.tree), cmp.Compare(a.node, b.node), cmp.Compare(a.line, b.line))
	})
	return all[:min(most, len(all))]
}

// greatest returns the kth greatest of some numbers, k from 1, and puts them in
// another order (Hoare, Algorithm 65: find, 1961).
func greatest(x []float64, k int) float64 {
	for lo, hi := 0, len(x)-1; lo < hi; {
		pivot, i, j := x[lo+(hi-lo)/2], lo, hi
		for i <= j {
			for x[i] > pivot {
				i++
			}
			for x[j] < pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return x[k-1]
		}
	}
	return x[k-1]
}

// drawTrees draws the trees whose nodes are looked at.
func (l *lesson) drawTrees(batch int) []int {
	type lot struct {
		tree int
		key  uint64
	}
	lots := make([]lot, len(l.trees))
	for t := range lots {
		lots[t] = lot{t, scramble(scramble(l.seed^uint64(batch)<<32) ^ uint64(t))}
	}
	slices.SortFunc(lots, func(a, b lot) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.tree, b.tree)) })
	trees := make([]int, min(treesLookedAt, len(lots)))
	for i := range trees {
		trees[i] = lots[i].tree
	}
	return trees
}

// gains returns what the nodes of a tree promise: the sums of slopes and
// curvatures of its leaves, added up from children to parents.
func (s *student) gains(place, tree int, scale float64) []promise {
	k := s.k
	nodes := s.trees[tree].Nodes
	sums := s.sums[place]
	if n := len(nodes) * k; cap(sums) < n {
		sums = make([]int64, n, 2*n)
		s.sums[place] = sums
	} else {
		sums = sums[:n]
		clear(sums)
	}
	if k == 1 {
		for i, leaf := range s.leafOf[tree] {
			sums[leaf] += s.packed[i]
		}
	} else {
		leaves := s.leafOf[tree]
		for i := s.batch % s.every; i < len(leaves); i += s.every {
			to := sums[int(leaves[i])*k : int(leaves[i])*k+k]
			for c, x := range s.packed[i*k : i*k+k] {
				to[c] += x
			}
		}
	}
	times := float64(s.every)
	var found []promise
	price, taken := s.price[tree], s.taken[tree]
	for node := len(nodes) - 1; node > 0; node-- {
		own, up := sums[node*k:node*k+k], sums[int(nodes[node].Parent)*k:]
		for c, x := range own {
			up[c] += x
		}
		if price[node] == 0 || taken[node] {
			continue
		}
		gain := 0.0
		for _, x := range own {
			slope, curve := boost.Unpack(x)
			slope = keeps(s.way[tree][node], slope) * times
			gain += slope * slope / (curve*times + scale)
		}
		if gain *= 1 / scale / math.Sqrt(price[node]); gain > leastPromise {
			found = append(found, promise{tree: int32(tree), node: int32(node), gain: gain})
		}
	}
	return found
}

// forward picks rules until there are so many, or nothing promises anything.
func (s *student) forward(ctx context.Context, size int) error {
	for len(s.rules) < size && !s.done {
		most := min(max(1, int(batchShare*float64(len(s.rules)))), size-len(s.rules))
		s.batch++
		best, err := s.promising(ctx, most)
		if err != nil {
			return err
		}
		if len(best) == 0 {
			s.done = len(s.trees) <= treesLookedAt || s.batch > 2*size // others may be drawn
			if len(s.trees) > treesLookedAt && s.stale() {
				s.done = true
			}
			continue
		}
		from := len(s.rules)
		for _, b := range best {
			s.add(b)
		}
		if err := s.newton(ctx, from, 2); err != nil {
			return err
		}
		s.silence(from)
		if len(s.rules) <= alwaysFitAll || s.batch%fitAllEvery == 0 {
			if err := s.newton(ctx, 0, 3); err != nil {
				return err
			}
		}
	}
	return nil
}

// stale reports whether a second draw found nothing either.
func (s *student) stale() bool {
	return len(s.rules) == 0 || s.rules[len(s.rules)-1].found < s.batch-1
}

// add makes a rule of a node.
func (s *student) add(b promise) {
	s.taken[b.tree][b.node] = true
	tests := s.trees[b.tree].Tests(s.x.Columns, b.node)
	r := picked{tests: tests, rows: covered(s.x, tests, s.rows), weights: make([]float64, s.k), found: s.batch, way: s.way[b.tree][b.node]}
	if s.held != nil {
		r.held = covered(s.x, tests, s.held.rows)
	}
	s.rules = append(s.rules, r)
}

// covered returns the places of the rows that satisfy all tests. Which rows do
// cannot be foreseen, so nothing branches on it.
func covered(x *boost.Rows, tests []boost.Test, rows []int32) []int32 {
	if len(tests) == 0 {
		return count(len(rows))
	}
	found, n := make([]int32, len(rows)), 0
	cells, set := x.Columns[tests[0].Column].Cells, tests[0].Set
	for at, i := range rows {
		found[n] = int32(at)
		n += int(set >> (cells[i] & 63) & 1)
	}
	for _, t := range tests[1:] {
		cells, set, left := x.Columns[t.Column].Cells, t.Set, 0
		for _, at := range found[:n] {
			found[left] = at
			left += int(set >> (cells[rows[at]] & 63) & 1)
		}
		n = left
	}
	if n > len(rows)/2 {
		return found[:n]
	}
	return slices.Clone(found[:n])
}

// certificates returns what each rule takes off the loss, the others as they
// are.
func (s *student) certificates() []float64 {
	k := s.k
	taken := make([]float64, len(s.rules))
	var norm, said []float64 // of a rule's rows, without it
	for j := range s.rules {
		r := &s.rules[j]
		if k == 1 {
			taken[j] = s.takenOfTwo(r)
			continue
		}
		says := r.says
		if says == nil {
			says = count(k)
		}
		norm, said = norm[:0], said[:0]
		for range r.rows {
			norm, said = append(norm, 1), append(said, 0)
		}
		for _, c := range says { // from the probabilities, which are there
			less, p, q := 1-math.Exp(-r.weights[c]), s.plane(s.p, int(c)), s.plane(s.q, int(c))
			for at, i := range r.rows {
				norm[at] -= p[i] * less
				said[at] += q[i] * r.weights[c]
			}
		}
		for at, i := range r.rows {
			taken[j] += s.weight[i] * (math.Log(max(norm[at], 1e-300)) + said[at])
		}
	}
	return taken
}

// takenOfTwo does so for a rule of two classes, from the probabilities, which are
// there: without the rule's weight w the odds of a row fall by a factor of exp(−w), and
// 1 + odds by one of 1 + p (exp(−w) − 1).
func (s *student) takenOfTwo(r *picked) float64 {
	w, taken := r.weights[0], 0.0
	less := math.Expm1(-w)
	product := 1.0 // of factors, of which one logarithm is enough
	for _, i := range r.rows {
		taken += s.weight[i] * s.q[i] * w
		factor := max(1+s.p[i]*less, 1e-16)
		if s.weight[i] != 1 {
			taken += s.weight[i] * math.Log(factor)
			continue
		}
		if product *= factor; product < 1e-150 || product > 1e150 {
			taken += math.Log(product)
			product = 1
		}
	}
	return taken + math.Log(product)
}

// label makes the labels what is learnt, instead of what the teacher says of them.
func (l *lesson) label() {
	clear(l.q)
	for at, i := range l.rows {
		if class := int(l.x.Class[i]); l.k > 1 {
			l.plane(l.q, class)[at] = 1
		} else {
			l.q[at] = float64(class)
		}
	}
}

// removed returns the bits that each rule takes off the log loss of the labels
// themselves, weights stretched. The student is of no use after it.
func (s *student) removed(stretch float64) []float64 {
	s.label()
	for at := range s.scores {
		s.scores[at] *= stretch
	}
	stretched := *s
	stretched.rules = slices.Clone(s.rules)
	for j := range stretched.rules {
		r := &stretched.rules[j]
		r.weights = slices.Clone(r.weights)
		for c := range r.weights {
			r.weights[c] *= stretch
		}
	}
	stretched.measure(s.scores)
	bits := stretched.certificates()
	for j := range bits {
		bits[j] /= math.Ln2
	}
	return bits
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// backward drops the tenth that takes least off the loss, refits, and so on,
// until so many are left.
func (s *student) backward(ctx context.Context, size int) error {
	for len(s.rules) > size {
		taken := s.certificates()
		order := make([]int, len(taken))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(taken[a], taken[b]) })
		drop := min(max(1, int(dropShare*float64(len(order)))), len(order)-size)
		out := make([]bool, len(order))
		for _, j := range order[:drop] {
			out[j] = true
			r := &s.rules[j]
			for c := range r.weights {
				r.weights[c] = -r.weights[c]
			}
			r.addTo(s.scores, r.rows, r.weights)
		}
		var left []picked
		for j := range s.rules {
			if !out[j] {
				left = append(left, s.rules[j])
			}
		}
		s.rules = left
		s.loss = s.measure(s.scores)
		if err := s.newton(ctx, 0, 3); err != nil {
			return err
		}
	}
	return nil
}

// leastSaid is the share of a rule's greatest weight below which it does not
// speak of a class.
const leastSaid = 0.2

// silence takes the weights of classes of which the rules from a place on say
// little to 0, for good.
func (s *student) silence(from int) {
	if s.k == 1 {
		return
	}
	for j := from; j < len(s.rules); j++ {
		r := &s.rules[j]
		most := 0.0
		for _, w := range r.weights {
			most = max(most, math.Abs(w))
		}
		says := make([]int32, 0, s.k)
		for c, w := range r.weights {
			if math.Abs(w) >= leastSaid*most {
				says = append(says, int32(c))
				continue
			}
			r.weights[c] = 0
			if w != 0 {
				for plane, at := s.plane(s.scores, c), 0; at < len(r.rows); at++ {
					plane[r.rows[at]] -= w
				}
			}
		}
		r.says = says
	}
	s.loss = s.measure(s.scores)
}

// finish fits all weights well.
func (s *student) finish(ctx context.Context) error {
	s.silence(0)
	steps := 4
	if s.k > 1 && len(s.rules) > manyRules {
		steps = 3
	}
	for range steps {
		if err := s.newton(ctx, 0, 6); err != nil {
			return err
		}
	}
	return nil
}

// stretches are the common factors of all weights that are tried.
var stretches = [...]float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5}

// heldScores returns the scores of the rows held out, score by score.
func (s *student) heldScores() []float64 {
	n := len(s.held.rows)
	scores := make([]float64, n*s.k)
	for at := range scores {
		scores[at] = s.bias[at/n]
	}
	for j := range s.rules {
		s.rules[j].addTo(scores, s.rules[j].held, s.rules[j].weights)
	}
	return scores
}

// judge returns the loss on the rows held out with each stretch, and the weight
// of those answered wrongly.
func (s *student) judge() (losses [len(stretches)]float64, wrong float64) {
	k, n := s.k, len(s.held.rows)
	scores := s.heldScores()
	own, row := make([]float64, k), make([]float64, k)
	for at, i := range s.held.rows {
		for c := range own {
			own[c] = scores[c*n+at]
		}
		best := int32(0)
		if k == 1 {
			if own[0] > 0 {
				best = 1
			}
		} else {
			for c := range own {
				if own[c] > own[best] {
					best = int32(c)
				}
			}
		}
		if best != s.x.Class[i] {
			wrong += s.held.weight[at]
		}
		for f, stretch := range stretches {
			for c, x := range own {
				row[c] = x * stretch
			}
			losses[f] += s.held.weight[at] * boost.RowLoss(row, s.x.Class[i], 0, true)
		}
	}
	return losses, wrong
}
