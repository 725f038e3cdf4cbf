package markov

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// fewSymbols is up to how many symbols what a state shows is one rule; of more,
// each symbol is a rule of its own.
const fewSymbols = 50

// Rules returns the tables as rules: how sequences start, which state follows
// which, and what each state shows, with order=k also after which cells, or, of many
// symbols, which state each speaks of. Of one state, which a Markov chain has, nothing
// is said. Read one by one they are a summary: the model weighs whole sequences.
func (m *Model) Rules() (*rule.Base, error) {
	e := m.estimate()
	note := "summary: how states start, follow each other and show; the model weighs whole sequences by them"
	if e.n == 1 {
		note = "summary: which cells there are, and after which; the model weighs whole sequences by them"
	}
	base := &rule.Base{Kind: rule.Ordered, Notes: []string{note}}
	before := m.stateName() + " before"
	if e.n > 1 {
		begin := rule.Rule{If: []rule.Test{{Op: rule.Eq, Column: before, Value: "none"}}, Then: e.distribution(m, e.chain.start)}
		e.evidence(&begin, e.total.start)
		base.Rules = append(base.Rules, begin)
	}
	if e.moving() {
		for i, s := range e.states {
			r := rule.Rule{If: []rule.Test{{Op: rule.Eq, Column: before, Value: e.label(m, i)}}, Then: e.distribution(m, e.move[i*e.n:][:e.n])}
			e.evidence(&r, e.total.moves[int(s)*e.total.states():][:e.total.states()])
			base.Rules = append(base.Rules, r)
		}
	}
	for j := range e.columns {
		a := &m.schema.Attributes[j]
		switch c := &e.columns[j]; {
		case c.letters != nil && c.letters.size() <= fewSymbols:
			for i := range e.states {
				base.Rules = append(base.Rules, e.shows(e.in(m, i), a, c.letters, i))
			}
			for _, x := range c.grams.listed() {
				base.Rules = append(base.Rules, c.grams.shows(e.in(m, x.state), a, x))
			}
		case c.letters != nil:
			base.Rules = append(base.Rules, e.speaks(m, a, c.letters)...)
		case c.normals != nil:
			for i := range e.states {
				n := &c.normals[i]
				r := rule.Rule{If: e.in(m, i)}
				r.Then = rule.Conclusion{Column: a.Name, Numeric: true, Mean: n.mean / c.scale, Deviation: max(n.deviation/c.scale, math.SmallestNonzeroFloat64)}
				base.Rules = append(base.Rules, r)
			}
		}
	}
	return base, nil
}

// ruleCount is how many rules there are.
func (e *estimates) ruleCount() int {
	count := 0
	if e.n > 1 {
		count++
	}
	if e.moving() {
		count += e.n
	}
	for j := range e.columns {
		switch c := &e.columns[j]; {
		case c.letters != nil && c.letters.size() > fewSymbols:
			count += c.letters.size()
		case c.letters != nil, c.normals != nil:
			count += e.n + len(c.grams.listed())
		}
	}
	return count
}

// moving reports whether a sequence goes from state to state.
func (e *estimates) moving() bool { return e.n > 1 && (!e.settings.Whole || e.settings.States > 1) }

// in is the test that a rule of a state begins with; none of the only state.
func (e *estimates) in(m *Model, i int) []rule.Test {
	if e.n == 1 {
		return nil
	}
	return []rule.Test{{Op: rule.Eq, Column: m.stateName(), Value: e.label(m, i)}}
}

// stateName is what rules call the state.
func (m *Model) stateName() string {
	if m.target == learn.NoTarget {
		return "state"
	}
	return m.schema.Attributes[m.target].Name
}

// label is what rules call one of the states: its class, its number, or both.
func (e *estimates) label(m *Model, i int) string {
	names := m.States()
	switch {
	case m.target == learn.NoTarget:
		return names[e.states[i]]
	case e.total.sub == 1:
		return names[e.class[i]]
	}
	return fmt.Sprintf("%s/%d", names[e.class[i]], int(e.states[i])%e.total.sub+1)
}

// distribution is a conclusion about the state.
func (e *estimates) distribution(m *Model, p []float64) rule.Conclusion {
	c := rule.Conclusion{Column: m.stateName()}
	for i, x := range p {
		c.Classes = append(c.Classes, rule.Share{Value: e.label(m, i), P: x})
	}
	return c
}

// evidence states the weight of the rows that a rule is drawn from, and of those
// that the most probable conclusion is right about.
func (e *estimates) evidence(r *rule.Rule, counts []float64) {
	covered, correct := 0.0, 0.0
	best := math.Inf(-1)
	for i, s := range e.states {
		covered += counts[s]
		if p := r.Then.Classes[i].P; p > best {
			best, correct = p, counts[s]
		}
	}
	r.Evidence = rule.Evidence{Covered: &covered, Correct: &correct}
}

// shows is what one state shows in a column of few symbols.
func (e *estimates) shows(state []rule.Test, a *table.Attribute, letters *alphabet, i int) rule.Rule {
	covered := letters.all[i]
	return rule.Rule{If: state, Evidence: rule.Evidence{Covered: &covered}, Then: letters.conclusion(a, func(symbol int32) float64 {
		return ratio(letters.counts[int(symbol)*e.n+i], covered, e.settings.M, 1/float64(letters.size()))
	})}
}

// conclusion is how probable each symbol of a column is.
func (l *alphabet) conclusion(a *table.Attribute, p func(symbol int32) float64) rule.Conclusion {
	c := rule.Conclusion{Column: a.Name}
	for v, symbol := range l.symbol {
		if l.word(symbol) {
			c.Classes = append(c.Classes, rule.Share{Value: a.Values[v], P: p(symbol)})
		}
	}
	if l.never >= 0 {
		c.Classes = append(c.Classes, rule.Share{Value: unknownName, P: p(l.never)})
	}
	return c
}

// unknownName is what rules call a symbol that was seen once or never.
const unknownName = "(unknown)"

// speaks are the states that each symbol speaks of, the most frequent first.
func (e *estimates) speaks(m *Model, a *table.Attribute, letters *alphabet) []rule.Rule {
	var rules []rule.Rule
	one := func(name string, symbol int32) {
		counts := letters.counts[int(symbol)*e.n:][:e.n]
		covered, best := sum(counts), 0
		for i, w := range counts {
			if w > counts[best] {
				best = i
			}
		}
		correct, p := counts[best], counts[best]/covered
		rules = append(rules, rule.Rule{
			If:   []rule.Test{{Op: rule.Eq, Column: a.Name, Value: name}},
			Then: rule.Conclusion{Column: m.stateName(), Value: e.label(m, best)}, With: &p,
			Evidence: rule.Evidence{Covered: &covered, Correct: &correct},
		})
	}
	for v, symbol := range letters.symbol {
		if letters.word(symbol) {
			one(a.Values[v], symbol)
		}
	}
	if letters.never >= 0 {
		one(unknownName, letters.never)
	}
	slices.SortStableFunc(rules, func(x, y rule.Rule) int {
		switch {
		case *x.Evidence.Covered > *y.Evidence.Covered:
			return -1
		case *x.Evidence.Covered < *y.Evidence.Covered:
			return 1
		}
		return compareNames(x.If[0].Value, y.If[0].Value)
	})
	return rules
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
