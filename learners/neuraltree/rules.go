package neuraltree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

const (
	// rulesPerLeaf is how many rules a leaf may be written out in, on
	// average, where planes mix numbers and names: one for each combination
	// of values that matters reads best as long as there are few.
	rulesPerLeaf = 4
	// mostTestsInAll is how many tests all rules together may have: those
	// of a tree of thousands of levels would fill the memory.
	mostTestsInAll = 1e6
)

// Rules returns the tree as rules that exclude each other. A leaf is a
// conjunction of half-spaces. A plane over nominal columns alone is an m-of-n
// test. A plane over both is a half-space for each combination of values that
// makes a difference, or, where these are many, an m-of-n test of values and
// half-spaces.
func (m *Model) Rules() (*rule.Base, error) {
	w := m.write(false)
	if w.tests > mostTestsInAll {
		return nil, fmt.Errorf("the tree is too deep to be written as rules: it takes more than %d tests; learn it with prune=folds or a max-depth", int(mostTestsInAll))
	}
	b := &rule.Base{Kind: rule.Ordered, Rules: w.rules, CompleteOnly: len(m.nodes) > 1}
	if b.CompleteOnly {
		b.Notes = append(b.Notes, "for rows whose tested cells are known and finite; to the tree a missing number is the mean, a missing name a value like others")
	}
	if !w.apart {
		b.Notes = append(b.Notes, m.sums()...)
	}
	if m.contradicted > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("%.6g rows contradict others with the same cells; the majority counts", m.contradicted))
	}
	return b, nil
}

// mostSums is how many planes are noted as sums.
const mostSums = 20

// sums says of the first planes that mix names and numbers what they add up,
// which is shorter than their rules.
func (m *Model) sums() []string {
	var notes []string
	numbers := m.unitNumbers()
	for i := range m.nodes {
		if u := m.nodes[i].unit; u != nil && u.numeric() && len(u.tables) > 0 && len(notes) < mostSums {
			notes = append(notes, fmt.Sprintf("unit %d: %s", numbers[i], strings.Join(m.planeLines(u, math.MaxInt), " ")))
		}
	}
	return notes
}

// write writes the tree: values apart if that does not take too many rules. A
// dry run only counts.
func (m *Model) write(dry bool) *writer {
	leaves := len(m.nodes)/2 + 1
	w := &writer{Model: m, dry: dry, apart: true, limit: rulesPerLeaf * leaves}
	w.visit(0, m.everything(), nil, 0)
	if w.count > w.limit {
		w = &writer{Model: m, dry: dry, limit: leaves}
		w.visit(0, m.everything(), nil, 0)
	}
	return w
}

// writer writes a tree as rules.
type writer struct {
	*Model
	dry   bool
	apart bool // rows with values that make a difference get rules of their own
	limit int  // of rules; beyond it there is no use in going on
	rules []rule.Rule
	count int // of rules
	tests int // in all rules
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
// satisfy the tests, which have so many parts.
func (w *writer) visit(i int32, allowed [][]bool, tests []rule.Test, parts int) {
	n := &w.nodes[i]
	if w.count > w.limit || w.tests > mostTestsInAll {
		return
	}
	w.tests += parts
	if n.unit == nil {
		if w.count++; !w.dry {
			w.rules = append(w.rules, w.rule(int(i), allowed, tests))
		}
		return
	}
	if open := w.undecided(n.unit, allowed); open != nil {
		for _, group := range groups(open.weights, allowed[open.column]) {
			narrower := slices.Clone(allowed)
			narrower[open.column] = group
			w.visit(i, narrower, tests, parts)
		}
		return
	}
	if _, _, levels := n.unit.levels(); levels > mostTestsInAll {
		w.tests = math.MaxInt
		return
	}
	of, count := w.form(n.unit, allowed)
	parts += len(of)
	if count <= len(of) {
		w.visit(n.right, allowed, w.and(tests, count, of), parts)
	}
	if count > 0 {
		opposite := make([]rule.Test, len(of))
		for k := range of {
			opposite[k] = w.opposite(&of[k])
		}
		w.visit(n.left, allowed, w.and(tests, len(of)-count+1, opposite), parts)
	}
}

// and returns tests with others of which at least a count must hold; all of
// them need no count.
func (w *writer) and(tests []rule.Test, count int, of []rule.Test) []rule.Test {
	switch {
	case w.dry:
		return nil
	case count <= 0: // every row satisfies them
		return tests
	case count < len(of):
		return append(slices.Clip(tests), rule.Test{Op: rule.AtLeast, Count: count, Of: of})
	}
	before := len(tests)
	tests = slices.Clip(tests)
	for _, t := range of {
		if !slices.ContainsFunc(tests[before:], func(have rule.Test) bool { return have.String() == t.String() }) {
			tests = append(tests, t)
		}
	}
	return tests
}

// undecided returns the first of a unit's tables to which it matters which of
// the allowed values a cell has, or nil. Where there are no numbers, an m-of-n
// test says it all.
func (w *writer) undecided(u *perceptron, allowed [][]bool) *lookup {
	if !w.apart || !u.numeric() {
		return nil
	}
	for i := range u.tables {
		t := &u.tables[i]
		if len(groups(t.weights, allowed[t.column])) > 1 {
			return t
		}
	}
	return nil
}

// form writes a plane as tests of which a row on its right satisfies at least
// a count: none if the count is 0.
func (w *writer) form(u *perceptron, allowed [][]bool) (of []rule.Test, count int) {
	if !w.apart || !u.numeric() {
		return w.mOfN(u)
	}
	rest := 0.0 // what nominal cells add, in the order in which sums adds
	for _, t := range u.tables {
		if v := slices.Index(allowed[t.column], true); v >= 0 {
			rest += t.weights[v]
		}
	}
	return []rule.Test{w.halfSpace(u, u.threshold-rest)}, 1
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
	t := rule.Test{Op: rule.HalfSpace, Number: bounded(bound)}
	for _, term := range u.terms {
		if term.factor != 0 {
			t.Terms = append(t.Terms, rule.Term{Factor: term.factor, Column: m.schema.Attributes[term.column].Name})
		}
	}
	return t
}

// bounded keeps a number finite.
func bounded(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }

// mOfN writes a plane as tests of which a row on its right satisfies at least
// a count. A value that weighs n more than the lightest one of its column
// stands in n tests: weights of names are whole numbers, as the perceptron rule
// makes them.
//
// Numbers join in as half-spaces. Let c be the number of those tests, r in
// all, that a row satisfies, and x > b − c what the numbers then have to. Of
// the half-spaces x > b, x > b − 1, … x > b − r a row satisfies those from
// b − k on, for some k, which are r + 1 − k. It lies on the right if c ≥ k, so
// if c + r + 1 − k, which is all that it satisfies, is at least r + 1.
func (m *Model) mOfN(u *perceptron) (of []rule.Test, count int) {
	least, step, _ := u.levels()
	for _, t := range u.tables {
		if len(t.weights) == 0 {
			continue // a column in which no cell is known
		}
		lightest := slices.Min(t.weights)
		in := make([]bool, len(t.weights))
		for level := step; level > 0; level += step {
			some := false
			for v, w := range t.weights {
				in[v] = w-lightest >= level
				some = some || in[v]
			}
			if !some {
				break
			}
			of = append(of, m.membership(int(t.column), in))
		}
	}
	names := len(of)
	if u.numeric() {
		space := m.halfSpace(u, 0)
		for k := range names + 1 {
			space.Number = bounded(u.threshold - (least + float64(k)*step))
			of = append(of, space)
		}
		return of, names + 1
	}
	// Σ step·tests + least > threshold
	need := 0.0
	if step > 0 {
		need = math.Floor((u.threshold-least)/step) + 1
	} else if least <= u.threshold {
		need = 1
	}
	return of, int(min(max(need, 0), float64(names+1)))
}

// levels returns the least that names add to a plane's sum, the step by which
// their sums differ, and how many steps there are.
func (u *perceptron) levels() (least, step, count float64) {
	for _, t := range u.tables {
		if len(t.weights) == 0 {
			continue // a column in which no cell is known
		}
		lightest := slices.Min(t.weights)
		least += lightest
		count += slices.Max(t.weights) - lightest
		for _, w := range t.weights {
			step = divisor(step, w-lightest)
		}
	}
	if step > 0 {
		count /= step
	}
	return least, step, count
}

// divisor returns the greatest common divisor of two whole numbers.
func divisor(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return math.Abs(a)
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

// opposite is the test for the column's other values, or the other side of a
// half-space.
func (m *Model) opposite(t *rule.Test) rule.Test {
	if t.Op == rule.HalfSpace {
		other := *t
		other.Below = !t.Below
		return other
	}
	column := m.schema.Index(t.Column)
	values := m.schema.Attributes[column].Values
	in := make([]bool, len(values))
	for v, value := range values {
		in[v] = !slices.Contains(t.Values, value) && (t.Op == rule.In || value != t.Value)
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
	if whole {
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
