package concept

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Rules returns the boundaries, in order: what satisfies S is the concept, what
// satisfies a member of G may be, all else is not. Where the answer is a vote,
// or S has several members, the rules only sum it up, and say so.
func (m *Model) Rules() (*rule.Base, error) {
	base := &rule.Base{Kind: rule.Ordered}
	if v, ok := m.space.(*disjunctive); ok {
		otherwise := m.conclude(nil, math.NaN(), "")
		base.Else = &otherwise
		base.Notes = append(base.Notes, fmt.Sprintf("summary: the neighbours among %d rows vote; no rules are written out", len(v.rows)))
		return base, nil
	}
	specific, general, exact := m.boundaries()
	summary := !exact || m.settings.Answer == "majority" || m.settings.Answer == "gibbs"
	switch {
	case m.collapsed():
		base.Notes = append(base.Notes, m.collapse())
		summary = false
		specific, general = nil, nil
	case summary:
		base.Notes = append(base.Notes, "summary: the boundaries S and G; between them the members vote")
	}
	if d, ok := m.space.(*disc); ok && !m.collapsed() {
		base.Notes = append(base.Notes, d.String())
	}
	yes, maybe := 1.0, 0.5
	switch {
	case m.settings.Algorithm == "find-s":
		general = nil
	case m.settings.Algorithm == "find-g":
		specific, maybe = nil, 1
	case m.settings.Answer == "map":
		maybe = 0
	}
	for _, r := range specific {
		base.Rules = append(base.Rules, m.conclude(r, yes, "S"))
	}
	for _, r := range general {
		if !slices.ContainsFunc(specific, func(s []rule.Test) bool { return sameTests(s, r) }) {
			base.Rules = append(base.Rules, m.conclude(r, maybe, "G"))
		}
	}
	otherwise := m.conclude(nil, 0, "")
	if m.collapsed() {
		otherwise = m.conclude(nil, math.NaN(), "")
	}
	base.Else = &otherwise
	return base, nil
}

func sameTests(a, b []rule.Test) bool {
	one, other := rule.Rule{If: a}, rule.Rule{If: b}
	return one.String() == other.String()
}

// conclude is a rule with this probability of the concept; NaN is not known.
// Of two classes it names the concept, where that may be, and its probability;
// of more it has the probability of each.
func (m *Model) conclude(tests []rule.Test, p float64, boundary string) rule.Rule {
	a := &m.schema.Attributes[m.target]
	row := make([]float64, len(a.Values))
	m.fill(row, p)
	answer := learn.Best(row, a.Values)
	if p >= 0.5 {
		answer = int(m.concept)
	}
	r := rule.Rule{If: tests, Then: rule.Conclusion{Column: a.Name, Value: a.Values[answer]}, Boundary: boundary}
	if len(row) <= 2 {
		r.With = &row[answer]
		return r
	}
	for c, value := range a.Values {
		r.Then.Classes = append(r.Then.Classes, rule.Share{Value: value, P: row[c]})
	}
	return r
}

// boundaries returns the tests of the members of S and of G, and whether a row
// that satisfies one of the first is sure to be of the concept and one that
// satisfies none of the second sure not to be.
func (m *Model) boundaries() (specific, general [][]rule.Test, exact bool) {
	switch s := m.space.(type) {
	case *bounded:
		if s.s != nil {
			specific = append(specific, m.tests(s.s))
		}
		for _, g := range s.g {
			general = append(general, m.tests(g))
		}
		return specific, general, !s.without || m.settings.Algorithm == "find-s"
	case *listed:
		most := s.boundary(false)
		for _, h := range most {
			for _, t := range h {
				specific = append(specific, m.tests(t))
			}
		}
		for _, h := range s.boundary(true) {
			for _, t := range h {
				general = append(general, m.tests(t))
			}
		}
		return specific, unique(general), len(most) <= 1
	case *branches:
		for _, h := range s.members {
			for _, t := range h {
				specific = append(specific, m.tests(t))
			}
		}
		return unique(specific), nil, len(s.members) <= 1
	case *loose:
		if s.s != nil && !empty(s.s) {
			specific = append(specific, m.tests(s.s))
		}
		return specific, nil, false
	case *clauses:
		return m.clauseRules(s)
	case *rote:
		return m.rowRules()
	}
	return nil, nil, false
}

// unique drops tests that stand there already.
func unique(all [][]rule.Test) [][]rule.Test {
	var some [][]rule.Test
	for _, r := range all {
		if !slices.ContainsFunc(some, func(s []rule.Test) bool { return sameTests(s, r) }) {
			some = append(some, r)
		}
	}
	return some
}

// tests writes a term: the constraints that ask for something.
func (m *Model) tests(t term) []rule.Test {
	var tests []rule.Test
	for i, k := range t {
		c := &m.language.columns[i]
		if c.isTop(k) {
			continue
		}
		a := &m.schema.Attributes[m.columns[i]]
		if c.numeric {
			tests = append(tests, interval(a.Name, k)...)
			continue
		}
		under := c.valuesUnder(k.node)
		switch {
		case k.node == c.known:
			tests = append(tests, rule.Test{Op: rule.IsKnown, Column: a.Name})
		case len(under) == 1:
			tests = append(tests, rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[under[0]]})
		default:
			test := rule.Test{Op: rule.In, Column: a.Name}
			for _, v := range under {
				test.Values = append(test.Values, a.Values[v])
			}
			tests = append(tests, test)
		}
	}
	return tests
}

// valuesUnder lists the values below a node.
func (c *column) valuesUnder(node int32) []int {
	var all []int
	for v := range c.values {
		if c.above(node, int32(v)) {
			all = append(all, v)
		}
	}
	return all
}

// interval writes a constraint on a number.
func interval(name string, k constraint) []rule.Test {
	low, high := !math.IsInf(k.low, -1), !math.IsInf(k.high, 1)
	above := rule.Test{Op: rule.Ge, Column: name, Number: k.low}
	if k.lowOpen {
		above.Op = rule.Gt
	}
	below := rule.Test{Op: rule.Le, Column: name, Number: k.high}
	if k.highOpen {
		below.Op = rule.Lt
	}
	switch {
	case low && high && k.low < k.high:
		return []rule.Test{{Op: rule.Between, Column: name, Low: k.low, High: k.high, LowClosed: !k.lowOpen, HighOpen: k.highOpen}}
	case low && high:
		return []rule.Test{above, below}
	case low:
		return []rule.Test{above}
	case high:
		return []rule.Test{below}
	}
	return []rule.Test{{Op: rule.IsKnown, Column: name}}
}

// clauseRules writes k-CNF as one conjunction of clauses, k-DNF as its terms.
func (m *Model) clauseRules(c *clauses) (specific, general [][]rule.Test, exact bool) {
	if !c.cnf {
		for _, p := range c.parts {
			general = append(general, m.literals(p))
		}
		return nil, general, m.settings.Algorithm == "find-g"
	}
	all := []rule.Test{}
	for _, p := range c.parts {
		if tests := m.literals(p); len(tests) == 1 {
			all = append(all, tests[0])
		} else {
			all = append(all, rule.Test{Op: rule.AtLeast, Count: 1, Of: tests})
		}
	}
	return [][]rule.Test{all}, nil, m.settings.Algorithm == "find-s"
}

func (m *Model) literals(part []literal) []rule.Test {
	var tests []rule.Test
	for _, l := range part {
		a := &m.schema.Attributes[m.columns[l.column]]
		test := rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[l.code]}
		if l.not {
			test.Op = rule.Ne
		}
		tests = append(tests, test)
	}
	return tests
}

// rowRules writes the rows that are known by heart; of all others nothing is.
func (m *Model) rowRules() (specific, general [][]rule.Test, exact bool) {
	for _, d := range m.examples {
		if !d.positive || slices.ContainsFunc(d.x, func(v value) bool { return v.missing }) {
			continue
		}
		t := make(term, len(d.x))
		for i := range d.x {
			t[i] = m.language.columns[i].only(d.x[i])
		}
		specific = append(specific, m.tests(t))
	}
	return specific, nil, false
}

// Remarks says what became of the rows: how many hypotheses are left, or which
// rows left none.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	return []fmt.Stringer{m.state()}, nil
}

// State is what is left of a version space.
type State struct {
	Concept string   `json:"concept,omitempty"`
	Members *float64 `json:"members,omitempty"` // nil: not counted
	// Factors are the members of each part of the space that is independent
	// of the others, where there are several: the members are their product.
	Factors   []float64 `json:"factors,omitempty"`
	Collapsed bool      `json:"collapsed,omitempty"`
	Converged bool      `json:"converged,omitempty"`
	What      string    `json:"what"`
}

// String says it in a line.
func (s State) String() string { return s.What }

func (m *Model) state() State {
	a := &m.schema.Attributes[m.target]
	s := State{Concept: a.Values[m.concept], Collapsed: m.collapsed()}
	what := fmt.Sprintf("the concept is %s = %s: ", a.Name, s.Concept)
	if v, ok := m.space.(*disjunctive); ok {
		s.Concept, s.What = "", fmt.Sprintf("each of %d rows has the hypotheses that tell it from the rows of other classes by %s; its neighbours vote", len(v.rows), plural(v.tests))
		if n := len(m.examples); n > len(v.rows) {
			s.What += fmt.Sprintf(" (of %d different rows these are looked at)", n)
		}
		return s
	}
	switch b, ok := m.space.(*bounded); {
	case s.Collapsed:
		s.What = what + m.collapse()
		return s
	case ok && b.converged():
		s.Converged = true
	case ok && b.without && m.settings.Algorithm != "find-s":
		what += fmt.Sprintf("more than %d most general hypotheses, so the rows that are not the concept's stand for them; ", m.settings.Most)
	}
	if _, of := m.votes(make([]value, len(m.columns))); of > 0 {
		s.Members = &of
		words := "hypotheses agree"
		if of == 1 {
			words = "hypothesis agrees"
		}
		if _, counts := m.space.(*disc); counts {
			what += "a continuum of hypotheses agrees with the rows"
			s.Members = nil
		} else {
			what += fmt.Sprintf("%.6g %s with the rows", of, words)
		}
	} else {
		what += "some hypotheses agree with the rows"
	}
	if m.counter != nil && s.Members != nil {
		if sizes := m.counter.sizes(); len(sizes) > 1 {
			s.Factors = sizes
		}
	}
	if n := len(m.beliefs); n > 0 {
		what += fmt.Sprintf(" and the %d rules believed", n)
		if n == 1 {
			what = strings.Replace(what, "the 1 rules", "the rule", 1)
		}
	}
	if s.Converged {
		what += ": it is learnt"
	}
	if d, ok := m.space.(*disc); ok {
		what += ": " + d.String()
	}
	if m.unseen >= 0 {
		what += "; FIND-S does not look at rows that are not the concept's, and is wrong there: " + m.conflict(m.unseen)
	}
	s.What = what
	return s
}

// collapse names the rows that leave no hypothesis, and what to do.
func (m *Model) collapse() string {
	switch {
	case m.doubted >= 0:
		return fmt.Sprintf("no hypothesis of the language agrees with all rows and the rule %s; forget the rule, say it with less certainty than WITH 1, or correct the rows", m.beliefs[m.doubted])
	case len(m.beliefs) > 0:
		return fmt.Sprintf("no hypothesis of the language agrees with all rows and the %d rules believed: %s; correct them, forget a rule, or ask for a wider space", len(m.beliefs), m.conflict(m.cause))
	}
	return fmt.Sprintf("no hypothesis of the language agrees with all rows: %s; correct them, ask for a wider space, or allow for noise (noise=N, or algorithm=disjunctive)", m.conflict(m.cause))
}

// conflict says which rows cannot all be true: one that is not the concept's
// and, where they can be told, those of the concept between which it lies.
func (m *Model) conflict(at int) string {
	d := m.examples[at]
	if d.positive {
		return fmt.Sprintf("(%s) cannot be the concept beside the others", m.cells(d.x))
	}
	text := fmt.Sprintf("(%s) cannot be other than the concept beside ", m.cells(d.x))
	some := m.witnesses(d.x)
	if some == nil {
		return text + "the others"
	}
	for i, w := range some {
		if i > 0 {
			text += " and "
		}
		text += "(" + m.cells(w) + ")"
	}
	return text
}

// witnesses returns rows of the concept, few, whose least general hypothesis
// holds for a row that is not the concept's; nil if there are none.
func (m *Model) witnesses(x []value) [][]value {
	var all [][]value
	for _, d := range m.examples {
		if d.positive {
			all = append(all, d.x)
		}
	}
	var some [][]value
	var h term
	for !m.language.covers(h, x) {
		best, most := -1, -1
		for i, w := range all {
			if n := m.language.kept(m.language.generalise(h, w), x); n > most {
				best, most = i, n
			}
		}
		if best < 0 || h != nil && most <= m.language.kept(h, x) {
			return nil
		}
		h = m.language.generalise(h, all[best])
		some = append(some, all[best])
	}
	return some
}

// kept counts the constraints of a term that a row satisfies.
func (l *language) kept(h term, x []value) int {
	n := 0
	for i := range h {
		if l.columns[i].holds(h[i], x[i]) {
			n++
		}
	}
	return n
}

// mostCells is how many cells of a row are named.
const mostCells = 8

// cells writes a row.
func (m *Model) cells(x []value) string {
	text := ""
	for i, v := range x {
		if i > 0 {
			text += ", "
		}
		if i == mostCells {
			return text + "…"
		}
		a := &m.schema.Attributes[m.columns[i]]
		switch {
		case v.missing:
			text += a.Name + " missing"
		case m.language.columns[i].numeric:
			text += a.Name + " = " + a.Format(v.number)
		default:
			text += a.Name + " = " + a.Values[v.code]
		}
	}
	return text
}

func plural(tests int) string {
	if tests == 1 {
		return "1 test"
	}
	return fmt.Sprintf("%d tests", tests)
}
