package draw

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// SVG writes the graph as a picture: a tree if its nodes leave Layer 0, else
// a network in columns. The same graph gives the same bytes.
//
// A tree that would be too wide to read from top to bottom is drawn from left
// to right. Very large graphs are cut, and their title says so.
func (g *Graph) SVG(w io.Writer) error {
	index := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if _, twice := index[n.ID]; twice {
			return fmt.Errorf("draw: two nodes have the ID %q; expected different ones", n.ID)
		}
		index[n.ID] = i
	}
	links := make([]link, len(g.Edges))
	for i, e := range g.Edges {
		from, ok := index[e.From]
		if !ok {
			return fmt.Errorf("draw: edge %d starts at %q, which is no node's ID", i+1, e.From)
		}
		to, ok := index[e.To]
		if !ok {
			return fmt.Errorf("draw: edge %d ends at %q, which is no node's ID", i+1, e.To)
		}
		links[i] = link{from, to, e.Label, e.Weight}
	}
	if g.Layered() {
		return g.network(w, links)
	}
	return g.tree(w, links)
}

// link is an edge between positions in Nodes.
type link struct {
	from, to int
	label    string
	weight   float64
}

// box is a node with its place: the middle, and its extent.
type box struct {
	lines         []string // shortened
	full          string   // all of the text
	x, y          float64
	width, height float64
	leaf          bool
	colour        rgb
}

const (
	margin      = 16.0
	padding     = 9.0   // between a box and its text
	longestLine = 260.0 // wider text is shortened, and whole in the tooltip
	titleHeight = 30.0
)

func (g *Graph) boxes() ([]box, []item) {
	colours, items := classColours(g.Nodes)
	boxes := make([]box, len(g.Nodes))
	for i, n := range g.Nodes {
		b := box{leaf: n.Leaf, full: strings.Join(n.Lines, "\n"), colour: neutral}
		if c, ok := colours[n.Class]; ok {
			b.colour = c
		}
		for _, line := range n.Lines {
			for _, part := range balanced(clip(line, 2*longestLine), longestLine) {
				part = clip(part, longestLine)
				b.lines = append(b.lines, part)
				b.width = max(b.width, width(part))
			}
		}
		b.width = max(b.width+2*padding, 36)
		b.height = float64(max(len(b.lines), 1))*lineHeight + padding
		boxes[i] = b
	}
	return boxes, items
}

func (p *picture) box(b *box) {
	p.open("g")
	p.tooltip(b.full)
	radius := 3.0
	if b.leaf {
		radius = min(b.height/2, 14)
	}
	p.add("rect", "x", b.x-b.width/2, "y", b.y-b.height/2, "width", b.width, "height", b.height, "rx", radius,
		"fill", b.colour.mix(white, 0.78), "stroke", b.colour, "stroke-width", 1.3)
	top := b.y - float64(len(b.lines))*lineHeight/2
	for i, line := range b.lines {
		p.text(b.x, top+float64(i)*lineHeight+11.5, "middle", line)
	}
	p.close("g")
}

// heading writes a title and the legend of classes and returns their height.
func (p *picture) heading(title string, wide float64, items []item) float64 {
	y := margin + p.title(wide, title)
	const most = 14 // a longer legend explains nothing
	if len(items) > 1 && len(items) <= most {
		y += p.legend(margin, y, wide-2*margin, items) + 6
	}
	return y
}

// headingWidth is the least width of a picture with this title.
func headingWidth(title string, items []item) float64 {
	least := titleWidth(title, 640)
	if len(items) > 1 {
		least = max(least, 240)
	}
	return least
}

// strokeOf returns the width and colour of an edge, relative to the greatest
// weight in the graph.
func strokeOf(weight, greatest float64) (float64, rgb) {
	switch {
	case weight == 0 || math.IsNaN(weight) || greatest == 0:
		return 1.2, neutral
	case weight < 0:
		return 0.6 + 4.4*min(-weight/greatest, 1), negative
	}
	return 0.6 + 4.4*min(weight/greatest, 1), positive
}

// greatestWeight returns the greatest finite |weight|.
func greatestWeight(links []link) float64 {
	greatest := 0.0
	for _, l := range links {
		if a := math.Abs(l.weight); a > greatest && !math.IsInf(a, 0) {
			greatest = a
		}
	}
	return greatest
}
