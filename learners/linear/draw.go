package linear

import (
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the columns and the target, joined by lines as wide as a
// column's share of what moves the answer.
func (m *Model) Graph() (*draw.Graph, error) {
	return m.plane.graph("least squares", m.total.attribute(), m.choice.deviation, m.choice.fates), nil
}

// Graph returns the columns and the target, joined by lines as wide as a
// column's share of what moves the scores.
func (m *Classes) Graph() (*draw.Graph, error) {
	return m.plane.graph("logistic regression", &m.schema.Attributes[m.target], m.spread, m.fates), nil
}

// graph draws a column's weight as that of its standardised terms, the largest
// over classes.
func (p *plane) graph(title string, target *table.Attribute, deviation []float64, fates []fate) *draw.Graph {
	g := &draw.Graph{Title: title, Adds: p.outputs == 1}
	for j := range p.frames {
		if p.count(j) == 0 {
			continue
		}
		a := &p.schema.Attributes[j]
		largest, strongest := 0.0, 0.0
		for i := p.first[j]; i <= p.missing(j); i++ {
			for k := range p.outputs {
				if w := p.weights[i*p.outputs+k] * deviation[i] * p.unit; fates[i] != constant && math.Abs(w) > largest {
					largest, strongest = math.Abs(w), w
				}
			}
		}
		lines, moves := []string{a.Name}, min(largest, math.MaxFloat64/2)
		if p.numeric(j) && p.outputs == 1 {
			lines = append(lines, draw.Signed(strongest)+" a deviation")
			moves = math.Copysign(moves, strongest)
		} else {
			lines = append(lines, draw.Number(largest, 3)+" a deviation")
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: a.Name, Lines: lines})
		g.Edges = append(g.Edges, draw.Edge{From: a.Name, To: target.Name, Weight: moves})
	}
	g.Nodes = append(g.Nodes, draw.Node{ID: target.Name, Lines: []string{target.Name}, Layer: 1})
	return g
}
