package concept

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/rule"
)

// mostShown is how many members are listed and drawn one by one.
const mostShown = 60

// members returns the hypotheses of the space if they are few, the most
// specific first; else nil.
func (m *Model) members() []hypothesis {
	switch s := m.space.(type) {
	case *listed:
		if len(s.members) <= mostShown {
			return s.members
		}
	case *bounded:
		if !m.collapsed() && m.counter != nil && m.counter.total <= mostShown {
			return m.counter.all()
		}
	}
	return nil
}

// all returns every member of a space that was counted.
func (c *counter) all() []hypothesis {
	var found []hypothesis
	places := make([]int, len(c.chains))
	var place func(d int)
	place = func(d int) {
		if d == len(c.chains) {
			kept := !slices.ContainsFunc(c.out, func(n []int) bool {
				for d := range places {
					if places[d] < n[d] {
						return false
					}
				}
				return true
			})
			if kept {
				found = append(found, hypothesis{c.member(places)})
			}
			return
		}
		for places[d] = 0; places[d] < c.chains[d].length; places[d]++ {
			if c.count(places) == 0 && places[d] > 0 { // looser still lets them in
				break
			}
			place(d + 1)
		}
		places[d] = 0
	}
	place(0)
	return found
}

// Members returns every hypothesis of the space, nil if they are many.
func (m *Model) Members() [][]rule.Rule {
	a := &m.schema.Attributes[m.target]
	var all [][]rule.Rule
	for _, h := range m.members() {
		rules := []rule.Rule{}
		for _, t := range h {
			rules = append(rules, rule.Rule{If: m.tests(t), Then: rule.Conclusion{Column: a.Name, Value: a.Values[m.concept]}, Boundary: m.boundaryOf(h)})
		}
		all = append(all, rules)
	}
	return all
}

// boundaryOf says which boundary a member belongs to: "S" or "G", "S" for one
// that is in both, "" for one between them.
func (m *Model) boundaryOf(h hypothesis) string {
	s, ok := m.space.(*bounded)
	switch {
	case !ok || len(h) != 1:
		return ""
	case equal(h[0], s.s):
		return "S"
	case slices.ContainsFunc(s.g, func(g term) bool { return equal(g, h[0]) }):
		return "G"
	}
	return ""
}

// Graph draws the lattice: S at the bottom, G at the top, each hypothesis under
// those that are just more general.
func (m *Model) Graph() (*draw.Graph, error) {
	a := &m.schema.Attributes[m.target]
	g := &draw.Graph{Title: a.Name + " = " + a.Values[m.concept]}
	s, ok := m.space.(*bounded)
	if !ok || m.collapsed() {
		return g, m.drawRules(g)
	}
	var terms []term
	for _, h := range m.members() {
		terms = append(terms, h[0])
	}
	if terms == nil {
		terms = append(slices.Clone(s.g), s.s)
	}
	l := m.language
	below := func(a, b term) bool { return l.moreGeneral(a, b) && !equal(a, b) }
	for i, t := range terms {
		n := draw.Node{ID: strconv.Itoa(i), Lines: conditions(m.tests(t)), Of: m.tests(t), Layer: height(l, terms, t)}
		switch {
		case equal(t, s.s):
			n.Class = "S"
		case slices.ContainsFunc(s.g, func(g term) bool { return equal(g, t) }):
			n.Class = "G"
		}
		g.Nodes = append(g.Nodes, n)
		for j, u := range terms {
			between := slices.ContainsFunc(terms, func(v term) bool { return below(t, v) && below(v, u) })
			if below(t, u) && !between {
				g.Edges = append(g.Edges, draw.Edge{From: strconv.Itoa(i), To: strconv.Itoa(j)})
			}
		}
	}
	return g, nil
}

// height is how many steps of generality lie above a term.
func height(l *language, terms []term, t term) int {
	n := 0
	for _, u := range terms {
		if l.moreGeneral(u, t) && !equal(u, t) {
			n = max(n, 1+height(l, terms, u))
		}
	}
	return n
}

// drawRules draws the boundaries of a space that has no lattice to show.
func (m *Model) drawRules(g *draw.Graph) error {
	base, err := m.Rules()
	if err != nil {
		return err
	}
	for i, r := range base.Rules {
		g.Nodes = append(g.Nodes, draw.Node{ID: strconv.Itoa(i), Lines: conditions(r.If), Of: r.If, Class: r.Boundary})
		if i > 0 {
			g.Edges = append(g.Edges, draw.Edge{From: strconv.Itoa(i - 1), To: strconv.Itoa(i), Label: "else"})
		}
	}
	if len(base.Rules) == 0 {
		g.Nodes = append(g.Nodes, draw.Node{ID: "0", Lines: []string{"nothing is left"}})
	}
	return nil
}

// condition writes a term in the rule language, ⟨?⟩ if it asks for nothing.
func (m *Model) condition(t term) string { return condition(m.tests(t)) }

func condition(tests []rule.Test) string { return strings.Join(conditions(tests), " AND ") }

// conditions are the tests of a term, each for itself.
func conditions(tests []rule.Test) []string {
	if len(tests) == 0 {
		return []string{"ALWAYS"}
	}
	said := make([]string, len(tests))
	for i := range tests {
		said[i] = tests[i].String()
	}
	return said
}
