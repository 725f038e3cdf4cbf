package theory

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// A clause about things, p(X) ← q(X, Y), becomes a rule for each way to put
// constants in place of its variables: columns and concepts are then called q(a,b).
// What is learnt of one of them is learnt of all (Mitchell 1997, exercise 12.3):
// rules that are alike but for the constants have the same weights.

// ties are places of weights that are one weight.
func (m *Model) ties() [][]int {
	groups, order := map[string][][]int{}, []string{}
	for i := range m.gates {
		g := &m.gates[i]
		if g.rule == none {
			continue
		}
		shape, grounded := shapeOf(&m.theory.Rules[g.rule])
		if !grounded {
			continue
		}
		at := m.unitOf(i)
		places := []int{m.net.bias(at)}
		for _, l := range g.literals {
			for _, input := range l.inputs {
				places = append(places, m.net.fromInput(int(input), at))
			}
			if l.unit != none {
				places = append(places, m.net.fromUnit(m.unitOf(int(l.unit)), at))
			}
		}
		shape = fmt.Sprintf("%s %d", shape, len(places))
		if groups[shape] == nil {
			order = append(order, shape)
		}
		groups[shape] = append(groups[shape], places)
	}
	var all [][]int
	for _, shape := range order {
		if rules := groups[shape]; len(rules) > 1 {
			for k := range rules[0] {
				one := make([]int, len(rules))
				for i := range rules {
					one[i] = rules[i][k]
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// shapeOf writes a rule with numbers in place of constants, in the order in which
// they come, and tells whether there are any.
func shapeOf(r *rule.Rule) (shape string, grounded bool) {
	seen := map[string]int{}
	name := func(column string) string {
		open := strings.IndexByte(column, '(')
		if open < 1 || !strings.HasSuffix(column, ")") {
			return column
		}
		grounded = true
		var b strings.Builder
		b.WriteString(column[:open])
		for _, c := range strings.Split(column[open+1:len(column)-1], ",") {
			c = strings.TrimSpace(c)
			if _, ok := seen[c]; !ok {
				seen[c] = len(seen)
			}
			fmt.Fprintf(&b, " %d", seen[c])
		}
		return b.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%s", name(r.Then.Column), r.Then.Value)
	for i := range r.If {
		t := r.If[i]
		t.Column = name(t.Column)
		b.WriteString(" " + t.String())
	}
	return b.String(), grounded
}

// tie makes the slopes of weights that are one weight their mean: what descends
// along it stays where they are equal.
func tie(groups [][]int, slope []float64) {
	for _, places := range groups {
		mean := 0.0
		for _, at := range places {
			mean += slope[at] / float64(len(places))
		}
		for _, at := range places {
			slope[at] = mean
		}
	}
}
