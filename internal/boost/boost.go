// Package boost grows boosted trees that all classes share, over columns cut
// into bins of one byte a cell. The trees are teachers, not models: their nodes
// are conjunctions of tests that are worth looking at, and their scores are
// smooth labels, from which a learner of rules picks and fits a few.
//
// A tree is grown best first (Friedman, Greedy function approximation, 2001;
// second order: Chen and Guestrin, XGBoost, 2016). With slopes g and curvatures h
// of the log loss, a node is worth Σ g²/(h+1) over the classes, and a split what
// its two sides are worth more. A slope and a curvature share one whole number
// of 64 bits, so that a cell costs one addition a class, sums do not depend on
// the order of the rows, and the greater of two children is its parent less
// the other, exactly.
//
// Rows and columns of a tree are drawn by hashes: of the row, of the column's
// name, and of the tree's number and the seed. So the trees are a function of
// the set of rows and not of how they are laid out.
//
// rulenet learns from it.
package boost

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Bins is the most bins of a column, that of missing cells included: the set of
// bins that a test holds for is one word.
const Bins = 64

// Column is the cells of a column as bins. Bin 0 is a missing cell.
type Column struct {
	Cells   []uint8
	Bins    int    // bins are below it
	Ordered bool   // bins from 1 on are in order, and a split is between two; else it is one against the others
	Missing bool   // some cell is missing
	Others  bool   // the last bin is of all other values, and no test is about it alone
	Salt    uint64 // of the column's name
}

// Rows is what to learn from.
type Rows struct {
	Columns []Column
	Hash    []uint64 // of each row
	Scores  int      // 1 for two classes or a number, else one for each class
	// Class of each row, from 0; of two classes the score is that of the second.
	// Without classes the target is a number.
	Class  []int32
	Number []float64
}

// Options say how trees grow.
type Options struct {
	Leaves, Depth int
	Rate          float64
	RowShare      float64 // of the rows that a tree sees
	ColumnShare   float64
	Seed          uint64
}

// Node is a node of a tree. The root is node 0, and a node without children has
// Left 0.
type Node struct {
	Parent, Left, Right int32
	Column              int32
	Set                 uint64 // bins that go left
}

// Tree is a grown tree: its nodes, each behind its parent, and for each node and
// score what a leaf adds.
type Tree struct {
	Nodes  []Node
	Values []float64
}

// Test holds for the cells of a column that are in a set of bins.
type Test struct {
	Column int32
	Set    uint64
}

// Tests returns the conjunction of tests that leads to a node, one for each
// column, in the order of columns. A cell that is missing goes left or right,
// but where a column has none, no test is said to hold for it.
func (t *Tree) Tests(columns []Column, node int32) []Test {
	var tests []Test
	for node != 0 {
		parent := &t.Nodes[t.Nodes[node].Parent]
		c := &columns[parent.Column]
		set := parent.Set
		if parent.Right == node {
			set = ^set
		}
		set &= 1<<c.Bins - 1
		if !c.Missing {
			set &^= 1
		}
		at := 0
		for at < len(tests) && tests[at].Column < parent.Column {
			at++
		}
		if at < len(tests) && tests[at].Column == parent.Column {
			tests[at].Set &= set
		} else {
			tests = append(tests[:at], append([]Test{{parent.Column, set}}, tests[at:]...)...)
		}
		node = t.Nodes[node].Parent
	}
	return tests
}

// Teacher is trees being grown.
type Teacher struct {
	Options
	*Rows
	Trees  []Tree
	LeafOf [][]uint8 // of each tree: the leaf of each row that is remembered
	Loss   float64   // sum over the rows held out

	learn, held []float64 // weights of the rows
	remember    []int32
	total       float64
	cover       []int32 // rows of some weight
	// state is what the trees say of all rows, row by row: the number, the odds
	// of the second of two classes, or the probability of each of more. A leaf
	// moves it by a factor, so that no row costs an exponential.
	state  []float64
	packed []int64 // slope and curvature of each row and lane, as far as a tree sees it
	lanes  int
	start  []float64
	scale  float64
	grower grower
}

// New returns a teacher that has not begun. Learn and held are the weights of
// the rows to learn from and to judge by; remembered rows keep their leaves.
func New(rows *Rows, learn, held []float64, remember []int32, o Options) *Teacher {
	t := &Teacher{Options: o, Rows: rows, learn: learn, held: held, remember: remember, lanes: rows.Scores}
	if rows.Scores > 1 {
		t.lanes++ // the rows themselves
	}
	k := rows.Scores
	n := len(rows.Hash)
	t.state = make([]float64, n*k)
	t.packed = make([]int64, n*t.lanes)
	start := make([]float64, k)
	counts := make([]float64, max(2, k))
	for i, w := range learn {
		t.total += w
		if w > 0 || held != nil && held[i] > 0 {
			t.cover = append(t.cover, int32(i))
		}
		if rows.Class != nil {
			counts[rows.Class[i]] += w
		} else if w > 0 {
			start[0] += w * rows.Number[i]
		}
	}
	const some = 0.1 // cases of each class, so that none is impossible
	state := start
	switch {
	case rows.Class == nil:
		start[0] /= t.total
	case k == 1:
		state = []float64{(counts[1] + some) / (counts[0] + some)}
		start[0] = math.Log(state[0])
	default:
		state = make([]float64, k)
		for c := range start {
			state[c] = (counts[c] + some) / (t.total + some*float64(k))
			start[c] = math.Log(state[c])
		}
	}
	for i := range n {
		copy(t.state[i*k:i*k+k], state)
	}
	t.start = start
	t.grower.teacher = t
	return t
}

// Total is the weight of the rows to learn from.
func (t *Teacher) Total() float64 { return t.total }

// Start is the scores before the first tree.
func (t *Teacher) Start() []float64 { return t.start }

// Grow grows so many trees more.
func (t *Teacher) Grow(ctx context.Context, trees int) error {
	for range trees {
		if err := t.grower.grow(ctx); err != nil {
			return err
		}
	}
	return t.measure(ctx)
}

// rescale says how many units of a sum are one.
func (t *Teacher) rescale() {
	reach := t.total
	if t.Class == nil {
		reach = 0
		for _, i := range t.cover {
			reach += t.learn[i] * max(1, math.Abs(t.Number[i]-t.state[i]))
		}
	}
	t.scale = (1 << 30) / max(reach, 1)
}

// slopes packs slope and curvature of a row, times its weight.
func (t *Teacher) slopes(i int, w float64) {
	k := t.Scores
	w *= t.scale
	switch {
	case t.Class == nil:
		t.packed[i] = Pack(w*(t.Number[i]-t.state[i]), w)
	case k == 1:
		odds := t.state[i]
		not := 1 / (1 + odds)
		q := odds * not
		slope := -q
		if t.Class[i] == 1 {
			slope = not
		}
		t.packed[i] = Pack(w*slope, w*q*not)
	default:
		row := t.packed[i*t.lanes : (i+1)*t.lanes]
		for c, q := range t.state[i*k : i*k+k] {
			row[c] = Pack(-w*q, 2*w*q*(1-q))
		}
		own := t.Class[i]
		q := t.state[i*k+int(own)]
		row[own] = Pack(w*(1-q), 2*w*q*(1-q))
		row[k] = Pack(0, w)
	}
}

// Pack puts a slope and a curvature, which is not below 0, into one number.
// Sums of such numbers are such numbers as long as both stay below 2³¹.
func Pack(slope, curvature float64) int64 {
	const shift = 1 << 40
	return (int64(slope+(shift+0.5))-shift)<<32 + int64(curvature+0.5)
}

// Unpack returns the slope and the curvature of a sum.
func Unpack(sum int64) (slope, curvature float64) {
	return float64(sum >> 32), float64(uint32(sum))
}

// Softmax fills p with the probabilities of scores.
func Softmax(scores, p []float64) {
	top := scores[0]
	for _, s := range scores[1:] {
		top = max(top, s)
	}
	norm := 0.0
	for c, s := range scores {
		p[c] = math.Exp(s - top)
		norm += p[c]
	}
	for c := range p {
		p[c] /= norm
	}
}

// RowLoss returns the loss of a row: log loss of its class, or half the square
// of how far its number is off.
func RowLoss(scores []float64, class int32, number float64, classes bool) float64 {
	switch {
	case !classes:
		return (scores[0] - number) * (scores[0] - number) / 2
	case len(scores) == 1:
		s := scores[0]
		if class == 1 {
			s = -s
		}
		if s > 0 {
			return s + math.Log1p(math.Exp(-s))
		}
		return math.Log1p(math.Exp(s))
	}
	top := scores[0]
	for _, s := range scores[1:] {
		top = max(top, s)
	}
	norm := 0.0
	for _, s := range scores {
		norm += math.Exp(s - top)
	}
	return top + math.Log(norm) - scores[class]
}

// measure adds up the loss on the rows held out, in parts that do not depend on
// the number of cores.
func (t *Teacher) measure(ctx context.Context) error {
	if t.held == nil {
		return ctx.Err()
	}
	const part = 4096
	sums := make([]float64, (len(t.cover)+part-1)/part)
	err := crew.Each(ctx, len(sums), func(p int) {
		for _, i := range t.cover[p*part : min((p+1)*part, len(t.cover))] {
			if t.held[i] > 0 {
				sums[p] += t.held[i] * t.rowLoss(int(i))
			}
		}
	})
	t.Loss = 0
	for _, s := range sums {
		t.Loss += s
	}
	return err
}

func (t *Teacher) rowLoss(i int) float64 {
	switch {
	case t.Class == nil:
		return RowLoss(t.state[i:i+1], 0, t.Number[i], false)
	case t.Scores > 1:
		return -math.Log(max(t.state[i*t.Scores+int(t.Class[i])], math.SmallestNonzeroFloat64))
	case t.Class[i] == 1:
		return math.Log1p(1 / t.state[i])
	}
	return math.Log1p(t.state[i])
}

// Scramble spreads a number over all bits (the finaliser of SplitMix64).
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns how much of a row's weight a sample of a share holds: each unit
// of it is drawn on its own, as if equal rows had never been put together.
func draw(state uint64, weight, share float64) float64 {
	limit := uint64(share * (1 << 53))
	if weight > 64 {
		return weight * share
	}
	drawn := 0.0
	for unit := 0.0; unit < weight; unit++ {
		state = Scramble(state)
		if state>>11 < limit {
			drawn += min(1, weight-unit)
		}
	}
	return drawn
}
