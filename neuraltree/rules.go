package neuraltree

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

const (
	// mostRules is how many rules a tree may be written out in, beyond one
	// a leaf, where planes mix numbers and names: the rule language has no
	// sum of both, so that there is a rule for each combination of values
	// that matters. A summary is to be shorter.
	mostRules          = 1000
	mostRulesInSummary = 100
	// mostTests is how many tests one m-of-n test may have.
	mostTests = 500
	// mostTestsInAll is how many tests all rules together may have: those
	// of a tree of thousands of levels would fill the memory.
	mostTestsInAll = 1e6
	// rowsToCompare is how many rows a summary is compared with the tree on.
	rowsToCompare = 2000
)

// Rules returns the tree as rules that exclude each other. A leaf is a
// conjunction of half-spaces. A plane over nominal columns alone is an m-of-n
// test. Planes over both are written out for the values that make a
// difference. Where that takes too many rules, only the columns that make the
// greatest differences are, others count with what they add on average, and the
// base says that it is a summary.
func (m *Model) Rules() (*rule.Base, error) {
	w := m.write()
	if w.tests > mostTestsInAll {
		return nil, fmt.Errorf("the tree is too deep to be written as rules: it takes more than %d tests; learn it with prune=folds or a max-depth", int(mostTestsInAll))
	}
	b := &rule.Base{Kind: rule.Ordered, Rules: w.rules, CompleteOnly: len(m.nodes) > 1}
	if w.summary {
		b.Notes = append(b.Notes, fmt.Sprintf("summary: agrees with the model on %.1f %% of rows", 100*m.agreement))
	} else if b.CompleteOnly {
		b.Notes = append(b.Notes, "for rows whose tested cells are known and finite; to the tree a missing number is the mean, a missing name a value like others")
	}
	if m.contradicted > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("%.6g rows contradict others with the same cells; the majority counts", m.contradicted))
	}
	return b, nil
}

// write writes the tree, in full if that does not take too many rules.
func (m *Model) write() *writer {
	columns := m.mixedColumns()
	w := &writer{Model: m, limit: mostRules + len(m.nodes)/2}
	w.visit(0, m.everything(), nil)
	if len(w.rules) <= w.limit {
		return w
	}
	var best *writer
	for n := range columns {
		w := &writer{Model: m, summary: true, averaged: columns[n:], limit: math.MaxInt}
		if best != nil {
			w.limit = mostRulesInSummary + len(m.nodes)/2
		}
		w.visit(0, m.everything(), nil)
		if len(w.rules) > w.limit {
			break
		}
		best = w
	}
	return best
}

// mixedColumns returns the nominal columns of planes that numbers are in too,
// those first between whose values the differences are greatest.
func (m *Model) mixedColumns() []int32 {
	spread := map[int32]float64{}
	for i := range m.nodes {
		u := m.nodes[i].unit
		if u == nil {
			continue
		}
		if _, _, ok := m.mOfN(u); ok {
			continue
		}
		for _, t := range u.tables {
			all := sum(m.nodes[i].counts) / sum(m.nodes[0].counts)
			spread[t.column] += all * (slices.Max(t.weights) - slices.Min(t.weights))
		}
	}
	columns := slices.Sorted(maps.Keys(spread))
	slices.SortStableFunc(columns, func(a, b int32) int { return -cmp.Compare(spread[a], spread[b]) })
	return columns
}

// summarise measures, where rules only summarise the tree, on some of the
// table's rows how often they agree with it.
func (m *Model) summarise(t *table.Table) error {
	m.agreement = 1
	if !m.summary {
		return nil
	}
	base, err := m.Rules()
	if err != nil {
		return err
	}
	some := t.Slice(0, min(t.Rows(), rowsToCompare)) // they stand in the order of their hashes
	predictor, err := rule.NewPredictor(base, m.schema, m.target)
	if err != nil {
		return err
	}
	classes := m.classes()
	p := make([]float64, some.Rows()*len(classes))
	if err := predictor.Predict(some, p, nil); err != nil {
		return err
	}
	same, all := 0.0, 0.0
	for r := range some.Rows() {
		own := m.answerOf(m.leaf(some.Columns, r))
		all += some.Weight(r)
		if learn.Best(own, classes) == learn.Best(p[r*len(classes):(r+1)*len(classes)], classes) {
			same += some.Weight(r)
		}
	}
	m.agreement = same / all
	return nil
}

// writer writes a tree as rules.
type writer struct {
	*Model
	summary  bool
	averaged []int32 // columns that count with what they add on average
	limit    int     // of rules; beyond it there is no use in going on
	rules    []rule.Rule
	tests    int
}

// everything allows each nominal column all its values.
func (m *Model) everything() [][]bool {
	allowed := make([][]bool, len(m.schema.Attributes))
	for j := range allowed {
		allowed[j] = slices.Repeat([]bool{true}, len(m.schema.Attributes[j].Values))
	}
	return allowed
}

// visit writes the rules below a node, for rows with the allowed values that
// satisfy the tests.
func (w *writer) visit(i int32, allowed [][]bool, tests []rule.Test) {
	n := &w.nodes[i]
	if len(w.rules) > w.limit || w.tests > mostTestsInAll {
		return
	}
	w.tests += len(tests) // copied from node to node
	if n.unit == nil {
		w.rules = append(w.rules, w.rule(int(i), allowed, tests))
		return
	}
	follow := func(right bool, more []rule.Test) {
		to := n.left
		if right {
			to = n.right
		}
		w.visit(to, allowed, slices.Concat(tests, more))
	}
	if open := w.undecided(n.unit, allowed); open != nil {
		for _, group := range groups(open.weights, allowed[open.column]) {
			narrower := slices.Clone(allowed)
			narrower[open.column] = group
			w.visit(i, narrower, tests)
		}
		return
	}
	if of, count, ok := w.mOfN(n.unit); ok {
		switch {
		case count <= 0:
			follow(true, nil)
		case count > len(of):
			follow(false, nil)
		default:
			follow(true, atLeast(count, of))
			for k := range of {
				of[k] = w.opposite(of[k])
			}
			follow(false, atLeast(len(of)-count+1, of))
		}
		return
	}
	bound := n.unit.threshold - w.decided(n.unit, allowed)
	if w.summary {
		bound = significant(bound, 4)
	}
	space := w.halfSpace(n.unit, bound)
	if len(space.Terms) == 0 { // no number has a say
		follow(0 > bound, nil)
		return
	}
	space.Below = false
	follow(true, []rule.Test{space})
	space.Below = true
	follow(false, []rule.Test{space})
}

// undecided returns the first of a unit's tables to which it matters which of
// the allowed values a cell has, or nil. Where an m-of-n test says it all, no
// table has to be decided.
func (w *writer) undecided(u *perceptron, allowed [][]bool) *lookup {
	if _, _, ok := w.mOfN(u); ok {
		return nil
	}
	for i := range u.tables {
		t := &u.tables[i]
		if !slices.Contains(w.averaged, t.column) && len(groups(t.weights, allowed[t.column])) > 1 {
			return t
		}
	}
	return nil
}

// decided returns what nominal cells add of which all allowed values add the
// same, or that are averaged, in the order in which sums adds.
func (w *writer) decided(u *perceptron, allowed [][]bool) float64 {
	rest := 0.0
	for _, t := range u.tables {
		if slices.Contains(w.averaged, t.column) {
			rest += t.typical
		} else if v := slices.Index(allowed[t.column], true); v >= 0 {
			rest += t.weights[v]
		}
	}
	return rest
}

// groups divides the allowed values by their weights.
func groups(weights []float64, allowed []bool) [][]bool {
	var all [][]bool
	var of []float64
	for v, ok := range allowed {
		if !ok {
			continue
		}
		g := slices.Index(of, weights[v])
		if g < 0 {
			g = len(of)
			of = append(of, weights[v])
			all = append(all, make([]bool, len(allowed)))
		}
		all[g][v] = true
	}
	return all
}

// halfSpace is the test for a sum of numbers above a bound.
func (m *Model) halfSpace(u *perceptron, bound float64) rule.Test {
	t := rule.Test{Op: rule.HalfSpace, Number: min(max(bound, -math.MaxFloat64), math.MaxFloat64)}
	for _, term := range u.terms {
		if term.factor != 0 {
			t.Terms = append(t.Terms, rule.Term{Factor: term.factor, Column: m.schema.Attributes[term.column].Name})
		}
	}
	return t
}

// mOfN writes a plane over nominal columns as tests of which it needs at least
// a count: a value that weighs n more than the lightest one of its column
// stands in n of them. It needs whole weights, which the perceptron rule gives.
func (m *Model) mOfN(u *perceptron) (of []rule.Test, count int, ok bool) {
	if len(m.halfSpace(u, 0).Terms) > 0 {
		return nil, 0, false
	}
	least, step := 0.0, 0.0
	for _, t := range u.tables {
		lightest := slices.Min(t.weights)
		least += lightest
		for _, w := range t.weights {
			if w != math.Trunc(w) || math.Abs(w) > mostTests {
				return nil, 0, false
			}
			step = divisor(step, w-lightest)
		}
	}
	if step == 0 {
		return nil, 0, false
	}
	for _, t := range u.tables {
		lightest := slices.Min(t.weights)
		in := make([]bool, len(t.weights))
		for level := step; ; level += step {
			some := false
			for v, w := range t.weights {
				in[v] = w-lightest >= level
				some = some || in[v]
			}
			if !some {
				break
			}
			of = append(of, m.membership(int(t.column), in))
			if len(of) > mostTests {
				return nil, 0, false
			}
		}
	}
	// Σ step·tests + least > threshold
	need := math.Floor((u.threshold-least)/step) + 1
	return of, int(min(max(need, 0), mostTests+1)), true
}

// divisor returns the greatest common divisor of two whole numbers.
func divisor(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return math.Abs(a)
}

// atLeast is the tests of which a count must hold; all of them need no count.
func atLeast(count int, of []rule.Test) []rule.Test {
	if count < len(of) {
		return []rule.Test{{Op: rule.AtLeast, Count: count, Of: slices.Clone(of)}}
	}
	var all []rule.Test
	for _, t := range of {
		if !slices.ContainsFunc(all, func(have rule.Test) bool { return have.String() == t.String() }) {
			all = append(all, t)
		}
	}
	return all
}

// membership is the test for a set of values.
func (m *Model) membership(column int, in []bool) rule.Test {
	a := &m.schema.Attributes[column]
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

// opposite is the test for the column's other values.
func (m *Model) opposite(t rule.Test) rule.Test {
	column := m.schema.Index(t.Column)
	values := m.schema.Attributes[column].Values
	in := make([]bool, len(values))
	for v, value := range values {
		in[v] = value != t.Value && !slices.Contains(t.Values, value)
	}
	if t.Op == rule.In {
		for v, value := range values {
			in[v] = !slices.Contains(t.Values, value)
		}
	}
	return m.membership(column, in)
}

// rule is a leaf, or the part of it with the allowed values.
func (w *writer) rule(leaf int, allowed [][]bool, tests []rule.Test) rule.Rule {
	a := &w.schema.Attributes[w.target]
	p, counts := w.answerOf(leaf), w.nodes[leaf].counts
	best := learn.Best(p, a.Values)
	r := rule.Rule{Then: rule.Conclusion{Column: a.Name, Value: a.Values[best]}}
	whole := true
	for j, in := range allowed {
		if w.schema.Attributes[j].Kind == table.Nominal && slices.Contains(in, false) {
			r.If = append(r.If, w.membership(j, in))
			whole = false
		}
	}
	r.If = append(r.If, tests...)
	if whole && !w.summary {
		covered, correct, root := sum(counts), counts[best], w.nodes[0].counts
		bits := rule.JMeasure(covered, correct, root[best], sum(root))
		r.Evidence = rule.Evidence{Covered: &covered, Correct: &correct, Bits: &bits}
	}
	if len(p) > 2 && !evenRest(p, best) {
		r.Then = rule.Conclusion{Column: a.Name}
		for c, q := range p {
			r.Then.Classes = append(r.Then.Classes, rule.Share{Value: a.Values[c], P: q})
		}
		return r
	}
	with := min(p[best], 1)
	r.With = &with
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
