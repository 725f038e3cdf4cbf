package tree

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// node is a node of a tree in the making.
type node struct {
	stat    []float64 // class weights, or moments, of the rows that came here
	classes []int32   // that the weights are of, ascending; nil: all of them
	n       float64   // their weight
	most    float64   // the weight of the most common class
	known   float64   // the weight of those whose cell the parent's test could read
	label   int32     // the most common class

	col       int32 // the tested column; leaf for none
	numeric   bool
	choices   int32   // attributes that could have been tested, for the tree's description length
	threshold float64 // numeric: kids[0] where cell ≤ threshold, else kids[1]
	plane     *plane  // numeric: what is compared with the threshold instead of a cell
	absent    bool    // kids[0] where the cell is missing, else kids[1]
	branch    []int32 // nominal: the kid of each value
	kids      []*node
}

// leaf is the column of a node that tests nothing.
const leaf = -1

func (nd *node) isLeaf() bool { return nd.col == leaf }

// cut turns a test into a leaf.
func (nd *node) cut() { nd.col, nd.kids, nd.branch, nd.plane, nd.absent = leaf, nil, nil, nil, false }

// errors returns the weight of the rows that are not of the node's class.
func (nd *node) errors() float64 { return max(nd.n-nd.most, 0) }

// of returns the weight of a class.
func (nd *node) of(class int32) float64 {
	if nd.classes == nil {
		return nd.stat[class]
	}
	if i, found := slices.BinarySearch(nd.classes, class); found {
		return nd.stat[i]
	}
	return 0
}

// thin leaves out the classes without rows.
func (nd *node) thin(classes []int32) {
	n := 0
	for _, w := range nd.stat {
		if w > 0 {
			n++
		}
	}
	stat, left := make([]float64, 0, n), make([]int32, 0, n)
	for i, w := range nd.stat {
		if w > 0 {
			c := int32(i)
			if classes != nil {
				c = classes[i]
			}
			stat, left = append(stat, w), append(left, c)
		}
	}
	nd.stat, nd.classes = stat, left
}

// part is the rows that came to a node, as its children share them out.
type part struct {
	node    *node
	rows    []int32    // ascending
	weights []float64  // of each of them; nil: as in the examples
	live    []int32    // columns that can still tell rows apart, ascending
	sorted  [][]uint64 // for each of these, if numeric, the rows by cell
	depth   int
	places  []int32 // while it is tested: of the classes in the node's statistic; nil: as they are
}

// grower grows a tree from the root down: ID3 (Quinlan 1986) with numeric
// thresholds and fractional rows.
type grower struct {
	*examples
	settings
	measure measure
	costs   costing
	labels  []string // names of the classes, for ties
	ways    []int8   // that the answer goes along each column; nil: any
	spread  float64  // variance of a numeric target over all rows
	seed    uint64   // of the search for planes
	xlogx   []float64

	ctx     context.Context
	workers chan struct{} // free goroutines for subtrees
	total   float64       // weight of all rows

	// idle is working memory that nobody uses. A sync.Pool would hold on to
	// it for a while after the tree is grown.
	idle struct {
		sync.Mutex
		scratch []*scratch
	}

	reporting sync.Mutex
	settled   float64 // weight of the rows that reached their leaves
	reported  float64
}

// scratch is one goroutine's working memory.
type scratch struct {
	branch  []uint16  // of each row: where the split sends it
	weights []float64 // of each row, where a part has weights of its own
	counts  []int32
	stat    []float64
	cuts    []float64
	slots   []int32
	parts   []*part // that are done with
	kept    []int
	place   []int
	values  []int32
	halves  halving
	found   []candidate
	order   []int32
	places  []int32
	sorting radix.Room[int32] // lends its keys while nothing is sorted
}

// Branches that are none.
const (
	astray      = math.MaxUint16 // the cell is missing
	mostBranch  = math.MaxUint16 - 1
	leastWeight = 1.0 / 128 // fractions of rows are not split below this
)

// newGrower lays rows out to grow trees from.
func newGrower(ctx context.Context, v *kept.View, target int, s settings, seed uint64) (*grower, error) {
	x, err := layOut(ctx, v, target)
	if err == nil && s.Missing == missingCount {
		err = x.countMissing(ctx)
	}
	if err != nil {
		return nil, err
	}
	g := &grower{examples: x, settings: s, measure: measures[s.Measure], seed: seed}
	if x.classes == 0 {
		g.measure = variance
	} else {
		g.labels = v.Schema.Attributes[target].Values
	}
	if g.costs, err = s.costing(v.Schema); err != nil {
		return nil, err
	}
	if g.ways, err = s.ways(v.Schema, target); err != nil {
		return nil, err
	}
	g.workers = make(chan struct{}, runtime.GOMAXPROCS(0)-1)
	return g, nil
}

// grow returns the tree of the rows whose weight is not 0.
func (g *grower) grow(ctx context.Context, weights []float64) (*node, error) {
	x := g.examples
	if err := x.weigh(weights); err != nil {
		return nil, err
	}
	g.ctx, g.settled, g.reported = ctx, 0, 0
	p := &part{rows: make([]int32, 0, x.rows)}
	root := &node{col: leaf, stat: make([]float64, x.size)}
	plain := true
	for r := range int32(x.rows) {
		if w := x.weight(int(r)); w > 0 {
			p.rows = append(p.rows, r)
			x.add(root.stat, nil, r, w)
			plain = plain && w == 1
		}
	}
	if plain {
		x.weights = nil // rows that do not count are out of the way
	}
	if x.classes > fewClasses {
		root.thin(nil)
	}
	g.finish(root, -1)
	root.known = root.n
	g.total = root.n
	if x.classes == 0 {
		g.spread = g.measure.mass(root.stat, root.n) / root.n
	} else if x.weights == nil && len(g.xlogx) <= len(p.rows) {
		g.xlogx = tabulate(x.rows + 1)
	}
	p.node = root
	if !g.open(root, 0) {
		return root, ctx.Err()
	}
	for col := range x.columns {
		if col != x.target {
			p.live = append(p.live, int32(col))
		}
	}
	p.sorted = make([][]uint64, len(p.live))
	g.each(len(p.live), p, &scratch{}, func(k int, s *scratch) {
		if !x.asksMissing(p.live[k]) && x.view.Schema.Attributes[p.live[k]].Kind == table.Numeric {
			p.sorted[k] = x.sort(int(p.live[k]), p.rows, s)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.split(p)
	return root, ctx.Err()
}

// borrow returns working memory, to be given back.
func (g *grower) borrow() *scratch {
	g.idle.Lock()
	defer g.idle.Unlock()
	last := len(g.idle.scratch) - 1
	if last < 0 {
		return &scratch{}
	}
	s := g.idle.scratch[last]
	g.idle.scratch = g.idle.scratch[:last]
	return s
}

func (g *grower) giveBack(s *scratch) {
	g.idle.Lock()
	defer g.idle.Unlock()
	g.idle.scratch = append(g.idle.scratch, s)
}

// finish sets what follows from a node's statistic. Of equally common classes
// the parent's is chosen, else the first by name.
func (g *grower) finish(nd *node, parent int32) {
	nd.n = g.measure.weight(nd.stat)
	nd.elect(parent, g.labels)
}

// elect finds the most common class of a node.
func (nd *node) elect(parent int32, labels []string) {
	if labels == nil {
		return
	}
	best, most := parent, 0.0
	if parent >= 0 {
		most = nd.of(parent)
	}
	for i, w := range nd.stat {
		c := int32(i)
		if nd.classes != nil {
			c = nd.classes[i]
		}
		if best < 0 || w > most || w == most && c != best && best != parent && labels[c] < labels[best] {
			best, most = c, w
		}
	}
	nd.label, nd.most = best, most
}

// open reports whether a node may be split: neither of one class nor at a
// limit.
func (g *grower) open(nd *node, depth int) bool {
	if nd.n < 2*g.MinRows || g.MaxDepth > 0 && depth >= g.MaxDepth {
		return false
	}
	if g.classes == 0 {
		return g.measure.mass(nd.stat, nd.n) > 1e-12*g.spread*nd.n
	}
	return nd.most < nd.n
}

// split grows the tree below a node:
//
//	ID3(Examples, Attributes):
//	  if Examples are of one class, or no attribute is left: a leaf
//	  A ← the attribute that best classifies Examples
//	  for each value v of A:
//	    if no Examples have A = v: a leaf of the most common class
//	    else: ID3(Examples with A = v, Attributes - A)
func (g *grower) split(p *part) {
	children := g.test(p)
	if len(children) == 0 {
		return
	}
	var group crew.Group
	for _, child := range children[1:] {
		if len(child.rows) < parallelCells {
			select {
			case g.workers <- struct{}{}:
				group.Go(func() {
					g.split(child)
					<-g.workers
				})
				continue
			default:
			}
		}
		g.split(child)
	}
	g.split(children[0])
	group.Wait()
}

// test chooses the best test for a node and returns the parts of the children
// that may be split further.
func (g *grower) test(p *part) []*part {
	if g.ctx.Err() != nil {
		return nil
	}
	s := g.borrow()
	defer g.giveBack(s)
	weights := g.weights
	if p.weights != nil {
		weights = s.ownWeights(p, g.rows)
	}
	if p.node.classes != nil {
		s.places = resize(s.places, g.classes)
		p.places = s.places
		for i, c := range p.node.classes {
			p.places[c] = int32(i)
		}
	}
	s.found = resize(s.found, len(p.live))
	found := s.found
	g.each(len(p.live), p, s, func(k int, s *scratch) {
		found[k] = g.judge(p, k, weights, s)
	})
	defer func() { s.parts = append(s.parts, p) }()
	best := g.choose(p, found)
	var at *arrival
	if best >= 0 {
		at = g.assign(p, best, &found[best], weights, s)
	}
	if plane, threshold := g.betterPlane(p, best, found, weights); plane != nil {
		at = g.assignPlane(p, plane, threshold, weights, s)
	}
	if at == nil {
		g.settle(p.node)
		return nil
	}
	return g.children(p, best, found, at, s)
}

// part returns one for a child, in the room of one that is done with if it
// can.
func (s *scratch) part(nd *node, depth int) *part {
	last := len(s.parts) - 1
	if last < 0 {
		return &part{node: nd, depth: depth}
	}
	p := s.parts[last]
	s.parts = s.parts[:last]
	*p = part{node: nd, depth: depth, sorted: p.sorted[:0]}
	return p
}

// parallelCells is the number of cells that are worth a goroutine.
const parallelCells = 1 << 15

// each calls work for 0 ≤ i < n columns of a part, on all cores if the part
// is large.
func (g *grower) each(n int, p *part, s *scratch, work func(i int, s *scratch)) {
	if len(p.rows)*n < parallelCells {
		for i := range n {
			work(i, s)
		}
		return
	}
	learn.Each(g.ctx, n, func(i int) {
		own := g.borrow()
		work(i, own)
		g.giveBack(own)
	})
}

// settle reports the progress that a leaf means, in steps of a thousandth.
func (g *grower) settle(nd *node) {
	g.reporting.Lock()
	defer g.reporting.Unlock()
	g.settled += nd.n
	if done := min(g.settled/g.total, 1); done > g.reported+0.001 {
		g.reported = done
		learn.Report(g.ctx, done)
	}
}

// ownWeights spreads a part's weights over the rows they belong to.
func (s *scratch) ownWeights(p *part, rows int) []float64 {
	if len(s.weights) < rows {
		s.weights = make([]float64, rows)
	}
	for i, r := range p.rows {
		s.weights[r] = p.weights[i]
	}
	return s.weights
}

// arrival is where a split sends what: for each branch the statistic of its
// rows, and where rows go whose cell is missing.
type arrival struct {
	kids    []*node
	missing bool      // some cells are missing
	parted  bool      // some rows go to several branches in fractions
	shares  []float64 // what part of such a row each branch gets
	common  int       // the branch with most rows
	byClass []int     // strategy class: the branch with most rows of each class
}

// assign turns the candidate into the node's test, sends each row to its
// branch, and adds up the branches.
func (g *grower) assign(p *part, k int, c *candidate, weights []float64, s *scratch) *arrival {
	nd, col := p.node, p.live[k]
	nd.col, nd.numeric, nd.absent = g.source(col), p.sorted[k] != nil, g.asksMissing(col)
	nd.choices = int32(len(p.live))
	if len(s.branch) < g.rows {
		s.branch = make([]uint16, g.rows)
	}
	branches := 2
	at := &arrival{}
	if nd.numeric {
		entries := p.sorted[k]
		below, above := g.entry.row(entries[c.left-1]), g.entry.row(entries[c.left])
		nd.threshold = encode.Between(g.view.Float(int(nd.col), int(below)), g.view.Float(int(nd.col), int(above)))
		if at.missing = len(entries) < len(p.rows); at.missing {
			for _, r := range p.rows {
				s.branch[r] = astray
			}
		}
		for i, e := range entries {
			b := uint16(1)
			if i < c.left {
				b = 0
			}
			s.branch[g.entry.row(e)] = b
		}
	} else {
		var of []uint16
		of, branches = g.branches(nd, col, c)
		column := &g.columns[col]
		for _, r := range p.rows {
			b := of[column.code(r)]
			at.missing = at.missing || b == astray
			s.branch[r] = b
		}
	}
	g.arrive(p, at, branches, weights, s)
	return at
}

// branches numbers the branches of a nominal test: one for each value that
// has rows, and one more for all that have none; or two, for a binary test.
func (g *grower) branches(nd *node, col int32, c *candidate) (of []uint16, branches int) {
	if nd.absent {
		return []uint16{isAbsent: 0, isPresent: 1, isPresent + 1: astray}, 2
	}
	values := g.columns[col].values
	of = make([]uint16, values+1)
	for v := range of {
		of[v] = mostBranch
	}
	of[values] = astray
	if c.goesLeft != nil {
		branches = 2
		for v, left := range c.goesLeft {
			of[v] = 1
			if left {
				of[v] = 0
			}
		}
	} else {
		present := make([]bool, values)
		for _, v := range c.values {
			present[v] = true
		}
		for v := range values {
			if present[v] {
				of[v] = uint16(branches)
				branches++
			}
		}
		if branches < values {
			for v := range values {
				if !present[v] {
					of[v] = uint16(branches)
				}
			}
			branches++
		}
	}
	nd.branch = make([]int32, values)
	for v := range values {
		nd.branch[v] = int32(of[v])
	}
	return of, branches
}

// arrive adds up the rows of each branch, fractions of rows included.
func (g *grower) arrive(p *part, at *arrival, branches int, weights []float64, s *scratch) {
	nd := p.node
	size := len(nd.stat)
	stats := make([]float64, branches*size)
	nodes := make([]node, branches)
	at.kids = make([]*node, branches)
	for b := range at.kids {
		nodes[b] = node{col: leaf, stat: stats[b*size : (b+1)*size : (b+1)*size]}
		at.kids[b] = &nodes[b]
	}
	for _, r := range p.rows {
		if b := s.branch[r]; b != astray {
			w := 1.0
			if weights != nil {
				w = weights[r]
			}
			g.add(at.kids[b].stat, p.places, r, w)
		}
	}
	knownTotal := 0.0
	for b, kid := range at.kids {
		kid.known = g.measure.weight(kid.stat)
		knownTotal += kid.known
		if kid.known > at.kids[at.common].known {
			at.common = b
		}
	}
	nd.kids = at.kids
	if at.missing {
		at.shares = make([]float64, branches)
		for b, kid := range at.kids {
			at.shares[b] = kid.known / knownTotal
		}
		if g.Missing == missingClass && g.classes > 0 {
			at.byClass = make([]int, size)
			for c := range at.byClass {
				for b, kid := range at.kids {
					if kid.stat[c] > at.kids[at.byClass[c]].stat[c] {
						at.byClass[c] = b
					}
				}
				if at.kids[at.byClass[c]].stat[c] == 0 {
					at.byClass[c] = at.common
				}
			}
		}
		for _, r := range p.rows {
			if s.branch[r] != astray {
				continue
			}
			w := 1.0
			if weights != nil {
				w = weights[r]
			}
			if b, whole := at.whole(g, p, r, w); whole {
				g.add(at.kids[b].stat, p.places, r, w)
				s.branch[r] = uint16(b)
				continue
			}
			at.parted = true
			for b, share := range at.shares {
				if share > 0 {
					g.add(at.kids[b].stat, p.places, r, w*share)
				}
			}
		}
	}
	for _, kid := range at.kids {
		if nd.classes != nil {
			kid.thin(nd.classes)
		}
		g.finish(kid, nd.label)
	}
}

// whole returns the branch that takes all of a row whose cell is missing;
// false if every branch takes its share.
func (at *arrival) whole(g *grower, p *part, row int32, weight float64) (int, bool) {
	switch g.Missing {
	case missingCommon:
		return at.common, true
	case missingClass:
		if at.byClass != nil {
			c := g.class(row)
			if p.places != nil {
				c = int(p.places[c])
			}
			return at.byClass[c], true
		}
		return at.common, true
	}
	return at.common, weight < leastWeight*g.weight(int(row))
}

// children returns the parts of those branches that may be split further.
func (g *grower) children(p *part, k int, found []candidate, at *arrival, s *scratch) []*part {
	s.place = resize(s.place, len(at.kids)) // of each branch among the children
	place := s.place
	var children []*part
	for b, kid := range at.kids {
		place[b] = -1
		if kid.known > 0 && g.open(kid, p.depth+1) {
			place[b] = len(children)
			children = append(children, s.part(kid, p.depth+1))
		} else {
			g.settle(kid)
		}
	}
	if len(children) == 0 {
		return nil
	}
	kept := s.kept[:0]
	for i := range p.live {
		usedUp := i == k && !p.node.numeric && found[i].goesLeft == nil
		if !found[i].constant && !usedUp && !g.answered(p.node, p.live[i]) {
			kept = append(kept, i)
		}
	}
	s.kept = kept
	if len(kept) == 0 {
		for _, child := range children {
			g.settle(child.node)
		}
		return nil
	}
	live := make([]int32, len(kept))
	for j, i := range kept {
		live[j] = p.live[i]
	}
	for _, child := range children {
		child.live = live
		child.sorted = resize(child.sorted, len(kept))
		clear(child.sorted)
	}
	if p.weights == nil && !at.parted {
		g.shareOut(p, kept, place, children, s)
	} else {
		g.shareOutFractions(p, kept, at, place, children, s)
	}
	return children
}

// shareOut divides a part's rows among the children in place.
func (g *grower) shareOut(p *part, kept []int, place []int, children []*part, s *scratch) {
	s.order = resize(s.order, len(p.rows))
	for i, rows := range divide(p.rows, s.branch, -1, place, len(children), s.order) {
		children[i].rows = rows
	}
	f := g.entry
	g.each(len(kept), p, s, func(j int, own *scratch) {
		entries := p.sorted[kept[j]]
		switch {
		case entries == nil:
		case len(place) == 2:
			var parts [2][]uint64
			parts[0], parts[1] = halve(entries, s.branch, 1<<f.rowBits-1, own)
			for b, c := range place {
				if c >= 0 {
					children[c].sorted[j] = parts[b]
				}
			}
		default:
			for c, share := range divide(entries, s.branch, 1<<f.rowBits-1, place, len(children), own.sorting.Keys(len(entries))) {
				children[c].sorted[j] = share
			}
		}
	})
}

// halve moves the entries of branch 0 to the front and the others behind
// them, both in their order. It has no jumps that depend on the branch, which
// is as good as random.
func halve(entries []uint64, branch []uint16, rowMask uint64, s *scratch) (zero, one []uint64) {
	moved := s.sorting.Keys(len(entries))
	zeros, ones := 0, 0
	for _, e := range entries {
		b := int(branch[e&rowMask])
		entries[zeros] = e
		moved[ones] = e
		ones += b
		zeros += 1 - b
	}
	copy(entries[zeros:], moved[:ones])
	return entries[:zeros:zeros], entries[zeros:]
}

// divide returns the items of each child, in their order. They take the place
// of the undivided ones. The mask takes the row out of an item; the room is for
// as many items.
func divide[T int32 | uint64](items []T, branch []uint16, rowMask T, place []int, children int, room []T) [][]T {
	ends := make([]int, children)
	for _, it := range items {
		if c := place[branch[it&rowMask]]; c >= 0 {
			ends[c]++
		}
	}
	kept := 0
	parts := make([][]T, children)
	starts := make([]int, children)
	for c, n := range ends {
		starts[c] = kept
		kept += n
	}
	moved := room[:kept]
	at := append([]int(nil), starts...)
	for _, it := range items {
		if c := place[branch[it&rowMask]]; c >= 0 {
			moved[at[c]] = it
			at[c]++
		}
	}
	copy(items, moved)
	for c, n := range ends {
		parts[c] = items[starts[c] : starts[c]+n : starts[c]+n]
	}
	return parts
}

// shareOutFractions divides a part's rows among the children where some rows
// go to several of them in fractions.
func (g *grower) shareOutFractions(p *part, kept []int, at *arrival, place []int, children []*part, s *scratch) {
	weigh := func(i int, r int32) float64 {
		if p.weights != nil {
			return p.weights[i]
		}
		return g.weight(int(r))
	}
	for i, r := range p.rows {
		w := weigh(i, r)
		if b := s.branch[r]; b != astray {
			if c := place[b]; c >= 0 {
				children[c].rows = append(children[c].rows, r)
				children[c].weights = append(children[c].weights, w)
			}
			continue
		}
		for b, share := range at.shares {
			if c := place[b]; c >= 0 && share > 0 {
				children[c].rows = append(children[c].rows, r)
				children[c].weights = append(children[c].weights, w*share)
			}
		}
	}
	g.each(len(kept), p, s, func(j int, _ *scratch) {
		entries := p.sorted[kept[j]]
		if entries == nil {
			return
		}
		shares := make([][]uint64, len(children))
		for c := range shares {
			shares[c] = []uint64{}
		}
		for _, e := range entries {
			if b := s.branch[g.entry.row(e)]; b != astray {
				if c := place[b]; c >= 0 {
					shares[c] = append(shares[c], e)
				}
				continue
			}
			for b, share := range at.shares {
				if c := place[b]; c >= 0 && share > 0 {
					shares[c] = append(shares[c], e)
				}
			}
		}
		for c := range children {
			children[c].sorted[j] = shares[c]
		}
	})
}

func (c *codes) code(row int32) int32 {
	if c.narrow != nil {
		return int32(c.narrow[row])
	}
	return c.wide[row]
}
