package markov

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the states from left to right: where sequences start, what each
// state shows most, and what follows, with arrows as wide as they are probable. A
// state stands twice, as one that a sequence is in and as one that it goes to, so
// that arrows there and back do not lie on one another.
func (m *Model) Graph() (*draw.Graph, error) {
	e := m.estimate()
	title := "Markov chain"
	if e.n > 1 {
		title = "hidden Markov model"
	}
	g := &draw.Graph{Title: title, Nodes: []draw.Node{{ID: "start", Lines: []string{"start"}}}}
	for i := range e.states {
		name := e.label(m, i)
		lines := []string{name}
		for j := range e.columns {
			if line := e.showsMost(j, &m.schema.Attributes[j], i); line != "" {
				lines = append(lines, line)
			}
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: "state " + name, Lines: lines, Layer: 1, Class: name}, draw.Node{ID: "then " + name, Lines: []string{"then " + name}, Layer: 2, Class: name})
		start := math.Exp(e.logStart[i])
		g.Edges = append(g.Edges, draw.Edge{From: "start", To: "state " + name, Weight: start, Label: fmt.Sprintf("%.2g", start)})
		for k := range e.states {
			if p := math.Exp(e.logMove[i*e.n+k]); p > 1/(20*float64(e.n)) {
				g.Edges = append(g.Edges, draw.Edge{From: "state " + name, To: "then " + e.label(m, k), Weight: p, Label: fmt.Sprintf("%.2g", p)})
			}
		}
	}
	return g, nil
}

// showsMost says what a state shows in a column, the most probable first.
func (e *estimates) showsMost(j int, a *table.Attribute, i int) string {
	c := &e.columns[j]
	if c.normals != nil {
		return a.Name + " " + say.Spread(a, c.normals[i].mean/c.scale, c.normals[i].deviation/c.scale)
	}
	if c.letters == nil {
		return ""
	}
	type shown struct {
		name string
		p    float64
	}
	var all []shown
	for v, symbol := range c.letters.symbol {
		if c.letters.word(symbol) {
			all = append(all, shown{a.Values[v], math.Exp(c.letters.of(symbol)[i])})
		}
	}
	slices.SortStableFunc(all, func(x, y shown) int {
		switch {
		case x.p > y.p:
			return -1
		case x.p < y.p:
			return 1
		}
		return strings.Compare(x.name, y.name)
	})
	var parts []string
	for _, s := range all[:min(3, len(all))] {
		parts = append(parts, fmt.Sprintf("%s %.2g", s.name, s.p))
	}
	return strings.Join(parts, ", ")
}
