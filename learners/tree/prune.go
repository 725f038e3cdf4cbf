package tree

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// pessimistic prunes from the leaves up: a test stays only if its branches
// together are expected to make fewer errors than a leaf in its place would
// (Quinlan 1993).
func pessimistic(nd *node, expected func(*node) float64) float64 {
	as := expected(nd)
	if nd.isLeaf() {
		return as
	}
	below := 0.0
	for _, kid := range nd.kids {
		below += pessimistic(kid, expected)
	}
	if as <= below+1e-9*(1+math.Abs(below)) {
		nd.cut()
		return as
	}
	return below
}

// expectation returns what pessimistic expects of a leaf, in errors on new
// rows for each row learnt from. For a numeric target the error is squared:
// the variance within the leaf and that of its mean, (n+1)/(n-1) times what
// was seen.
func (s *settings) expectation(root *node, classes int) func(*node) float64 {
	if classes == 0 {
		overall := root.stat[2] - root.stat[1]*root.stat[1]/root.n
		return func(nd *node) float64 {
			if nd.n <= 1 {
				// One row says nothing of the variance.
				return 2 * nd.n * overall / root.n
			}
			return max(nd.stat[2]-nd.stat[1]*nd.stat[1]/nd.n, 0) * (nd.n + 1) / (nd.n - 1)
		}
	}
	switch s.Estimate {
	case "normal":
		return func(nd *node) float64 {
			if nd.n == 0 {
				return 0
			}
			return nd.n * (1 - NormalBound(1-nd.errors()/nd.n, nd.n, s.Z))
		}
	case "m":
		prior := func(c int32) float64 { return (root.of(c) + 1) / (root.n + float64(classes)) }
		return func(nd *node) float64 {
			return nd.n * (nd.errors() + s.M*(1-prior(nd.label))) / math.Max(nd.n+s.M, math.SmallestNonzeroFloat64)
		}
	}
	upper := upperErrors(s.CF)
	return func(nd *node) float64 {
		if nd.n == 0 {
			return 0
		}
		return nd.n * upper(nd.errors(), nd.n)
	}
}

// shortest prunes to the tree whose description, exceptions included, takes
// the fewest bits, and returns them (Quinlan and Rivest 1989).
func shortest(nd *node, classes int) float64 {
	as := leafBits(nd.errors(), nd.n, classes)
	if nd.isLeaf() {
		return as
	}
	below := testBits(int(nd.choices))
	if nd.plane != nil {
		below += nd.plane.bits
	}
	for _, kid := range nd.kids {
		below += shortest(kid, classes)
	}
	if as <= below {
		nd.cut()
		return as
	}
	return below
}

// heldNode is a node together with what held-out rows say of it.
type heldNode struct {
	*node
	parent   *heldNode
	children []*heldNode
	order    int // in which nodes are met from the root
	size     int // nodes below and including this one
	place    int // in the queue; gone if it is no test any more

	asLeaf, asTree float64 // error on the held-out rows that come here: as a leaf, with the tests below
	fit            float64 // error of the leaves below on the rows they were grown from
	leaves         int
}

// gone is the place of a node that is not in the queue.
const gone = -1

// gain returns how much better held-out rows are answered without the test.
func (h *heldNode) gain() float64 { return h.asTree - h.asLeaf }

// review sends held-out rows down a tree.
func review(root *node, x *examples, weights []float64, s *settings) *heldNode {
	errors := learningErrors(x.classes)
	order := 0
	var build func(nd *node, parent *heldNode) *heldNode
	build = func(nd *node, parent *heldNode) *heldNode {
		h := &heldNode{node: nd, parent: parent, order: order, place: gone, size: 1}
		order++
		for _, kid := range nd.kids {
			child := build(kid, h)
			h.children = append(h.children, child)
			h.size += child.size
		}
		return h
	}
	top := build(root, nil)
	var send func(h *heldNode, row example, w float64)
	send = func(h *heldNode, row example, w float64) {
		h.asLeaf += w * x.error(h.node, row.number)
		follow(h.node, row, s, func(b int, share float64) { send(h.children[b], row, w*share) })
	}
	x.visit(weights, func(row example, w float64) { send(top, row, w) })
	var add func(h *heldNode)
	add = func(h *heldNode) {
		if h.isLeaf() {
			h.asTree, h.fit, h.leaves = h.asLeaf, errors(h.node), 1
			return
		}
		for _, child := range h.children {
			add(child)
			h.asTree += child.asTree
			h.fit += child.fit
			h.leaves += child.leaves
		}
	}
	add(top)
	return top
}

// error is what a node as a leaf would get wrong about a row: 1 for the wrong
// class, or the squared difference from its mean.
func (x *examples) error(nd *node, row int32) float64 {
	if x.classes == 0 {
		d := x.number[row] - over(nd.stat[1], nd.n)
		return d * d
	}
	if x.class(row) != int(nd.label) {
		return 1
	}
	return 0
}

// example is a row, and where its cells are.
type example struct {
	number int32
	cells  []table.Column
	at     int
}

// visit calls work for the rows that have a weight. It brings the cells of a
// few of them together first, so that those of a row are near each other
// however far down a tree they are asked for.
func (x *examples) visit(weights []float64, work func(row example, w float64)) {
	const most = 256
	columns := make([]table.Column, len(x.view.Schema.Attributes))
	var rows []int32
	flush := func() {
		for col := range columns {
			switch a := &x.view.Schema.Attributes[col]; {
			case col == x.target:
			case a.Kind == table.Numeric:
				columns[col].Floats = resize(columns[col].Floats, len(rows))
				for i, r := range rows {
					columns[col].Floats[i] = x.view.Float(col, int(r))
				}
			default:
				columns[col].Codes = resize(columns[col].Codes, len(rows))
				for i, r := range rows {
					columns[col].Codes[i] = x.view.Code(col, int(r))
				}
			}
		}
		for i, r := range rows {
			work(example{r, columns, i}, weights[r])
		}
		rows = rows[:0]
	}
	for r, w := range weights {
		if w > 0 {
			if rows = append(rows, int32(r)); len(rows) == most {
				flush()
			}
		}
	}
	flush()
}

// follow calls visit for the branches that a row takes, with its share of each.
func follow(nd *node, row example, s *settings, visit func(b int, share float64)) {
	if nd.isLeaf() {
		return
	}
	if nd.absent {
		visit(absentBranch(row.cells[nd.col], row.at), 1)
		return
	}
	if nd.plane != nil {
		b := 0
		if nd.plane.sum(row.cells, row.at) > nd.threshold {
			b = 1
		}
		visit(b, 1)
		return
	}
	if nd.numeric {
		cell := row.cells[nd.col].Floats[row.at]
		if cell <= nd.threshold {
			visit(0, 1)
			return
		}
		if cell > nd.threshold {
			visit(1, 1)
			return
		}
	} else if code := row.cells[nd.col].Codes[row.at]; code >= 0 {
		visit(int(nd.branch[code]), 1)
		return
	}
	total, common := 0.0, 0
	for b, kid := range nd.kids {
		total += kid.known
		if kid.known > nd.kids[common].known {
			common = b
		}
	}
	if s.Missing == missingCommon || s.Missing == missingClass {
		visit(common, 1)
		return
	}
	for b, kid := range nd.kids {
		if kid.known > 0 {
			visit(b, kid.known/total)
		}
	}
}

// queue holds the tests of a tree, the one to lose first on top.
type queue struct {
	tests []*heldNode
	order func(a, b *heldNode) int
}

func (q *queue) Len() int           { return len(q.tests) }
func (q *queue) Less(i, j int) bool { return q.order(q.tests[i], q.tests[j]) < 0 }
func (q *queue) Swap(i, j int) {
	q.tests[i], q.tests[j] = q.tests[j], q.tests[i]
	q.tests[i].place, q.tests[j].place = i, j
}
func (q *queue) Push(x any) {
	h := x.(*heldNode)
	h.place = len(q.tests)
	q.tests = append(q.tests, h)
}
func (q *queue) Pop() any {
	last := len(q.tests) - 1
	h := q.tests[last]
	q.tests = q.tests[:last]
	h.place = gone
	return h
}

// enqueue returns the tests below a node. Of those that the given order does
// not tell apart the one with most nodes below it comes first, then the first
// from the root.
func enqueue(top *heldNode, order func(a, b *heldNode) int) *queue {
	q := &queue{order: func(a, b *heldNode) int {
		return cmp.Or(order(a, b), -cmp.Compare(a.size, b.size), cmp.Compare(a.order, b.order))
	}}
	var gather func(h *heldNode)
	gather = func(h *heldNode) {
		if !h.isLeaf() {
			heap.Push(q, h)
			for _, child := range h.children {
				gather(child)
			}
		}
	}
	gather(top)
	return q
}

// lose turns a test into a leaf. That changes the standing of the tests above
// it only.
func (q *queue) lose(h *heldNode, errors func(*node) float64) {
	var leave func(h *heldNode)
	leave = func(h *heldNode) {
		if h.place != gone {
			heap.Remove(q, h.place)
		}
		for _, child := range h.children {
			leave(child)
		}
	}
	leave(h)
	gain, shed, worse, fewer := h.gain(), h.size-1, errors(h.node)-h.fit, h.leaves-1
	h.cut()
	h.children = nil
	for up := h; up != nil; up = up.parent {
		up.asTree -= gain
		up.size -= shed
		up.fit += worse
		up.leaves -= fewer
		if up.place != gone {
			heap.Fix(q, up.place)
		}
	}
}

// reducedError prunes a tree by held-out rows: while there is a test without
// which they are answered no worse, the one without which they are answered
// best becomes a leaf (Quinlan 1987). It calls each step of it, if there is
// something to call.
func reducedError(top *heldNode, errors func(*node) float64, lost ...func()) {
	q := enqueue(top, func(a, b *heldNode) int { return -cmp.Compare(a.gain(), b.gain()) })
	for len(q.tests) > 0 && q.tests[0].gain() >= -1e-9 {
		q.lose(q.tests[0], errors)
		for _, tell := range lost {
			tell()
		}
	}
}

// readmit adds held-out rows to the statistics of a pruned tree, so that its
// answers rest on all rows.
func readmit(root *node, x *examples, weights []float64, s *settings, labels []string) {
	var send func(nd *node, row example, w float64, known bool)
	send = func(nd *node, row example, w float64, known bool) {
		x.readmit(nd, row.number, w)
		if known {
			nd.known += w
		}
		// Which way the row goes must not depend on the rows sent before.
		type way struct {
			b     int
			share float64
		}
		var ways [2]way
		taken := ways[:0]
		follow(nd, row, s, func(b int, share float64) { taken = append(taken, way{b, share}) })
		for _, to := range taken {
			send(nd.kids[to.b], row, w*to.share, len(taken) == 1 && to.share == 1)
		}
	}
	x.visit(weights, func(row example, w float64) { send(root, row, w, true) })
	var settle func(nd *node, parent int32)
	settle = func(nd *node, parent int32) {
		if x.classes > 0 {
			nd.n = sum(nd.stat)
			nd.elect(parent, labels)
		} else {
			nd.n = nd.stat[0]
		}
		for _, kid := range nd.kids {
			settle(kid, nd.label)
		}
	}
	settle(root, -1)
}

// readmit adds a row to a node, whose classes may not have had its own.
func (x *examples) readmit(nd *node, row int32, w float64) {
	if nd.classes == nil {
		x.add(nd.stat, nil, row, w)
		return
	}
	c := int32(x.class(row))
	i, found := slices.BinarySearch(nd.classes, c)
	if !found {
		nd.classes, nd.stat = slices.Insert(nd.classes, i, c), slices.Insert(nd.stat, i, 0)
	}
	nd.stat[i] += w
}

// costComplexity prunes a tree to the one that minimises error + alpha · leaves.
func costComplexity(root *node, alpha float64, errors func(*node) float64) {
	var prune func(nd *node) float64
	prune = func(nd *node) float64 {
		as := errors(nd) + alpha
		if nd.isLeaf() {
			return as
		}
		below := 0.0
		for _, kid := range nd.kids {
			below += prune(kid)
		}
		if as <= below+1e-9*math.Abs(below) {
			nd.cut()
			return as
		}
		return below
	}
	prune(root)
}

// learningErrors returns a node's error on the rows it was grown from.
func learningErrors(classes int) func(*node) float64 {
	if classes > 0 {
		return (*node).errors
	}
	return func(nd *node) float64 {
		if nd.n == 0 {
			return 0
		}
		return max(nd.stat[2]-nd.stat[1]*nd.stat[1]/nd.n, 0)
	}
}

// alphaStage is a tree from an alpha on, per weight of rows learnt from, and
// its error on held-out rows.
type alphaStage struct{ alpha, errors float64 }

// stages prunes a tree to its root. It loses the test whose leaves are worth
// least, again and again: the smallest increase of error for each leaf saved
// (Breiman et al. 1984, §3.3).
func stages(top *heldNode, n float64, errors func(*node) float64) []alphaStage {
	alpha := func(h *heldNode) float64 { return max(errors(h.node)-h.fit, 0) / float64(h.leaves-1) }
	q := enqueue(top, func(a, b *heldNode) int { return cmp.Compare(alpha(a), alpha(b)) })
	stages := []alphaStage{{0, top.asTree}}
	for len(q.tests) > 0 {
		now := &stages[len(stages)-1]
		a := alpha(q.tests[0])
		q.lose(q.tests[0], errors)
		if a <= now.alpha*(1+1e-9) {
			now.errors = top.asTree
		} else {
			stages = append(stages, alphaStage{a, top.asTree})
		}
	}
	for i := range stages {
		stages[i].alpha /= n
	}
	return stages
}

// between returns the alpha that stands for a stage: the geometric mean of
// those at which it begins and ends.
func between(stages []alphaStage, i int) float64 {
	if i == len(stages)-1 {
		return stages[i].alpha
	}
	return math.Sqrt(stages[i].alpha * stages[i+1].alpha)
}

// bestAlpha finds the alpha under which a tree grown without the held-out rows
// answers them best.
func bestAlpha(top *heldNode, n float64, errors func(*node) float64) float64 {
	stages := stages(top, n, errors)
	best := 0
	for i, st := range stages {
		if st.errors <= stages[best].errors+1e-9 {
			best = i
		}
	}
	return between(stages, best)
}

// crossValidate grows the tree of all rows and prunes it by cost-complexity
// (Breiman et al. 1984, §3.4): for each alpha at which it loses a test, trees
// grown without one fold each answer for that fold, and the smallest tree wins
// that errs no more than so many standard errors above the least.
func (g *grower) crossValidate(ctx context.Context, v *kept.View, seed uint64) (root *node, grown int, err error) {
	held, err := foldsOf(ctx, v, seed, g.Folds)
	if err != nil {
		return nil, 0, err
	}
	errors := learningErrors(g.classes)
	// Alphas and errors count in rows or, for numbers, in what the root gets
	// wrong, as each fold has a scale of its own.
	unit := func(root *node) float64 {
		if g.classes > 0 {
			return root.n
		}
		return max(errors(root), math.SmallestNonzeroFloat64)
	}
	folds, sizes := [][]alphaStage{}, []float64{}
	for n := range held {
		learnt := lessHeld(v, held[n])
		if sum(held[n]) == 0 || sum(learnt) == 0 {
			continue
		}
		part := float64(n) / float64(len(held)+1)
		root, err := g.grow(stage(ctx, part, part+1/float64(len(held)+1)), learnt)
		if err != nil {
			return nil, 0, err
		}
		whole := unit(root)
		of := stages(review(root, g.examples, held[n], &g.settings), whole, errors)
		if g.classes == 0 {
			for i := range of {
				of[i].errors *= root.n / whole
			}
		}
		folds, sizes = append(folds, of), append(sizes, sum(held[n]))
	}
	if root, err = g.grow(stage(ctx, float64(len(held))/float64(len(held)+1), 1), v.Weights); err != nil {
		return nil, 0, err
	}
	grown = root.tests()
	if len(folds) < 2 {
		return root, grown, nil
	}
	own := stages(review(root.clone(), g.examples, make([]float64, v.Rows()), &g.settings), unit(root), errors)
	alpha := chooseAlpha(own, folds, sizes, g.SE, g.classes > 0)
	costComplexity(root, alpha*unit(root), errors)
	return root, grown, nil
}

// chooseAlpha returns the largest alpha, of a tree's own, whose error over all
// folds is within so many standard errors of the least.
func chooseAlpha(own []alphaStage, folds [][]alphaStage, sizes []float64, se float64, classes bool) float64 {
	rows := sum(sizes)
	total, spread := make([]float64, len(own)), make([]float64, len(own))
	best := 0
	for i := range own {
		alpha := between(own, i)
		var rates []float64
		for n, of := range folds {
			at := of[0]
			for _, st := range of {
				if st.alpha <= alpha {
					at = st
				}
			}
			total[i] += at.errors
			rates = append(rates, at.errors/sizes[n])
		}
		mean, squares := total[i]/rows, 0.0
		for _, r := range rates {
			squares += (r - mean) * (r - mean)
		}
		spread[i] = rows * math.Sqrt(squares/float64(len(rates)-1)/float64(len(rates)))
		if classes {
			spread[i] = math.Sqrt(total[i] * max(1-mean, 0))
		}
		if total[i] <= total[best]+1e-9 {
			best = i
		}
	}
	limit := total[best] + se*spread[best]
	for i := len(own) - 1; i > best; i-- {
		if total[i] <= limit+1e-9 {
			return between(own, i)
		}
	}
	return between(own, best)
}

// clone returns a copy whose tests can be lost.
func (nd *node) clone() *node {
	c := *nd
	c.kids = make([]*node, len(nd.kids))
	for i, kid := range nd.kids {
		c.kids[i] = kid.clone()
	}
	return &c
}

// tests counts the tests of a tree.
func (nd *node) tests() int {
	if nd.isLeaf() {
		return 0
	}
	n := 1
	for _, kid := range nd.kids {
		n += kid.tests()
	}
	return n
}
