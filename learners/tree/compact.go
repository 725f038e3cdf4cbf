package tree

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// compact is a grown tree, laid out for walking: level by level, so that the
// children of a node stand side by side.
type compact struct {
	classes int // 0: numeric target
	size    int // numbers in a statistic
	center  float64
	scale   float64
	common  bool // a missing cell goes where most rows went, not everywhere

	nodes  []step
	branch []int32   // nominal tests: for each value, which child
	planes []*plane  // of oblique tests
	stat   []float64 // size numbers a node, or with many classes those of few
	few    *few      // nil: each node has numbers of all classes
	known  []float64 // of a node: the weight of rows whose cell the parent's test could read

	share  []float64 // of a node: its part of a row whose cell is missing
	answer []float64 // of a node: class probabilities, or mean and deviation; as stat
}

// step is a node of a compact tree.
type step struct {
	threshold float64
	col       int32 // leaf: none
	kid       int32 // the first child
	kids      int32
	first     int32 // nominal: where in branch the values start; oblique: which plane
	values    int32 // nominal: how many; 0 for a numeric test, slanted for an oblique one, absent for one of missing cells
	label     int32
}

// What stands for the number of values of an oblique test, and of one that asks
// whether a cell is missing.
const (
	slanted = -1
	absent  = -2
)

// plane returns that of an oblique test; nil for others.
func (c *compact) plane(st *step) *plane {
	if st.values == slanted {
		return c.planes[st.first]
	}
	return nil
}

// flatten lays out a grown tree.
func flatten(root *node, x *examples, s *settings, labels []string, ways []int8) *compact {
	c := &compact{classes: x.classes, size: x.size, center: x.center, scale: x.scale}
	queue := []*node{root}
	for i := 0; i < len(queue); i++ {
		nd := queue[i]
		st := step{col: nd.col, label: nd.label, kid: int32(len(queue)), kids: int32(len(nd.kids))}
		if !nd.isLeaf() {
			if nd.absent {
				st.values = absent
			} else if nd.numeric {
				st.threshold = nd.threshold
				if nd.plane != nil {
					st.first, st.values = int32(len(c.planes)), slanted
					c.planes = append(c.planes, nd.plane)
				}
			} else {
				st.first, st.values = int32(len(c.branch)), int32(len(nd.branch))
				c.branch = append(c.branch, nd.branch...)
			}
			queue = append(queue, nd.kids...)
		} else {
			st.kid = 0
		}
		c.nodes = append(c.nodes, st)
		c.stat = append(c.stat, nd.stat...)
		if nd.classes != nil {
			c.few = c.few.grow(nd.classes)
		}
		c.known = append(c.known, nd.known)
	}
	c.derive(s, labels, ways)
	return c
}

// derive computes shares and answers.
func (c *compact) derive(s *settings, labels []string, ways []int8) {
	c.common = s.Missing == missingCommon || s.Missing == missingClass
	c.share = make([]float64, len(c.nodes))
	c.share[0] = 1
	for i := range c.nodes {
		kids := c.kids(i)
		total := 0.0
		most := kids.from
		for k := kids.from; k < kids.to; k++ {
			total += c.known[k]
			if c.known[k] > c.known[most] {
				most = k
			}
		}
		for k := kids.from; k < kids.to; k++ {
			switch {
			case c.common || total == 0:
				if k == most {
					c.share[k] = 1
				}
			default:
				c.share[k] = c.known[k] / total
			}
		}
	}
	switch {
	case c.few != nil:
		c.estimateFew(s.M, labels)
	case c.classes > 0:
		c.estimate(s.M, labels)
	default:
		c.average(s.M)
	}
	c.lean(ways, labels)
}

// span is a range of nodes.
type span struct{ from, to int }

func (c *compact) kids(i int) span {
	st := &c.nodes[i]
	return span{int(st.kid), int(st.kid + st.kids)}
}

// estimate computes class probabilities from the root down: a node's counts
// together with m cases that are distributed as at its parent (an m-estimate,
// Cestnik 1990, with the parent as prior). The root's prior is Laplace's. So a
// few rows do not outvote what all their neighbours say, and no class is
// impossible.
func (c *compact) estimate(m float64, labels []string) {
	C := c.classes
	c.answer = make([]float64, len(c.nodes)*C)
	prior := make([]float64, C)
	n := sum(c.stat[:C])
	for k := range prior {
		prior[k] = (c.stat[k] + 1) / (n + float64(C))
	}
	c.smooth(0, prior, m, labels)
	for i := range c.nodes {
		for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
			c.smooth(k, c.answer[i*C:(i+1)*C], m, labels)
		}
	}
}

func (c *compact) smooth(i int, prior []float64, m float64, labels []string) {
	C := c.classes
	stat, p := c.stat[i*C:(i+1)*C], c.answer[i*C:(i+1)*C]
	n := sum(stat)
	for k := range p {
		if n+m > 0 {
			p[k] = (stat[k] + m*prior[k]) / (n + m)
		} else {
			p[k] = prior[k]
		}
	}
	// Callers take the first by name of equally probable classes, where the
	// tree means the parent's: the smallest of hints says so.
	label := c.nodes[i].label
	for k := range p {
		if p[k] == p[label] && labels[k] < labels[label] {
			p[label] = math.Nextafter(p[label], 1)
			break
		}
	}
	c.nodes[i].label = int32(learn.Best(p, labels))
}

// average computes mean and deviation from the root down. The deviation is
// that of a new row: the rows' own, with m cases that vary as at the parent,
// and the error of the mean, widened as Student's distribution is wider than
// the normal one.
func (c *compact) average(m float64) {
	c.answer = make([]float64, 2*len(c.nodes))
	within := make([]float64, len(c.nodes)) // variance
	wider := students()
	set := func(i, parent int) {
		n, s, ss := c.stat[3*i], c.stat[3*i+1], c.stat[3*i+2]
		if n <= 0 {
			copy(c.answer[2*i:2*i+2], c.answer[2*parent:])
			within[i] = within[parent]
			return
		}
		mean := s / n
		around := max(ss-s*mean, 0)
		switch {
		case i == 0:
			within[i] = over(around, n-1)
		case n-1+m > 0:
			within[i] = (around + m*within[parent]) / (n - 1 + m)
		default:
			within[i] = within[parent]
		}
		c.answer[2*i] = c.number(c.center, mean)
		c.answer[2*i+1] = min(c.scale*math.Sqrt(within[i]*(1+1/n))*wider(n-1+m), math.MaxFloat64)
	}
	set(0, 0)
	for i := range c.nodes {
		for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
			set(k, i)
		}
	}
}

// students returns a function that says how much wider Student's distribution
// with so many degrees of freedom is than the normal one, at 95 %. It remembers
// what it computed.
func students() func(freedom float64) float64 {
	seen := map[float64]float64{}
	return func(freedom float64) float64 {
		if freedom < 1 {
			return 1
		}
		w, ok := seen[freedom]
		if !ok {
			w = distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.975) / quantile
			seen[freedom] = w
		}
		return w
	}
}

// number returns base + z · scale, which is finite even where z · scale is not.
func (c *compact) number(base, z float64) float64 {
	x := base + c.scale*z
	if math.IsInf(c.scale*z, 0) {
		x = 2 * (base/2 + c.scale/2*z)
	}
	return max(min(x, math.MaxFloat64), -math.MaxFloat64)
}

// next returns the child that a row goes to; 0 if its cell is missing or has
// a value that the tree does not know.
func (c *compact) next(st *step, columns []table.Column, row int) int {
	if st.values > 0 {
		if code := columns[st.col].Codes[row]; uint32(code) < uint32(st.values) {
			return int(st.kid + c.branch[st.first+code])
		}
		return 0
	}
	if st.values == absent {
		return int(st.kid) + absentBranch(columns[st.col], row)
	}
	if st.values < 0 {
		if c.planes[st.first].sum(columns, row) > st.threshold {
			return int(st.kid) + 1
		}
		return int(st.kid)
	}
	x := columns[st.col].Floats[row]
	if x <= st.threshold {
		return int(st.kid)
	}
	if x > st.threshold {
		return int(st.kid) + 1
	}
	return 0
}

// walk follows a row from a node as far as its cells are known.
func (c *compact) walk(i int, columns []table.Column, row int) int {
	for {
		i = c.straight(i, columns, row)
		st := &c.nodes[i]
		if st.col < 0 || st.values >= 0 {
			return i
		}
		i = c.next(st, columns, row)
	}
}

// straight walks along tests of one column. It calls nothing: most trees have
// no others, and their answers are its work alone.
func (c *compact) straight(i int, columns []table.Column, row int) int {
	nodes, branch := c.nodes, c.branch
	for {
		st := &nodes[i]
		if st.col < 0 {
			return i
		}
		if st.values > 0 {
			code := columns[st.col].Codes[row]
			if uint32(code) >= uint32(st.values) {
				return i
			}
			i = int(st.kid + branch[st.first+code])
			continue
		}
		if st.values < 0 {
			return i
		}
		x := columns[st.col].Floats[row]
		if x <= st.threshold {
			i = int(st.kid)
		} else if x > st.threshold {
			i = int(st.kid) + 1
		} else {
			return i
		}
	}
}

// classify fills p with a row's class probabilities.
func (c *compact) classify(columns []table.Column, row int, p []float64) {
	if c.few != nil {
		c.classifyFew(columns, row, p)
		return
	}
	i := c.straight(0, columns, row)
	if c.nodes[i].col == leaf {
		copy(p, c.answer[i*c.classes:(i+1)*c.classes])
		return
	}
	clear(p)
	c.spread(i, 1, columns, row, p)
}

// spread adds the answers of all leaves that a row reaches in fractions.
func (c *compact) spread(i int, w float64, columns []table.Column, row int, p []float64) {
	i = c.walk(i, columns, row)
	if c.nodes[i].col == leaf {
		c.mix(i, w, p)
		return
	}
	for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
		if c.share[k] > 0 {
			c.spread(k, w*c.share[k], columns, row, p)
		}
	}
}

// probabilities fills p with a node's.
func (c *compact) probabilities(i int, p []float64) {
	if c.few != nil {
		clear(p)
		c.mix(i, 1, p)
		c.mean(i, p)
		return
	}
	copy(p, c.answer[i*c.classes:(i+1)*c.classes])
}

// mix adds a node's probabilities, w times.
func (c *compact) mix(i int, w float64, p []float64) {
	if c.few != nil {
		c.few.mix(i, w, c.stat, p)
		return
	}
	for k, q := range c.answer[i*c.classes : (i+1)*c.classes] {
		p[k] += w * q
	}
}

// weight returns the weight of a node's rows.
func (c *compact) weight(i int) float64 {
	if c.classes == 0 {
		return c.stat[3*i]
	}
	_, stat := c.weights(i)
	return sum(stat)
}

// weights returns the weights of a node's classes; classes is nil where they
// are all there are.
func (c *compact) weights(i int) (classes []int32, stat []float64) {
	if c.few != nil {
		return c.few.classes[c.few.from[i]:c.few.from[i+1]], c.stat[c.few.from[i]:c.few.from[i+1]]
	}
	return nil, c.stat[i*c.size : (i+1)*c.size]
}

// weightOf returns the weight of a class in a node.
func (c *compact) weightOf(i, class int) float64 {
	classes, stat := c.weights(i)
	nd := node{classes: classes, stat: stat}
	return nd.of(int32(class))
}

// quantile is the standard normal distance that 95 % of draws stay within.
const quantile = 1.959963984540054

// regress returns a row's mean and the ends of its 95 % interval.
func (c *compact) regress(columns []table.Column, row int) (mean, low, high float64) {
	i := c.walk(0, columns, row)
	mean, deviation := c.answer[2*i], c.answer[2*i+1]
	if c.nodes[i].col != leaf {
		var at [2]float64 // moments around the node's own mean, in its scale
		c.gather(i, 1, columns, row, mean, &at)
		deviation = c.scale * math.Sqrt(max(at[1]-at[0]*at[0], 0))
		mean = c.number(mean, at[0])
	}
	return mean, max(mean-quantile*deviation, -math.MaxFloat64), min(mean+quantile*deviation, math.MaxFloat64)
}

// gather adds up the first two moments of the mixture of leaves that a row
// reaches in fractions.
func (c *compact) gather(i int, w float64, columns []table.Column, row int, around float64, at *[2]float64) {
	i = c.walk(i, columns, row)
	if c.nodes[i].col == leaf {
		d, s := (c.answer[2*i]/2-around/2)/c.scale*2, c.answer[2*i+1]/c.scale
		at[0] += w * d
		at[1] += w * (d*d + s*s)
		return
	}
	for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
		if c.share[k] > 0 {
			c.gather(k, w*c.share[k], columns, row, around, at)
		}
	}
}

// depth returns the number of tests on the longest path.
func (c *compact) depth() int {
	depth := make([]int, len(c.nodes))
	deepest := 0
	for i := range c.nodes {
		for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
			depth[k] = depth[i] + 1
			deepest = max(deepest, depth[k])
		}
	}
	return deepest
}

// tests returns the number of nodes that are not leaves.
func (c *compact) tests() int {
	n := 0
	for i := range c.nodes {
		if c.nodes[i].col != leaf {
			n++
		}
	}
	return n
}
