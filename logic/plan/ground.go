package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/logic"
)

// pattern is a literal in numbers: its predicate, and arguments that are constants from
// 0 or variables below it, the first being −1.
type pattern struct {
	of   int32
	args []int32
}

// symbols number predicates and constants.
type symbols struct {
	of    map[string]int32
	terms []logic.Term
}

func (s *symbols) code(key string, t logic.Term) int32 {
	c, ok := s.of[key]
	if !ok {
		c = int32(len(s.terms))
		s.of[key] = c
		s.terms = append(s.terms, t)
	}
	return c
}

// pattern numbers a flat literal.
func (s *symbols) pattern(t logic.Term) pattern {
	args := arguments(t)
	name := logic.Atom("")
	switch t := t.(type) {
	case logic.Atom:
		name = t
	case *logic.Compound:
		name = logic.Atom(t.Functor)
	}
	p := pattern{of: s.code(string(name)+"/"+strconv.Itoa(len(args)), name)}
	for _, a := range args {
		if v, ok := a.(logic.Var); ok {
			p.args = append(p.args, -1-int32(v))
		} else {
			p.args = append(p.args, s.code("="+logic.Format(a, nil), a))
		}
	}
	return p
}

// term is a literal without variables as logic has it.
func (s *symbols) term(p pattern) logic.Term {
	name := s.terms[p.of].(logic.Atom)
	if len(p.args) == 0 {
		return name
	}
	c := &logic.Compound{Functor: string(name), Args: make([]logic.Term, len(p.args))}
	for i, a := range p.args {
		c.Args[i] = s.terms[a]
	}
	return c
}

// match extends a binding so that a pattern is a literal; it notes what it bound.
func match(p pattern, args, binding []int32, bound *[]int32) bool {
	for i, a := range p.args {
		switch {
		case a >= 0:
			if a != args[i] {
				return false
			}
		case binding[-1-a] < 0:
			binding[-1-a] = args[i]
			*bound = append(*bound, -1-a)
		case binding[-1-a] != args[i]:
			return false
		}
	}
	return true
}

func unbind(binding []int32, bound []int32) {
	for _, v := range bound {
		binding[v] = -1
	}
}

// act is an operator with names in the places of its parameters.
type act struct {
	operator      int
	name          pattern
	binding       []int32
	pre, add, del []int32 // facts
}

// task is a problem in numbers: all facts that may ever hold, and all acts that may ever
// be possible, if nothing were deleted.
type task struct {
	symbols
	domain *Domain
	facts  []pattern
	known  map[string]int32 // facts by key
	of     map[int32][]int32
	acts   []act
	adds   [][]int32 // the acts that add a fact
	init   state
	goal   []int32
	byName map[string]int32
}

// The size of problems that are taken on.
const (
	mostActs  = 200_000
	mostJoins = 20_000_000
)

func key(p pattern) string {
	b := make([]byte, 0, 4*len(p.args)+4)
	for _, c := range append([]int32{p.of}, p.args...) {
		b = append(b, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
	}
	return string(b)
}

// fact returns the number of a fact.
func (t *task) fact(p pattern) int32 {
	k := key(p)
	f, ok := t.known[k]
	if !ok {
		f = int32(len(t.facts))
		t.known[k] = f
		p.args = slices.Clone(p.args)
		t.facts, t.of[p.of], t.adds = append(t.facts, p), append(t.of[p.of], f), append(t.adds, nil)
	}
	return f
}

// instance puts the values of a binding into a pattern.
func instance(p pattern, binding []int32) pattern {
	q := pattern{of: p.of, args: make([]int32, len(p.args))}
	for i, a := range p.args {
		if q.args[i] = a; a < 0 {
			q.args[i] = binding[-1-a]
		}
	}
	return q
}

// ground numbers a problem.
func (d *Domain) ground(p *Problem) (*task, error) {
	t := &task{symbols: symbols{of: map[string]int32{}}, domain: d, known: map[string]int32{}, of: map[int32][]int32{}}
	for _, f := range p.Init {
		t.fact(t.pattern(f))
	}
	initial := len(t.facts)
	schemas := make([]schema, len(d.Operators))
	for i := range d.Operators {
		schemas[i] = t.schema(&d.Operators[i])
	}
	seen, joins := map[string]bool{}, 0
	for { // what may hold if nothing is deleted, round by round
		facts, acts := len(t.facts), len(t.acts)
		for i := range schemas {
			if err := t.instances(i, &schemas[i], seen, &joins); err != nil {
				return nil, err
			}
		}
		if len(t.facts) == facts && len(t.acts) == acts {
			break
		}
	}
	for _, g := range p.Goal {
		t.goal = append(t.goal, t.fact(t.pattern(g)))
	}
	t.init = newState(len(t.facts))
	for f := range initial {
		t.init.set(int32(f), true)
	}
	for a := range t.acts {
		for _, f := range t.acts[a].add {
			t.adds[f] = append(t.adds[f], int32(a))
		}
	}
	return t, nil
}

// schema is an operator in numbers.
type schema struct {
	name          pattern
	pre, add, del []pattern
	differ        [][2]int32
	variables     int
}

func (t *task) schema(o *Operator) schema {
	s := schema{name: t.pattern(o.Name), variables: len(o.names)}
	for _, side := range []struct {
		of   []logic.Term
		into *[]pattern
	}{{o.Pre, &s.pre}, {o.Add, &s.add}, {o.Del, &s.del}} {
		for _, f := range side.of {
			*side.into = append(*side.into, t.pattern(f))
		}
	}
	for _, pair := range o.Differ {
		p := t.pattern(&logic.Compound{Functor: `\=`, Args: pair[:]})
		s.differ = append(s.differ, [2]int32{p.args[0], p.args[1]})
	}
	return s
}

// instances adds the acts of an operator whose requirements are among the facts.
func (t *task) instances(operator int, s *schema, seen map[string]bool, joins *int) error {
	binding := make([]int32, s.variables)
	for v := range binding {
		binding[v] = -1
	}
	value := func(a int32) int32 {
		if a < 0 {
			return binding[-1-a]
		}
		return a
	}
	var step func(i int) error
	step = func(i int) error {
		if *joins++; *joins > mostJoins || len(t.acts) > mostActs {
			return fmt.Errorf("the problem has more than %d acts; give operators more that they require, such as room(R), or make it smaller", mostActs)
		}
		if i < len(s.pre) {
			all := t.of[s.pre[i].of]
			for _, f := range all[:len(all):len(all)] {
				var bound []int32
				if match(s.pre[i], t.facts[f].args, binding, &bound) {
					if err := step(i + 1); err != nil {
						return err
					}
				}
				unbind(binding, bound)
			}
			return nil
		}
		for _, pair := range s.differ {
			if value(pair[0]) == value(pair[1]) {
				return nil
			}
		}
		k := strconv.Itoa(operator) + key(pattern{args: binding})
		if seen[k] {
			return nil
		}
		seen[k] = true
		a := act{operator: operator, name: instance(s.name, binding), binding: slices.Clone(binding)}
		for _, side := range []struct {
			of   []pattern
			into *[]int32
		}{{s.pre, &a.pre}, {s.add, &a.add}, {s.del, &a.del}} {
			for _, p := range side.of {
				*side.into = append(*side.into, t.fact(instance(p, binding)))
			}
		}
		t.acts = append(t.acts, a)
		return nil
	}
	return step(0)
}

// state is the facts that hold, as bits.
type state []uint64

func newState(facts int) state { return make(state, (facts+63)/64) }

func (s state) has(f int32) bool { return s[f>>6]>>(f&63)&1 == 1 }

func (s state) set(f int32, holds bool) {
	if holds {
		s[f>>6] |= 1 << (f & 63)
	} else {
		s[f>>6] &^= 1 << (f & 63)
	}
}

// hash tells states apart, all but surely.
func (s state) hash() uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range s {
		h ^= w
		h *= 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

// after is the state that acts lead to; false if one is not possible.
func (t *task) after(s state, acts []int32) (state, bool) {
	s = slices.Clone(s)
	for _, a := range acts {
		for _, f := range t.acts[a].pre {
			if !s.has(f) {
				return nil, false
			}
		}
		for _, f := range t.acts[a].del {
			s.set(f, false)
		}
		for _, f := range t.acts[a].add {
			s.set(f, true)
		}
	}
	return s, true
}
