package neural

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
)

// Weights below this part of a layer's greatest are not drawn, nor are more
// than mostDrawn units of a layer: pictures are for looking at.
const (
	leastDrawn = 0.15
	mostDrawn  = 40
)

// Graph returns the first network in layers, edges as wide as weights are
// large, with the sign of their weights. Of many units those with the
// greatest weights to the next layer are shown.
func (m *Model) Graph() (*draw.Graph, error) {
	net := m.members[0].net
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	names := m.matrix.Names(m.schema)
	var outputs []string
	if m.regression() {
		outputs = []string{m.schema.Attributes[m.target].Name}
	} else {
		outputs = m.schema.Attributes[m.target].Values
	}
	id := func(level, unit int) string { return fmt.Sprintf("%d.%d", level, unit) }
	shown := make([][]bool, len(net.layers)+1)
	for level := range shown {
		size := net.inputs
		if level > 0 {
			size = net.layers[level-1].out
		}
		shown[level] = net.prominent(level, size)
		for unit := range size {
			if !shown[level][unit] {
				continue
			}
			n := draw.Node{ID: id(level, unit), Layer: level}
			switch level {
			case 0:
				n.Lines = []string{names[unit]}
			case len(net.layers):
				n.Lines, n.Class, n.Leaf = []string{outputs[unit]}, outputs[unit], true
			default:
				n.Lines = []string{fmt.Sprintf("unit %d", unit+1)}
			}
			g.Nodes = append(g.Nodes, n)
		}
	}
	for i := range net.layers {
		l := &net.layers[i]
		most := 0.0
		for _, w := range l.w {
			most = max(most, math.Abs(float64(w)))
		}
		for from := range l.in {
			for to := range l.out {
				w := float64(l.w[from*l.stride+to])
				if size := math.Abs(w); shown[i][from] && shown[i+1][to] && size >= leastDrawn*most && size > 0 {
					g.Edges = append(g.Edges, draw.Edge{From: id(i, from), To: id(i+1, to), Label: fmt.Sprintf("%+.2g", w), Weight: size / most})
				}
			}
		}
	}
	return g, nil
}

// prominent chooses the units of a level to draw.
func (d *dense) prominent(level, size int) []bool {
	chosen := make([]bool, size)
	for range min(size, mostDrawn) {
		best, most := -1, -1.0
		for unit := range size {
			if chosen[unit] {
				continue
			}
			sum := 0.0
			if level < len(d.layers) {
				l := &d.layers[level]
				for _, w := range l.w[unit*l.stride:][:l.out] {
					sum += math.Abs(float64(w))
				}
			}
			if sum > most {
				best, most = unit, sum
			}
		}
		chosen[best] = true
	}
	return chosen
}
