package logic

import "math"

// Bits is the length of the clauses when they are sent to somebody who knows so
// many relations and things, and can tell numbers apart that take so many bits
// (minimum description length). A bit before each clause says that there is one
// more, and a bit before each literal of its body likewise; a literal is a bit
// that says whether it is denied, the choice of a relation, and of each argument
// whether it is one of the variables so far, a new one, or else which thing.
func (p *Program) Bits(relations, things int, number float64) float64 {
	s := sender{relations: map[Predicate]bool{}, things: map[Term]bool{}, number: number}
	for _, c := range p.Clauses {
		s.note(c.Head)
		for _, l := range c.Body {
			s.note(l.Atom)
		}
	}
	s.relation, s.thing = log2(max(relations, len(s.relations))), log2(max(things, len(s.things)))
	bits := 1.0 // that there are no more
	for _, c := range p.Clauses {
		s.variables = map[Var]bool{}
		bits += 2 + s.literal(c.Head)
		for _, l := range c.Body {
			bits += 2 + s.literal(l.Atom)
		}
	}
	return bits
}

func log2(n int) float64 { return math.Log2(float64(max(1, n))) }

// sender knows what a receiver knows.
type sender struct {
	relations               map[Predicate]bool
	things                  map[Term]bool
	variables               map[Var]bool // of the clause so far
	relation, thing, number float64
}

// note takes in the relations and things of a literal.
func (s *sender) note(t Term) {
	switch t := t.(type) {
	case Atom:
		s.things[t] = true
	case *Compound:
		s.relations[Predicate{t.Functor, len(t.Args)}] = true
		for _, a := range t.Args {
			s.note(a)
		}
	}
}

func (s *sender) literal(t Term) float64 {
	bits := s.relation
	if c, ok := t.(*Compound); ok {
		for _, a := range c.Args {
			bits += s.argument(a)
		}
	}
	return bits
}

func (s *sender) argument(t Term) float64 {
	bits := log2(len(s.variables) + 2) // one of them, a new one, or no variable
	switch t := t.(type) {
	case Var:
		s.variables[t] = true
		return bits
	case Int, Float:
		return bits + 1 + s.number
	case *Compound:
		return bits + 1 + s.literal(t)
	}
	return bits + 1 + s.thing
}
