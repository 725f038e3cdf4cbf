package nearest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
)

// index finds the nearest cases.
type index interface {
	// find looks at all cases that may be among the nearest.
	find(s *search)
}

// From how many cases in how many dimensions on the nearest are found by a graph,
// unless it is said how: below, trees and brute force take less than building it.
const (
	graphFrom = 50_000
	graphDims = 24
)

// newIndex returns the index of a name; a graph may have been saved. Trees are worth their while where there
// are cases enough.
func newIndex(ctx context.Context, m *metric, s *settings, saved []byte) (index, error) {
	name := s.Index
	count := m.cases.count()
	if count == 0 || len(m.numbers)+len(m.names) == 0 {
		return brute{to: count}, nil
	}
	var in *space
	if name == "auto" {
		if count <= 2*leafSize {
			return brute{to: count}, nil
		}
		if in = newSpace(m); count >= graphFrom && in.dims >= graphDims && s.K != all {
			return graphOf(ctx, in, s, saved)
		}
		return newTree(ctx, in, false)
	}
	switch name {
	case "kd", "ball":
		return newTree(ctx, newSpace(m), name == "ball")
	case "graph":
		return graphOf(ctx, newSpace(m), s, saved)
	}
	return brute{to: count}, nil
}

// graphOf returns the graph that was saved, or a new one.
func graphOf(ctx context.Context, in *space, s *settings, saved []byte) (index, error) {
	if saved != nil {
		if g, err := readGraph(ctx, in, s.wanted(), saved); g != nil || err != nil {
			return g, err
		}
	}
	return newGraph(ctx, in, s.wanted(), s.Recall)
}

// wanted returns how many of the nearest a graph is made to find.
func (s *settings) wanted() int {
	if k, err := strconv.Atoi(s.K); err == nil {
		return min(k, 100)
	}
	return tunedFor
}

// placer is an index that knows where in it a question is. Questions that are at
// one place are answered together, so that what one has read is there for the
// next.
type placer interface {
	in() *space
	place(asked []float32) int32
}

// brute looks at every case of a stretch.
type brute struct{ from, to int }

func (b brute) find(s *search) {
	for i := b.from; i < b.to; i++ {
		s.look(i)
	}
}

// forest is an index of cases that grow (the logarithmic method; Bentley and Saxe
// 1980): that of the first, and of stretches behind them whose sizes at least
// halve from one to the next, so that a row is laid out anew a logarithm of times.
type forest struct {
	index
	rest []stretchOf
}

// stretchOf is an index of some cases that follow each other.
type stretchOf struct {
	index
	from, to int
}

// fewBrute is up to how many cases of a stretch are all looked at.
const fewBrute = 128

// grown returns the index with cases behind those that it has.
func (f *forest) grown(ctx context.Context, m *metric, from, to int) (*forest, error) {
	if b, ok := f.index.(brute); ok {
		return &forest{index: brute{b.from, to}}, nil
	}
	g := &forest{f.index, slices.Clone(f.rest)}
	for n := len(g.rest); n > 0 && g.rest[n-1].to-g.rest[n-1].from < 2*(to-from); n-- {
		from = g.rest[n-1].from
		g.rest = g.rest[:n-1]
	}
	of := stretchOf{brute{from, to}, from, to}
	if to-from > fewBrute {
		var base *space
		if p, ok := f.index.(placer); ok {
			base = p.in()
		}
		t, err := newTree(ctx, behind(base, m, from, to), false)
		if err != nil {
			return nil, err
		}
		of.index = t
	}
	g.rest = append(g.rest, of)
	return g, nil
}

func (f *forest) find(s *search) {
	f.index.find(s)
	for i := range f.rest {
		f.rest[i].find(s)
	}
}

// leafSize is how many cases a leaf of a tree holds at most.
const leafSize = 32

// tree parts the cases at the median of the dimension in which they are spread
// most, until few are left (Friedman, Bentley and Finkel 1977). A subtree is
// left alone if all of its cases are farther than the k-th nearest so far,
// which its box tells, or its ball (Omohundro 1989). Names have dimensions too
// (space).
type tree struct {
	space *space
	order []int32 // points of the space, those of a leaf together
	nodes []node
	flat  []float32 // the points in that order
	heads []float32 // their first dimensions
	// boxes have for each node the least of each of the first dimensions and
	// then the greatest, -Inf and +Inf where a case lacks it. Where a space
	// is not turned, all dimensions are the first.
	boxes []float32
	first int
	// Balls have for each node the mean of its cases and how far the
	// farthest is from it; +Inf where a number is missing.
	balls  bool
	centre []float32
	radius []float64
}

// node is a subtree: the cases order[from:to]. The left child follows its
// parent; right is 0 in a leaf.
type node struct {
	from, to, right int32
	gaps            bool // a case lacks a number
}

func newTree(ctx context.Context, s *space, balls bool) (*tree, error) {
	t := &tree{space: s, balls: balls, order: make([]int32, s.count), first: s.stride}
	if s.turn != nil {
		t.first = s.first()
	}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.part(ctx, 0, len(t.order))
	t.flat = make([]float32, len(s.points))
	for at, i := range t.order {
		copy(t.flat[at*s.stride:(at+1)*s.stride], s.points[int(i)*s.stride:])
	}
	t.heads = headsOf(t.flat, s.stride)
	return t, ctx.Err()
}

// part makes the subtree of some cases.
func (t *tree) part(ctx context.Context, from, to int) {
	at := len(t.nodes)
	t.nodes = append(t.nodes, node{from: int32(from), to: int32(to)})
	widest := t.bound(at, t.order[from:to])
	if widest < 0 || to-from <= leafSize || ctx.Err() != nil {
		return // few, or all at one place
	}
	middle := (from + to) / 2
	t.choose(t.order[from:to], widest, middle-from)
	t.part(ctx, from, middle)
	t.nodes[at].right = int32(len(t.nodes))
	t.part(ctx, middle, to)
}

// bound appends the box of some cases, and their ball. It returns the dimension
// in which they are spread most, -1 if in none.
func (t *tree) bound(at int, some []int32) int {
	s := t.space
	from := len(t.boxes)
	first := s.points[int(some[0])*s.stride:][:t.first]
	t.boxes = append(append(t.boxes, first...), first...)
	low, high := t.boxes[from:from+t.first], t.boxes[from+t.first:]
	for _, i := range some[1:] {
		for d, x := range s.points[int(i)*s.stride:][:t.first] {
			low[d], high[d] = min(low[d], x), max(high[d], x)
		}
	}
	widest, most := -1, float32(0)
	for d := range low {
		if spread := high[d] - low[d]; spread > most {
			widest, most = d, spread
		}
	}
	if t.balls {
		t.enclose(some)
	}
	if s.gaps != nil {
		t.loosen(at, some, low, high)
	}
	return widest
}

// loosen opens the box of cases in the numbers that one of them lacks.
func (t *tree) loosen(at int, some []int32, low, high []float32) {
	width := len(t.space.m.numbers)
	for _, i := range some {
		if !t.space.gaps[i] {
			continue
		}
		t.nodes[at].gaps = true
		of := t.space.from + int(i)
		for d, x := range t.space.m.points[of*width : (of+1)*width] {
			if x != x {
				low[d], high[d] = float32(math.Inf(-1)), float32(math.Inf(1))
			}
		}
		if t.balls {
			t.radius[at] = math.Inf(1)
		}
	}
}

// enclose appends the ball of some cases.
func (t *tree) enclose(some []int32) {
	s := t.space
	from := len(t.centre)
	t.centre = append(t.centre, make([]float32, s.stride)...)
	for _, i := range some {
		for d, x := range s.points[int(i)*s.stride:][:s.stride] {
			t.centre[from+d] += x / float32(len(some))
		}
	}
	radius := float32(0)
	for _, i := range some {
		radius = max(radius, square(t.centre[from:], s.points[int(i)*s.stride:(int(i)+1)*s.stride]))
	}
	t.radius = append(t.radius, math.Sqrt(float64(radius)))
}

// choose puts the cases that are least in a dimension before the middle (Hoare
// 1961).
func (t *tree) choose(some []int32, d, middle int) {
	points, stride := t.space.points, t.space.stride
	key := func(i int32) float32 { return points[int(i)*stride+d] }
	less := func(a, b int32) bool { x, y := key(a), key(b); return x < y || x == y && a < b }
	for len(some) > 32 {
		a, b, c := some[0], some[len(some)/2], some[len(some)-1]
		if less(b, a) {
			a, b = b, a
		}
		if less(c, b) {
			b = c
		}
		if less(b, a) {
			b = a
		}
		left, right := 0, len(some)-1
		for left <= right {
			for less(some[left], b) {
				left++
			}
			for less(b, some[right]) {
				right--
			}
			if left <= right {
				some[left], some[right] = some[right], some[left]
				left++
				right--
			}
		}
		switch {
		case middle <= right:
			some = some[:right+1]
		case middle >= left:
			some, middle = some[left:], middle-left
		default:
			return
		}
	}
	slices.SortFunc(some, func(a, b int32) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) })
}

func (t *tree) find(s *search) {
	s.room.ask(s, t.space)
	if !s.complete {
		t.visitGappy(s, 0)
		return
	}
	t.visit(s, 0)
}

// visit looks through a subtree, the nearer child first.
func (t *tree) visit(s *search, at int32) {
	n := &t.nodes[at]
	if n.right == 0 {
		t.leaf(s, n)
		return
	}
	first, second := at+1, n.right
	a, b := t.least(s, first), t.least(s, second)
	if b < a {
		first, second, a, b = second, first, b, a
	}
	if !(a > s.room.above(s)) {
		t.visit(s, first)
	}
	if !(b > s.room.above(s)) {
		t.visit(s, second)
	}
}

// leaf looks at those cases of a leaf that the space does not rule out.
func (t *tree) leaf(s *search, n *node) {
	cases := t.order[n.from:n.to]
	from := t.space.from
	if n.gaps {
		for _, i := range cases {
			s.look(from + int(i))
		}
		return
	}
	r := &s.room
	for len(r.out) < len(cases) {
		r.out = append(r.out, 0)
	}
	stride, first := t.space.stride, t.space.first()
	squares(r.asked[:first], t.heads[int(n.from)*first:int(n.to)*first], r.out[:len(cases)])
	most := r.above(s)
	for at, i := range cases {
		if r.out[at] > most {
			continue
		}
		if row := int(n.from) + at; first < stride && square(r.asked, t.flat[row*stride:(row+1)*stride]) > most {
			continue
		}
		s.look(from + int(i))
		most = r.above(s)
	}
}

// least returns a bound, as a square in the space, that no case in a subtree is
// below.
func (t *tree) least(s *search, at int32) float32 {
	stride := t.space.stride
	if !t.balls {
		return outside(s.room.asked[:t.first], t.boxes[int(at)*2*t.first:(int(at)+1)*2*t.first])
	}
	reach := math.Sqrt(float64(square(s.room.asked, t.centre[int(at)*stride:(int(at)+1)*stride])))
	gap := reach - t.radius[at] - 1e-4*(reach+t.radius[at]) - 2*s.room.wrong
	if !(gap > 0) {
		return 0
	}
	return float32(min(gap*gap, math.MaxFloat32))
}

// visitGappy looks through a subtree for a question that lacks numbers, by the
// boxes of those that it has.
func (t *tree) visitGappy(s *search, at int32) {
	n := &t.nodes[at]
	width := len(t.space.m.numbers)
	box := t.boxes[int(at)*2*t.first : (int(at)+1)*2*t.first]
	sum := float32(0)
	for d, q := range s.room.asked[:t.first] {
		if t.space.turn != nil {
			break // what is not known is in every axis
		}
		if d < width && s.point[d] != s.point[d] {
			continue
		}
		if e := max(box[d]-q, q-box[t.first+d]); e > 0 {
			sum += e * e
		}
	}
	switch {
	case sum > s.room.above(s):
	case n.right == 0:
		for _, i := range t.order[n.from:n.to] {
			s.look(t.space.from + int(i))
		}
	default:
		t.visitGappy(s, at+1)
		t.visitGappy(s, n.right)
	}
}

func (t *tree) in() *space { return t.space }

// place returns the leaf where a question would be.
func (t *tree) place(asked []float32) int32 {
	at := int32(0)
	for t.nodes[at].right != 0 {
		left, right := at+1, t.nodes[at].right
		a := outside(asked[:t.first], t.boxes[int(left)*2*t.first:(int(left)+1)*2*t.first])
		b := outside(asked[:t.first], t.boxes[int(right)*2*t.first:(int(right)+1)*2*t.first])
		if at = left; b < a {
			at = right
		}
	}
	return at
}
