package relation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// FOIL (Quinlan 1990; Mitchell 1997, table 10.4) learns clauses for a relation from
// its tuples and from other relations, which are tuples, too. Clauses are learnt
// one by one until they cover all tuples that belong to the relation; each begins
// without a body and gets, as long as it covers tuples that do not belong, the
// literal of the greatest gain,
//
//	t·( log₂ p₁/(p₁+n₁) − log₂ p₀/(p₀+n₀) ),
//
// where p and n count the bindings of the clause's variables, before and after,
// that come from tuples that belong and from others, and t those of the former
// that are left.
//
// A literal of the relation itself is allowed where one of its arguments is reached
// from the same argument of the head through literals of one relation that leads
// nowhere back, the same in all clauses, so that what is learnt ends. Of literals of one gain the one with
// the fewest new variables is taken, then the first.

// Tuples are what is learnt: constants in the places of a relation's arguments.
type Tuples struct {
	Of                   logic.Predicate
	Positives, Negatives [][]logic.Term
}

// FoilOptions say where the search looks. Zero values are the defaults.
type FoilOptions struct {
	Negation     bool // negated literals, of variables that are there
	Recursion    bool // literals of the relation itself
	NewVariables int  // of one literal; default 1
	Literals     int  // of one body; default 8
}

// FoilStep is a literal that was taken, or could have been.
type FoilStep struct {
	Literal  logic.Literal
	Gain     float64
	Positive int // bindings, with the literal
	Negative int
}

// Learnt is a clause with the steps that led to it, and the tuples it covers that
// belong to the relation and that do not.
type Learnt struct {
	Clause             *logic.Clause
	Steps              []FoilStep
	Positive, Negative int

	descent *descent // on which it ends, if it is recursive
}

// Foil learns clauses for a relation from the facts of a program.
func Foil(ctx context.Context, facts *logic.Program, tuples Tuples, o FoilOptions) ([]Learnt, error) {
	f, err := newFoil(facts, tuples, o)
	if err != nil {
		return nil, err
	}
	var learnt []Learnt
	left := f.positives
	for len(left) > 0 {
		c, covered, err := f.learnOne(ctx, left)
		if err != nil {
			return nil, err
		}
		if len(covered) == 0 || c.Negative > 0 {
			break // no clause separates what is left
		}
		learnt = append(learnt, *c)
		f.descent = cmp.Or(f.descent, c.descent)
		left = slices.DeleteFunc(slices.Clone(left), func(t []int32) bool {
			return slices.ContainsFunc(covered, func(other []int32) bool { return slices.Equal(t, other) })
		})
	}
	return learnt, nil
}

// Candidates returns the literals that may begin a clause, with their gains, the
// greatest first.
func Candidates(facts *logic.Program, tuples Tuples, o FoilOptions) ([]FoilStep, error) {
	f, err := newFoil(facts, tuples, o)
	if err != nil {
		return nil, err
	}
	c := f.begin(f.positives)
	var steps []FoilStep
	for _, l := range f.literals(c) {
		steps = append(steps, f.try(c, l).step)
	}
	slices.SortStableFunc(steps, func(a, b FoilStep) int { return cmp.Compare(b.Gain, a.Gain) })
	return steps, nil
}

// foil is a relation to be learnt, and the tuples of all relations, as codes.
type foil struct {
	options              FoilOptions
	of                   logic.Predicate
	positives, negatives [][]int32
	relations            []*extension
	codes                map[logic.Term]int32
	descent              *descent // of the recursive clauses so far
}

// descent is a way down that ends: an argument of the head goes from one place of
// a relation's tuples to another.
type descent struct {
	place    int
	relation *extension
	from, to int
}

// extension is the tuples of a relation.
type extension struct {
	of     logic.Predicate
	tuples [][]int32
	known  map[string]bool
	by     []map[int32][]int // the tuples that have a code in a place
	// descends says for which pairs of places the relation leads from one to
	// the other and never back.
	descends map[[2]int]bool
	target   bool
}

func newFoil(facts *logic.Program, tuples Tuples, o FoilOptions) (*foil, error) {
	if o.NewVariables == 0 {
		o.NewVariables = 1
	}
	if o.Literals == 0 {
		o.Literals = 8
	}
	f := &foil{options: o, of: tuples.Of, codes: map[logic.Term]int32{}}
	var err error
	if f.positives, err = f.coded(tuples.Of, tuples.Positives); err != nil {
		return nil, err
	}
	if f.negatives, err = f.coded(tuples.Of, tuples.Negatives); err != nil {
		return nil, err
	}
	if len(f.positives) == 0 {
		return nil, fmt.Errorf("no tuple belongs to %v; there is nothing to learn from", tuples.Of)
	}
	for _, of := range facts.Predicates() {
		if of == tuples.Of {
			continue
		}
		e := &extension{of: of}
		for _, c := range facts.Of(of) {
			args, ok := constants(c)
			if !ok {
				return nil, fmt.Errorf("line %d: %v is not a fact of names and numbers; expected such facts of every relation", c.Line, c)
			}
			codes, err := f.coded(of, [][]logic.Term{args})
			if err != nil {
				return nil, err
			}
			e.tuples = append(e.tuples, codes[0])
		}
		f.relations = append(f.relations, e)
	}
	if o.Recursion {
		f.relations = append(f.relations, &extension{of: tuples.Of, tuples: f.positives, target: true})
	}
	for _, e := range f.relations {
		e.index()
	}
	return f, nil
}

// constants returns the arguments of a fact, if they are names and numbers.
func constants(c *logic.Clause) ([]logic.Term, bool) {
	if len(c.Body) > 0 {
		return nil, false
	}
	head, ok := c.Head.(*logic.Compound)
	if !ok {
		return nil, true
	}
	return head.Args, !slices.ContainsFunc(head.Args, func(a logic.Term) bool { return !isConstant(a) })
}

func isConstant(t logic.Term) bool {
	switch t.(type) {
	case logic.Atom, logic.Int, logic.Float:
		return true
	}
	return false
}

func (f *foil) coded(of logic.Predicate, tuples [][]logic.Term) ([][]int32, error) {
	all := make([][]int32, len(tuples))
	for i, t := range tuples {
		if len(t) != of.Arity {
			return nil, fmt.Errorf("a tuple of %d terms; %v has %d", len(t), of, of.Arity)
		}
		all[i] = make([]int32, len(t))
		for j, term := range t {
			if !isConstant(term) {
				return nil, fmt.Errorf("%s is not a name or a number; expected tuples of those", logic.Format(term, nil))
			}
			code, ok := f.codes[term]
			if !ok {
				code = int32(len(f.codes))
				f.codes[term] = code
			}
			all[i][j] = code
		}
	}
	return all, nil
}

func key(codes []int32) string {
	b := make([]byte, 0, 4*len(codes))
	for _, c := range codes {
		b = append(b, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
	}
	return string(b)
}

func (e *extension) index() {
	e.known, e.by, e.descends = map[string]bool{}, make([]map[int32][]int, e.of.Arity), map[[2]int]bool{}
	for k := range e.by {
		e.by[k] = map[int32][]int{}
	}
	for i, t := range e.tuples {
		e.known[key(t)] = true
		for k, code := range t {
			e.by[k][code] = append(e.by[k][code], i)
		}
	}
	for from := range e.of.Arity {
		for to := range e.of.Arity {
			if from != to && !e.target {
				e.descends[[2]int{from, to}] = e.isAcyclic(from, to)
			}
		}
	}
}

// isAcyclic reports whether going from one place of tuples to the other, again and
// again, never comes back.
func (e *extension) isAcyclic(from, to int) bool {
	state := map[int32]int{} // 1: on the way, 2: done
	type visit struct {
		code int32
		next int
	}
	for start := range e.by[from] {
		if state[start] != 0 {
			continue
		}
		path := []visit{{code: start}}
		state[start] = 1
		for len(path) > 0 {
			at := &path[len(path)-1]
			out := e.by[from][at.code]
			if at.next == len(out) {
				state[at.code] = 2
				path = path[:len(path)-1]
				continue
			}
			code := e.tuples[out[at.next]][to]
			at.next++
			switch state[code] {
			case 1:
				return false
			case 0:
				state[code] = 1
				path = append(path, visit{code: code})
			}
		}
	}
	return true
}

// candidate is a literal: a relation with variables in its places, or two
// variables that are equal.
type candidate struct {
	relation *extension // nil: equality
	args     []int
	negated  bool
}

func (l candidate) literal(f *foil) logic.Literal {
	args := make([]logic.Term, len(l.args))
	for i, v := range l.args {
		args[i] = logic.Var(v)
	}
	if l.relation == nil {
		return logic.Literal{Negated: l.negated, Atom: &logic.Compound{Functor: "=", Args: args}}
	}
	if len(args) == 0 {
		return logic.Literal{Negated: l.negated, Atom: logic.Atom(l.relation.of.Name)}
	}
	return logic.Literal{Negated: l.negated, Atom: &logic.Compound{Functor: l.relation.of.Name, Args: args}}
}

// clause is a clause in the making: bindings of its variables, those from tuples
// that belong first.
type clause struct {
	arity     int // of the head, whose variables come first
	body      []candidate
	steps     []FoilStep
	variables int
	bindings  [2][][]int32      // positive, negative
	below     map[int][]descent // the ways on which a variable is reached from the head
	descent   *descent          // of its recursive literals
}

func (f *foil) begin(positives [][]int32) *clause {
	return &clause{arity: f.of.Arity, variables: f.of.Arity, bindings: [2][][]int32{positives, f.negatives}, below: map[int][]descent{}}
}

// literals lists the candidates for a clause: relations with at least one variable
// that is there, and equality.
func (f *foil) literals(c *clause) []candidate {
	var all []candidate
	add := func(l candidate, isNew bool) {
		all = append(all, l)
		if f.options.Negation && !isNew {
			l.negated = true
			all = append(all, l)
		}
	}
	for v := range c.variables {
		for w := range v {
			add(candidate{args: []int{w, v}}, false)
		}
	}
	for _, e := range f.relations {
		f.fill(c, e, make([]int, 0, e.of.Arity), 0, add)
	}
	return all
}

// fill goes through the variables for the places of a literal: those that are
// there, and the next new one.
func (f *foil) fill(c *clause, e *extension, args []int, news int, add func(candidate, bool)) {
	if len(args) == e.of.Arity {
		isThere := func(v int) bool { return v < c.variables }
		if len(args) > 0 && !slices.ContainsFunc(args, isThere) || e.target && f.descending(c, args) == nil {
			return
		}
		add(candidate{relation: e, args: slices.Clone(args)}, news > 0)
		return
	}
	for v := range c.variables + news {
		f.fill(c, e, append(args, v), news, add)
	}
	if news < f.options.NewVariables {
		f.fill(c, e, append(args, c.variables+news), news+1, add)
	}
}

// descending returns the way on which a literal of the relation itself ends: one
// of its arguments is below the same argument of the head.
func (f *foil) descending(c *clause, args []int) *descent {
	for place, v := range args {
		for _, d := range c.below[v] {
			if way := cmp.Or(f.descent, c.descent); d.place == place && (way == nil || *way == d) {
				return &d
			}
		}
	}
	return nil
}

// trial is a clause with a literal more.
type trial struct {
	literal  candidate
	step     FoilStep
	bindings [2][][]int32
}

// try extends the bindings of a clause by a literal, and counts.
func (f *foil) try(c *clause, l candidate) trial {
	t := trial{literal: l}
	held := 0
	for sign, bindings := range c.bindings {
		for _, b := range bindings {
			before := len(t.bindings[sign])
			t.bindings[sign] = l.extend(b, c.variables, t.bindings[sign])
			if sign == 0 && len(t.bindings[sign]) > before {
				held++
			}
		}
	}
	p0, n0 := float64(len(c.bindings[0])), float64(len(c.bindings[1]))
	p1, n1 := float64(len(t.bindings[0])), float64(len(t.bindings[1]))
	t.step = FoilStep{Literal: l.literal(f), Positive: int(p1), Negative: int(n1)}
	if held > 0 {
		t.step.Gain = float64(held) * (math.Log2(p1/(p1+n1)) - math.Log2(p0/(p0+n0)))
	}
	return t
}

// extend appends the ways in which a binding satisfies a literal.
func (l candidate) extend(b []int32, variables int, to [][]int32) [][]int32 {
	if l.relation == nil {
		if (b[l.args[0]] == b[l.args[1]]) != l.negated {
			to = append(to, b)
		}
		return to
	}
	fresh := 0
	for _, v := range l.args {
		fresh = max(fresh, v+1-variables)
	}
	if fresh == 0 {
		codes := make([]int32, len(l.args))
		for k, v := range l.args {
			codes[k] = b[v]
		}
		if l.relation.known[key(codes)] != l.negated {
			to = append(to, b)
		}
		return to
	}
	first := slices.IndexFunc(l.args, func(v int) bool { return v < variables })
	for _, i := range l.relation.by[first][b[l.args[first]]] {
		tuple := l.relation.tuples[i]
		grown := append(slices.Clip(b), make([]int32, fresh)...)
		for v := variables; v < len(grown); v++ {
			grown[v] = -1
		}
		fits := true
		for k, v := range l.args {
			if grown[v] < 0 {
				grown[v] = tuple[k]
			}
			fits = fits && grown[v] == tuple[k]
		}
		if fits {
			to = append(to, grown)
		}
	}
	return to
}

// learnOne adds literals to a clause until it covers nothing that does not belong,
// or none has a gain.
func (f *foil) learnOne(ctx context.Context, left [][]int32) (*Learnt, [][]int32, error) {
	c := f.begin(left)
	for len(c.bindings[1]) > 0 && len(c.body) < f.options.Literals {
		var best *trial
		for _, l := range f.literals(c) {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			if t := f.try(c, l); best == nil || f.better(&t, best) {
				best = &t
			}
		}
		if best == nil || best.step.Gain <= 1e-12 {
			break
		}
		f.take(c, best)
	}
	head := make([]logic.Term, f.of.Arity)
	for k := range head {
		head[k] = logic.Var(k)
	}
	var atom logic.Term = logic.Atom(f.of.Name)
	if len(head) > 0 {
		atom = &logic.Compound{Functor: f.of.Name, Args: head}
	}
	learnt := &Learnt{descent: c.descent, Steps: c.steps, Negative: len(heads(c.bindings[1], f.of.Arity))}
	var body []logic.Literal
	for _, l := range c.body {
		body = append(body, l.literal(f))
	}
	covered := heads(c.bindings[0], f.of.Arity)
	learnt.Clause, learnt.Positive = logic.NewClause(atom, body), len(covered)
	return learnt, covered, nil
}

// better prefers gain, then fewer new variables; the first stays where both are
// equal.
func (f *foil) better(a, b *trial) bool {
	const tie = 1e-9
	if math.Abs(a.step.Gain-b.step.Gain) > tie {
		return a.step.Gain > b.step.Gain
	}
	return slices.Max(append(a.literal.args, 0)) < slices.Max(append(b.literal.args, 0))
}

// take adds a literal to the clause.
func (f *foil) take(c *clause, t *trial) {
	if t.literal.relation != nil && t.literal.relation.target {
		c.descent = f.descending(c, t.literal.args)
	}
	c.body, c.steps, c.bindings = append(c.body, t.literal), append(c.steps, t.step), t.bindings
	for _, v := range t.literal.args {
		c.variables = max(c.variables, v+1)
	}
	if t.literal.relation == nil || t.literal.negated {
		return
	}
	for i, from := range t.literal.args {
		for k, to := range t.literal.args {
			if t.literal.relation.descends[[2]int{i, k}] {
				c.reach(from, to, descent{relation: t.literal.relation, from: i, to: k})
			}
		}
	}
}

// reach notes that a variable is below another, and so below what that one is
// below in the same way.
func (c *clause) reach(from, to int, way descent) {
	var ways []descent
	if from < c.arity {
		way.place = from
		ways = append(ways, way)
	}
	for _, d := range c.below[from] {
		if way.place = d.place; d == way {
			ways = append(ways, d)
		}
	}
	for _, d := range ways {
		if !slices.Contains(c.below[to], d) {
			c.below[to] = append(c.below[to], d)
		}
	}
}

// heads returns the different tuples of the head among bindings.
func heads(bindings [][]int32, arity int) [][]int32 {
	known := map[string]bool{}
	var all [][]int32
	for _, b := range bindings {
		if k := key(b[:arity]); !known[k] {
			known[k] = true
			all = append(all, b[:arity])
		}
	}
	return all
}
