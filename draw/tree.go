package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
)

const (
	mostNodes  = 1000   // drawn of a tree
	widest     = 1500.0 // a wider tree grows from left to right
	siblingGap = 14.0
	levelGap   = 56.0 // from top to bottom, between levels
	labelRoom  = 20.0 // of it, for the labels of branches
)

// vertex is a node of the tree being placed. Breadth runs along a level,
// depth across levels.
type vertex struct {
	node     int // in Graph.Nodes
	in       *link
	children []*vertex
	level    int
	breadth  float64 // room it takes along its level
	place    float64 // its middle along the level, first relative to its parent
	hidden   int     // descendants that are not drawn
}

// tree draws the graph as a tidy tree (Reingold & Tilford 1981, in the form
// of Kennedy 1996, which treats left and right alike).
func (g *Graph) tree(w io.Writer, links []link) error {
	boxes, items := g.boxes()
	roots, extra, shown := grow(len(g.Nodes), links)
	title := g.Title
	if shown < len(g.Nodes) {
		title = fmt.Sprintf("%s (the %d nodes nearest to the root, of %d)", title, shown, len(g.Nodes))
	}
	t := layOut(roots, boxes)
	wide, high := t.spread, t.depth
	if t.sideways {
		wide, high = t.depth+30, t.spread // room for the counts of what is hidden
	}
	wide = max(wide+2*margin, headingWidth(title, items))
	var p picture
	top := p.heading(title, wide, items)
	if len(g.Nodes) == 0 {
		p.text(margin, top+12, "start", "nothing to draw", "fill", soft)
		return p.writeTo(w, title, max(wide, 160), top+30)
	}
	left := margin
	if !t.sideways {
		left = (wide - t.spread) / 2
	}
	t.place(left, top)
	t.branches(&p, left, top, greatestWeight(links))
	for _, l := range extra {
		from, to := &boxes[l.from], &boxes[l.to]
		p.add("line", "x1", from.x, "y1", from.y, "x2", to.x, "y2", to.y, "stroke", neutral, "stroke-dasharray", "4 3")
	}
	for _, v := range slices.Concat(t.levels...) {
		t.draw(&p, v)
	}
	if shown < len(g.Nodes) && !t.sideways { // counts of what is hidden stand below
		high += lineHeight
	}
	return p.writeTo(w, title, wide, top+high+margin)
}

// planted is a tree being placed: its levels run from left to right below each
// other or, sideways, from top to bottom beside each other.
type planted struct {
	boxes        []box
	levels       [][]*vertex
	sideways     bool
	spread       float64   // along the levels
	depth        float64   // across them
	across, ends []float64 // where each level begins and ends
}

// layOut arranges the vertices from top to bottom or, if that is too wide, from
// left to right.
func layOut(roots []*vertex, boxes []box) *planted {
	t := &planted{boxes: boxes}
	collect(roots, &t.levels)
	all := slices.Concat(t.levels...)
	for _, v := range all {
		v.breadth = boxes[v.node].width
		if v.in != nil {
			v.breadth = max(v.breadth, width(clip(v.in.label, longestLine))+6)
		}
	}
	t.spread = arrange(roots)
	if t.sideways = t.spread > widest; t.sideways {
		for _, v := range all {
			v.breadth = boxes[v.node].height
		}
		t.spread = arrange(roots)
	}
	t.stack()
	return t
}

// stack finds where each level begins and ends across.
func (t *planted) stack() {
	for i, level := range t.levels {
		thick, label := 0.0, 0.0
		for _, v := range level {
			if !t.sideways {
				high := t.boxes[v.node].height
				if v.hidden > 0 {
					high += lineHeight // the count of them
				}
				thick = max(thick, high)
				continue
			}
			thick = max(thick, t.boxes[v.node].width)
			if v.in != nil {
				label = max(label, width(clip(v.in.label, longestLine)))
			}
		}
		if i > 0 {
			t.depth += levelGap + label
		}
		t.across = append(t.across, t.depth)
		t.depth += thick
		t.ends = append(t.ends, t.depth)
	}
}

// place gives each box its middle.
func (t *planted) place(left, top float64) {
	for level, vertices := range t.levels {
		for _, v := range vertices {
			b := &t.boxes[v.node]
			if t.sideways {
				b.x, b.y = left+t.across[level]+b.width/2, top+v.place
			} else {
				b.x, b.y = left+v.place, top+t.across[level]+b.height/2
			}
		}
	}
}

// branches draws the curves from parents to children.
func (t *planted) branches(p *picture, left, top, greatest float64) {
	for level, vertices := range t.levels {
		for _, v := range vertices {
			for _, c := range v.children {
				curve := downward(&t.boxes[v.node], &t.boxes[c.node], top+t.ends[level])
				if t.sideways {
					curve = rightward(&t.boxes[v.node], &t.boxes[c.node], left+t.ends[level])
				}
				stroke, colour := strokeOf(c.in.weight, greatest)
				p.add("path", "d", curve, "fill", "none", "stroke", colour, "stroke-width", stroke)
			}
		}
	}
}

// draw draws a vertex: its box, the label of the branch that leads to it, and
// how many descendants are not drawn.
func (t *planted) draw(p *picture, v *vertex) {
	b := &t.boxes[v.node]
	p.box(b)
	label, more := "", ""
	if v.in != nil {
		label = clip(v.in.label, longestLine)
	}
	if v.hidden > 0 {
		more = fmt.Sprintf("+%d", v.hidden)
	}
	if t.sideways {
		p.label(b.x-b.width/2-6, b.y+4, "end", label)
		p.label(b.x+b.width/2+4, b.y+4, "start", more)
	} else {
		p.label(b.x, b.y-b.height/2-7, "middle", label)
		p.label(b.x, b.y+b.height/2+13, "middle", more)
	}
}

// downward is the curve from a parent to its child below. It leaves the
// parent's level, whose end is given, before it turns: there are taller boxes
// to the left and right. It has turned before it comes to the labels of the
// children.
func downward(from, to *box, end float64) string {
	x1, y1, x2, y2 := from.x, from.y+from.height/2, to.x, to.y-to.height/2
	turned := y2 - labelRoom
	middle := num((end + turned) / 2)
	return fmt.Sprintf("M%s %sV%sC%s %s %s %s %s %sV%s", num(x1), num(y1), num(end), num(x1), middle, num(x2), middle, num(x2), num(turned), num(y2))
}

// rightward is the same for a child on the right.
func rightward(from, to *box, end float64) string {
	x1, y1, x2, y2 := from.x+from.width/2, from.y, to.x-to.width/2, to.y
	turned := end + levelGap*0.7
	middle := num((end + turned) / 2)
	return fmt.Sprintf("M%s %sH%sC%s %s %s %s %s %sH%s", num(x1), num(y1), num(end), middle, num(y1), middle, num(y2), num(turned), num(y2), num(x2))
}

// grow makes trees of the links, breadth first from the nodes that no link
// enters, then from what remains (cycles). Links that would give a node a
// second parent are returned apart. At most mostNodes are shown.
func grow(nodes int, links []link) (roots []*vertex, extra []link, shown int) {
	out := make([][]*link, nodes)
	entered := make([]bool, nodes)
	for i := range links {
		l := &links[i]
		out[l.from] = append(out[l.from], l)
		if l.from != l.to {
			entered[l.to] = true
		}
	}
	vertices := make([]*vertex, nodes)
	seen := make([]bool, nodes)
	used := make(map[*link]bool, len(links))
	var queue []*vertex
	plant := func(n int, in *link, parent *vertex) {
		seen[n] = true
		v := &vertex{node: n, in: in}
		if parent != nil && (parent.hidden > 0 || shown >= mostNodes) {
			parent.hidden += below(n, out, seen)
			return
		}
		shown++
		vertices[n] = v
		if parent == nil {
			roots = append(roots, v)
		} else {
			v.level = parent.level + 1
			parent.children = append(parent.children, v)
		}
		queue = append(queue, v)
	}
	drain := func() {
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			for _, l := range out[v.node] {
				if !seen[l.to] {
					used[l] = true
					plant(l.to, l, v)
				}
			}
		}
	}
	for pass := range 2 {
		for n := range nodes {
			if !seen[n] && (pass == 1 || !entered[n]) && shown < mostNodes {
				plant(n, nil, nil)
				drain()
			}
		}
	}
	for i := range links {
		l := &links[i]
		if !used[l] && vertices[l.from] != nil && vertices[l.to] != nil && l.from != l.to {
			extra = append(extra, *l)
		}
	}
	return roots, extra, shown
}

// below counts a node and what can be reached from it and has not been seen.
func below(node int, out [][]*link, seen []bool) int {
	count := 0
	for stack := []int{node}; len(stack) > 0; count++ {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, l := range out[n] {
			if !seen[l.to] {
				seen[l.to] = true
				stack = append(stack, l.to)
			}
		}
	}
	return count
}

// collect lists the vertices of each level from left to right.
func collect(roots []*vertex, levels *[][]*vertex) {
	for level := roots; len(level) > 0; {
		*levels = append(*levels, level)
		var next []*vertex
		for _, v := range level {
			next = append(next, v.children...)
		}
		level = next
	}
}

// outline is how far a subtree reaches to both sides at each level, from its
// root down, relative to the root's middle.
type outline []struct{ left, right float64 }

// arrange gives every vertex its place along its level, starting at 0, and
// returns how far they spread.
func arrange(roots []*vertex) float64 {
	o := fit(roots)
	left, right := 0.0, 0.0
	for _, reach := range o {
		left, right = min(left, reach.left), max(right, reach.right)
	}
	var settle func(v *vertex, parent float64)
	settle = func(v *vertex, parent float64) {
		v.place += parent
		for _, c := range v.children {
			settle(c, v.place)
		}
	}
	for _, r := range roots {
		settle(r, -left)
	}
	return right - left
}

// fit places sibling subtrees beside each other as closely as they go, and
// centres them around 0. Fitting them from the left and from the right and
// taking the mean of both spreads the small ones evenly between large ones:
// any mean of two placements without overlaps has none either.
func fit(siblings []*vertex) outline {
	outlines := make([]outline, len(siblings))
	for i, v := range siblings {
		below := fit(v.children)
		outlines[i] = append(outline{{-v.breadth / 2, v.breadth / 2}}, below...)
	}
	n := len(siblings)
	fromLeft, fromRight := make([]float64, n), make([]float64, n)
	var all outline
	for i := range siblings {
		fromLeft[i] = apart(all, outlines[i])
		all = join(all, outlines[i], fromLeft[i])
	}
	all = nil
	for i := n - 1; i >= 0; i-- {
		fromRight[i] = -apart(outlines[i], all)
		all = join(all, outlines[i], fromRight[i])
	}
	if n == 0 {
		return nil
	}
	centre := (fromLeft[0] + fromLeft[n-1] + fromRight[0] + fromRight[n-1]) / 4
	all = nil
	for i, v := range siblings {
		v.place = (fromLeft[i]+fromRight[i])/2 - centre
		all = join(all, outlines[i], v.place)
	}
	return all
}

// apart returns how far the root of one outline must lie to the right of the
// other's 0 for a gap at every level that both have.
func apart(left, right outline) float64 {
	need := math.Inf(-1)
	for i := range min(len(left), len(right)) {
		need = max(need, left[i].right-right[i].left+siblingGap)
	}
	if math.IsInf(need, -1) {
		return 0
	}
	return need
}

// join returns the outline of both, the second one moved. It may use the
// first one's room.
func join(a, b outline, move float64) outline {
	for i, reach := range b {
		reach.left += move
		reach.right += move
		if i < len(a) {
			a[i].left, a[i].right = min(a[i].left, reach.left), max(a[i].right, reach.right)
		} else {
			a = append(a, reach)
		}
	}
	return a
}
