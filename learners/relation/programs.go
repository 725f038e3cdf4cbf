package relation

import (
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// programs are tried as wholes where a relation may call itself: a clause that does so
// is worth nothing without the others, and the examples of what it calls may not be
// among those given, so that a gain says little. Programs of two and three clauses are
// gone through by their size, and what each proves is compared with the examples; the
// first that agrees with all of them is the shortest (learning from failures, Cropper &
// Morel 2021, without its constraints).
type programs struct {
	search     *search
	world      *world
	places     []place
	in         []bool
	variables  int  // of a clause
	most       int  // atoms of one body
	widest     int  // places of a predicate
	function   bool // the examples have one answer each
	positives  []tuple
	negatives  []tuple
	work, last int // steps taken, and when to stop

	probes []tuple // what is reached from the positive examples

	bases, calls map[int][]*candidate // by size: those that do not call the relation, and those that do
}

// The sizes of programs that are tried, and the steps that all may take, and one.
const (
	mostAtoms     = 7
	mostBase      = 3
	mostCalls     = 5
	mostSteps     = 40_000_000
	mostOfProgram = 20_000
)

// fewAtoms is up to how many atoms a program is so short that nothing else is looked for.
const fewAtoms = 5

// either returns a whole program, where the relation may call itself and examples are
// not noisy, or clauses that are learnt one by one: of two that agree with all examples
// the shorter.
func (f *search) either(active []int32, s settings, ways func() []options) (set []*found, whole bool) {
	var program []*found
	if f.target != nil && s.Noise != "mdl" && s.Negation != "yes" && f.language == nil && f.determinate == nil {
		program = f.wholePrograms(active)
	}
	if f.err != nil || program != nil && (length(program) <= fewAtoms || f.endless() || len(active) > fewExamples) {
		return program, true
	}
	set = f.best(active, ways())
	if program == nil || f.err != nil {
		return set, false
	}
	if _, wrong := f.description(set, active); wrong == 0 && length(set)+len(set) <= length(program)+len(program) {
		return set, false
	}
	return program, true
}

// endless reports whether the background has predicates that are not all facts.
func (f *search) endless() bool {
	return slices.ContainsFunc(f.db.bias.Body, func(of logic.Predicate) bool { return !finite(f.db.program, of) })
}

func length(set []*found) int {
	n := 0
	for _, c := range set {
		n += len(c.body)
	}
	return n
}

// wholePrograms returns the shortest program that agrees with all examples; nil if none
// was found.
func (f *search) wholePrograms(active []int32) []*found {
	p := f.newPrograms(active)
	if p == nil {
		return nil
	}
	set := p.written(p.ofTwo(2, fewAtoms, p.last/4))
	if set == nil && !f.endless() { // longer clauses, from below
		set = f.golem(active, settings{Lookahead: 5, New: 2, Beam: 8})
		if !f.agrees(set, active) {
			set = nil
		}
	}
	if set == nil && f.ctx.Err() == nil {
		set = p.written(p.ofTwo(fewAtoms+1, mostAtoms, p.last/2))
	}
	if set == nil && f.ctx.Err() == nil {
		set = p.written(p.ofThree())
	}
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err != nil || !f.agrees(set, active) {
		return nil
	}
	for i := len(set) - 1; i >= 0 && len(set) > 1; i-- { // a clause that calls the relation may say nothing more
		less := slices.Delete(slices.Clone(set), i, i+1)
		if _, wrong := f.description(less, active); wrong == 0 {
			set = less
		}
	}
	return set
}

// agrees reports whether clauses that call the relation itself give all examples their
// class, by the prover, which will answer.
func (f *search) agrees(set []*found, active []int32) bool {
	proves := f.prover(set)
	return len(set) > 0 && proves != nil && !slices.ContainsFunc(active, func(e int32) bool { return proves(e) != f.positive[e] })
}

func (f *search) newPrograms(active []int32) *programs {
	bias := f.db.bias
	p := &programs{search: f, places: f.examples.places, variables: 6, most: mostCalls, last: mostSteps, bases: map[int][]*candidate{}, calls: map[int][]*candidate{}}
	if n := bias.MaxVars; n > 0 {
		p.variables = min(n, 12)
	}
	if n := bias.MaxBody; n > 0 {
		p.most = min(p.most, n)
	}
	if len(p.places) == 0 || len(p.places) > mostPlaces {
		return nil
	}
	p.in = make([]bool, len(p.places))
	directions := bias.Directions[bias.Head.Name]
	for k := range p.in {
		p.in[k] = k >= len(directions) || directions[k] == "in"
	}
	p.world = newWorld(f)
	p.widest = len(p.places)
	for _, of := range p.world.predicates {
		p.widest = max(p.widest, len(of.places))
	}
	for _, e := range active {
		var t tuple
		for k, c := range f.examples.columns {
			if t[k] = c[e]; t[k] < 0 || int(t[k]) >= len(p.world.names.names) {
				return nil
			}
		}
		if f.positive[e] {
			p.positives = append(p.positives, t)
		} else {
			p.negatives = append(p.negatives, t)
		}
	}
	p.function = p.isFunction()
	return p
}

// spent reports whether the search has gone on for long enough.
func (p *programs) spent() bool { return p.work > p.last || p.search.ctx.Err() != nil }

// try begins a trial of clauses.
func (p *programs) try(rules ...*candidate) *trial {
	return &trial{world: p.world, arity: len(p.places), rules: rules, tables: map[tuple]*proved{}, most: mostOfProgram}
}

// solves reports whether clauses prove all positive examples and no negative one. The
// example that the last program failed at comes first.
func (p *programs) solves(rules ...*candidate) bool {
	t := p.try(rules...)
	defer func() { p.work += t.steps }()
	for i := range p.positives {
		if !t.holds(&p.positives[i]) {
			failed := p.positives[i]
			copy(p.positives[1:i+1], p.positives[:i])
			p.positives[0] = failed
			return false
		}
	}
	return p.consistent(t)
}

// consistent reports whether no negative example is proved.
func (p *programs) consistent(t *trial) bool {
	for i := range p.negatives {
		if t.holds(&p.negatives[i]) {
			failed := p.negatives[i]
			copy(p.negatives[1:i+1], p.negatives[:i])
			p.negatives[0] = failed
			return false
		}
	}
	return p.functional(t)
}

// functional reports whether nothing else is proved in the places that the relation is
// said to find out, where no two examples differ there.
func (p *programs) functional(t *trial) bool {
	for i := range p.positives {
		if !p.function {
			break
		}
		asked := p.positives[i]
		for k, in := range p.in {
			if !in {
				asked[k] = free
			}
		}
		answers := t.ask(asked).answers
		if len(answers) > 1 || len(answers) == 1 && answers[0] != p.positives[i] {
			return false
		}
	}
	return !t.spent()
}

// isFunction reports whether the relation finds something out, one thing for each
// example.
func (p *programs) isFunction() bool {
	known := map[tuple]tuple{}
	for _, e := range p.positives {
		asked := e
		for k, in := range p.in {
			if !in {
				asked[k] = free
			}
		}
		if before, ok := known[asked]; ok && before != e {
			return false
		}
		known[asked] = e
	}
	return slices.Contains(p.in, true) && slices.Contains(p.in, false)
}

// covered counts the positive examples that clauses prove; -1 if a negative one is.
func (p *programs) covered(rules ...*candidate) int {
	t := p.try(rules...)
	defer func() { p.work += t.steps }()
	if !p.consistent(t) {
		return -1
	}
	n := 0
	for i := range p.positives {
		n += btoi(t.holds(&p.positives[i]))
	}
	return n
}

// base returns the clauses of a size that do not call the relation and prove no
// negative example: first those that prove a positive one.
func (p *programs) base(size int) []*candidate {
	all, ok := p.bases[size]
	if ok || size > p.most {
		return all
	}
	var others []*candidate
	p.clauses(size, false, func(c *candidate) bool {
		t := p.try(c)
		if p.consistent(t) {
			if slices.ContainsFunc(p.positives, func(e tuple) bool { return t.holds(&e) }) {
				all = append(all, c)
			} else {
				others = append(others, c)
			}
		}
		p.work += t.steps
		return true
	})
	p.bases[size] = append(all, others...)
	return p.bases[size]
}

// calling returns the clauses of a size that call the relation.
func (p *programs) calling(size int) []*candidate {
	all, ok := p.calls[size]
	if ok || size > p.most {
		return all
	}
	p.clauses(size, true, func(c *candidate) bool {
		all = append(all, c)
		return true
	})
	p.calls[size] = all
	return all
}

// ofTwo goes through the programs of a clause that ends and one that calls, of some
// sizes.
func (p *programs) ofTwo(from, to, last int) []*candidate {
	for size := from; size <= to; size++ {
		for base := 1; base <= mostBase && base < size; base++ {
			for _, b := range p.base(base) {
				for _, c := range p.calling(size - base) {
					if p.solves(b, c) {
						return []*candidate{b, c}
					}
					if p.work > last || p.spent() {
						return nil
					}
				}
			}
		}
	}
	return nil
}

// mostPartial is how many programs of two clauses that cover some examples may be
// completed.
const mostPartial = 2000

// ofThree completes programs that prove some of the positive examples.
func (p *programs) ofThree() []*candidate {
	for size := 2; size <= mostAtoms; size++ {
		for base := 1; base <= mostBase && base < size; base++ {
			for i, b := range p.base(base) {
				alone := p.covered(b)
				if three := p.complete(b, i, base, size, alone); three != nil || p.spent() {
					return three
				}
			}
		}
	}
	return nil
}

// complete adds two clauses to one: of those that add to it alone, pairs.
func (p *programs) complete(b *candidate, at, base, size, alone int) []*candidate {
	var partial []*candidate
	for s := 1; s <= size-base; s++ {
		for i, c := range p.base(s) {
			if (s > base || s == base && i > at) && p.covered(b, c) > alone {
				partial = append(partial, c)
			}
		}
		for _, c := range p.calling(s) {
			if p.covered(b, c) > alone && len(partial) < mostPartial {
				partial = append(partial, c)
			}
		}
		if p.spent() {
			return nil
		}
	}
	for i, c := range partial {
		for _, d := range partial[:i] {
			if (c.recursive || d.recursive) && p.solves(b, d, c) {
				return []*candidate{b, d, c}
			}
			if p.spent() {
				return nil
			}
		}
		if c.recursive {
			continue
		}
		for s := 1; s <= size-base; s++ { // what calls may add only to both
			for _, d := range p.calling(s) {
				if p.solves(b, c, d) {
					return []*candidate{b, c, d}
				}
				if p.spent() {
					return nil
				}
			}
		}
	}
	return nil
}

// written returns clauses as those of a search.
func (p *programs) written(rules []*candidate) []*found {
	var set []*found
	for _, r := range rules {
		c := &found{}
		for _, a := range r.body {
			l := literal{args: slices.Clone(a.args)}
			switch a.of {
			case equal:
			case itself:
				l.relation = p.search.target
			default:
				if of := p.world.predicates[a.of]; of.relation != nil {
					l.relation = of.relation
				} else {
					l.relation = newRelation(of.name, of.places, make([][]int32, len(of.places)))
				}
			}
			c.body = append(c.body, l)
		}
		set = append(set, c)
	}
	return set
}
