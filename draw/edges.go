package draw

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// A route is the line of a link: in curves through the gaps between columns, and
// straight past the boxes of columns on the way. So it never runs behind a box.
type route struct {
	path   string
	points [][2]float64 // along it, close enough to find what it passes
	gaps   []stretch    // its curves, where a label may stand
	stroke float64
}

// stretch is a Bézier curve.
type stretch struct{ x, y [4]float64 }

func (s stretch) at(t float64) (x, y float64) {
	u := 1 - t
	b := [4]float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
	for i := range b {
		x += b[i] * s.x[i]
		y += b[i] * s.y[i]
	}
	return x, y
}

const (
	pointsOfCurve = 24
	mostLabelled  = 1000 // of more links nobody reads numbers
)

// places are where on a curve a label is tried: near the end where fewer edges
// meet first.
var places = [...]float64{0.2, 0.26, 0.32, 0.4, 0.5, 0.14, 0.6, 0.68, 0.74, 0.8, 0.86}

// edges draws the links, thin ones over thick ones, then their labels.
func (p *picture) edges(n *layered, links []link, boxes []box) {
	greatest := greatestWeight(links)
	var order []int
	routes := make([]route, len(links))
	labelled := 0
	for i := range links {
		if n.routes[i] == nil {
			continue
		}
		order = append(order, i)
		if links[i].label != "" {
			labelled++
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		return math.Abs(links[order[a]].weight) > math.Abs(links[order[b]].weight)
	})
	for _, i := range order {
		r := n.route(n.routes[i])
		var c rgb
		r.stroke, c = strokeOf(links[i].weight, greatest)
		p.open("path", "d", r.path, "fill", "none", "stroke", c, "stroke-width", r.stroke, "stroke-opacity", "0.7")
		p.tooltip(tip(&links[i], boxes))
		p.close("path")
		routes[i] = r
	}
	if labelled == 0 || labelled > mostLabelled {
		return
	}
	p.labels(n, links, boxes, routes, order)
}

// labels writes the labels of links where neither a box, nor another label, nor
// another line is. Where fewer than half of those between two layers find such a
// place, none is written: a few of many would look as if they mattered. All are
// in the tooltips.
func (p *picture) labels(n *layered, links []link, boxes []box, routes []route, order []int) {
	taken := newCrowd()
	for i := range boxes {
		if b := &boxes[i]; n.drawn[i] >= 0 {
			taken.put(-1, area{b.x - b.width/2, b.y - b.height/2, b.x + b.width/2, b.y + b.height/2})
		}
	}
	for _, i := range order {
		taken.line(i, &routes[i])
	}
	type label struct {
		text string
		at   [2]float64
	}
	var pairs [][2]int // of layers, as they come
	wanted, written := map[[2]int]int{}, map[[2]int][]label{}
	for _, i := range order {
		text := shorten(links[i].label, n.gap/2)
		if text == "" {
			continue
		}
		from, to := n.stops[n.routes[i][0]].layer, n.stops[n.routes[i][len(n.routes[i])-1]].layer
		pair := [2]int{from, to}
		if wanted[pair]++; wanted[pair] == 1 {
			pairs = append(pairs, pair)
		}
		if at, found := routes[i].free(text, i, taken, len(n.layers[from]) >= len(n.layers[to])); found {
			taken.put(-1, labelArea(text, at))
			written[pair] = append(written[pair], label{text, at})
		}
	}
	for _, pair := range pairs {
		if 2*len(written[pair]) < wanted[pair] {
			continue
		}
		for _, l := range written[pair] {
			p.label(l.at[0], l.at[1]+3, "middle", l.text)
		}
	}
}

// labelArea is what a label around a point covers.
func labelArea(label string, at [2]float64) area {
	w := width(label)
	return area{at[0] - w/2 - 1, at[1] - 8, at[0] + w/2 + 1, at[1] + 6}
}

// free finds a place for a label on its own line where nothing else is: on the
// curve at the source first or, if more edges meet there, on that at the target.
func (r *route) free(label string, own int, taken *crowd, atSource bool) (at [2]float64, found bool) {
	gaps := slices.Clone(r.gaps)
	if !atSource {
		slices.Reverse(gaps)
	}
	for _, gap := range gaps {
		for _, t := range places {
			if !atSource {
				t = 1 - t
			}
			at[0], at[1] = gap.at(t)
			if !taken.meets(labelArea(label, at), own) {
				return at, true
			}
		}
	}
	return at, false
}

func tip(l *link, boxes []box) string {
	text := strings.ReplaceAll(boxes[l.from].full, "\n", " ") + " → " + strings.ReplaceAll(boxes[l.to].full, "\n", " ")
	if l.label != "" {
		text += ": " + l.label
	}
	if l.weight != 0 {
		text += fmt.Sprintf(" (%.4g)", l.weight)
	}
	return text
}

type area struct{ left, top, right, bottom float64 }

func (a area) meets(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// crowd knows what is where, by squares that areas touch.
type crowd struct{ squares map[[2]int][]claim }

// claim is an area and the link whose line it belongs to, or −1.
type claim struct {
	area
	link int
}

const squareOfCrowd = 32.0

func newCrowd() *crowd { return &crowd{squares: map[[2]int][]claim{}} }

func (a area) squares(visit func([2]int)) {
	for x := int(math.Floor(a.left / squareOfCrowd)); float64(x)*squareOfCrowd <= a.right; x++ {
		for y := int(math.Floor(a.top / squareOfCrowd)); float64(y)*squareOfCrowd <= a.bottom; y++ {
			visit([2]int{x, y})
		}
	}
}

func (c *crowd) put(link int, a area) {
	a.squares(func(at [2]int) { c.squares[at] = append(c.squares[at], claim{a, link}) })
}

// line takes the places along a line, as wide as it is drawn.
func (c *crowd) line(link int, r *route) {
	half := r.stroke/2 + 0.5
	for i := 1; i < len(r.points); i++ {
		a, b := r.points[i-1], r.points[i]
		c.put(link, area{min(a[0], b[0]) - half, min(a[1], b[1]) - half, max(a[0], b[0]) + half, max(a[1], b[1]) + half})
	}
}

// meets reports whether something else than a link's own line is in an area.
func (c *crowd) meets(a area, own int) bool {
	met := false
	a.squares(func(at [2]int) {
		met = met || slices.ContainsFunc(c.squares[at], func(o claim) bool { return (o.link < 0 || o.link != own) && a.meets(o.area) })
	})
	return met
}

// route returns the line through an edge's stops.
func (n *layered) route(through []int) route {
	var r route
	var path strings.Builder
	to := func(x, y float64) { // straight
		letter := "L"
		if r.points == nil {
			letter = "M"
		}
		r.points = append(r.points, [2]float64{x, y})
		fmt.Fprintf(&path, "%s%s %s", letter, num(x), num(y))
	}
	bend := func(s stretch) {
		r.gaps = append(r.gaps, s)
		for i := 1; i <= pointsOfCurve; i++ {
			x, y := s.at(float64(i) / pointsOfCurve)
			r.points = append(r.points, [2]float64{x, y})
		}
		fmt.Fprintf(&path, "C%s %s %s %s %s %s", num(s.x[1]), num(s.y[1]), num(s.x[2]), num(s.y[2]), num(s.x[3]), num(s.y[3]))
	}
	edge := func(s *stop, which float64) float64 { return s.x + which*n.thick[s.layer]/2 } // of its column: left is −1, right 1
	first, last := &n.stops[through[0]], &n.stops[through[len(through)-1]]
	if first.layer == last.layer { // an arc beside the column
		x := edge(first, 1)
		to(x, first.y)
		bend(stretch{[4]float64{x, x + besides*0.6, x + besides*0.6, x}, [4]float64{first.y, first.y, last.y, last.y}})
		r.path = path.String()
		return r
	}
	for i, s := range through[1:] {
		from, next := &n.stops[through[i]], &n.stops[s]
		x1, x2 := edge(from, 1), edge(next, -1)
		to(x1, from.y) // past the boxes of a column on the way
		middle := (x1 + x2) / 2
		bend(stretch{[4]float64{x1, middle, middle, x2}, [4]float64{from.y, from.y, next.y, next.y}})
	}
	r.path = path.String()
	return r
}
