package relation

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// search looks for clauses that tell positive examples from negative ones.
type search struct {
	ctx      context.Context
	options  options
	db       *database
	examples *examples
	positive []bool
	weight   []float64
	target   *relation // the positive examples, where clauses may call the relation itself
	way      *descent  // of the recursive clauses so far
	set      []*found  // clauses so far
	share    float64   // of the examples that are positive, before any clause
	work     int       // bindings looked at for this clause
	total    int       // and for all before
	sizes    []int     // of domains
	most     int       // bindings of a step
	against  float64   // how much a negative example counts against a clause (progol)
	proposed []proposal
	reported float64 // progress
	err      error

	language    *language    // what clauses may look like; nil is anything
	determinate *determinacy // and their new variables
}

// mostWork is how many bindings may be looked at for one clause of a program; what is
// best by then goes on.
const mostWork = 1 << 25

// mostTotal is how many may be looked at for all clauses in all ways.
const mostTotal = 1 << 28

// options are the settings, resolved.
type options struct {
	bindings  bool // gain counts bindings, else examples
	negation  bool
	lookahead int // literals that a step may add
	news      int // new variables of one literal
	literals  int // of one body
	variables int // of one clause
	beam      int
	paths     bool // one more is followed if none of these leads to other rows: what all rows of a thing say together is often as good at first, and leads nowhere
	exact     bool // clauses cover no negatives, else they save bits
	unpruned  bool
	share     float64 // clauses for each positive example that are few enough
	few       float64 // clauses that are, whatever the examples
	stepwise  bool    // costly steps only where a clause needs them
	last      bool    // of the ways that are alike: if one is good, no other is tried
	loose     bool    // the relation itself may be called without a way down
	cuts      bool    // numbers of a program are cut
}

// step is literals that may be added to a clause at once, and what it covers then.
type step struct {
	literals []literal
	counts   counts
	gain     float64
	lead     float64 // bits that it costs less to say than others
	news     int
	from     *state
}

// mostBindings is how many bindings a step may have; of tables so many for each example, if
// these are not few: what is shared by many leads to all that share it.
const mostBindings, mostEach, fewBindings = 1 << 21, 32, 1 << 17

func (f *search) roomFor(examples int) int {
	if !f.db.linked {
		return mostBindings
	}
	return min(max(fewBindings, mostEach*examples), mostBindings)
}

// gain is Foil_Gain (Quinlan 1990) of a step, by bindings or by examples.
func (f *search) gain(from *state, c counts) float64 {
	p0, n0, p1, n1, kept := from.ep, from.en, c.ep, c.en, c.ep
	if f.options.bindings {
		p0, n0, p1, n1, kept = from.p, from.n, c.p, c.n, c.kept
	}
	if kept <= 0 || p1 <= 0 {
		return 0
	}
	return kept * (math.Log2(p1/(p1+n1)) - math.Log2(p0/(p0+n0)))
}

// chosen keeps the best steps so far.
type chosen struct {
	search *search
	from   *state
	steps  []step
	most   int
	tried  float64
	lead   float64 // of the steps that are offered
	all    bool    // also those that leave no positive example
	path   *step   // the best that leads to other rows
}

// offer takes a step in if it is among the best.
func (c *chosen) offer(literals []literal, n counts) {
	if f := c.search; f.language != nil && !f.language.begins(slices.Concat(c.from.body, literals)) {
		return
	}
	c.tried++
	if n.ep <= 0 && !c.all {
		return
	}
	s := step{counts: n, gain: c.search.gain(c.from, n), lead: c.lead, from: c.from}
	if last := len(c.steps) - 1; len(c.steps) == c.most && s.gain+s.lead < c.steps[last].gain+c.steps[last].lead-tie &&
		(!c.search.options.paths || c.path != nil && s.gain+s.lead < c.path.gain+c.path.lead-tie) {
		return
	}
	most := len(c.from.columns)
	for i := range literals {
		most = max(most, most+literals[i].news(most))
	}
	s.news = most - len(c.from.columns)
	if s.news > 0 && c.search.options.paths && (c.path == nil || s.better(c.path, literals)) {
		c.path = s.with(literals)
	}
	at := len(c.steps)
	for at > 0 && s.better(&c.steps[at-1], literals) {
		at--
	}
	if at == c.most {
		return
	}
	c.steps = slices.Insert(c.steps, at, *s.with(literals))
	c.steps = c.steps[:min(len(c.steps), c.most)]
}

// with is a step with literals of its own.
func (s step) with(literals []literal) *step {
	s.literals = slices.Clone(literals)
	for i := range s.literals {
		s.literals[i].args = slices.Clone(s.literals[i].args)
	}
	return &s
}

const tie = 1e-9

// better prefers gain, then fewer new variables, then fewer literals, then what is so to
// what is not; the first stays where all are equal.
func (s *step) better(o *step, literals []literal) bool {
	if x, y := s.gain+s.lead, o.gain+o.lead; math.Abs(x-y) > tie {
		return x > y
	}
	if s.news != o.news {
		return s.news < o.news
	}
	if n := len(literals); n == 0 || n != len(o.literals) {
		return n < len(o.literals)
	}
	return !literals[len(literals)-1].negated && o.literals[len(literals)-1].negated
}

// steps returns the best ways to go on with a clause, the best first.
func (f *search) steps(s *state, most int) ([]step, float64) {
	c := &chosen{search: f, from: s, most: most}
	f.literals(s, nil, c)
	tried := c.tried
	f.propose(s, c)
	if c.path != nil && !slices.ContainsFunc(c.steps, func(s step) bool { return s.news > 0 }) {
		c.steps = append(c.steps, *c.path)
	}
	return c.steps, tried
}

// literals offers every literal for a clause that has prefix behind its own, and, as
// far as it may look ahead, every literal behind those with new variables.
func (f *search) literals(s *state, prefix []literal, c *chosen) {
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err != nil {
		return
	}
	if f.spent() {
		return
	}
	known := len(c.from.columns) // variables before the step
	inStep := func(args []int) bool {
		return len(prefix) == 0 || slices.ContainsFunc(args, func(a int) bool { return a >= known })
	}
	for v := range s.columns {
		for w := range v {
			if s.places[v].joins(s.places[w]) && inStep([]int{w, v}) {
				f.test(s, prefix, literal{args: []int{w, v}}, c)
			}
		}
		f.equals(s, prefix, v, c)
	}
	relations := f.db.relations
	if f.target != nil {
		relations = append(slices.Clip(relations), f.target)
	}
	for _, r := range relations {
		if r.hidden || r.cutOnly && !f.options.cuts {
			continue
		}
		places := len(r.places)
		if r.numeric() {
			places--
		}
		f.fill(s, r, make([]int, 0, places), 0, func(args []int, fresh int, slot int) {
			if !inStep(args) || f.spent() {
				return
			}
			f.work += len(s.example)
			if f.err == nil {
				f.err = f.ctx.Err()
			}
			if f.err != nil {
				return
			}
			f.consider(s, prefix, r, args, fresh, slot, c)
		})
	}
}

// equals offers that a variable is one of the constants of its type.
func (f *search) equals(s *state, prefix []literal, v int, c *chosen) {
	if f.db.program == nil || s.places[v].kind == "" || len(prefix) > 0 {
		return
	}
	for _, name := range f.db.bias.Constants[s.places[v].kind] {
		if code := f.db.domains[0].find(name); code != unknown {
			f.test(s, prefix, literal{args: []int{v, constantArg(code)}}, c)
		}
	}
}

// spent reports whether a costly search for one clause has gone on for long enough, or
// that for all.
func (f *search) spent() bool {
	most := mostTotal
	if f.target != nil { // whole programs were tried before
		most = 2 * mostWork
	}
	return (f.work > mostWork || f.work+f.total > most) && f.db.program != nil
}

// slot marks the place of a constant that is to be found.
const slotArg = math.MinInt

// fill goes through what may stand in the places of a relation: the variables that
// there are, new ones, and at most one constant.
func (f *search) fill(s *state, r *relation, args []int, fresh int, use func(args []int, fresh, slot int)) {
	places := len(r.places)
	if r.numeric() {
		places--
	}
	if len(args) == places {
		variables := len(s.columns)
		if places > 0 && !slices.ContainsFunc(args, func(a int) bool { return a >= 0 && a < variables }) {
			return
		}
		if r == f.target && (slices.Contains(args, slotArg) || !f.mayCall(s, args)) {
			return
		}
		use(args, fresh, slices.Index(args, slotArg))
		return
	}
	p := r.places[len(args)]
	if f.db.bias != nil && f.db.bias.Fixed(r.name, len(args)) { // only a constant
		if !slices.Contains(args, slotArg) && fresh == 0 {
			f.fill(s, r, append(args, slotArg), fresh, use)
		}
		return
	}
	for v := range s.columns {
		if s.places[v].joins(p) {
			f.fill(s, r, append(args, v), fresh, use)
		}
	}
	for v := range fresh { // a new one once more
		k := slices.Index(args, len(s.columns)+v)
		if r.places[k].joins(p) {
			f.fill(s, r, append(args, len(s.columns)+v), fresh, use)
		}
	}
	if r.constants[len(args)] && !slices.Contains(args, slotArg) && fresh == 0 {
		f.fill(s, r, append(args, slotArg), fresh, use)
	}
	isValue := r.constants[len(args)] && f.db.program == nil
	if fresh < f.options.news && !r.numeric() && !isValue && len(s.columns)+fresh < f.options.variables && !slices.Contains(args, slotArg) {
		f.fill(s, r, append(args, len(s.columns)+fresh), fresh+1, use)
	}
}

// mayCall reports whether a clause may call the relation itself: where that ends, or,
// if a prover with tables will see to that, behind a clause that does not, with
// something new.
func (f *search) mayCall(s *state, args []int) bool {
	if !f.options.loose {
		return f.descending(s, args) != nil
	}
	return len(f.set) > 0 && slices.ContainsFunc(args, func(a int) bool { return a >= len(f.examples.places) && a < len(s.columns) })
}

// consider offers a relation with arguments: as a test, with all its constants or
// cuts, or with its new variables and what may follow.
func (f *search) consider(s *state, prefix []literal, r *relation, args []int, fresh, slot int, c *chosen) {
	switch {
	case slot >= 0:
		f.constants(s, prefix, r, args, slot, c)
	case r.numeric():
		f.cuts(s, prefix, r, args, c)
	case fresh == 0:
		if l := (literal{relation: r, args: slices.Clone(args)}); !f.repeats(s, &l) {
			f.test(s, prefix, l, c)
		}
	default:
		l := literal{relation: r, args: slices.Clone(args)}
		if f.repeats(s, &l) || s.fanOut(&l) > cmp.Or(f.most, mostBindings) || !f.determinate.allows(len(f.examples.places), s, &l) ||
			!f.language.begins(append(slices.Clip(s.body), l)) {
			return
		}
		grown := f.extend(s, l, len(prefix) > 0)
		if len(grown.example) == 0 {
			return
		}
		whole := append(slices.Clip(prefix), l)
		c.offer(whole, grown.counts)
		if f.options.negation && len(prefix) == 0 {
			f.absent(s, l, c)
		}
		if len(whole) < f.options.lookahead {
			f.literals(grown, whole, c)
		}
	}
}

// absent offers that there is nothing that a literal with new variables would find.
func (f *search) absent(s *state, l literal, c *chosen) {
	l.negated, l.args = true, slices.Clone(l.args)
	for k, a := range l.args {
		if a >= len(s.columns) {
			if slices.Index(l.args, a) != k {
				return
			}
			l.args[k] = anything
		}
	}
	f.test(s, nil, l, c)
}

// repeats reports whether a literal can only say what another one has said: that one
// determines its variables by the same variable.
func (f *search) repeats(s *state, l *literal) bool {
	for _, have := range s.body {
		if have.relation != l.relation || have.negated {
			continue
		}
		for k, a := range l.args {
			if a >= 0 && a < len(s.columns) && have.args[k] == a && l.relation.arity() > 1 && l.relation.determines(k) {
				return true
			}
		}
	}
	return false
}

// tally counts what a test leaves, binding by binding.
type tally struct {
	counts
	example, parent int32
}

func newTally() tally { return tally{example: -1, parent: -1} }

func (t *tally) add(f *search, s *state, b int) {
	e := s.example[b]
	w := f.weight[e]
	if f.positive[e] {
		t.p += w
		if t.parent != s.parent[b] {
			t.parent = s.parent[b]
			t.kept += w
		}
		if t.example != e {
			t.ep += w
		}
	} else {
		t.n += w
		if t.example != e {
			t.en += w
		}
	}
	t.example = e
}

// test offers a literal without new variables, and its negation.
func (f *search) test(s *state, prefix []literal, l literal, c *chosen) {
	holds, fails := newTally(), newTally()
	if l.relation != nil && len(l.args) > 0 {
		l.relation.indexed(max(l.first(len(s.columns)), 0))
	}
	binding := make([]int32, 0, len(s.columns))
	for b := range s.example {
		binding = s.binding(b, binding)
		if l.holds(binding) {
			holds.add(f, s, b)
		} else if f.options.negation {
			fails.add(f, s, b)
		}
	}
	c.offer(append(slices.Clip(prefix), l), holds.counts)
	if f.options.negation && !l.negated && (l.relation == nil || l.relation != f.target) {
		l.negated = true
		c.offer(append(slices.Clip(prefix), l), fails.counts)
	}
}

// constants offers every constant for a place of a relation.
func (f *search) constants(s *state, prefix []literal, r *relation, args []int, slot int, c *chosen) {
	tallies, all := f.tallies(s, r, args, slot)
	l := literal{relation: r, args: slices.Clone(args)}
	for code := range tallies {
		n := tallies[code].counts
		if n.ep == 0 && n.en == 0 {
			continue
		}
		l.args[slot] = constantArg(int32(code))
		c.offer(append(slices.Clip(prefix), l), n)
		if f.options.negation && len(prefix) == 0 {
			not := l
			not.negated = true
			f.negate(s, not, all.counts, n, prefix, c)
		}
	}
}

// tallies counts what each constant in a place of a relation leaves, and all.
func (f *search) tallies(s *state, r *relation, args []int, slot int) ([]tally, tally) {
	l := literal{relation: r, args: slices.Clone(args)}
	l.args[slot] = anything
	known := f.db.domains[r.places[slot].domain].names
	tallies := make([]tally, len(known))
	for i := range tallies {
		tallies[i] = newTally()
	}
	all := newTally()
	cells := r.columns[slot]
	if other := 1 - slot; len(args) == 2 && l.args[other] >= 0 { // a value of one thing
		x, codes := r.indexed(other), s.columns[l.args[other]]
		for b, c := range codes {
			all.add(f, s, b)
			if c < 0 || int(c)+1 >= len(x.start) {
				continue
			}
			for _, tuple := range x.rows[x.start[c]:x.start[c+1]] {
				if cell := cells[tuple]; cell >= 0 && int(cell) < len(tallies) {
					tallies[cell].add(f, s, b)
				}
			}
		}
	} else {
		binding := make([]int32, 0, len(s.columns))
		for b := range s.example {
			binding = s.binding(b, binding)
			all.add(f, s, b)
			for _, tuple := range l.candidates(binding, len(binding)) {
				if cell := cells[tuple]; cell >= 0 && int(cell) < len(tallies) && l.fits(tuple, binding, len(binding)) {
					tallies[cell].add(f, s, b)
				}
			}
		}
	}
	return tallies, all
}

// negate offers a negated test whose counts follow from those of the test, where
// every example has one binding.
func (f *search) negate(s *state, l literal, all, n counts, prefix []literal, c *chosen) {
	if all.p == all.ep && all.n == all.en {
		c.offer(append(slices.Clip(prefix), l), counts{all.p - n.p, all.n - n.n, all.kept - n.kept, all.ep - n.ep, all.en - n.en})
		return
	}
	holds := newTally()
	binding := make([]int32, 0, len(s.columns))
	for b := range s.example {
		if binding = s.binding(b, binding); l.holds(binding) {
			holds.add(f, s, b)
		}
	}
	c.offer(append(slices.Clip(prefix), l), holds.counts)
}
