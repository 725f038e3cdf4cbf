package life

import (
	"context"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// lighter is a drawn model that can say which nodes a row goes through.
type lighter interface {
	learn.Model
	Lit(t *table.Table, row int) ([]string, error)
}

// Lit returns the ids of the nodes that the first row of a table goes through in
// the graph of a model. Of a model that cannot say so, it is the columns that are
// known and the leaves of the class that is answered.
func Lit(ctx context.Context, m learn.Model, g *draw.Graph, t *table.Table) ([]string, error) {
	if l, ok := learn.Ability[lighter](m); ok {
		fitted, _, err := table.Conform(t, l.Schema(), false)
		if err != nil {
			return nil, err
		}
		return l.Lit(fitted, 0)
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	answer, _ := NewPredicted(m, 1, t, out, 0).Prediction.(string)
	known := map[string]bool{}
	for i := range t.Columns {
		c := &t.Columns[i]
		has := c.Codes != nil && c.Codes[0] >= 0 || c.Floats != nil && !table.IsMissing(c.Floats[0])
		known[t.Schema.Attributes[i].Name] = has && i != m.Target()
	}
	var lit []string
	for _, n := range g.Nodes {
		if n.Leaf && answer != "" && n.Class == answer || len(n.Lines) > 0 && known[n.Lines[0]] {
			lit = append(lit, n.ID)
		}
	}
	return lit, nil
}

// NodeRules finds the rules that nodes of a graph stand for, by their tests; -1 is
// none.
func NodeRules(g *draw.Graph, base *RuleBase) []int {
	of := map[string]int{}
	for i, r := range base.Rules {
		if tests, _, ok := strings.Cut(strings.TrimPrefix(r.Text, "IF "), " THEN "); ok {
			parts := strings.Split(tests, " AND ")
			slices.Sort(parts)
			of[strings.Join(parts, "\n")] = i
		}
	}
	places := make([]int, len(g.Nodes))
	for k, n := range g.Nodes {
		places[k] = -1
		lines := slices.Clone(n.Lines)
		slices.Sort(lines)
		if i, ok := of[strings.Join(lines, "\n")]; ok && !n.Leaf {
			places[k] = i
		}
	}
	return places
}
