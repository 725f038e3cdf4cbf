package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
)

// Graph draws the network in its levels, with the links that are strongest now:
// the theory's, and those that grew.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	names, w := m.names(), m.net.weights
	type link struct {
		from, to string
		weight   float64
	}
	var links []link
	inputID := func(i int) string { return "input " + strconv.Itoa(i) }
	unitID := func(i int) string { return "unit " + strconv.Itoa(i) }
	for u := range m.net.units {
		for i := range m.width {
			if x := w[m.net.fromInput(i, u)]; m.net.linked[m.net.fromInput(i, u)] {
				links = append(links, link{inputID(i), unitID(u), x})
			}
		}
		for k, from := range m.net.units[u].from {
			links = append(links, link{unitID(int(from)), unitID(u), w[m.net.units[u].at+k]})
		}
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(math.Abs(b.weight), math.Abs(a.weight)) })
	const most = 120
	links = links[:min(len(links), most)]
	used := map[string]bool{}
	for _, l := range links {
		used[l.from], used[l.to] = true, true
	}
	for i, name := range names {
		name = strings.Replace(name, " IS MISSING", " not known", 1)
		if used[inputID(i)] {
			g.Nodes = append(g.Nodes, draw.Node{ID: inputID(i), Lines: []string{strings.Replace(name, " IS MISSING", " not known", 1)}})
		}
	}
	for u := range m.net.units {
		n := draw.Node{ID: unitID(u), Layer: m.net.units[u].level, Leaf: true}
		if u < m.hidden {
			n.Lines = []string{fmt.Sprintf("hidden %d", u+1)}
		} else {
			gate := &m.gates[u-m.hidden]
			n.Class, n.Lines = gate.value, []string{gate.name}
		}
		g.Nodes = append(g.Nodes, n)
	}
	// Weights that say little are left to the tooltip: they would cover those that matter.
	const little = 0.1
	for _, l := range links {
		e := draw.Edge{From: l.from, To: l.to, Weight: l.weight}
		if math.Abs(l.weight) >= little*math.Abs(links[0].weight) {
			e.Label = strings.Replace(strconv.FormatFloat(l.weight, 'f', 1, 64), "-", "−", 1)
		}
		g.Edges = append(g.Edges, e)
	}
	return g, nil
}
