package relation

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
)

// Graph draws the clauses: their conditions on the left, the clauses in the order in which
// they answer, and the classes that they speak for.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: m.lesson.Target}
	w := m.formats()
	node := func(layer int, id string, class string, lines ...string) {
		if !slices.ContainsFunc(g.Nodes, func(n draw.Node) bool { return n.ID == id }) {
			g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: lines, Layer: layer, Class: class})
		}
	}
	for i := range m.list {
		c := m.clause(w, i)
		l := &m.list[i]
		class := m.classes()[l.Class]
		id := fmt.Sprintf("clause %d", i)
		for _, b := range c.Body {
			text := b.Format(c.Names)
			node(0, "if "+text, "", text)
			g.Edges = append(g.Edges, draw.Edge{From: "if " + text, To: id})
		}
		node(1, id, class, fmt.Sprintf("clause %d", i+1), fmt.Sprintf("%.0f %%", 100*m.answerOf(i)[l.Class]), fmt.Sprintf("n = %.6g", sum(l.First)))
		node(2, "class "+class, class, m.lesson.Target+" = "+class)
		g.Edges = append(g.Edges, draw.Edge{From: id, To: "class " + class, Weight: sum(l.First)})
	}
	class := m.classes()[learn.Best(m.answerOf(len(m.list)), m.classes())]
	node(1, "otherwise", class, "otherwise", rowsOf(sum(m.rest)))
	node(2, "class "+class, class, m.lesson.Target+" = "+class)
	g.Edges = append(g.Edges, draw.Edge{From: "otherwise", To: "class " + class, Weight: sum(m.rest)})
	return g, nil
}

// rowsOf says how many rows there are.
func rowsOf(n float64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%.6g rows", n)
}
