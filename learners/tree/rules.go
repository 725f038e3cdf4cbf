package tree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns the paths of the tree, a rule a leaf; they exclude each other.
// A list of rules is returned as it is, with its ELSE.
func (m *Model) Rules() (*rule.Base, error) {
	b := &rule.Base{Kind: rule.Ordered}
	if m.list != nil {
		for i := range m.list.rules {
			r := &m.list.rules[i]
			b.Rules = append(b.Rules, m.rule(r.conditions, m.list.probabilities(i), m.list.evidence(r.stat)))
		}
		last := m.rule(nil, m.list.probabilities(len(m.list.rules)), m.list.evidence(m.list.otherwise))
		b.Else = &last
		return b, nil
	}
	m.eachLeaf(func(i int, path []condition) { b.Rules = append(b.Rules, m.leafRule(i, path)) })
	m.annotate(b)
	return b, nil
}

// TopRules returns the n rules of Rules that tell most, in their order, and
// how many are left out. Of many classes a rule gives the probability of each:
// only the rules asked for are made.
func (m *Model) TopRules(n int) (*rule.Base, int, error) {
	var bits []float64
	if m.list == nil {
		m.eachLeaf(func(i int, _ []condition) { bits = append(bits, m.bits(i)) })
	}
	if m.list != nil || len(bits) <= n {
		b, err := m.Rules()
		return b, 0, err
	}
	order := make([]int, len(bits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(bits[j], bits[i]) })
	chosen := make([]bool, len(bits))
	for _, i := range order[:n] {
		chosen[i] = true
	}
	b, next := &rule.Base{Kind: rule.Ordered}, 0
	m.eachLeaf(func(i int, path []condition) {
		if chosen[next] {
			b.Rules = append(b.Rules, m.leafRule(i, path))
		}
		next++
	})
	m.annotate(b)
	return b, len(bits) - n, nil
}

// bits is the information of a leaf's rule.
func (m *Model) bits(i int) float64 {
	c := m.tree
	if c.classes == 0 {
		return m.information(i)
	}
	e := c.evidence(i, int(c.nodes[i].label))
	return rule.JMeasure(e.covered, e.correct, e.common, e.all)
}

// leafRule is the rule of a leaf at the end of a path.
func (m *Model) leafRule(i int, path []condition) rule.Rule {
	c := m.tree
	if c.classes > 0 {
		p := make([]float64, c.classes)
		c.probabilities(i, p)
		return m.rule(path, p, func(class int) evidence { return c.evidence(i, class) })
	}
	return rule.Rule{
		If: m.tests(path),
		Then: rule.Conclusion{
			Column: m.schema.Attributes[m.target].Name, Numeric: true,
			Mean: c.answer[2*i], Deviation: c.answer[2*i+1],
		},
		Evidence: rule.Evidence{Covered: ptr(c.stat[3*i]), Bits: ptr(m.information(i))},
	}
}

// annotate says for which rows the rules of a tree hold.
func (m *Model) annotate(b *rule.Base) {
	c := m.tree
	if len(c.nodes) > 1 {
		b.CompleteOnly = true
		known := "for rows whose tested cells are known; "
		if len(c.planes) > 0 {
			known = "for rows whose tested cells are known and finite; "
		}
		b.Notes = append(b.Notes, known+m.detour())
	}
	b.Notes = append(b.Notes, m.slopeNotes()...)
}

// detour says what becomes of other rows.
func (m *Model) detour() string {
	if len(m.tree.planes) > 0 {
		return "in a sum of columns a missing cell counts as the mean, and elsewhere " + m.elsewhere()
	}
	return m.elsewhere()
}

func (m *Model) elsewhere() string {
	if m.tree.common {
		return "the tree sends a missing cell where most rows went"
	}
	return "the tree sends a missing cell down every branch, in fractions"
}

// eachLeaf calls visit for the leaves from left to right, with the conditions
// on the path to each, which visit must not keep.
func (m *Model) eachLeaf(visit func(i int, path []condition)) {
	var descend func(i int, path []condition)
	descend = func(i int, path []condition) {
		if m.tree.nodes[i].col == leaf {
			visit(i, path)
			return
		}
		for b := range int(m.tree.nodes[i].kids) {
			descend(int(m.tree.nodes[i].kid)+b, append(path, m.tree.condition(i, b)))
		}
	}
	descend(0, nil)
}

// condition returns what a row satisfies that takes a branch of a node.
func (c *compact) condition(i, b int) condition {
	st := &c.nodes[i]
	if st.values <= 0 {
		return condition{col: st.col, above: b == 1, threshold: st.threshold, plane: c.plane(st), absent: st.values == absent}
	}
	in := make([]bool, st.values)
	for v, to := range c.branch[st.first : st.first+st.values] {
		in[v] = int(to) == b
	}
	return condition{col: st.col, in: in}
}

// evidence is weights of rows: that a rule covers, those of a class among
// them, and the same of all rows.
type evidence struct{ covered, correct, all, common float64 }

// evidence returns that of a leaf for a class.
func (c *compact) evidence(i, class int) evidence {
	return evidence{c.weight(i), c.weightOf(i, class), c.weight(0), c.weightOf(0, class)}
}

// evidence returns that of a rule which covers these rows.
func (l *list) evidence(stat []float64) func(class int) evidence {
	return func(class int) evidence { return evidence{sum(stat), stat[class], sum(l.root), l.root[class]} }
}

// rule makes a rule of conditions and what is known of the rows they cover.
func (m *Model) rule(conditions []condition, p []float64, of func(class int) evidence) rule.Rule {
	a := &m.schema.Attributes[m.target]
	best := learn.Best(p, a.Values)
	e := of(best)
	r := rule.Rule{
		If:   m.tests(conditions),
		Then: rule.Conclusion{Column: a.Name, Value: a.Values[best]},
		Evidence: rule.Evidence{
			Covered: &e.covered, Correct: &e.correct,
			Bits: ptr(rule.JMeasure(e.covered, e.correct, e.common, e.all)),
		},
	}
	if len(p) > 2 && !evenRest(p, best) {
		r.Then = rule.Conclusion{Column: a.Name}
		for c, q := range p {
			r.Then.Classes = append(r.Then.Classes, rule.Share{Value: a.Values[c], P: q})
		}
		return r
	}
	r.With = ptr(min(p[best], 1))
	return r
}

// evenRest reports whether the other classes share what the best leaves
// equally, so that one probability says it all.
func evenRest(p []float64, best int) bool {
	rest := (1 - p[best]) / float64(len(p)-1)
	for c, q := range p {
		if c != best && math.Abs(q-rest) > 1e-15 {
			return false
		}
	}
	return true
}

// information returns the bits that a leaf tells of a numeric target, both
// taken as normal: its share of rows times the divergence from the root.
func (m *Model) information(i int) float64 {
	a := m.tree.answer
	mean, sd, mean0, sd0 := a[2*i], a[2*i+1], a[0], a[1]
	if sd <= 0 || sd0 <= 0 {
		return 0
	}
	d := (mean - mean0) / sd0
	nats := math.Log(sd0/sd) + (sd/sd0*(sd/sd0)+d*d-1)/2
	bits := m.tree.stat[3*i] / m.tree.stat[0] * nats / math.Ln2
	if math.IsNaN(bits) || math.IsInf(bits, 0) {
		return 0
	}
	return max(bits, 0)
}

// tests writes conditions in the rule language, those on one column as one.
func (m *Model) tests(conditions []condition) []rule.Test {
	var tests []rule.Test
	done := map[int32]bool{}
	for _, c := range conditions {
		if c.plane != nil {
			tests = append(tests, c.plane.test(m.schema, c.threshold, c.above))
			continue
		}
		if c.absent {
			tests = m.missingTest(tests, c, conditions)
			continue
		}
		if done[c.col] {
			continue
		}
		done[c.col] = true
		a := &m.schema.Attributes[c.col]
		if a.Kind == table.Nominal {
			in := slices.Clone(c.in)
			for _, d := range conditions {
				if d.col == c.col && !d.absent {
					for v := range in {
						in[v] = in[v] && d.in[v]
					}
				}
			}
			tests = append(tests, membership(a, in))
			continue
		}
		low, high := math.Inf(-1), math.Inf(1)
		bounded := false
		for _, d := range conditions {
			switch {
			case d.col != c.col || d.plane != nil || d.absent:
			case d.above:
				low = max(low, d.threshold)
				bounded = true
			default:
				high = min(high, d.threshold)
			}
		}
		tests = append(tests, interval(a.Name, low, bounded, high))
	}
	return tests
}

// membership is the test for a set of values.
func membership(a *table.Attribute, in []bool) rule.Test {
	t := rule.Test{Op: rule.In, Column: a.Name}
	for v, is := range in {
		if is {
			t.Values = append(t.Values, a.Values[v])
		}
	}
	if len(t.Values) == 1 {
		return rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Values[0]}
	}
	return t
}

// interval is the test for low < cell ≤ high. Rules cannot speak of infinity:
// no number lies between it and the largest.
func interval(column string, low float64, bounded bool, high float64) rule.Test {
	switch lowest := -math.MaxFloat64; {
	case bounded && math.IsInf(low, -1) && math.IsInf(high, 1):
		return rule.Test{Op: rule.Ge, Column: column, Number: lowest}
	case bounded && math.IsInf(low, -1):
		return rule.Test{Op: rule.Between, Column: column, Low: lowest, LowClosed: true, High: high}
	case math.IsInf(high, -1):
		return rule.Test{Op: rule.Lt, Column: column, Number: lowest}
	case !bounded:
		return rule.Test{Op: rule.Le, Column: column, Number: high}
	case math.IsInf(high, 1):
		return rule.Test{Op: rule.Gt, Column: column, Number: low}
	}
	return rule.Test{Op: rule.Between, Column: column, Low: low, High: high}
}

// DNF returns the tree as a disjunction, over the leaves of a class, of the
// conjunctions of the tests that lead to them.
func (m *Model) DNF(class string) (string, error) {
	if m.tree == nil || m.tree.classes == 0 {
		return "", fmt.Errorf("only a tree of classes is a disjunction of its paths")
	}
	code := m.schema.Attributes[m.target].Code(class)
	if code < 0 {
		return "", fmt.Errorf("unknown class %q", class)
	}
	var paths []string
	m.eachLeaf(func(i int, path []condition) {
		if m.tree.nodes[i].label != code {
			return
		}
		tests := m.tests(path)
		words := make([]string, len(tests))
		for k := range tests {
			words[k] = tests[k].String()
		}
		if len(words) == 0 {
			words = []string{"ALWAYS"}
		}
		paths = append(paths, "("+strings.Join(words, " ∧ ")+")")
	})
	return strings.Join(paths, " ∨ "), nil
}

// Outline returns the tree in one line, as in
//
//	Outlook{Overcast→Yes, Rain→Wind{Strong→No, Weak→Yes}, Sunny→No}
func (m *Model) Outline() string {
	if m.tree == nil {
		return ""
	}
	var write func(i int) string
	write = func(i int) string {
		st := &m.tree.nodes[i]
		if st.col == leaf {
			if m.tree.classes == 0 {
				return m.schema.Attributes[m.target].Format(m.tree.answer[2*i])
			}
			return m.schema.Attributes[m.target].Values[st.label]
		}
		var kids []string
		for b := range int(st.kids) {
			kids = append(kids, m.edge(i, b)+"→"+write(int(st.kid)+b))
		}
		return m.asked(i) + "{" + strings.Join(kids, ", ") + "}"
	}
	return write(0)
}

// cut returns what a branch asks, nil for weighed sums.
func (m *Model) cut(i, b int) any {
	st := &m.tree.nodes[i]
	t := rule.Test{Op: rule.Le, Column: m.schema.Attributes[st.col].Name, Number: st.threshold}
	switch {
	case st.values == absent:
		return absentTest(t.Column, b == 1)
	case st.values > 0:
		t.Op, t.Values = rule.In, m.branchValues(i, b)
	case m.tree.plane(st) != nil:
		return nil
	case b > 0:
		t.Op = rule.Gt
	}
	return t
}

// edge returns the words on a branch of a test.
func (m *Model) edge(i, b int) string {
	st := &m.tree.nodes[i]
	a := &m.schema.Attributes[st.col]
	if st.values == absent {
		return []string{"missing", "known"}[b]
	}
	if st.values <= 0 {
		if m.tree.plane(st) != nil {
			a = &table.Attribute{Kind: table.Numeric}
		}
		if b == 0 {
			return "≤ " + a.Format(st.threshold)
		}
		return "> " + a.Format(st.threshold)
	}
	values := m.branchValues(i, b)
	if len(values) > 4 {
		values = append(values[:3], fmt.Sprintf("%d more", len(values)-3))
	}
	return strings.Join(values, " | ")
}

// branchValues are the names that take a branch.
func (m *Model) branchValues(i, b int) (values []string) {
	st := &m.tree.nodes[i]
	for v, to := range m.tree.branch[st.first : st.first+st.values] {
		if int(to) == b {
			values = append(values, m.schema.Attributes[st.col].Values[v])
		}
	}
	return values
}
