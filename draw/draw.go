// Package draw turns what learners and estimates return, graphs and series of
// numbers, into pictures (SVG). Learners describe; only this package knows
// about coordinates, colours and fonts.
//
// It knows nothing of models: learn and evaluate hand it graphs and series, cmd
// and life write what it makes.
package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Graph is boxes and arrows: a tree, or a network in layers.
type Graph struct {
	Title string
	Adds  bool // weights are added to a number, or taken from it
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
	// Of is what lines stand for, for who can say it in other words: the first
	// ones the tests of a rule, the last ones what a unit expects. It is not drawn.
	Of any
}

// Edge is an arrow from one node to another.
type Edge struct {
	From, To string
	Label    string
	Weight   float64 // width of the arrow, relative to the others; 0 is plain, and below 0 it speaks against
	Of       any     // what the label stands for, as Node.Of
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

// Top returns the part of the graph that says most, in so many nodes at most: of
// a tree those nearest to the root, of a network the units whose edges onward
// weigh most, with what they read and the last layer. The title says so.
func (g *Graph) Top(most int) *Graph {
	keep, shown, of := map[string]bool{}, 0, 0
	if g.Layered() {
		shown, of = g.heaviest(most, keep)
	} else {
		shown, of = g.nearest(most, keep)
	}
	if shown == of {
		return g
	}
	part := &Graph{Adds: g.Adds, Title: g.Title + " (" + strconv.Itoa(shown) + " of " + strconv.Itoa(of) + ")"}
	for _, n := range g.Nodes {
		if keep[n.ID] {
			part.Nodes = append(part.Nodes, n)
		}
	}
	for _, e := range g.Edges {
		if keep[e.From] && keep[e.To] {
			part.Edges = append(part.Edges, e)
		}
	}
	return part
}

// fan returns the nodes of the larger layer of two, and weighs them by all their
// edges.
func (g *Graph) fan(weight map[string]float64) (units []string) {
	var layers [2][]string
	for _, n := range g.Nodes {
		layers[n.Layer] = append(layers[n.Layer], n.ID)
	}
	if len(layers[0]) > len(layers[1]) {
		return layers[0]
	}
	for _, e := range g.Edges {
		weight[e.To] += math.Abs(e.Weight)
	}
	return layers[1]
}

// heaviest keeps the units between the first and the last layer whose edges
// onward weigh most, what they read, and the last layer.
func (g *Graph) heaviest(most int, keep map[string]bool) (shown, of int) {
	layer, last := map[string]int{}, 0
	for _, n := range g.Nodes {
		layer[n.ID] = n.Layer
		last = max(last, n.Layer)
	}
	weight := map[string]float64{}
	for _, e := range g.Edges {
		if layer[e.To] > layer[e.From] {
			weight[e.From] += math.Abs(e.Weight)
		}
	}
	var units []string
	for _, n := range g.Nodes {
		if n.Layer > 0 && n.Layer < last {
			units = append(units, n.ID)
		}
	}
	if last == 1 { // nothing lies between: one layer is of what the other has several of
		units = g.fan(weight)
	}
	slices.SortStableFunc(units, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
	for _, id := range units[:min(most, len(units))] {
		keep[id] = true
	}
	for _, e := range g.Edges {
		if keep[e.To] && layer[e.From] == 0 {
			keep[e.From] = true
		}
	}
	for _, n := range g.Nodes {
		if (n.Layer == last || last == 1) && !slices.Contains(units, n.ID) {
			keep[n.ID] = true
		}
	}
	return min(most, len(units)), len(units)
}

// nearest keeps the nodes of a tree that are nearest to its roots.
func (g *Graph) nearest(most int, keep map[string]bool) (shown, of int) {
	children, inside := map[string][]string{}, map[string]bool{}
	for _, e := range g.Edges {
		children[e.From] = append(children[e.From], e.To)
		inside[e.To] = true
	}
	var queue []string
	for _, n := range g.Nodes {
		if !inside[n.ID] {
			queue = append(queue, n.ID)
		}
	}
	for len(queue) > 0 && len(keep) < most {
		id := queue[0]
		queue = queue[1:]
		if !keep[id] {
			keep[id] = true
			queue = append(queue, children[id]...)
		}
	}
	return len(keep), len(g.Nodes)
}
