package markov

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the states, with arrows to those that follow, as wide as they are
// probable, and what each shows most.
func (m *Model) Graph() (*draw.Graph, error) {
	e := m.estimate()
	title := "Markov chain"
	if e.n > 1 {
		title = "hidden Markov model"
	}
	g := &draw.Graph{Title: title, Nodes: []draw.Node{{ID: "start", Lines: []string{"start"}}}}
	for i := range e.states {
		name := e.label(m, i)
		id := "state " + name
		stays := math.Exp(e.logMove[i*e.n+i])
		lines := []string{name, fmt.Sprintf("stays %.3g", stays)}
		for j := range e.columns {
			if line := e.showsMost(j, &m.schema.Attributes[j], i); line != "" {
				lines = append(lines, line)
			}
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: lines, Layer: 1 + i%2})
		g.Edges = append(g.Edges, draw.Edge{From: "start", To: id, Weight: math.Exp(e.logStart[i])})
		for k := range e.states {
			if p := math.Exp(e.logMove[i*e.n+k]); k != i && p > 1/(20*float64(e.n)) {
				g.Edges = append(g.Edges, draw.Edge{From: id, To: "state " + e.label(m, k), Weight: p})
			}
		}
	}
	return g, nil
}

// showsMost says what a state shows in a column, the most probable first.
func (e *estimates) showsMost(j int, a *table.Attribute, i int) string {
	c := &e.columns[j]
	if c.normals != nil {
		return fmt.Sprintf("%s %.4g ± %.3g", a.Name, c.normals[i].mean/c.scale, c.normals[i].deviation/c.scale)
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
