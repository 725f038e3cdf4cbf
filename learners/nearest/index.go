package nearest

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// index finds the nearest cases.
type index interface {
	// find looks at all cases that may be among the nearest.
	find(s *search)
}

// newIndex returns the index of a name. Trees are worth their while where there
// are numbers to part by, and cases enough.
func newIndex(ctx context.Context, m *metric, name string) (index, error) {
	if name == "auto" {
		if name = "kd"; len(m.numbers) == 0 || m.cases.count() <= 2*leafSize {
			name = "brute"
		}
	}
	switch name {
	case "kd":
		return newTree(ctx, m, false)
	case "ball":
		return newTree(ctx, m, true)
	}
	return brute{}, nil
}

// brute looks at every case.
type brute struct{}

func (brute) find(s *search) {
	for i := range s.m.complete {
		s.look(i)
	}
}

// leafSize is how many cases a leaf of a tree holds at most.
const leafSize = 16

// tree parts the cases at the median of the number in which they are spread
// most, until few are left (Friedman, Bentley and Finkel 1977). A subtree is
// left alone if all of its cases are farther than the k-th nearest so far,
// which its box tells, or its ball (Omohundro 1989).
type tree struct {
	m     *metric
	order []int32 // cases, those of a leaf together
	nodes []node
	// Boxes have for each node the least and the greatest of each number,
	// -Inf and +Inf where a case lacks it, and the code that all its cases
	// share, or -1.
	low, high []float64
	shared    []int32
	// Balls have for each node the mean of its cases and how far the
	// farthest is from it; +Inf where a number is missing.
	balls  bool
	centre []float64
	radius []float64
}

// node is a subtree: the cases order[from:to]. The left child follows its
// parent; right is 0 in a leaf.
type node struct{ from, to, right int32 }

func newTree(ctx context.Context, m *metric, balls bool) (*tree, error) {
	t := &tree{m: m, balls: balls, order: make([]int32, m.cases.count())}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if len(t.order) > 0 {
		t.part(ctx, 0, len(t.order))
	}
	return t, ctx.Err()
}

// part makes the subtree of some cases.
func (t *tree) part(ctx context.Context, from, to int) {
	at := len(t.nodes)
	t.nodes = append(t.nodes, node{from: int32(from), to: int32(to)})
	t.bound(t.order[from:to])
	if to-from <= leafSize || ctx.Err() != nil {
		return
	}
	d := t.widest(t.order[from:to])
	if d < 0 {
		return // all cases are at one place
	}
	middle := (from + to) / 2
	t.choose(t.order[from:to], d, middle-from)
	t.part(ctx, from, middle)
	t.nodes[at].right = int32(len(t.nodes))
	t.part(ctx, middle, to)
}

// bound appends the box of some cases, and their ball.
func (t *tree) bound(some []int32) {
	width, names := len(t.m.numbers), len(t.m.names)
	for d := range width {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range some {
			x := t.m.points[int(i)*width+d]
			if x != x {
				low, high = math.Inf(-1), math.Inf(1)
				break
			}
			low, high = min(low, x), max(high, x)
		}
		t.low, t.high = append(t.low, low), append(t.high, high)
	}
	for d := range names {
		code := t.m.codes[int(some[0])*names+d]
		for _, i := range some {
			if t.m.codes[int(i)*names+d] != code {
				code = -1
				break
			}
		}
		t.shared = append(t.shared, code)
	}
	if t.balls {
		t.enclose(some)
	}
}

// enclose appends the ball of some cases.
func (t *tree) enclose(some []int32) {
	width := len(t.m.numbers)
	centre := make([]float64, width)
	for _, i := range some {
		for d := range centre {
			centre[d] += t.m.points[int(i)*width+d] / float64(len(some))
		}
	}
	radius := 0.0
	for _, i := range some {
		sum := 0.0
		for d, c := range centre {
			e := t.m.points[int(i)*width+d] - c
			sum += e * e
		}
		if radius = max(radius, math.Sqrt(sum)); sum != sum {
			radius = math.Inf(1)
			break
		}
	}
	t.centre, t.radius = append(t.centre, centre...), append(t.radius, radius)
}

// widest returns the number in which cases are spread most, -1 if in none.
func (t *tree) widest(some []int32) int {
	width := len(t.m.numbers)
	best, most := -1, 0.0
	for d := range width {
		low, high, gaps := math.Inf(1), math.Inf(-1), false
		for _, i := range some {
			x := t.m.points[int(i)*width+d]
			if x != x {
				gaps = true
				continue
			}
			low, high = min(low, x), max(high, x)
		}
		spread := high - low
		if gaps && high >= low {
			spread = max(spread, 1e-9) // to part those that lack it from the others
		}
		if spread > most {
			best, most = d, spread
		}
	}
	return best
}

// choose puts the cases that are least in a number before the middle (Hoare
// 1961). Missing ones come first.
func (t *tree) choose(some []int32, d, middle int) {
	width := len(t.m.numbers)
	key := func(i int32) float64 { return t.m.points[int(i)*width+d] }
	compare := func(a, b int32) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) }
	for len(some) > 32 {
		a, b, c := some[0], some[len(some)/2], some[len(some)-1]
		if compare(a, b) > 0 {
			a, b = b, a
		}
		if compare(b, c) > 0 {
			b = c
		}
		if compare(a, b) > 0 {
			b = a
		}
		left, right := 0, len(some)-1
		for left <= right {
			for compare(some[left], b) < 0 {
				left++
			}
			for compare(b, some[right]) < 0 {
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
	slices.SortFunc(some, compare)
}

func (t *tree) find(s *search) {
	if len(t.nodes) > 0 {
		t.visit(s, 0)
	}
}

// visit looks through a subtree, the nearer child first.
func (t *tree) visit(s *search, at int32) {
	n := &t.nodes[at]
	if n.right == 0 {
		for _, i := range t.order[n.from:n.to] {
			s.look(int(i))
		}
		return
	}
	first, second := at+1, n.right
	a, b := t.least(s, first), t.least(s, second)
	if b < a {
		first, second, a, b = second, first, b, a
	}
	if a <= s.limit {
		t.visit(s, first)
	}
	if b <= s.limit {
		t.visit(s, second)
	}
}

// least returns a bound that the sum of no case in a subtree is below. Above
// the limit it may stop early.
func (t *tree) least(s *search, at int32) float64 {
	width, names := len(s.point), len(s.near)
	sum := 0.0
	for d, code := range t.shared[int(at)*names : (int(at)+1)*names] {
		if code >= 0 {
			sum += s.near[d][code]
		}
	}
	if t.balls {
		return max(sum, t.outside(s, at))
	}
	low, high := t.low[int(at)*width:(int(at)+1)*width], t.high[int(at)*width:(int(at)+1)*width]
	term := func(d int) float64 {
		q := s.point[d]
		if q != q {
			return s.m.numbers[d].missing
		}
		e := max(low[d]-q, q-high[d], 0)
		return float64(e * e)
	}
	d := 0
	for ; d+4 <= width; d += 4 {
		sum += float64(term(d)+term(d+1)) + float64(term(d+2)+term(d+3))
		if sum > s.limit {
			return sum
		}
	}
	for ; d < width; d++ {
		sum += term(d)
	}
	return sum
}

// rounding is by how much, relatively, a distance to a centre may be wrong.
const rounding = 1e-12

// outside returns how far a question lies outside of a ball, squared; 0 where
// numbers are missing.
func (t *tree) outside(s *search, at int32) float64 {
	width := len(s.point)
	sum := 0.0
	for d, c := range t.centre[int(at)*width : (int(at)+1)*width] {
		e := s.point[d] - c
		sum += e * e
	}
	reach := math.Sqrt(sum)
	gap := reach - t.radius[at] - rounding*(reach+t.radius[at])
	if !(gap > 0) { // also if a number is missing
		return 0
	}
	return gap * gap * (1 - rounding)
}
