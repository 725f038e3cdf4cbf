package belief

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// bar is as long as a probability of 1 is drawn.
const bar = 10

// Graph returns the network in layers, parents before children. Each column has
// bars for its values as they are when nothing is known, the most probable ones
// if they are many; an arc is as wide as what it adds to the score.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: "belief network"}
	layer := make([]int, len(m.net.nodes))
	d := m.emptyDesk()
	for _, v := range m.net.order {
		n, a := &m.net.nodes[v], &m.schema.Attributes[v]
		for _, p := range slices.Concat(n.parents, n.lines) {
			layer[v] = max(layer[v], layer[p]+1)
		}
		lines := []string{a.Name}
		switch {
		case n.states > 0 && d != nil:
			p := make([]float64, n.states)
			m.posterior(d, v, p)
			lines = append(lines, bars(p, a.Values)...)
		case n.numeric && len(n.mean) == 1:
			lines = append(lines, say.Spread(a, n.mean[0], n.deviation[0]))
			for l, p := range n.lines {
				lines = append(lines, fmt.Sprintf("%s × (%s − %s)", say.Rounded(n.slope[l], 3), m.schema.Attributes[p].Name, mean(&m.schema.Attributes[p], n.at[l])))
			}
		case n.numeric:
			low, high := math.Inf(1), math.Inf(-1)
			for _, mean := range n.mean {
				low, high = min(low, mean), max(high, mean)
			}
			lines = append(lines, "means "+mean(a, low)+" to "+mean(a, high))
			for l, p := range n.lines {
				least, most := math.Inf(1), math.Inf(-1)
				for at := l; at < len(n.slope); at += len(n.lines) {
					least, most = min(least, n.slope[at]), max(most, n.slope[at])
				}
				lines = append(lines, fmt.Sprintf("slopes along %s %s to %s", m.schema.Attributes[p].Name, say.Rounded(least, 3), say.Rounded(most, 3)))
			}
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: a.Name, Lines: lines, Layer: layer[v], Leaf: v == m.target})
	}
	for _, a := range m.grown {
		g.Edges = append(g.Edges, draw.Edge{From: a.Parent, To: a.Child, Weight: max(a.Gain, 0)})
	}
	return g, nil
}

// emptyDesk returns a desk with nothing known.
func (m *Model) emptyDesk() *desk {
	m.compiled()
	return m.desk()
}

// A long name of a value, beside which the bar is short, and how long one may be.
const longName, longestName = 9, 16

// bars writes the five most probable values.
func bars(p []float64, values []string) []string {
	var lines []string
	bar := bar
	if slices.ContainsFunc(values, func(v string) bool { return utf8.RuneCountInString(v) > longName }) {
		bar /= 2
	}
	shown := make([]bool, len(p))
	for range min(5, len(p)) {
		best := -1
		for s := range p {
			if !shown[s] && (best < 0 || p[s] > p[best]) {
				best = s
			}
		}
		shown[best] = true
		full := int(math.Round(p[best] * float64(bar)))
		name := []rune(values[best])
		if len(name) > longestName {
			name = append(name[:longestName-1:longestName-1], '…')
		}
		lines = append(lines, fmt.Sprintf("%s %s%s %.3f", string(name), strings.Repeat("█", full), strings.Repeat("░", bar-full), p[best]))
	}
	if len(p) > 5 {
		lines = append(lines, fmt.Sprintf("and %d more", len(p)-5))
	}
	return lines
}

// mean says a mean of a column, of dates without the deviation's days.
func mean(a *table.Attribute, x float64) string {
	said, _, _ := strings.Cut(say.Spread(a, x, 0), " ± ")
	return said
}
