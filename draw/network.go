package draw

import (
	"fmt"
	"io"
	"slices"
	"sort"
)

const (
	rowGap     = 9.0
	labelGap   = 24.0 // between boxes of a short layer whose edges have labels
	shortLayer = 8
	sweeps     = 24  // of the ordering; more changes little
	mostInRow  = 400 // nodes drawn of a layer
	fillerRoom = 4.0 // that a passing edge takes between boxes
	besides    = 70.0
)

// stop is a place in a layer: a node, or a point through which an edge that
// crosses the layer passes.
type stop struct {
	node  int // -1: an edge passes
	layer int
	x, y  float64
	near  [2][]int // neighbours in the layer before and after, as stops
	pull  float64  // where the neighbours are, on average
}

// network draws the graph in columns, a layer each, with edges as wide as
// their weights and coloured by their signs. Nodes are ordered by the mean
// position of their neighbours (Sugiyama, Tagawa & Toda 1981), which leaves
// few crossings.
func (g *Graph) network(w io.Writer, links []link) error {
	boxes, items := g.boxes()
	n, left := g.lay(links)
	title := g.Title
	if left > 0 {
		title = fmt.Sprintf("%s (%d of %d nodes are not drawn)", title, left, len(g.Nodes))
	}
	untangle(n.stops, n.layers)
	n.measure(boxes)
	wide := max(n.columns(), headingWidth(title, items))
	if n.hasArcs() {
		wide += besides // for arcs at the right of the last column
	}
	if slices.ContainsFunc(links, func(l link) bool { return l.weight > 0 }) && slices.ContainsFunc(links, func(l link) bool { return l.weight < 0 }) {
		up, down := "for", "against"
		if g.Adds {
			up, down = "adds", "takes away"
		}
		items = append(slices.Clone(items), item{name: up, colour: positive}, item{name: down, colour: negative})
		wide = max(wide, headingWidth(title, items))
	}
	var p picture
	top := p.heading(title, wide, items)
	n.rows(boxes, top)
	p.edges(n, links, boxes)
	for i := range boxes {
		if n.drawn[i] >= 0 {
			p.box(&boxes[i])
		}
	}
	return p.writeTo(w, title, wide, top+n.high+margin)
}

// layered is a network being placed.
type layered struct {
	stops    []stop
	layers   [][]int // stops of each layer, in their order
	routes   [][]int // stops that each link passes; nil if it is not drawn
	labelled bool    // whether an edge has a label
	drawn    []int   // each node's stop, or −1
	heights  []float64
	thick    []float64 // of the widest box of each layer
	high     float64
	gap      float64 // between columns
}

// lay puts nodes and the points of edges that pass layers into layers, and
// says how many nodes were too many.
func (g *Graph) lay(links []link) (n *layered, left int) {
	layerOf, count := g.ranks()
	n = &layered{
		layers: make([][]int, count), stops: make([]stop, 0, len(g.Nodes)), drawn: make([]int, len(g.Nodes)),
		routes: make([][]int, len(links)), heights: make([]float64, count), thick: make([]float64, count),
	}
	for i := range g.Nodes {
		n.drawn[i] = -1
		if len(n.layers[layerOf[i]]) == mostInRow {
			left++
			continue
		}
		n.drawn[i] = n.stop(i, layerOf[i])
	}
	for i, l := range links {
		n.labelled = n.labelled || l.label != ""
		from, to := n.drawn[l.from], n.drawn[l.to]
		if from >= 0 && to >= 0 && from != to {
			n.routes[i] = n.through(from, to)
		}
	}
	return n, left
}

// stop adds a place for a node, or for an edge that passes (−1).
func (n *layered) stop(node, layer int) int {
	at := len(n.stops)
	n.layers[layer] = append(n.layers[layer], at)
	n.stops = append(n.stops, stop{node: node, layer: layer})
	return at
}

// through returns the stops between two nodes, made for this edge.
func (n *layered) through(from, to int) []int {
	if n.stops[from].layer > n.stops[to].layer {
		from, to = to, from
	}
	route := []int{from}
	for layer := n.stops[from].layer + 1; layer < n.stops[to].layer; layer++ {
		route = append(route, n.stop(-1, layer))
	}
	route = append(route, to)
	for j := 1; j < len(route); j++ {
		a, b := route[j-1], route[j]
		if n.stops[a].layer != n.stops[b].layer {
			n.stops[a].near[1] = append(n.stops[a].near[1], b)
			n.stops[b].near[0] = append(n.stops[b].near[0], a)
		}
	}
	return route
}

// room is the height that a stop takes in its column.
func (n *layered) room(s int, boxes []box) float64 {
	if node := n.stops[s].node; node >= 0 {
		if n.labelled && len(n.layers[n.stops[s].layer]) <= shortLayer {
			return boxes[node].height + labelGap // lest labels find no place
		}
		return boxes[node].height + rowGap
	}
	return fillerRoom
}

// measure finds how high and wide the columns are, and makes all boxes of a
// column as wide as it is: edges then leave each at its own height, and none
// runs behind a wider neighbour. Columns lie the further apart the taller they
// are, lest edges get too steep to follow.
func (n *layered) measure(boxes []box) {
	for i, layer := range n.layers {
		for _, s := range layer {
			n.heights[i] += n.room(s, boxes)
			if node := n.stops[s].node; node >= 0 {
				n.thick[i] = max(n.thick[i], boxes[node].width)
			}
		}
		for _, s := range layer {
			if node := n.stops[s].node; node >= 0 {
				boxes[node].width = n.thick[i]
			}
		}
		n.high = max(n.high, n.heights[i])
	}
	n.gap = min(max(n.high*0.2, 150), 400)
}

// columns places the layers from left to right and returns the width.
func (n *layered) columns() float64 {
	wide := margin
	for i, layer := range n.layers {
		for _, s := range layer {
			n.stops[s].x = wide + n.thick[i]/2
		}
		wide += n.thick[i] + n.gap
	}
	return wide - n.gap + margin
}

// hasArcs reports whether an edge stays in its layer.
func (n *layered) hasArcs() bool {
	return slices.ContainsFunc(n.routes, func(through []int) bool {
		return through != nil && n.stops[through[0]].layer == n.stops[through[len(through)-1]].layer
	})
}

// rows places the stops of each column from top to bottom, and the boxes with
// them. A short column is stretched, but not so far that it falls apart.
func (n *layered) rows(boxes []box, top float64) {
	for i, layer := range n.layers {
		slack := 0.0
		if len(layer) > 0 {
			slack = min((n.high-n.heights[i])/float64(len(layer)), max(n.high/6, 40))
		}
		y := top + (n.high-n.heights[i]-slack*float64(len(layer)))/2
		for _, s := range layer {
			room := n.room(s, boxes)
			n.stops[s].y = y + (room+slack)/2
			y += room + slack
		}
	}
	for i := range n.stops {
		if node := n.stops[i].node; node >= 0 {
			boxes[node].x, boxes[node].y = n.stops[i].x, n.stops[i].y
		}
	}
}

// ranks numbers the layers that occur from 0.
func (g *Graph) ranks() (layerOf []int, count int) {
	var used []int
	for _, n := range g.Nodes {
		used = append(used, n.Layer)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	layerOf = make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		layerOf[i], _ = slices.BinarySearch(used, n.Layer)
	}
	return layerOf, len(used)
}

// untangle orders each layer by barycentres, sweeping forward and backward,
// and keeps the order with the fewest crossings.
func untangle(stops []stop, layers [][]int) {
	position := make([]float64, len(stops))
	number := func() {
		for _, layer := range layers {
			for i, s := range layer {
				// Relative, so that long and short layers compare.
				position[s] = (float64(i) + 0.5) / float64(len(layer))
			}
		}
	}
	number()
	best, fewest := copyLayers(layers), crossings(stops, layers)
	for sweep := range sweeps {
		side := sweep % 2 // 0: look at the layer before
		for k := range layers {
			layer := layers[k]
			if side == 1 {
				layer = layers[len(layers)-1-k]
			}
			for _, s := range layer {
				stops[s].pull = position[s]
				if near := stops[s].near[side]; len(near) > 0 {
					sum := 0.0
					for _, n := range near {
						sum += position[n]
					}
					stops[s].pull = sum / float64(len(near))
				}
			}
			sort.SliceStable(layer, func(i, j int) bool { return stops[layer[i]].pull < stops[layer[j]].pull })
			for i, s := range layer {
				position[s] = (float64(i) + 0.5) / float64(len(layer))
			}
		}
		if c := crossings(stops, layers); c < fewest {
			best, fewest = copyLayers(layers), c
		}
		if fewest == 0 {
			break
		}
	}
	for i := range layers {
		copy(layers[i], best[i])
	}
}

func copyLayers(layers [][]int) [][]int {
	c := make([][]int, len(layers))
	for i := range layers {
		c[i] = slices.Clone(layers[i])
	}
	return c
}

// crossings counts pairs of edges that cross between neighbouring layers: the
// inversions of their ends, counted with a Fenwick tree in O(E log V).
func crossings(stops []stop, layers [][]int) int {
	place := make([]int, len(stops))
	for _, layer := range layers {
		for i, s := range layer {
			place[s] = i
		}
	}
	total := 0
	for k := 0; k+1 < len(layers); k++ {
		tree := make([]int, len(layers[k+1])+1)
		seen := 0
		var ends []int
		for _, s := range layers[k] {
			ends = ends[:0]
			for _, n := range stops[s].near[1] {
				ends = append(ends, place[n])
			}
			for _, end := range ends {
				notAfter := 0
				for i := end + 1; i > 0; i -= i & -i {
					notAfter += tree[i]
				}
				total += seen - notAfter
			}
			for _, end := range ends {
				for i := end + 1; i < len(tree); i += i & -i {
					tree[i]++
				}
				seen++
			}
		}
	}
	return total
}
