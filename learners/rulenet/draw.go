package rulenet

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// percent writes a share with as many digits as it needs.
func percent(p float64) string {
	if p > 0 && p < 0.01 || p > 0.99 && p < 1 {
		return fmt.Sprintf("%.1f", 100*p)
	}
	return fmt.Sprintf("%.0f", 100*p)
}

// Graph returns the network: the columns that rules test, the conjunctions,
// and the classes. Edges to classes are as wide as the weight, and of another
// colour where they speak against a class.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: fmt.Sprintf("rule network: %d units", len(m.units))}
	const inputs, conjunctions, outputs = 0, 1, 2
	schema := m.coding.schema
	used := make([]bool, len(schema.Attributes))
	for i := range m.units {
		for _, t := range m.units[i].rule {
			used[t.col] = true
		}
	}
	column := func(col int32) string { return fmt.Sprintf("column %d", col) }
	class := func(c int) string { return fmt.Sprintf("class %d", c) }
	for col, is := range used {
		if is {
			g.Nodes = append(g.Nodes, draw.Node{ID: column(int32(col)), Lines: []string{schema.Attributes[col].Name}, Layer: inputs})
		}
	}
	for i := range m.units {
		u := &m.units[i]
		id := fmt.Sprintf("unit %d", i)
		strongest := 0
		for c, w := range u.weights {
			if math.Abs(w) > math.Abs(u.weights[strongest]) {
				strongest = c
			}
		}
		tests := m.tests(u.rule)
		var lines []string
		for _, t := range tests {
			lines = append(lines, t.String())
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: lines, Layer: conjunctions, Class: m.conclusion(strongest).Value, Of: tests})
		seen := map[int32]bool{}
		for _, t := range u.rule {
			if !seen[t.col] { // several tests of a column are one line of the box
				seen[t.col] = true
				g.Edges = append(g.Edges, draw.Edge{From: column(t.col), To: id})
			}
		}
		for c, w := range u.weights {
			if w == 0 || m.counts[c] == 0 {
				continue
			}
			g.Edges = append(g.Edges, draw.Edge{From: id, To: class(c), Weight: w})
		}
	}
	total := 0.0
	for _, n := range m.counts {
		total += n
	}
	for c, b := range m.bias {
		if !math.IsInf(b, -1) {
			g.Nodes = append(g.Nodes, draw.Node{
				ID: class(c), Layer: outputs, Class: m.conclusion(c).Value, Leaf: true,
				Lines: []string{m.conclusion(c).String(), fmt.Sprintf("%s %% of the rows", percent(m.counts[c]/total))},
			})
		}
	}
	return g, nil
}

// GrowthChart shows how rows held out judged each round of growth: the log
// loss, the errors, and beside them the rules; nil if the network did not
// grow.
func (m *Model) GrowthChart() *draw.Chart {
	if len(m.steps) == 0 {
		return nil
	}
	loss, wrong := draw.Series{Name: "log loss (nats)"}, draw.Series{Name: "errors", Kind: draw.Dashed}
	for _, s := range m.steps {
		x := s.Rules
		loss.X, loss.Y = append(loss.X, x), append(loss.Y, s.Loss)
		wrong.X, wrong.Y = append(wrong.X, x), append(wrong.Y, s.Errors)
	}
	return &draw.Chart{Title: "growth of the rule network", XLabel: "rules", YLabel: "on rows held out", Series: []draw.Series{loss, wrong}}
}

// Lit returns the nodes of the graph that a row goes through: the rules that
// fire, the columns that they test, and the class that is answered.
func (m *Model) Lit(t *table.Table, row int) ([]string, error) {
	if err := m.fits(t); err != nil {
		return nil, err
	}
	var lit []string
	columns := make([]bool, len(m.coding.schema.Attributes))
	scores := slices.Clone(m.bias)
	for i, matcher := range m.matchers {
		if !matcher.MatchRow(t, row) {
			continue
		}
		lit = append(lit, fmt.Sprintf("unit %d", i))
		for _, test := range m.units[i].rule {
			columns[test.col] = true
		}
		for c, w := range m.units[i].weights {
			scores[c] += w
		}
	}
	for col, is := range columns {
		if is {
			lit = append(lit, fmt.Sprintf("column %d", col))
		}
	}
	best := learn.Best(scores, m.coding.schema.Attributes[m.coding.target].Values)
	return append(lit, fmt.Sprintf("class %d", best)), nil
}
