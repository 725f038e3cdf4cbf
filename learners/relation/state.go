package relation

import (
	"slices"
)

// state is a clause in the making: its literals and, in columns, every way in which
// its variables can be bound. Bindings of one example stand together, in the order of
// examples.
type state struct {
	body    []literal
	places  []place // of the variables, those of the head first
	example []int32 // of each binding
	parent  []int32 // the binding of the clause before the last step that it comes from
	columns [][]int32

	counts
	bits  float64           // of the choices that led here
	below map[int][]descent // the ways on which a variable is reached from the head
	way   *descent          // of its recursive literals
}

// counts is what a clause covers, in weight of examples: bindings of positive and of
// negative ones, positive bindings of the clause before that are left, and examples.
type counts struct {
	p, n, kept float64
	ep, en     float64
}

// descent is a way down that ends: an argument of the head goes from one place of a
// relation's tuples to another.
type descent struct {
	place    int
	relation *relation
	from, to int
}

// begin returns the clause without a body, over some examples.
func (f *search) begin(examples []int32) *state {
	s := &state{places: f.examples.places, example: examples, below: map[int][]descent{}}
	for _, c := range f.examples.columns {
		column := make([]int32, len(examples))
		for b, e := range examples {
			column[b] = c[e]
		}
		s.columns = append(s.columns, column)
	}
	s.parent = everything(len(examples))
	f.count(s)
	return s
}

// count counts the bindings and examples of a clause.
func (f *search) count(s *state) {
	s.counts = counts{}
	last, lastParent := int32(-1), int32(-1)
	for b, e := range s.example {
		w := f.weight[e]
		if f.positive[e] {
			s.p += w
			if s.parent[b] != lastParent {
				s.kept += w
				lastParent = s.parent[b]
			}
		} else {
			s.n += w
		}
		if e != last {
			last = e
			if f.positive[e] {
				s.ep += w
			} else {
				s.en += w
			}
		}
	}
}

// binding copies the variables of a binding.
func (s *state) binding(b int, into []int32) []int32 {
	into = into[:0]
	for _, c := range s.columns {
		into = append(into, c[b])
	}
	return into
}

// fanOut is how many bindings a literal with new variables gives, at most.
func (s *state) fanOut(l *literal) int {
	k := l.first(len(s.columns))
	if k < 0 {
		return len(s.example) * l.relation.size()
	}
	x := l.relation.indexed(k)
	total := 0
	if a := l.args[k]; a >= 0 {
		for _, c := range s.columns[a] {
			if c >= 0 && int(c)+1 < len(x.start) {
				total += int(x.start[c+1] - x.start[c])
			}
		}
	}
	return total
}

// found returns the bindings for which a literal holds or, if it has new variables, each
// with every tuple that it finds.
func (s *state) found(l *literal, fresh int) (from, tuples []int32) {
	variables := len(s.columns)
	binding := make([]int32, 0, variables)
	if fresh == 0 {
		for b := range s.example {
			if binding = s.binding(b, binding); l.holds(binding) {
				from = append(from, int32(b))
			}
		}
		return from, nil
	}
	room := s.fanOut(l)
	from, tuples = make([]int32, 0, room), make([]int32, 0, room)
	if k := l.first(variables); len(l.args) == 2 && fresh == 1 && l.op == none && k >= 0 && l.args[k] >= 0 && l.args[1-k] >= variables {
		x, codes, cells := l.relation.indexed(k), s.columns[l.args[k]], l.relation.columns[1-k]
		for b, c := range codes { // from one thing to others, which most steps are
			if c < 0 || int(c)+1 >= len(x.start) {
				continue
			}
			for _, tuple := range x.rows[x.start[c]:x.start[c+1]] {
				if cells[tuple] >= 0 {
					from, tuples = append(from, int32(b)), append(tuples, tuple)
				}
			}
		}
		return from, tuples
	}
	for b := range s.example {
		binding = s.binding(b, binding)
		for _, tuple := range l.candidates(binding, variables) {
			if l.fits(tuple, binding, variables) {
				from, tuples = append(from, int32(b)), append(tuples, tuple)
			}
		}
	}
	return from, tuples
}

// extend returns the clause with a literal more. Parents are bindings of s itself, or,
// with onward, those that s has.
func (f *search) extend(s *state, l literal, onward bool) *state {
	variables := len(s.columns)
	fresh := 0
	if l.relation != nil && !l.negated {
		fresh = l.news(variables)
	}
	to := &state{body: append(slices.Clip(s.body), l), places: s.places, columns: make([][]int32, variables+fresh), below: s.below, way: s.way, bits: s.bits}
	for v := range fresh {
		k := slices.Index(l.args, variables+v)
		to.places = append(slices.Clip(to.places), l.relation.places[k])
	}
	from, tuples := s.found(&l, fresh)
	to.example, to.parent = make([]int32, len(from)), from
	for i, b := range from {
		to.example[i] = s.example[b]
	}
	for v, column := range s.columns {
		grown := make([]int32, len(from))
		for i, b := range from {
			grown[i] = column[b]
		}
		to.columns[v] = grown
	}
	for v := range fresh {
		column := l.relation.columns[slices.Index(l.args, variables+v)]
		grown := make([]int32, len(from))
		for i, t := range tuples {
			grown[i] = column[t]
		}
		to.columns[variables+v] = grown
	}
	if onward {
		to.parent = make([]int32, len(from))
		for i, b := range from {
			to.parent[i] = s.parent[b]
		}
	}
	f.count(to)
	f.follow(to, &l)
	return to
}

// follow notes which variables are now below others.
func (f *search) follow(s *state, l *literal) {
	if f.target == nil || l.relation == nil || l.negated {
		return
	}
	if l.relation == f.target {
		s.way = f.descending(s, l.args)
		return
	}
	copied := false
	for i, from := range l.args {
		for k, to := range l.args {
			if i == k || from < 0 || to < 0 || !l.relation.descends(i, k) {
				continue
			}
			if !copied {
				below := make(map[int][]descent, len(s.below)+1)
				for v, ways := range s.below {
					below[v] = slices.Clone(ways)
				}
				s.below, copied = below, true
			}
			s.reach(from, to, descent{relation: l.relation, from: i, to: k}, len(f.examples.places))
		}
	}
}

// reach notes that a variable is below another, and so below what that one is below in
// the same way.
func (s *state) reach(from, to int, way descent, heads int) {
	var ways []descent
	if from < heads {
		way.place = from
		ways = append(ways, way)
	}
	for _, d := range s.below[from] {
		if way.place = d.place; d == way {
			ways = append(ways, d)
		}
	}
	for _, d := range ways {
		if !slices.Contains(s.below[to], d) {
			s.below[to] = append(s.below[to], d)
		}
	}
}

// descending returns the way on which a literal of the relation itself ends: one of
// its arguments is below the same argument of the head.
func (f *search) descending(s *state, args []int) *descent {
	way := f.way
	if way == nil {
		way = s.way
	}
	for place, v := range args {
		for _, d := range s.below[v] {
			if d.place == place && (way == nil || *way == d) {
				return &d
			}
		}
	}
	return nil
}

// descends reports whether going from one place of the tuples to another, again and
// again, never comes back.
func (r *relation) descends(from, to int) bool {
	r.descent.once.Do(func() {
		r.descent.ways = map[[2]int]bool{}
		for i := range r.places {
			for k := range r.places {
				if i != k && r.places[i].joins(r.places[k]) {
					r.descent.ways[[2]int{i, k}] = r.acyclic(i, k)
				}
			}
		}
	})
	return r.descent.ways[[2]int{from, to}]
}

func (r *relation) acyclic(from, to int) bool {
	type visit struct {
		code int32
		next int
	}
	mark := map[int32]int{} // 1: on the way, 2: done
	for _, start := range r.columns[from] {
		if mark[start] != 0 {
			continue
		}
		path := []visit{{code: start}}
		mark[start] = 1
		for len(path) > 0 {
			at := &path[len(path)-1]
			out := r.with(from, at.code)
			if at.next == len(out) {
				mark[at.code] = 2
				path = path[:len(path)-1]
				continue
			}
			code := r.columns[to][out[at.next]]
			at.next++
			switch mark[code] {
			case 1:
				return false
			case 0:
				mark[code] = 1
				path = append(path, visit{code: code})
			}
		}
	}
	return true
}
