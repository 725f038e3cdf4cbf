package relation

import (
	"cmp"
	"slices"
)

// sketch is a clause in the making: its atoms, and what its variables are.
type sketch struct {
	body  []atom
	kinds []place
	bound []bool // known when the next atom comes
	uses  []int
	loose []bool // it hangs on an answer of the relation itself
	rows  []way  // in which what is not loose can be, for some examples
}

// way is what the variables of a clause in the making stand for, of an example.
type way struct {
	values   []int32
	positive bool
}

// mostTwice is up to how many atoms a clause may call the relation itself twice.
const mostTwice = 3

// enumerator goes through the clauses of a language in an order of their own, each set
// of atoms once: what must be known is known when an atom's turn comes, every variable
// is used, and, as far as that can be seen without the relation itself, some positive
// example has such things.
type enumerator struct {
	*programs
	size      int // atoms of a body
	variables int
	recursive bool
	use       func(*candidate) bool // false: enough
	stop      bool
}

// clauses enumerates bodies of a size.
func (p *programs) clauses(size int, recursive bool, use func(*candidate) bool) {
	e := &enumerator{programs: p, size: size, variables: p.variables, recursive: recursive, use: use}
	s := &sketch{}
	for k, place := range p.places {
		s.kinds = append(s.kinds, place)
		s.bound = append(s.bound, p.in[k])
		s.uses = append(s.uses, 0)
		s.loose = append(s.loose, false)
	}
	for k, examples := range [][]tuple{p.positives, p.negatives} {
		for i := 0; i < len(examples); i += 1 + len(examples)/fewShown {
			s.rows = append(s.rows, way{slices.Clone(examples[i][:len(p.places)]), k == 0})
		}
	}
	if !recursive {
		for _, t := range p.reached() {
			s.rows = append(s.rows, way{t[:len(p.places)], true})
		}
	}
	e.grow(s, nil)
}

// mostReached is how many of them are looked at, and from one example.
const mostReached, mostFromOne = 300, 20

// reached returns what a clause may ask of the relation, going from the positive
// examples along predicates of one thing, such as the tail of a list: a clause that ends
// may hold for none of the examples, but for what they come to.
func (p *programs) reached() []tuple {
	if p.probes != nil {
		return p.probes
	}
	known := map[tuple]bool{}
	p.probes = []tuple{}
	for i := 0; i < len(p.positives) && len(p.probes) < mostReached; i++ {
		queue := []tuple{p.positives[i]}
		for k := range p.places {
			if !p.in[k] {
				queue[0][k] = free
			}
		}
		for n := 0; n < len(queue) && n < mostFromOne; n++ {
			if known[queue[n]] {
				continue
			}
			known[queue[n]] = true
			if n > 0 {
				p.probes = append(p.probes, queue[n])
			}
			for k, place := range p.places {
				if p.in[k] {
					queue = p.onward(queue, n, k, place)
				}
			}
		}
	}
	return p.probes
}

// onward appends what is reached from an argument in one step.
func (p *programs) onward(queue []tuple, n, k int, kind place) []tuple {
	for _, of := range p.world.predicates {
		for i := range of.places {
			asked := tuple{}
			ready := of.places[i].joins(kind)
			for j := range of.places {
				asked[j] = free
				ready = ready && (j == i || !of.in[j])
			}
			if asked[i] = queue[n][k]; !ready {
				continue
			}
			p.world.each(of, &asked, func(answer *tuple) bool {
				for j := range of.places {
					if j != i && of.places[j].joins(kind) {
						t := queue[n]
						t[k] = answer[j]
						queue = append(queue, t)
					}
				}
				return len(queue) < 4*mostFromOne
			})
		}
	}
	return queue
}

// fewShown is how many examples of a kind clauses in the making are held against, and
// mostWays how many ways they may have there.
const fewShown, mostWays = 50, 3000

// telling follows an atom through the examples. It says something if it leaves a
// positive one, and leaves out a way or brings a variable that is not always one of the
// others.
func (e *enumerator) telling(s *sketch, a atom, before int) bool {
	t := e.try()
	var rows []way
	var room [32]int32
	fresh := len(s.kinds) - before
	positive, filters := false, false
	same := make([]bool, fresh*before) // a new variable is another one, so far
	for i := range same {
		same[i] = true
	}
	for _, r := range s.rows {
		binding := room[:len(s.kinds)]
		for v := range binding {
			binding[v] = free
		}
		copy(binding, r.values)
		some := false
		t.body([]atom{a}, binding, func() bool {
			some = true
			positive = positive || r.positive
			for v := range fresh {
				for w := range before {
					same[v*before+w] = same[v*before+w] && binding[before+v] == binding[w]
				}
			}
			rows = append(rows, way{slices.Clone(binding), r.positive})
			return len(rows) < mostWays
		})
		filters = filters || !some
	}
	e.work += t.steps
	s.rows = rows
	return positive && (fresh > 0 || filters) && !slices.Contains(same, true)
}

// grow adds atoms to a clause until it has its size.
func (e *enumerator) grow(s *sketch, before *sketch) {
	if e.stop || e.spent() {
		return
	}
	left := e.size - len(s.body)
	if left == 0 {
		e.finish(s)
		return
	}
	open := 0
	for _, n := range s.uses {
		open += btoi(n == 0)
	}
	for v := len(e.places); v < len(s.kinds); v++ {
		open += btoi(s.uses[v] == 1)
	}
	if open > left*e.widest {
		return
	}
	if e.recursive {
		e.fill(s, before, itself, e.places, e.in, nil)
		if left == 1 && !slices.ContainsFunc(s.body, func(a atom) bool { return a.of == itself }) {
			return
		}
	}
	for i, p := range e.world.predicates {
		e.fill(s, before, i, p.places, p.in, nil)
	}
	for x := range s.kinds {
		for y := x + 1; y < len(s.kinds); y++ {
			if s.kinds[x].joins(s.kinds[y]) && (s.bound[x] || s.bound[y]) && x < len(e.places) {
				e.add(s, before, atom{equal, []int{x, y}}, s.kinds[:0], nil)
			}
		}
	}
}

// fill goes through what may stand in the places of a predicate.
func (e *enumerator) fill(s, before *sketch, of int, places []place, in []bool, args []int) {
	k := len(args)
	if k == len(places) {
		e.add(s, before, atom{of, slices.Clone(args)}, places, in)
		return
	}
	fresh := 0
	for _, a := range args {
		fresh += btoi(a >= len(s.kinds))
	}
	for v, kind := range s.kinds {
		if kind.joins(places[k]) && (s.bound[v] || !in[k]) && !slices.Contains(args, v) {
			e.fill(s, before, of, places, in, append(args, v))
		}
	}
	if !in[k] && len(s.kinds)+fresh < e.variables {
		e.fill(s, before, of, places, in, append(args, len(s.kinds)+fresh))
	}
}

// add takes an atom in, unless it hangs in the air, was there, or could have come
// earlier.
func (e *enumerator) add(s, before *sketch, a atom, places []place, in []bool) {
	known := slices.ContainsFunc(a.args, func(v int) bool { return v < len(s.kinds) })
	if !known && !(a.of >= 0 && e.world.predicates[a.of].gives) || a.of == itself && e.isHead(a.args) {
		return
	}
	if before != nil {
		last := s.body[len(s.body)-1]
		if compareAtoms(a, last) <= 0 && e.enabled(before, s, a, in) {
			return
		}
	}
	if a.of == itself && e.size > mostTwice && slices.ContainsFunc(s.body, func(b atom) bool { return b.of == itself }) || e.repeats(s, a) {
		return
	}
	to := &sketch{body: append(slices.Clip(s.body), a), kinds: slices.Clone(s.kinds), bound: slices.Clone(s.bound), uses: slices.Clone(s.uses), loose: slices.Clone(s.loose), rows: s.rows}
	loose := a.of == itself
	for _, v := range a.args {
		if v < len(s.kinds) {
			loose = loose || s.loose[v]
		}
	}
	for k, v := range a.args {
		if v == len(to.kinds) {
			to.kinds, to.bound, to.uses = append(to.kinds, places[k]), append(to.bound, true), append(to.uses, 0)
			to.loose = append(to.loose, loose)
		} else if !to.bound[v] {
			to.bound[v], to.loose[v] = true, loose
		}
		to.uses[v]++
	}
	if !loose && !e.telling(to, a, len(s.kinds)) {
		return
	}
	e.grow(to, s)
}

func (e *enumerator) isHead(args []int) bool {
	for k, v := range args {
		if k != v {
			return false
		}
	}
	return true
}

// enabled reports whether an atom could have come one step before.
func (e *enumerator) enabled(before, s *sketch, a atom, in []bool) bool {
	for k, v := range a.args {
		switch {
		case v >= len(s.kinds):
		case v >= len(before.kinds), k < len(in) && in[k] && !before.bound[v]:
			return false
		}
	}
	return a.of != equal || before.bound[a.args[0]] || before.bound[a.args[1]]
}

// repeats reports whether an atom can only give what another one has given.
func (e *enumerator) repeats(s *sketch, a atom) bool {
	if a.of < 0 || e.world.predicates[a.of].relation != nil {
		return false
	}
	return slices.ContainsFunc(s.body, func(b atom) bool {
		if b.of != a.of {
			return false
		}
		for k, in := range e.world.predicates[a.of].in {
			if in && b.args[k] != a.args[k] {
				return false
			}
		}
		return true
	})
}

// finish hands a clause over whose variables are all used: those of the head once, and
// others twice.
func (e *enumerator) finish(s *sketch) {
	for v, n := range s.uses {
		if n == 0 || !s.bound[v] || n == 1 && v >= len(e.places) {
			return
		}
	}
	calls := slices.ContainsFunc(s.body, func(a atom) bool { return a.of == itself })
	if calls == e.recursive && !e.use(&candidate{body: s.body, variables: len(s.kinds), recursive: calls}) {
		e.stop = true
	}
}

func compareAtoms(a, b atom) int {
	return cmp.Or(cmp.Compare(a.of, b.of), slices.Compare(a.args, b.args))
}
