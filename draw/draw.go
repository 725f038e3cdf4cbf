// Package draw turns what learners and estimates return, graphs and series of
// numbers, into pictures (SVG). Learners describe; only this package knows
// about coordinates, colours and fonts.
//
// It knows nothing of models: learn and evaluate hand it graphs and series, cmd
// and life write what it makes.
package draw

// Graph is boxes and arrows: a tree, or a network in layers.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// Node is a box. Nodes of a network say in which layer they stand, counted
// from 0 at the inputs; a tree's nodes leave Layer 0 and are placed by their
// edges.
type Node struct {
	ID    string
	Lines []string // the text, a line each
	Layer int
	Class string // nodes of one class share a colour; "" is neutral
	Leaf  bool   // drawn round
}

// Edge is an arrow from one node to another.
type Edge struct {
	From, To string
	Label    string
	Weight   float64 // width of the arrow, relative to the others; 0 is plain
}

// Layered reports whether the graph is a network in layers.
func (g *Graph) Layered() bool {
	for _, n := range g.Nodes {
		if n.Layer != 0 {
			return true
		}
	}
	return false
}
