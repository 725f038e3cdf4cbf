package cover

import (
	"strconv"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Graph draws the rules in the order in which they are tried: each with its
// answer, and an arrow to the next for rows that it does not cover.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	classes := m.classes()
	answer := func(i int, counts []float64) draw.Node {
		p := m.answerOf(i)
		best := learn.Best(p, classes)
		return draw.Node{
			ID: "answer " + strconv.Itoa(i), Leaf: true, Class: classes[best],
			Lines: []string{classes[best], strconv.FormatFloat(100*p[best], 'f', 1, 64) + " %", "n = " + strconv.FormatFloat(sum(counts), 'g', 6, 64)},
		}
	}
	for i := range m.list {
		n := draw.Node{ID: "rule " + strconv.Itoa(i)}
		tests := m.tests(m.list[i].tests)
		for _, t := range tests {
			n.Lines = append(n.Lines, t.String())
		}
		n.Of = tests
		then, next := answer(i, m.list[i].first), "rule "+strconv.Itoa(i+1)
		if i == len(m.list)-1 {
			next = "answer " + strconv.Itoa(i+1)
		}
		g.Nodes = append(g.Nodes, n, then)
		g.Edges = append(g.Edges, draw.Edge{From: n.ID, To: then.ID, Label: "then"}, draw.Edge{From: n.ID, To: next, Label: "else"})
	}
	g.Nodes = append(g.Nodes, answer(len(m.list), m.rest))
	return g, nil
}

// Lit returns the nodes of the graph that a row goes through: the rules that it
// was tried on, and the answer.
func (m *Model) Lit(t *table.Table, row int) ([]string, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	matched := m.match(t.Columns, row)
	var lit []string
	for i := range min(matched+1, len(m.list)) {
		lit = append(lit, "rule "+strconv.Itoa(i))
	}
	return append(lit, "answer "+strconv.Itoa(matched)), nil
}
