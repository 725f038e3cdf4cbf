package rulebase

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

var _ learn.Drawer = (*reasoned)(nil)

// Graph returns the columns that rules test, the rules, and what they conclude: the
// classes, or a number. Edges to them are as wide as what is added.
func (m *reasoned) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: fmt.Sprintf("%v rules: %d", m.base.Kind, len(m.rules))}
	const inputs, rules, outputs = 0, 1, 2
	target := &m.schema.Attributes[m.target]
	column := func(name string) string { return "column " + name }
	class := func(name string) string { return "answer " + name }
	drawn := map[string]bool{}
	node := func(id string, n draw.Node) {
		if n.ID = id; !drawn[id] {
			drawn[id] = true
			g.Nodes = append(g.Nodes, n)
		}
	}
	var tested func(tests []rule.Test, visit func(name string))
	tested = func(tests []rule.Test, visit func(name string)) {
		for i := range tests {
			if tests[i].Column != "" {
				visit(tests[i].Column)
			}
			for _, t := range tests[i].Terms {
				visit(t.Column)
			}
			tested(tests[i].Of, visit)
		}
	}
	for i := range m.rules {
		tested(m.rules[i].If, func(name string) { node(column(name), draw.Node{Lines: []string{name}, Layer: inputs}) })
	}
	for _, v := range target.Values {
		node(class(v), draw.Node{Lines: []string{target.Name + " = " + v}, Layer: outputs, Class: v, Leaf: true})
	}
	if len(target.Values) == 0 {
		node(class(""), draw.Node{Lines: []string{target.Name}, Layer: outputs, Leaf: true})
	}
	for i := range m.rules {
		r := &m.rules[i]
		if len(r.If) == 0 {
			continue
		}
		id := fmt.Sprintf("rule %d", i)
		n := draw.Node{Layer: rules, Of: r.If}
		for _, t := range r.If {
			n.Lines = append(n.Lines, t.String())
		}
		to, most := m.concluded(r.Rule), 0.0
		for _, s := range to {
			if math.Abs(s.P) > most {
				n.Class, most = s.Value, math.Abs(s.P)
			}
		}
		node(id, n)
		seen := map[string]bool{}
		tested(r.If, func(name string) {
			if !seen[name] {
				seen[name] = true
				g.Edges = append(g.Edges, draw.Edge{From: column(name), To: id})
			}
		})
		for _, s := range to {
			g.Edges = append(g.Edges, draw.Edge{From: id, To: class(s.Value), Weight: s.P})
		}
	}
	return g, nil
}

// concluded is what a rule says of each class, or of the number.
func (m *reasoned) concluded(r *rule.Rule) []rule.Share {
	switch {
	case r.Then.Numeric:
		return []rule.Share{{P: r.Then.Mean}}
	case len(r.Then.By) > 0:
		return r.Then.By
	case len(r.Then.Classes) > 0:
		return r.Then.Classes
	case r.Evidence.Weight != nil:
		return []rule.Share{{Value: r.Then.Value, P: *r.Evidence.Weight}}
	case r.With != nil:
		return []rule.Share{{Value: r.Then.Value, P: *r.With}}
	}
	return []rule.Share{{Value: r.Then.Value, P: 1}}
}
