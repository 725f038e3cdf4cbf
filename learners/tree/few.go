package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// few says which classes the nodes of a tree know, where there are many: those
// that their rows had. Any other class is as probable in a node as its parent
// finds it, times what the parent is worth there.
type few struct {
	from    []int32 // of each node: where its classes begin; and where the last one's end
	classes []int32 // ascending within a node
	parent  []int32
	worth   []float64 // of each node: m/(n+m), the parent's part of its estimates
	each    []float64 // of each node: 1/(n+m), that of a row
	prior   []float64 // before any row, of each class
}

// grow appends the classes of the next node.
func (f *few) grow(classes []int32) *few {
	if f == nil {
		f = &few{from: []int32{0}}
	}
	f.classes = append(f.classes, classes...)
	f.from = append(f.from, int32(len(f.classes)))
	return f
}

// estimateFew computes what estimate computes, of the classes that each node
// knows. The most probable class is one of these or the parent's: what makes a
// class that the node does not know probable makes the parent's more so.
func (c *compact) estimateFew(m float64, labels []string) {
	f := c.few
	f.parent, f.worth, f.each = make([]int32, len(c.nodes)), make([]float64, len(c.nodes)), make([]float64, len(c.nodes))
	f.parent[0] = -1
	for i := range c.nodes {
		for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
			f.parent[k] = int32(i)
		}
	}
	n := c.weight(0)
	f.prior = make([]float64, c.classes)
	for k := range f.prior {
		f.prior[k] = 1 / (n + float64(c.classes))
	}
	classes, stat := c.weights(0)
	for i, k := range classes {
		f.prior[k] = (stat[i] + 1) / (n + float64(c.classes))
	}
	c.answer = make([]float64, len(c.stat))
	for i := range c.nodes {
		c.smoothFew(i, m, labels)
	}
}

func (c *compact) smoothFew(i int, m float64, labels []string) {
	f := c.few
	classes, stat := c.weights(i)
	n := sum(stat)
	f.worth[i] = 1
	if n+m > 0 {
		f.worth[i], f.each[i] = m/(n+m), 1/(n+m)
	}
	best := c.nodes[i].label
	if f.parent[i] >= 0 {
		best = c.nodes[f.parent[i]].label
	}
	answer := c.answer[f.from[i]:f.from[i+1]]
	for k, class := range classes {
		answer[k] = c.of(int(f.parent[i]), class) * f.worth[i]
		if n+m > 0 {
			answer[k] += stat[k] / (n + m)
		}
	}
	most := c.of(i, best)
	for k, class := range classes {
		if p := answer[k]; p > most || p == most && labels[class] < labels[best] {
			best, most = class, p
		}
	}
	// As in smooth: of equally probable classes the tree means its own.
	label := c.nodes[i].label
	if at, known := slices.BinarySearch(classes, label); known && label != best && answer[at] == most {
		answer[at] = math.Nextafter(most, 1)
		best = label
	}
	c.nodes[i].label = best
}

// of returns how probable a node finds a class.
func (c *compact) of(i int, class int32) float64 {
	f := c.few
	p := 1.0
	for ; i >= 0; i = int(f.parent[i]) {
		if at, known := slices.BinarySearch(f.classes[f.from[i]:f.from[i+1]], class); known {
			return p * c.answer[int(f.from[i])+at]
		}
		p *= f.worth[i]
	}
	return p * f.prior[class]
}

// mix adds a node's probabilities, w times: what its own rows say, what its
// parent's say, and so on.
func (f *few) mix(i int, w float64, stat, p []float64) {
	for at := i; at >= 0; at = int(f.parent[at]) {
		w = f.say(at, w, stat, p)
	}
	for class, prior := range f.prior {
		p[class] += w * prior
	}
}

// say adds the part of a node's probabilities that its own rows give, w times,
// and returns what is left for its parent to say.
func (f *few) say(i int, w float64, stat, p []float64) float64 {
	if part := w * f.each[i]; part > 0 {
		for k, class := range f.classes[f.from[i]:f.from[i+1]] {
			p[class] += part * stat[int(f.from[i])+k]
		}
	}
	return w * f.worth[i]
}

// classifyFew is classify for few: from the leaves that a row reaches up, what
// the rows of each node say is added once.
func (c *compact) classifyFew(columns []table.Column, row int, p []float64) {
	clear(p)
	left, at := c.climb(0, 1, columns, row, p)
	for class, prior := range c.few.prior {
		p[class] += left * prior
	}
	if at >= 0 {
		c.mean(at, p)
	}
}

// climb adds what the nodes from i down say of a row, w times, and returns what
// is left for those above, and the leaf that all of the row is in; none if
// there are several.
func (c *compact) climb(i int, w float64, columns []table.Column, row int, p []float64) (left float64, at int) {
	st := &c.nodes[i]
	if st.col == leaf {
		return c.few.say(i, w, c.stat, p), i
	}
	if next := c.next(st, columns, row); next != 0 {
		left, at = c.climb(next, w, columns, row, p)
		return c.few.say(i, left, c.stat, p), at
	}
	sum := 0.0
	for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
		if c.share[k] > 0 {
			left, _ = c.climb(k, w*c.share[k], columns, row, p)
			sum += left
		}
	}
	return c.few.say(i, sum, c.stat, p), -1
}

// mean makes the class that a node means the most probable one, where rounding
// left it behind another.
func (c *compact) mean(i int, p []float64) {
	label := c.nodes[i].label
	best := label
	for k := range p {
		if p[k] >= p[best] {
			best = int32(k)
		}
	}
	if best != label {
		p[label] = math.Nextafter(p[best], 1)
	}
}

// knows reports whether a node has rows of a class. What a node knows its
// parent knows.
func (f *few) knows(i int, class int32) bool {
	_, known := slices.BinarySearch(f.classes[f.from[i]:f.from[i+1]], class)
	return known
}

// check refuses what no tree can have: classes that are none, or that a
// node's parent does not know.
func (f *few) check(c *compact) error {
	for i := range c.nodes {
		classes := f.classes[f.from[i]:f.from[i+1]]
		for k, class := range classes {
			if class < 0 || int(class) >= c.classes || k > 0 && class <= classes[k-1] {
				return fmt.Errorf("node %d has class %d of %d, or twice", i, class, c.classes)
			}
		}
		for k, kids := c.kids(i).from, c.kids(i); k < kids.to; k++ {
			for _, class := range f.classes[f.from[k]:f.from[k+1]] {
				if !f.knows(i, class) {
					return fmt.Errorf("node %d has rows of class %d that node %d has not", k, class, i)
				}
			}
		}
	}
	return nil
}

// thinned returns the weights of all classes as those of few.
func thinned(stat []float64, classes int) (*few, []float64) {
	var f *few
	var left []float64
	for ; len(stat) > 0; stat = stat[classes:] {
		nd := node{stat: stat[:classes]}
		nd.thin(nil)
		f = f.grow(nd.classes)
		left = append(left, nd.stat...)
	}
	return f, left
}
