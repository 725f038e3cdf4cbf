package theory

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// refined is what the network is read as.
type refined struct {
	Rules []rule.Rule
	From  []int   // the rule of the theory that each was; none
	Fit   float64 // share of the rows on which the rules answer as the network
}

// Rules returns the theory as the rows corrected it. It says on how many rows it
// answers as the network does.
func (m *Model) Rules() (*rule.Base, error) {
	b := &rule.Base{Kind: rule.Ordered, Rules: slices.Clone(m.base.Rules), Agrees: &m.base.Fit}
	b.Notes = []string{fmt.Sprintf("summary: read together, rules that conclude what others test, they agree with the network on %.1f %% of rows", 100*m.base.Fit)}
	last := rule.Rule{Then: rule.Conclusion{Column: m.schema.Attributes[m.target].Name, Value: m.schema.Attributes[m.target].Values[m.otherwise()]}}
	b.Else = &last
	return b, nil
}

// otherwise is the class of rows for which no rule concludes one: the one that
// the theory has no rules for, else the most frequent one.
func (m *Model) otherwise() int {
	best := none
	for c, g := range m.classes {
		open := g == none || m.gates[g].closed
		if open && (best == none || m.counts[c] > m.counts[best]) {
			best = c
		}
	}
	if best == none || len(m.theory.Rules) == 0 {
		best = learn.Best(m.counts, m.schema.Attributes[m.target].Values)
	}
	return best
}

// mostRead is how many rows the rules are read by.
const mostRead = 4096

// extraction reads a trained network as rules. Each unit becomes one rule, "at
// least so many of these", which is true of the rows where the unit's value is
// above a half: literals are taken in the order of their weights, and of all
// numbers of them, and all counts that have to hold, those are chosen that take
// the fewest bits, to name the literals and the rows on which rule and unit
// differ. A literal of the theory is named in one bit. It is the idea of M-of-N
// (Towell & Shavlik 1993), with counting in place of clustering.
type extraction struct {
	*Model
	rows  []example
	size  int
	on    []bits.Set // of each unit: the rows where it is on
	truth []bits.Set // of each gate: the rows where it holds in the theory
	read  []bits.Set // of each gate: the rows where what was read holds
	out   refined
}

// extract reads the network.
func (m *Model) extract(examples []example) refined {
	x := &extraction{Model: m, rows: examples[:min(len(examples), mostRead)]}
	x.size = len(x.rows)
	room, truth := m.newRoom(), make([]bool, len(m.gates))
	for range m.net.units {
		x.on = append(x.on, bits.New(x.size))
	}
	for range m.gates {
		x.truth, x.read = append(x.truth, bits.New(x.size)), append(x.read, bits.New(x.size))
	}
	for r := range x.rows {
		m.score(m.net.weights, &x.rows[r], room)
		for u, v := range room.value {
			if v > 0.5 {
				x.on[u].Put(r)
			}
		}
		m.holds(&x.rows[r], truth)
		for g, is := range truth {
			if is {
				x.truth[g].Put(r)
			}
		}
	}
	for g := range m.gates {
		if !m.gates[g].closed {
			x.gate(g)
		}
	}
	x.out.Fit = x.fit(room)
	return x.out
}

// candidate is a literal that a rule might have, with its weight.
type candidate struct {
	test   rule.Test
	weight float64
	known  bool // the theory has it
	rows   bits.Set
}

// gate reads a gate's unit.
func (x *extraction) gate(g int) {
	of, unit := &x.gates[g], x.unitOf(g)
	if x.isOr(g) {
		for _, l := range of.literals { // rules by themselves, but for single tests
			x.alternative(of, l)
		}
		x.read[g] = x.any(of)
		return
	}
	same := bits.New(x.size)
	bits.AndNot(same, x.on[unit], x.truth[g])
	differs := same.Count() > 0
	bits.AndNot(same, x.truth[g], x.on[unit])
	differs = differs || same.Count() > 0
	if !differs {
		x.read[g] = x.on[unit]
		if of.rule != none {
			x.say(rule.Rule{If: x.theory.Rules[of.rule].If, Then: x.theory.Rules[of.rule].Then}, of.rule, x.read[g])
		}
		return
	}
	chosen, count := x.choose(x.candidates(g), x.on[unit], len(of.literals))
	x.inOrder(chosen, of)
	tests := make([]rule.Test, len(chosen))
	for i, c := range chosen {
		tests[i] = c.test
	}
	x.read[g] = holding(chosen, count, x.size)
	if count < len(tests) {
		tests = []rule.Test{{Op: rule.AtLeast, Count: count, Of: tests}}
	}
	if count > len(chosen) || of.rule == none {
		return // never true, or no rule of its own
	}
	x.say(rule.Rule{If: tests, Then: x.theory.Rules[of.rule].Then}, of.rule, x.read[g])
}

// inOrder puts literals that the theory has into its order, before others.
func (x *extraction) inOrder(chosen []candidate, of *gate) {
	place := func(c candidate) int {
		text := c.test.String()
		at := slices.IndexFunc(of.literals, func(l literal) bool { return l.test.String() == text })
		if at < 0 {
			return len(of.literals)
		}
		return at
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int { return place(a) - place(b) })
}

// isOr reports whether a gate is that of several rules, or of what a row says and
// rules.
func (x *extraction) isOr(g int) bool {
	of := &x.gates[g]
	return of.column != "" && of.rule == none
}

// alternative says a rule of one test, which has no gate.
func (x *extraction) alternative(of *gate, l literal) {
	if l.unit != none && x.gates[l.unit].column == "" && x.gates[l.unit].rule != none {
		return // said already
	}
	for i := range x.theory.Rules {
		r := &x.theory.Rules[i]
		if r.Then.Column == of.column && r.Then.Value == of.value && len(r.If) == 1 && r.If[0].String() == l.test.String() {
			x.say(rule.Rule{If: r.If, Then: r.Then}, i, x.holdingLiteral(l))
		}
	}
}

// say adds a rule with the rows that it covers.
func (x *extraction) say(r rule.Rule, from int, rows bits.Set) {
	covered, correct := 0.0, 0.0
	a := &x.schema.Attributes[x.target]
	for i := range rows.All {
		covered += x.rows[i].times
		if a.Values[x.rows[i].class] == r.Then.Value {
			correct += x.rows[i].times
		}
	}
	r.Evidence.Covered = &covered
	if r.Then.Column == a.Name {
		r.Evidence.Correct = &correct
	}
	x.out.Rules, x.out.From = append(x.out.Rules, r), append(x.out.From, from)
}

// holdingLiteral returns the rows where a literal of the theory holds, as read.
func (x *extraction) holdingLiteral(l literal) bits.Set {
	rows := bits.New(x.size)
	if l.unit != none {
		copy(rows, x.read[l.unit])
	}
	for r := range x.rows {
		for _, at := range x.rows[r].at {
			if slices.Contains(l.inputs, at) {
				rows.Put(r)
			}
		}
	}
	if !l.negated {
		return rows
	}
	all := bits.Fill(x.size)
	bits.AndNot(all, all, rows)
	return all
}

// any returns the rows where one of a gate's literals holds.
func (x *extraction) any(of *gate) bits.Set {
	rows := bits.New(x.size)
	for _, l := range of.literals {
		bits.Or(rows, rows, x.holdingLiteral(l))
	}
	return rows
}

// holding returns the rows where at least so many candidates hold.
func holding(some []candidate, count, size int) bits.Set {
	rows := bits.New(size)
	for r := range size {
		n := 0
		for i := range some {
			if some[i].rows.Get(r) {
				n++
			}
		}
		if n >= count {
			rows.Put(r)
		}
	}
	return rows
}

// candidates returns the literals that a gate's unit reads, by weight.
func (x *extraction) candidates(g int) []candidate {
	var all []candidate
	unit := x.unitOf(g)
	w := x.net.weights
	add := func(test rule.Test, weight float64, inputs []int32, negated bool) {
		l := literal{test: test, inputs: inputs, unit: none, negated: negated}
		text := test.String()
		known := slices.ContainsFunc(x.gates[g].literals, func(l literal) bool { return l.test.String() == text })
		all = append(all, candidate{test, weight, known, x.holdingLiteral(l)})
	}
	for j := range x.columns {
		x.columnCandidates(j, unit, add)
	}
	for i := range x.tests {
		at := x.width - len(x.tests) + i
		if weight := w[x.net.fromInput(at, unit)]; weight > 0 {
			add(x.tests[i], weight, []int32{int32(at)}, false)
		}
	}
	u := &x.net.units[unit]
	for k, from := range u.from {
		of := &x.gates[max(int(from)-x.hidden, 0)]
		if weight := w[u.at+k]; int(from) >= x.hidden && of.column != "" {
			test := rule.Test{Op: rule.Eq, Column: of.column, Value: of.value}
			if weight < 0 {
				test.Op = rule.Ne
			}
			text := test.String()
			known := slices.ContainsFunc(x.gates[g].literals, func(l literal) bool { return l.test.String() == text })
			l := literal{test: test, unit: int32(int(from) - x.hidden), negated: weight < 0}
			all = append(all, candidate{test, math.Abs(weight), known, x.holdingLiteral(l)})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return all
}

// columnCandidates adds what a column's inputs say to a unit: of names, those that
// speak for it, and those that speak against, more than half as loud as the
// loudest; all in comparison with the name in the middle, since one of them
// is always there.
func (x *extraction) columnCandidates(j, unit int, add func(test rule.Test, weight float64, inputs []int32, negated bool)) {
	c, a := &x.columns[j], &x.schema.Attributes[j]
	w := x.net.weights
	switch {
	case j == x.target:
	case a.Kind == table.Nominal:
		var weights []float64
		for v := range a.Values {
			weights = append(weights, w[x.net.fromInput(int(c.first)+v, unit)])
		}
		middle := slices.Sorted(slices.Values(weights))[len(weights)/2]
		if len(weights)%2 == 0 {
			middle = slices.Sorted(slices.Values(weights))[len(weights)/2-1]
		}
		for _, sign := range []float64{1, -1} {
			most := 0.0
			for _, v := range weights {
				most = max(most, sign*(v-middle))
			}
			test, sum := rule.Test{Column: a.Name}, 0.0
			var inputs []int32
			for v, weight := range weights {
				if away := sign * (weight - middle); away > most/2 {
					test.Values, inputs, sum = append(test.Values, a.Values[v]), append(inputs, c.first+int32(v)), sum+away
				}
			}
			if len(inputs) == 0 {
				continue
			}
			ops := []rule.Op{rule.Eq, rule.In}
			if sign < 0 {
				ops = []rule.Op{rule.Ne, rule.NotIn}
				if c.gap != none {
					inputs = append(inputs, c.gap)
				}
			}
			weight := sum / float64(len(test.Values))
			if test.Op = ops[1]; len(test.Values) == 1 {
				test.Op, test.Value, test.Values = ops[0], test.Values[0], nil
			}
			add(test, weight, inputs, sign < 0)
		}
	case c.binary:
		if weight := w[x.net.fromInput(int(c.first), unit)]; weight >= 0 {
			add(rule.Test{Op: rule.Eq, Column: a.Name, Value: "1"}, weight, []int32{c.first}, false)
		} else {
			inputs := []int32{c.first}
			if c.gap != none {
				inputs = append(inputs, c.gap)
			}
			add(rule.Test{Op: rule.Ne, Column: a.Name, Value: "1"}, -weight, inputs, true)
		}
	}
}

// choose returns the first so many candidates, and how many have to hold, that
// describe the rows where a unit is on in the fewest bits.
func (x *extraction) choose(all []candidate, on bits.Set, least int) ([]candidate, int) {
	if len(all) == 0 {
		return nil, 1
	}
	const most = 64
	counts := make([]int, x.size)
	positive := on.Count()
	name := math.Log2(float64(len(all) + 1))
	best, many, count := math.Inf(1), 0, 1
	spent := 0.0
	for m := range min(len(all), max(most, least)) {
		if spent += name; all[m].known {
			spent += 1 - name
		}
		for r := range counts {
			if all[m].rows.Get(r) {
				counts[r]++
			}
		}
		// right and wrong rows by how many literals hold
		right, wrong := make([]int, m+2), make([]int, m+2)
		for r, n := range counts {
			if on.Get(r) {
				right[n]++
			} else {
				wrong[n]++
			}
		}
		covered, other := 0, 0
		for k := m + 1; k >= 1; k-- {
			covered, other = covered+right[k], other+wrong[k]
			cost := spent + math.Log2(float64(m+1)) + choices(x.size, other+positive-covered)
			if cost < best {
				best, many, count = cost, m+1, k
			}
		}
	}
	return slices.Clone(all[:many]), count
}

// choices is the bits that name so many of n rows.
func choices(n, some int) float64 {
	if some <= 0 {
		return 0
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(some + 1))
	c, _ := math.Lgamma(float64(n - some + 1))
	return (a-b-c)/math.Ln2 + math.Log2(float64(n+1))
}

// fit returns the share of rows on which the rules answer as the network does.
func (x *extraction) fit(room *room) float64 {
	same, all := 0.0, 0.0
	otherwise := x.otherwise()
	for r := range x.rows {
		said := none
		for c, g := range x.classes {
			if g != none && !x.gates[g].closed && said == none && x.read[g].Get(r) {
				said = c
			}
		}
		if said == none {
			said = otherwise
		}
		all += x.rows[r].times
		if said == x.answer(x.net.weights, &x.rows[r], room) {
			same += x.rows[r].times
		}
	}
	return same / all
}

// Change is what became of a rule of the theory.
type Change struct {
	State  string `json:"state"` // changed or dropped
	Before string `json:"before"`
	After  string `json:"after,omitempty"`
	before *rule.Rule
	after  *rule.Rule
}

// String says it in a line.
func (c Change) String() string {
	if c.State == "dropped" {
		return "the rows do without: " + c.Before
	}
	return fmt.Sprintf("the rows changed: %s\n  into: %s", c.Before, c.After)
}

// changes returns the rules of the theory that the rows corrected.
func (m *Model) changes() (changes []Change, kept int) {
	for i := range m.theory.Rules {
		before := &m.theory.Rules[i]
		c := Change{State: "dropped", Before: before.String(), before: before}
		if at := slices.Index(m.base.From, i); at >= 0 {
			after := rule.Rule{If: m.base.Rules[at].If, Then: m.base.Rules[at].Then}
			c.State, c.After, c.after = "changed", after.String(), &m.base.Rules[at]
			if after.ID() == before.ID() {
				kept++
				continue
			}
		}
		changes = append(changes, c)
	}
	return changes, kept
}

// Corrected returns the rules of the theory beside what they became, of those
// that became another.
func (m *Model) Corrected() []rule.Change {
	var pairs []rule.Change
	all, _ := m.changes()
	for _, c := range all {
		if c.after != nil {
			pairs = append(pairs, rule.Change{Before: rule.Statement{Rule: c.before}, After: rule.Statement{Rule: c.after}})
		}
	}
	return pairs
}

// Standing is how the theory fared on the rows.
type Standing struct {
	Rules    int     `json:"rules"`
	Kept     int     `json:"kept"`
	Right    float64 `json:"right"`     // share of the rows on which the theory was
	Same     float64 `json:"same"`      // on which the network still answers as the theory
	W        float64 `json:"weight"`    // of the theory's links at first
	RuleFits float64 `json:"rules_fit"` // share of the rows on which the rules answer as the network
}

// String says so in a line.
func (s Standing) String() string {
	text := fmt.Sprintf("the theory was right on %.1f %% of the rows, and the network answers as it did on %.1f %%; %d of its %d rules stand as they were", 100*s.Right, 100*s.Same, s.Kept, s.Rules)
	if s.W != 4 {
		text += "; W = " + strconv.FormatFloat(s.W, 'g', 4, 64)
	}
	return text
}

// Remarks says which rules of the theory the rows corrected.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	if len(m.theory.Rules) == 0 {
		return nil, nil
	}
	changes, kept := m.changes()
	total := sum(m.counts)
	remarks := []fmt.Stringer{Standing{len(m.theory.Rules), kept, m.right / total, m.agreement / total, m.w, m.base.Fit}}
	for _, c := range changes {
		remarks = append(remarks, c)
	}
	for _, b := range m.chosen {
		remarks = append(remarks, b)
	}
	return remarks, nil
}
