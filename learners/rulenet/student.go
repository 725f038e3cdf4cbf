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
	q      []float64 // soft labels, by row and score
	trees  []boost.Tree
	leafOf [][]uint8   // of each tree: of each row
	price  [][]float64 // of each tree's nodes: tests to read; 0: no candidate
	total  float64
	seed   uint64
}

// picked is a rule of the student.
type picked struct {
	tests   []boost.Test
	rows    []int32 // of the lesson
	held    []int32 // of the rows held out
	weights []float64
	silent  []bool // scores that it says nothing of; nil: it speaks of all
	curve   float64
	found   int // batch
}

// student is a network being picked.
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
	mean := make([]float64, l.k)
	for i, w := range l.weight {
		for c := range mean {
			mean[c] += w * l.q[i*l.k+c] / l.total
		}
	}
	for c, q := range mean {
		if l.k == 1 {
			s.bias[c] = math.Log(max(q, 1e-9) / max(1-q, 1e-9))
		} else {
			s.bias[c] = math.Log(max(q, 1e-9))
		}
	}
	for i := range n {
		copy(s.scores[i*l.k:(i+1)*l.k], s.bias)
	}
	s.loss = s.measure(s.scores)
	return s
}

// measure fills in the probabilities of scores and returns the loss against
// the soft labels.
func (s *student) measure(scores []float64) float64 {
	loss := 0.0
	if s.k == 1 {
		for i, f := range scores {
			e := math.Exp(-math.Abs(f))
			s.p[i] = 1 / (1 + e)
			if f < 0 {
				s.p[i] = e / (1 + e)
			}
			loss += s.weight[i] * (max(f, 0) + math.Log1p(e) - s.q[i]*f)
		}
		return loss
	}
	for i, w := range s.weight {
		f, p, q := scores[i*s.k:(i+1)*s.k], s.p[i*s.k:(i+1)*s.k], s.q[i*s.k:(i+1)*s.k]
		top := slices.Max(f)
		norm, said := 0.0, 0.0
		for c, x := range f {
			p[c] = math.Exp(x - top)
			norm += p[c]
			said += q[c] * x
		}
		for c := range p {
			p[c] /= norm
		}
		loss += w * (top + math.Log(norm) - said)
	}
	return loss
}

// penalty is the ridge of all weights.
func (s *student) penalty() float64 {
	sum := 0.0
	for i := range s.rules {
		for _, w := range s.rules[i].weights {
			sum += w * w
		}
	}
	return studentRidge / 2 * sum
}

// derive fills in slopes and curvatures.
func (s *student) derive() {
	twice := 1.0
	if s.k > 1 {
		twice = 2
	}
	for i, w := range s.weight {
		for at := i * s.k; at < (i+1)*s.k; at++ {
			p := s.p[at]
			s.slope[at] = w * (s.q[at] - p)
			s.curve[at] = w * twice * p * (1 - p)
		}
	}
}

// newton takes one of Newton's steps for the biases and the rules from a place
// on: sweeps over them with slopes and curvatures as they are, and half the way,
// and half of that, while the loss rises.
func (s *student) newton(ctx context.Context, from, sweeps int) error {
	k := s.k
	s.derive()
	before := make([][]float64, len(s.rules)-from)
	for j := range before {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := &s.rules[from+j]
		before[j] = slices.Clone(r.weights)
		r.curve = s.curveOf(r.rows)
	}
	bias := slices.Clone(s.bias)
	var ofBias float64
	for c := range k {
		sum := 0.0
		for at := c; at < len(s.curve); at += k {
			sum += s.curve[at]
		}
		ofBias = max(ofBias, sum)
	}
	step := make([]float64, k)
	for range sweeps {
		s.sweepBias(ofBias, step)
		for j := from; j < len(s.rules); j++ {
			s.sweep(&s.rules[j], step)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return s.lineSearch(ctx, from, before, bias)
}

// curveOf returns the greatest curvature of some rows over the scores.
func (s *student) curveOf(rows []int32) float64 {
	k := s.k
	if k == 1 {
		sum := 0.0
		for _, i := range rows {
			sum += s.curve[i]
		}
		return sum
	}
	sums := make([]float64, k)
	for _, i := range rows {
		for c, h := range s.curve[int(i)*k : int(i)*k+k] {
			sums[c] += h
		}
	}
	return slices.Max(sums)
}

func (s *student) sweepBias(curve float64, step []float64) {
	k := s.k
	clear(step)
	for at, g := range s.slope {
		step[at%k] += g
	}
	for c := range step {
		step[c] /= curve + 1e-9
		s.bias[c] += step[c]
	}
	for at, h := range s.curve {
		s.slope[at] -= h * step[at%k]
	}
}

// sweep moves the weights of one rule to where the approximation of the loss
// is least, and the slopes with them.
func (s *student) sweep(r *picked, step []float64) {
	k := s.k
	if k == 1 {
		g := 0.0
		for _, i := range r.rows {
			g += s.slope[i]
		}
		to := (r.curve*r.weights[0] + g) / (r.curve + studentRidge)
		d := to - r.weights[0]
		r.weights[0] = to
		for _, i := range r.rows {
			s.slope[i] -= s.curve[i] * d
		}
		return
	}
	clear(step)
	for _, i := range r.rows {
		for c, g := range s.slope[int(i)*k : int(i)*k+k] {
			step[c] += g
		}
	}
	for c := range step {
		if r.silent != nil && r.silent[c] {
			step[c] = 0
			continue
		}
		to := (r.curve*r.weights[c] + step[c]) / (r.curve + studentRidge)
		step[c] = to - r.weights[c]
		r.weights[c] = to
	}
	for _, i := range r.rows {
		slope, curve := s.slope[int(i)*k:int(i)*k+k], s.curve[int(i)*k:int(i)*k+k]
		for c, d := range step {
			slope[c] -= curve[c] * d
		}
	}
}

// lineSearch goes as far towards the new weights as the loss does not rise.
func (s *student) lineSearch(ctx context.Context, from int, before [][]float64, bias []float64) error {
	k := s.k
	along := make([]float64, len(s.scores))
	d := make([]float64, k)
	for c := range d {
		d[c] = s.bias[c] - bias[c]
	}
	for at := range along {
		along[at] = d[at%k]
	}
	for j := from; j < len(s.rules); j++ {
		r := &s.rules[j]
		for c := range d {
			d[c] = r.weights[c] - before[j-from][c]
		}
		for _, i := range r.rows {
			to := along[int(i)*k : int(i)*k+k]
			for c, x := range d {
				to[c] += x
			}
		}
	}
	now := s.penalty()
	moved := slices.Clone(s.scores)
	was := s.loss
	old := 0.0
	for j := from; j < len(s.rules); j++ {
		for c, w := range s.rules[j].weights {
			old += before[j-from][c]*before[j-from][c] - w*w
		}
	}
	was += now + studentRidge/2*old
	for share, tries := 1.0, 0; ; share, tries = share/2, tries+1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for at, x := range along {
			moved[at] = s.scores[at] + share*x
		}
		loss := s.measure(moved)
		if loss+s.penalty() <= was*(1+1e-12) || tries == mostHalvings {
			s.scores, s.loss = moved, loss
			return nil
		}
		for j := from; j < len(s.rules); j++ { // half the way back
			for c := range s.rules[j].weights {
				w := &s.rules[j].weights[c]
				*w = (*w + before[j-from][c]) / 2
			}
		}
		for c := range s.bias {
			s.bias[c] = (s.bias[c] + bias[c]) / 2
		}
	}
}

// promise is a node that may become a rule.
type promise struct {
	tree, node int32
	gain       float64
}

// promising returns the nodes of greatest gain among those of some trees.
func (s *student) promising(ctx context.Context, most int) ([]promise, error) {
	s.derive()
	scale := (1 << 30) / max(s.total, 1)
	packed := make([]int64, len(s.slope))
	for at := range packed {
		packed[at] = boost.Pack(s.slope[at]*scale, s.curve[at]*scale)
	}
	trees := s.drawTrees(s.batch)
	found := make([][]promise, len(trees))
	err := crew.Each(ctx, len(trees), func(at int) { found[at] = s.gains(trees[at], packed, scale) })
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b promise) int {
		return cmp.Or(-cmp.Compare(a.gain, b.gain), cmp.Compare(a.tree, b.tree), cmp.Compare(a.node, b.node))
	})
	return all[:min(most, len(all))], nil
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
func (s *student) gains(tree int, packed []int64, scale float64) []promise {
	k := s.k
	nodes := s.trees[tree].Nodes
	sums := make([]int64, max(256, len(nodes))*k)
	if k == 1 {
		for i, leaf := range s.leafOf[tree] {
			sums[leaf] += packed[i]
		}
	} else {
		for i, leaf := range s.leafOf[tree] {
			to := sums[int(leaf)*k : int(leaf)*k+k]
			for c, x := range packed[i*k : i*k+k] {
				to[c] += x
			}
		}
	}
	var found []promise
	for node := len(nodes) - 1; node > 0; node-- {
		own, up := sums[node*k:node*k+k], sums[int(nodes[node].Parent)*k:]
		for c, x := range own {
			up[c] += x
		}
		price := s.price[tree][node]
		if price == 0 || s.taken[tree][node] {
			continue
		}
		gain := 0.0
		for _, x := range own {
			slope, curve := boost.Unpack(x)
			gain += slope * slope / (curve + scale)
		}
		if gain *= 1 / scale / math.Sqrt(price); gain > leastPromise {
			found = append(found, promise{int32(tree), int32(node), gain})
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
	r := picked{tests: tests, rows: covered(s.x, tests, s.rows), weights: make([]float64, s.k), found: s.batch}
	if s.held != nil {
		r.held = covered(s.x, tests, s.held.rows)
	}
	s.rules = append(s.rules, r)
}

// covered returns the places of the rows that satisfy all tests.
func covered(x *boost.Rows, tests []boost.Test, rows []int32) []int32 {
	found := make([]int32, 0, len(rows)/8)
	if len(tests) == 0 {
		return found
	}
	cells, set := x.Columns[tests[0].Column].Cells, tests[0].Set
	for at, i := range rows {
		if set>>(cells[i]&63)&1 != 0 {
			found = append(found, int32(at))
		}
	}
	for _, t := range tests[1:] {
		cells, kept := x.Columns[t.Column].Cells, found[:0]
		for _, at := range found {
			if t.Set>>(cells[rows[at]]&63)&1 != 0 {
				kept = append(kept, at)
			}
		}
		found = kept
	}
	return found
}

// certificates returns what each rule takes off the loss, the others as they
// are.
func (s *student) certificates() []float64 {
	k := s.k
	taken := make([]float64, len(s.rules))
	row := make([]float64, k)
	for j := range s.rules {
		r := &s.rules[j]
		for _, i := range r.rows {
			at := int(i) * k
			if k == 1 {
				f, w := s.scores[at], r.weights[0]
				taken[j] += s.weight[i] * (softplus(f-w) - softplus(f) + s.q[at]*w)
				continue
			}
			said := 0.0
			for c, w := range r.weights {
				row[c] = s.scores[at+c] - w
				said += s.q[at+c] * w
			}
			// Σ exp(score − w) from the probabilities, which are there.
			norm := 0.0
			for c, w := range r.weights {
				norm += s.p[at+c] * math.Exp(-w)
			}
			taken[j] += s.weight[i] * (math.Log(max(norm, 1e-300)) + said)
		}
	}
	return taken
}

// removed returns the bits that each rule takes off the log loss of the labels
// themselves, weights stretched. The student is of no use after it.
func (s *student) removed(stretch float64) []float64 {
	clear(s.q)
	for at, i := range s.rows {
		if class := int(s.x.Class[i]); s.k > 1 {
			s.q[at*s.k+class] = 1
		} else {
			s.q[at] = float64(class)
		}
	}
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
			for _, i := range r.rows {
				for c, w := range r.weights {
					s.scores[int(i)*s.k+c] -= w
				}
			}
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

// silence takes the weights of classes of which a rule says little to 0.
func (s *student) silence() {
	if s.k == 1 {
		return
	}
	for j := range s.rules {
		r := &s.rules[j]
		most := 0.0
		for _, w := range r.weights {
			most = max(most, math.Abs(w))
		}
		r.silent = make([]bool, s.k)
		for c, w := range r.weights {
			if math.Abs(w) < leastSaid*most {
				r.silent[c] = true
				r.weights[c] = 0
				for _, i := range r.rows {
					s.scores[int(i)*s.k+c] -= w
				}
			}
		}
	}
	s.loss = s.measure(s.scores)
}

// finish fits all weights well.
func (s *student) finish(ctx context.Context) error {
	s.silence()
	for range 4 {
		if err := s.newton(ctx, 0, 6); err != nil {
			return err
		}
	}
	return nil
}

// stretches are the common factors of all weights that are tried.
var stretches = [...]float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5}

// judge returns the loss on the rows held out with each stretch, and the weight
// of those answered wrongly.
func (s *student) judge() (losses [len(stretches)]float64, wrong float64) {
	k := s.k
	scores := make([]float64, len(s.held.rows)*k)
	for at := range scores {
		scores[at] = s.bias[at%k]
	}
	for j := range s.rules {
		r := &s.rules[j]
		for _, i := range r.held {
			to := scores[int(i)*k : int(i)*k+k]
			for c, w := range r.weights {
				to[c] += w
			}
		}
	}
	row := make([]float64, k)
	for at, i := range s.held.rows {
		own := scores[at*k : at*k+k]
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
