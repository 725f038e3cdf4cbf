package tree

import (
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the tree as boxes and arrows; a list of rules as a chain.
func (m *Model) Graph() (*draw.Graph, error) {
	a := &m.schema.Attributes[m.target]
	g := &draw.Graph{Title: a.Name}
	if m.list != nil {
		return m.chain(g)
	}
	c := m.tree
	for i := range c.nodes {
		st := &c.nodes[i]
		n := draw.Node{ID: strconv.Itoa(i)}
		if st.col == leaf {
			n.Leaf = true
			if c.classes > 0 {
				p := make([]float64, c.classes)
				c.probabilities(i, p)
				best := learn.Best(p, a.Values)
				n.Class = a.Values[best]
				n.Lines = []string{n.Class, percent(p[best]), count(c.weight(i))}
			} else {
				n.Lines = []string{say.Spread(a, c.answer[2*i], c.answer[2*i+1]), count(c.stat[3*i])}
			}
		} else {
			n.Lines = []string{m.schema.Attributes[st.col].Name}
			if p := c.plane(st); p != nil {
				n.Lines = p.lines(m.schema)
			}
		}
		g.Nodes = append(g.Nodes, n)
		for b := range int(st.kids) {
			g.Edges = append(g.Edges, draw.Edge{From: n.ID, To: strconv.Itoa(int(st.kid) + b), Label: m.edge(i, b), Of: m.cut(i, b)})
		}
	}
	return g, nil
}

// chain draws rules in the order in which they are tried: each with its
// answer, and an arrow to the next for rows that it does not cover.
func (m *Model) chain(g *draw.Graph) (*draw.Graph, error) {
	base, err := m.Rules()
	if err != nil {
		return nil, err
	}
	a := &m.schema.Attributes[m.target]
	answer := func(i int, stat []float64) draw.Node {
		p := m.list.probabilities(i)
		class := a.Values[learn.Best(p, a.Values)]
		return draw.Node{
			ID: "answer " + strconv.Itoa(i), Leaf: true, Class: class,
			Lines: []string{class, percent(p[learn.Best(p, a.Values)]), count(sum(stat))},
		}
	}
	for i := range m.list.rules {
		n := draw.Node{ID: "rule " + strconv.Itoa(i), Of: base.Rules[i].If}
		for k := range base.Rules[i].If {
			n.Lines = append(n.Lines, base.Rules[i].If[k].String())
		}
		to := answer(i, m.list.rules[i].stat)
		next := "rule " + strconv.Itoa(i+1)
		if i == len(m.list.rules)-1 {
			next = "answer " + strconv.Itoa(i+1)
		}
		g.Nodes = append(g.Nodes, n, to)
		g.Edges = append(g.Edges, draw.Edge{From: n.ID, To: to.ID, Label: "then"}, draw.Edge{From: n.ID, To: next, Label: "else"})
	}
	g.Nodes = append(g.Nodes, answer(len(m.list.rules), m.list.otherwise))
	return g, nil
}

func percent(p float64) string { return strconv.FormatFloat(100*p, 'f', 1, 64) + " %" }

func count(n float64) string {
	return "n = " + strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64)
}

// Lit returns the nodes of the graph that a row goes through: its path, or all
// of its paths where a cell that is tested is missing.
func (m *Model) Lit(t *table.Table, row int) ([]string, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	var lit []string
	if m.list != nil {
		matched := m.list.match(t.Columns, row)
		for i := range min(matched+1, len(m.list.rules)) {
			lit = append(lit, "rule "+strconv.Itoa(i))
		}
		return append(lit, "answer "+strconv.Itoa(matched)), nil
	}
	w := &walker{Model: m, columns: t.Columns, row: row, crowd: []visitor{{0, 1}}}
	seen := map[int]bool{}
	for more := true; more; _, more = w.step() {
		for _, v := range w.crowd {
			if !seen[v.node] {
				seen[v.node] = true
				lit = append(lit, strconv.Itoa(v.node))
			}
		}
	}
	return lit, nil
}
