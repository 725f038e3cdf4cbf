package policy

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns a rule for each state of a table; of other values, those of a
// tree that was learnt from the policy's answers.
func (m *Model) Rules() (*rule.Base, error) {
	if _, ok := m.values.(*judge); ok {
		return m.boardRules()
	}
	l, ok := m.values.(*lookup)
	if !ok {
		return m.summaryRules()
	}
	b := &rule.Base{Kind: rule.Ordered}
	if names := m.unseen(); names != "" && m.reward >= 0 {
		b.Notes = []string{"without " + names + ": rewards and what follows do not depend on them, as far as the log shows"}
	}
	p := make([]float64, l.actions)
	for s := range l.states() {
		q := l.of(int32(s))
		if !acts(q) {
			continue
		}
		decide(q, p)
		r := rule.Rule{If: m.tests(l.cells[s*l.width:][:l.width]), Then: m.conclusion(p)}
		if r.Then.Classes == nil {
			one := 1.0
			r.With = &one
		}
		covered := 0.0
		for _, n := range l.visits[s*l.actions:][:l.actions] {
			covered += n
		}
		if covered > 0 {
			r.Evidence.Covered = &covered
		}
		b.Rules = append(b.Rules, r)
	}
	for a := range p {
		p[a] = 1 / float64(len(p))
	}
	b.Else = &rule.Rule{Then: m.conclusion(p)}
	if b.Else.Then.Classes == nil {
		one := 1.0
		b.Else.With = &one
	}
	return b, nil
}

// summaryRules are rules that speak for values that are no table.
func (m *Model) summaryRules() (*rule.Base, error) {
	if _, ok := m.values.(*weighted); ok && m.summary == nil { // acting stopped before it was looked at
		p := make([]float64, len(m.actions()))
		for a := range p {
			p[a] = 1 / float64(len(p))
		}
		return &rule.Base{Kind: rule.Ordered, Else: &rule.Rule{Then: m.conclusion(p)}, Notes: []string{"acting stopped before rules were made of what the policy does; act on to have them"}}, nil
	}
	r, ok := m.summary.(learn.Ruler)
	if !ok {
		return nil, fmt.Errorf("the policy has no states to make rules of")
	}
	b, err := r.Rules()
	if err != nil {
		return nil, err
	}
	said := *b
	said.Notes = append([]string{fmt.Sprintf("summary: says what the policy does on %.1f %% of the rows", 100*m.agrees)}, b.Notes...)
	return &said, nil
}

// conclusion is the action, or those that share it.
func (m *Model) conclusion(p []float64) rule.Conclusion {
	a := &m.schema.Attributes[m.target]
	c := rule.Conclusion{Column: a.Name}
	best := learn.Best(p, a.Values)
	if p[best] == 1 {
		c.Value = a.Values[best]
		return c
	}
	for i, x := range p {
		c.Classes = append(c.Classes, rule.Share{Value: a.Values[i], P: x})
	}
	return c
}

// tests are the cells of a state in the rule language.
func (m *Model) tests(cells []float64) []rule.Test {
	tests := make([]rule.Test, len(cells))
	for i, x := range cells {
		a := &m.schema.Attributes[m.state[i]]
		tests[i] = rule.Test{Op: rule.Eq, Column: a.Name}
		switch {
		case x != x:
			tests[i].Op = rule.IsMissing
		case a.Kind == table.Numeric:
			tests[i].Value = strconv.FormatFloat(x, 'g', -1, 64)
		case int(x) >= 0 && int(x) < len(a.Values):
			tests[i].Value = a.Values[int(x)]
		}
	}
	return tests
}

// EachState calls visit for the states of a table of values, in the order of the
// rules: their tests, the best actions, what all are worth (NaN if that is not
// known), and their cells. It reports whether there is such a table.
func (m *Model) EachState(visit func(tests []rule.Test, best []int, values, cells []float64)) bool {
	l, ok := m.values.(*lookup)
	if !ok {
		return false
	}
	p := make([]float64, l.actions)
	for s := range l.states() {
		q, cells := l.of(int32(s)), l.cells[s*l.width:][:l.width]
		if !acts(q) {
			continue
		}
		decide(q, p)
		var best []int
		for a, x := range p {
			if x > 0 {
				best = append(best, a)
			}
		}
		visit(m.tests(cells), best, q, cells)
	}
	return true
}

// Graph shows the actions and the states in which they are best, as many as an
// eye can follow; of values that are no table, the tree that speaks for them.
func (m *Model) Graph() (*draw.Graph, error) {
	if j, ok := m.values.(*judge); ok {
		return j.v.graph(j.game.Measures()), nil
	}
	if d, ok := m.summary.(learn.Drawer); ok {
		return d.Graph()
	}
	const most = 60
	g := &draw.Graph{}
	for a, name := range m.actions() {
		g.Nodes = append(g.Nodes, draw.Node{ID: "action " + strconv.Itoa(a), Lines: []string{name}, Layer: 1, Class: name, Leaf: true})
	}
	n := 0
	m.EachState(func(tests []rule.Test, best []int, _, _ []float64) {
		if n++; n > most {
			return
		}
		id, label := "state "+strconv.Itoa(n), ""
		for k, t := range tests {
			if k > 0 {
				label += ", "
			}
			label += t.String()
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: []string{cmp.Or(label, "always")}})
		for _, a := range best {
			g.Edges = append(g.Edges, draw.Edge{From: id, To: "action " + strconv.Itoa(a), Weight: 1})
		}
	})
	return g, nil
}

// GrowthChart is the learning curve: what episodes brought while they were
// learnt from; nil where nothing was acted.
func (m *Model) GrowthChart() *draw.Chart {
	if m.acted == nil || len(m.acted.Curve.Count) == 0 {
		return nil
	}
	if len(m.acted.Matches) > 0 {
		return m.matchChart()
	}
	c := &m.acted.Curve
	s := draw.Series{Name: "mean of " + strconv.Itoa(c.Size) + " episodes"}
	for i, n := range c.Count {
		mean := c.Sum[i] / n
		half := 0.0
		if n > 1 {
			half = 1.96 * math.Sqrt(max(0, c.Square[i]/n-mean*mean)/(n-1))
		}
		s.X, s.Y = append(s.X, float64(i*c.Size)+n/2), append(s.Y, mean)
		s.Low, s.High = append(s.Low, mean-half), append(s.High, mean+half)
	}
	return &draw.Chart{Title: m.acted.World, XLabel: "episode", YLabel: "discounted return while learning", Series: []draw.Series{s}}
}
