package theory

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// mostRead is how many rows the rules are read by.
const mostRead = 4096

// extraction reads a trained network as rules, one for each unit: "at least so many
// of these" (M-of-N, Towell & Shavlik 1993, with counting in place of clustering).
// What a unit is read as costs the bits that name its literals, of which a rule as
// the theory has it needs none, and those that name the rows on which the rules
// answer otherwise than the network. Two readings are tried: unit by unit, whatever
// its place (see unitwise), and both this and the theory revised for as long as
// that saves bits (see revised).
type extraction struct {
	*Model
	rows      []example
	size      int
	numbersOf [][]float64   // of numeric columns
	orders    map[int][]int // and the rows in their order
	on        []bits.Set    // of each unit: the rows where it is on
	truth     []bits.Set    // of each gate: the rows where it holds in the theory
	answers   []int         // of the network
	ones      []bits.Set    // of each input: the rows where it is one
}

// extract reads the network.
func (m *Model) extract(t *table.Table, examples []example) refined {
	x := &extraction{Model: m, rows: examples[:min(len(examples), mostRead)], orders: map[int][]int{}}
	x.size = len(x.rows)
	for j := range t.Columns {
		x.numbersOf = append(x.numbersOf, t.Columns[j].Floats)
	}
	x.look()
	units, theory := x.revised(x.unitwise()), x.revised(x.believed())
	if units.bits < theory.bits {
		theory = units
	}
	return x.refined(theory)
}

// look finds what the network answers, and where its units are on and the theory's
// gates hold.
func (x *extraction) look() {
	room, truth := x.newRoom(), make([]bool, len(x.gates))
	for range x.net.units {
		x.on = append(x.on, bits.New(x.size))
	}
	for range x.gates {
		x.truth = append(x.truth, bits.New(x.size))
	}
	for r := range x.rows {
		x.answers = append(x.answers, x.answer(x.net.weights, &x.rows[r], room))
		for u, v := range room.value {
			if v > 0.5 {
				x.on[u].Put(r)
			}
		}
		x.holds(&x.rows[r], truth)
		for g, is := range truth {
			if is {
				x.truth[g].Put(r)
			}
		}
	}
}

// candidate is a literal that a rule might have.
type candidate struct {
	test   rule.Test
	weight float64  // in the unit
	known  bool     // the theory has it
	bits   float64  // to name it
	of     *literal // what it reads; nil: a limit
	place  int      // among the gate's literals; none
	rows   bits.Set // where it holds
}

// reading is what a gate may be read as: at least so many of some literals.
type reading struct {
	literals []candidate
	count    int
	bits     float64 // what it takes to say it, and the rows that it has wrong
	own      bool    // it is as the theory has it
}

// text is what all gates are read as, together.
type text struct {
	gates []reading
	read  []bits.Set // of each gate: the rows where what was read holds
	bits  float64
}

// believed is the theory.
func (x *extraction) believed() text {
	t := text{}
	for g := range x.gates {
		t.gates = append(t.gates, x.own(g))
	}
	return x.composed(t)
}

// unitwise reads each unit as what is true of the rows where its value is above a
// half: literals are taken in the order of their weights, and of all numbers of
// them, and all counts that have to hold, those that take the fewest bits.
func (x *extraction) unitwise() text {
	t := text{}
	all := bits.Fill(x.size)
	for g := range x.gates {
		on, r := x.on[x.unitOf(g)], x.beside(x.own(g), t.read)
		if x.gates[g].rule != none && differ(on, x.truth[g], all) > 0 {
			own := x.limited(x.priced(r, on, all), g, on, all, true)
			if r = x.limited(x.choose(x.candidates(g, t.read), on, all, len(r.literals)), g, on, all, true); own.bits < r.bits {
				r = own
			}
		}
		t.gates, t.read = append(t.gates, r), append(t.read, holding(r.literals, r.count, x.size))
	}
	return x.composed(t)
}

// own is a gate as the theory has it.
func (x *extraction) own(g int) reading {
	r := reading{count: x.gates[g].count, own: true}
	for i := range x.gates[g].literals {
		l := &x.gates[g].literals[i]
		r.literals = append(r.literals, candidate{test: l.test, known: true, bits: 1, of: l, place: i, rows: x.rowsOf(l, nil)})
	}
	return r
}

// priced returns a reading with its bits, as what is true of a unit.
func (x *extraction) priced(r reading, on, cares bits.Set) reading {
	wrong := differ(holding(r.literals, r.count, x.size), on, cares)
	r.bits = r.said() + x.exceptions(cares.Count(), wrong)
	return r
}

// said is the bits that a reading takes.
func (r *reading) said() float64 {
	if r.own {
		return 0
	}
	sum := 1 + math.Log2(float64(len(r.literals)+1))
	for i := range r.literals {
		sum += r.literals[i].bits
	}
	return sum
}

// composed returns a text with what holds where, and its bits.
func (x *extraction) composed(t text) text {
	t = text{gates: slices.Clone(t.gates)}
	for g := range t.gates {
		t.gates[g] = x.beside(t.gates[g], t.read)
		r := &t.gates[g]
		t.read = append(t.read, holding(r.literals, r.count, x.size))
		t.bits += r.said()
	}
	wrong := 0
	for r, said := range x.said(t.read) {
		if said != x.answers[r] {
			wrong++
		}
	}
	t.bits += x.exceptions(x.size, wrong)
	return t
}

// beside returns a reading with the rows where its literals hold, as lower gates
// are read.
func (x *extraction) beside(r reading, read []bits.Set) reading {
	r.literals = slices.Clone(r.literals)
	for i := range r.literals {
		if c := &r.literals[i]; c.of != nil && c.of.unit != none {
			c.rows = x.rowsOf(c.of, read)
		}
	}
	return r
}

// said returns the class that the rules conclude for each row.
func (x *extraction) said(read []bits.Set) []int {
	all := make([]int, x.size)
	for r := range all {
		all[r] = none
	}
	for c, g := range x.classes {
		if g == none || x.gates[g].closed {
			continue
		}
		for r := range read[g].All {
			if all[r] == none {
				all[r] = c
			}
		}
	}
	otherwise := x.otherwise()
	for r := range all {
		if all[r] == none {
			all[r] = otherwise
		}
	}
	return all
}

// refined returns a text as rules.
func (x *extraction) refined(t text) refined {
	var out refined
	say := func(tests []rule.Test, i int, rows bits.Set) {
		out.Rules, out.From = append(out.Rules, x.counted(rule.Rule{If: tests, Then: x.theory.Rules[i].Then}, rows)), append(out.From, i)
	}
	for g := range x.gates {
		of, r := &x.gates[g], &t.gates[g]
		switch {
		case of.closed || of.rule == none && of.column == "":
		case of.rule == none: // rules of single tests, which have no gates
			for i := range r.literals {
				if c := &r.literals[i]; c.place != none {
					if from := x.single(of, &of.literals[c.place]); from != none {
						say([]rule.Test{c.test}, from, c.rows)
					}
				}
			}
		case r.own:
			say(x.theory.Rules[of.rule].If, of.rule, t.read[g])
		case r.count <= len(r.literals):
			say(x.inOrder(r, of), of.rule, t.read[g])
		}
	}
	same, all := 0.0, 0.0
	for r, said := range x.said(t.read) {
		if all += x.rows[r].times; said == x.answers[r] {
			same += x.rows[r].times
		}
	}
	out.Fit = same / all
	return out
}

// single returns the theory's rule of one test that a gate of several rules has;
// none if the literal is no such rule.
func (x *extraction) single(of *gate, l *literal) int {
	if l.unit != none && x.gates[l.unit].column == "" && x.gates[l.unit].rule != none {
		return none
	}
	test := l.test.String()
	return slices.IndexFunc(x.theory.Rules, func(r rule.Rule) bool {
		return r.Then.Column == of.column && r.Then.Value == of.value && len(r.If) == 1 && r.If[0].String() == test
	})
}

// inOrder returns the tests of a reading, those of the theory in its order, before
// others.
func (x *extraction) inOrder(r *reading, of *gate) []rule.Test {
	place := func(c candidate) int {
		at := slices.IndexFunc(of.literals, func(l literal) bool { return l.test.String() == c.test.String() })
		if at < 0 && c.known { // a limit that was moved
			at = slices.IndexFunc(of.literals, func(l literal) bool { return l.test.Column == c.test.Column })
		}
		if at < 0 {
			return len(of.literals)
		}
		return at
	}
	chosen := slices.Clone(r.literals)
	slices.SortStableFunc(chosen, func(a, b candidate) int { return place(a) - place(b) })
	var tests []rule.Test
	for i := range chosen {
		tests = append(tests, chosen[i].test)
	}
	if r.count < len(tests) {
		tests = []rule.Test{{Op: rule.AtLeast, Count: r.count, Of: tests}}
	}
	return tests
}

// counted returns a rule with the rows that it covers.
func (x *extraction) counted(r rule.Rule, rows bits.Set) rule.Rule {
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
	return r
}

// rowsOf returns the rows where a literal holds, as lower gates are read.
func (x *extraction) rowsOf(l *literal, read []bits.Set) bits.Set {
	rows := bits.New(x.size)
	if l.unit != none && read != nil {
		copy(rows, read[l.unit])
	}
	for _, at := range l.inputs {
		bits.Or(rows, rows, x.inputRows(at))
	}
	if !l.negated {
		return rows
	}
	all := bits.Fill(x.size)
	bits.AndNot(all, all, rows)
	return all
}

// inputRows returns the rows where an input is on.
func (x *extraction) inputRows(input int32) bits.Set {
	if x.ones == nil {
		for range x.width {
			x.ones = append(x.ones, bits.New(x.size))
		}
		for r := range x.rows {
			for k, at := range x.rows[r].at {
				if x.rows[r].x[k] > 0.5 {
					x.ones[at].Put(r)
				}
			}
		}
	}
	return x.ones[input]
}

// holding returns the rows where at least so many candidates hold.
func holding(some []candidate, count, size int) bits.Set {
	rows := bits.New(size)
	for r, n := range held(some, size) {
		if n >= count {
			rows.Put(r)
		}
	}
	return rows
}

// held counts the candidates that hold in each row.
func held(some []candidate, size int) []int {
	counts := make([]int, size)
	for i := range some {
		for r := range some[i].rows.All {
			counts[r]++
		}
	}
	return counts
}

// differ counts the rows of some in which two sets differ.
func differ(a, b, some bits.Set) int {
	n := 0
	for r := range some.All {
		if a.Get(r) != b.Get(r) {
			n++
		}
	}
	return n
}

// candidates returns the literals that a gate's unit reads, by weight.
func (x *extraction) candidates(g int, read []bits.Set) []candidate {
	var all []candidate
	unit := x.unitOf(g)
	w := x.net.weights
	named := func(test rule.Test, weight float64, l *literal) {
		text := test.String()
		known := slices.ContainsFunc(x.gates[g].literals, func(l literal) bool { return l.test.String() == text })
		all = append(all, candidate{test: test, weight: weight, known: known, of: l, place: none, rows: x.rowsOf(l, read)})
	}
	add := func(test rule.Test, weight float64, inputs []int32, negated bool) {
		named(test, weight, &literal{test: test, inputs: inputs, unit: none, negated: negated})
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
			named(test, math.Abs(weight), &literal{test: test, unit: int32(int(from) - x.hidden), negated: weight < 0})
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
func (x *extraction) choose(all []candidate, on, cares bits.Set, least int) reading {
	best := x.priced(reading{count: 1}, on, cares)
	const most = 64
	counts := make([]int, x.size)
	size, positive := cares.Count(), bits.AndCount(on, cares)
	name, spent := math.Log2(float64(len(all)+1)), 0.0
	for m := range min(len(all), max(most, least)) {
		if all[m].bits = name; all[m].known {
			all[m].bits = 1
		}
		spent += all[m].bits
		for r := range all[m].rows.All {
			counts[r]++
		}
		// right and wrong rows by how many literals hold
		right, wrong := make([]int, m+2), make([]int, m+2)
		for r := range cares.All {
			if n := counts[r]; on.Get(r) {
				right[n]++
			} else {
				wrong[n]++
			}
		}
		covered, other := 0, 0
		for k := m + 1; k >= 1; k-- {
			covered, other = covered+right[k], other+wrong[k]
			cost := spent + math.Log2(float64(m+2)) + 1 + x.exceptions(size, other+positive-covered)
			if cost < best.bits {
				best = reading{literals: all[:m+1], count: k, bits: cost}
			}
		}
	}
	best.literals = slices.Clone(best.literals)
	return best
}

// fewRows is as how many rows fewer count: a network does not err about what it
// answers, and what rules say of it is to hold on few rows too.
const fewRows = 256

// exceptions is the bits that name so many of n rows. More than half are worse still,
// though it would take fewer bits to name the others.
func (x *extraction) exceptions(n, some int) float64 {
	if some <= 0 {
		return 0
	}
	each := max(1, fewRows/float64(x.size))
	all, named := each*float64(n), each*float64(some)
	beyond := max(0, named-all/2)
	named -= beyond
	a, _ := math.Lgamma(all + 1)
	b, _ := math.Lgamma(named + 1)
	c, _ := math.Lgamma(all - named + 1)
	return (a-b-c)/math.Ln2 + math.Log2(all+1) + beyond
}
