package relation

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// found is a clause that was found, and how.
type found struct {
	body  []literal
	path  []step // in the order in which they were taken
	bits  float64
	way   *descent
	state *state
}

// learnClause adds literals to a clause until it covers no negative example, or none
// has a gain; a beam of clauses is followed. Of all clauses on the way it returns the
// one that saves most bits or, if clauses must be exact, the one that covers the most
// positive examples and no negative one. It returns nil if there is none.
func (f *search) learnClause(active []int32) *found {
	start := f.begin(active)
	f.most = f.roomFor(len(active))
	beam := []*found{{state: start}}
	var best *found
	worth := 0.0
	for range f.options.literals {
		var next []*found
		for _, at := range beam {
			if at.state.en == 0 {
				continue
			}
			steps, tried := f.steps(at.state, f.options.beam)
			if f.err != nil {
				return nil
			}
			for _, st := range steps {
				if st.gain <= 1e-12 || len(at.state.body)+len(st.literals) > f.options.literals {
					continue
				}
				s := at.state
				for i, l := range st.literals {
					s = f.extend(s, l, i > 0)
				}
				next = append(next, &found{state: s, body: s.body, way: s.way, path: append(slices.Clip(at.path), st), bits: at.bits + math.Log2(tried+1)})
			}
		}
		slices.SortStableFunc(next, func(a, b *found) int {
			x, y := f.promise(start, a.state), f.promise(start, b.state)
			switch {
			case x > y+tie:
				return -1
			case y > x+tie:
				return 1
			}
			return len(a.body) - len(b.body)
		})
		beam = next[:min(len(next), f.options.beam)]
		if leads := func(at *found) bool { return len(at.state.columns) > len(start.columns) }; f.options.paths && !slices.ContainsFunc(beam, leads) {
			if i := slices.IndexFunc(next, leads); i >= 0 {
				beam = append(beam, next[i])
			}
		}
		for _, at := range beam {
			if w, ok := f.worth(start.counts, at.state.counts, at.bits); ok && (best == nil || w > worth+tie) && f.language.is(at.body) {
				best, worth = at, w
			}
		}
		if len(beam) == 0 {
			break
		}
	}
	return best
}

// promise orders clauses of a beam.
func (f *search) promise(start, s *state) float64 {
	if f.options.beam == 1 && !f.options.paths {
		return 0
	}
	return f.gain(start, counts{s.p, s.n, s.ep, s.ep, s.en})
}

// worth is what a clause is chosen by, and whether it may be taken at all: it must be
// right more often than the class is frequent.
func (f *search) worth(all, c counts, clauseBits float64) (float64, bool) {
	if f.options.exact {
		return c.ep, c.en == 0 && c.ep > 0
	}
	saved := saves(all.ep, all.en, c.ep, c.en) - clauseBits
	return saved, saved > 0 && c.ep > f.share*(c.ep+c.en)
}

// saves is how many bits it saves to know which examples a clause covers, when it is to
// be said which of them are positive: p of all P, and n of all N.
func saves(P, N, p, n float64) float64 {
	return choose(P+N, P) - choose(p+n, p) - choose(P+N-p-n, P-p)
}

// choose is log₂ of n over k.
func choose(n, k float64) float64 {
	if k <= 0 || k >= n {
		return 0
	}
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return (a - b - c) / math.Ln2
}

// prune drops literals, the last first, as long as that costs nothing: no negative
// example is covered that was not, or, where bits count, none are lost.
func (f *search) prune(c *found, active []int32) {
	all := f.tallyOf(active, nil)
	have := f.tallyOf(active, c.body)
	for i := len(c.body) - 1; i >= 0 && len(c.body) > 1; i-- {
		body, ok := without(c.body, i, len(f.examples.places))
		if !ok || c.body[i].told || !f.language.is(body) {
			continue // what a theory proposes was pruned before
		}
		if f.target != nil && slices.ContainsFunc(body, func(l literal) bool { return l.relation == f.target }) {
			continue // what makes it end may be what is dropped
		}
		less := f.tallyOf(active, body)
		share := c.bits * float64(len(body)) / float64(len(c.body))
		if f.options.exact {
			ok = less.en <= have.en
		} else {
			worth, _ := f.worth(all, have, c.bits)
			shorter, may := f.worth(all, less, share)
			ok = may && shorter >= worth
		}
		if ok {
			c.body, c.bits, have = body, share, less
			i = len(c.body)
		}
	}
}

// without returns a body without one of its literals, unless others need what it
// brings. Variables are numbered anew.
func without(body []literal, drop, heads int) ([]literal, bool) {
	variables := heads
	var from, to int // the variables that it brings
	for i := range body {
		n := 0
		if body[i].relation != nil && !body[i].negated {
			n = body[i].news(variables)
		}
		if i == drop {
			from, to = variables, variables+n
		}
		variables += n
	}
	var rest []literal
	for i, l := range body {
		if i == drop {
			continue
		}
		l.args = slices.Clone(l.args)
		for k, a := range l.args {
			if a >= from && a < to {
				return nil, false
			}
			if a >= to {
				l.args[k] = a - (to - from)
			}
		}
		rest = append(rest, l)
	}
	return rest, true
}

// covers reports whether a clause covers an example.
func (f *search) covers(body []literal, e int32) bool {
	binding := make([]int32, 0, 16)
	for _, c := range f.examples.columns {
		binding = append(binding, c[e])
	}
	budget := mostProofSteps
	_, ok := prove(body, 0, binding, nil, &budget)
	return ok
}

// tallyOf counts the examples that a clause covers.
func (f *search) tallyOf(active []int32, body []literal) counts {
	var c counts
	covers := f.coverage(body, len(active))
	for _, e := range active {
		if f.err == nil && e&1023 == 0 {
			f.err = f.ctx.Err()
		}
		if covers(e) {
			if f.positive[e] {
				c.ep += f.weight[e]
			} else {
				c.en += f.weight[e]
			}
		}
	}
	return c
}

// mostClauses bounds what is learnt where clauses may cover next to nothing.
const mostClauses = 100

// learnSet learns clauses one by one until the positive examples are covered, or no
// clause is worth it (sequential covering).
func (f *search) learnSet(active []int32) []*found {
	var set []*found
	left := slices.Clone(active)
	positives := 0
	for _, e := range active {
		positives += btoi(f.positive[e])
	}
	total := max(positives, 1)
	all := f.tallyOf(active, nil)
	f.share = all.ep / max(all.ep+all.en, tie)
	first := f.options
	for positives > 0 && len(set) < mostClauses {
		var c *found
		for _, o := range first.harder() { // only as far as a clause needs it
			f.total += f.work
			f.options, f.set, f.work = o, set, 0
			if c = f.oneOf(left); c != nil || f.err != nil {
				break
			}
		}
		if c == nil || f.err != nil {
			break
		}
		if !f.options.unpruned {
			f.prune(c, left)
		}
		f.settle(c, left)
		set = append(set, c)
		if f.way == nil {
			f.way = c.way
		}
		before := positives
		covers := f.coverage(c.body, len(left))
		left = slices.DeleteFunc(slices.Clone(left), func(e int32) bool {
			if f.positive[e] && covers(e) {
				positives--
				return true
			}
			return false
		})
		if part := 1 - float64(positives)/float64(total); part > f.reported {
			f.reported = part
			learn.Report(f.ctx, part)
		}
		if positives == before {
			set = set[:len(set)-1]
			break
		}
	}
	return f.needed(set, active)
}

// needed drops exact clauses whose positive examples the others cover, too: what was learnt
// first may be a special case of what the rest needed.
func (f *search) needed(set []*found, active []int32) []*found {
	if !f.options.exact || f.target != nil || f.err != nil || len(set) < 2 {
		return set
	}
	times := map[int32]int{} // clauses that cover a positive example
	covered := make([][]int32, len(set))
	for i, c := range set {
		covers := f.coverage(c.body, len(active))
		for _, e := range active {
			if f.positive[e] && covers(e) {
				covered[i] = append(covered[i], e)
				times[e]++
			}
		}
	}
	var kept []*found
	for i, c := range set {
		if slices.ContainsFunc(covered[i], func(e int32) bool { return times[e] == 1 }) {
			kept = append(kept, c)
			continue
		}
		for _, e := range covered[i] {
			times[e]--
		}
	}
	return kept
}

// harder is what is tried for a clause, one after another: a literal at a time, several,
// and several clauses side by side.
func (o options) harder() []options {
	if !o.stepwise {
		return []options{o}
	}
	var all []options
	for look := range o.lookahead {
		w := o
		w.lookahead, w.beam = look+1, 1
		all = append(all, w)
	}
	if o.beam > 1 {
		all = append(all, o)
	}
	return all
}

// description is the bits of a set of clauses and of what they get wrong, and how
// much that is.
func (f *search) description(set []*found, active []int32) (bits, wrong float64) {
	var in, out counts
	var covers []func(int32) bool
	for _, c := range set {
		bits += c.bits
		covers = append(covers, f.coverage(c.body, len(active)))
	}
	proves := f.prover(set)
	for _, e := range active {
		covered := slices.ContainsFunc(covers, func(covers func(int32) bool) bool { return covers(e) })
		if proves != nil {
			covered = proves(e)
		}
		to := &out
		if covered {
			to = &in
		}
		if f.positive[e] {
			to.ep += f.weight[e]
		} else {
			to.en += f.weight[e]
		}
	}
	return bits + choose(in.ep+in.en, in.en) + choose(out.ep+out.en, out.ep), in.en + out.ep
}

// mostTriedSteps bounds the proof of one example by clauses that are only tried.
const mostTriedSteps = 1 << 17

// prover answers by the clauses themselves where they call the relation that they are
// of, not by its examples; nil if none does.
func (f *search) prover(set []*found) func(e int32) bool {
	recursive := func(c *found) bool {
		return slices.ContainsFunc(c.body, func(l literal) bool { return l.relation != nil && l.relation == f.target })
	}
	if f.target == nil || !slices.ContainsFunc(set, recursive) {
		return nil
	}
	program := logic.NewProgram(slices.Clone(f.db.program.Clauses))
	of := logic.Predicate{Name: f.target.name, Arity: len(f.examples.places)}
	for _, c := range set {
		program.Add(f.written(of, c.body))
	}
	endless := false // one proof that does not end says that the clauses are no good
	return func(e int32) bool {
		if endless {
			return false
		}
		args := make([]logic.Term, of.Arity)
		for k, c := range f.examples.columns {
			if c[e] < 0 || int(c[e]) >= len(f.db.domains[0].names) {
				return false
			}
			args[k] = constantTerm(f.db.domains[0].names[c[e]])
		}
		holds, err := program.Holds(f.ctx, []logic.Literal{{Atom: compound(of.Name, args)}}, logic.Limits{Steps: mostTriedSteps})
		endless = err != nil
		return err == nil && holds
	}
}

// best learns a set in the ways that the settings leave open, and returns the one with
// the shortest description. One that makes no error and has few clauses for its
// examples is good enough. Where no way leads to one, what examples of a program have in
// common may.
func (f *search) best(active []int32, ways []options) []*found {
	var best []*found
	least, enough := math.Inf(1), false
	positives := f.tallyOf(active, nil).ep
	judge := func(set []*found, o options) {
		bits, wrong := f.description(set, active)
		good := wrong == 0 && float64(len(set)) <= max(o.few, positives*o.share)
		if good && !enough || good == enough && bits < least {
			best, least, enough = set, bits, good
		}
	}
	for i, way := range ways {
		if f.options, f.way = way, nil; way.apart() {
			f.total = min(f.total, mostTotal/2)
		}
		set := f.learnSet(active)
		if f.err != nil {
			return nil
		}
		judge(set, way)
		if enough && way.last || f.spent() && !slices.ContainsFunc(ways[i+1:], options.apart) {
			break
		}
	}
	if !enough && f.db.program != nil && !f.endless() && len(ways) > 1 && f.language == nil {
		set := f.golem(active, settings{Lookahead: 5, New: 2, Beam: 8, Nodes: mostWork})
		if f.err != nil {
			return nil
		}
		judge(set, ways[0])
	}
	return best
}

// apart reports whether a way is so different from those before it that what they have
// spent is not its own: numbers are cut, or clauses need not be exact.
func (o options) apart() bool { return o.cuts || !o.exact }
