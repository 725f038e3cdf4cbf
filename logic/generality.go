package logic

import (
	"errors"
	"slices"
)

// errHard says that a question about generality, which is NP-complete, was given
// up.
var errHard = errors.New("the clauses are too alike to be compared within the limit; expected fewer literals of one predicate")

// mostMatches is how many literals may be tried in one comparison of clauses.
const mostMatches = 10_000_000

// Subsumes reports whether one clause θ-subsumes another (Plotkin 1970): a
// substitution makes all of its literals literals of the other. It returns the
// substitution.
func Subsumes(general, special []Literal) (map[Var]Term, bool, error) {
	m := &matcher{special: special, left: mostMatches}
	holds := m.match(slices.Clone(general))
	if m.left <= 0 {
		return nil, false, errHard
	}
	if !holds {
		return nil, false, nil
	}
	by := map[Var]Term{}
	for i, v := range m.bound {
		by[v] = m.to[i]
	}
	return by, true, nil
}

// matcher binds variables of a general clause to terms of a special one, whose own
// variables stand for themselves.
type matcher struct {
	special []Literal
	bound   []Var
	to      []Term
	left    int
}

// match finds literals for all of some: first for the one that has the fewest.
func (m *matcher) match(general []Literal) bool {
	if len(general) == 0 {
		return true
	}
	best, fewest := 0, len(m.special)+1
	for i, l := range general {
		n := 0
		for _, s := range m.special {
			mark := len(m.bound)
			if m.literal(l, s) {
				n++
			}
			m.undo(mark)
		}
		if n < fewest {
			best, fewest = i, n
		}
	}
	if fewest == 0 {
		return false
	}
	l := general[best]
	rest := slices.Delete(slices.Clone(general), best, best+1)
	for _, s := range m.special {
		if m.left--; m.left <= 0 {
			return false
		}
		mark := len(m.bound)
		if m.literal(l, s) && m.match(rest) {
			return true
		}
		m.undo(mark)
	}
	return false
}

// undo frees what was bound since a mark.
func (m *matcher) undo(mark int) { m.bound, m.to = m.bound[:mark], m.to[:mark] }

func (m *matcher) literal(l, s Literal) bool { return l.Negated == s.Negated && m.term(l.Atom, s.Atom) }

func (m *matcher) term(general, special Term) bool {
	switch g := general.(type) {
	case Var:
		if i := slices.Index(m.bound, g); i >= 0 {
			return Compare(m.to[i], special) == 0
		}
		m.bound, m.to = append(m.bound, g), append(m.to, special)
		return true
	case *Compound:
		s, ok := special.(*Compound)
		if !ok || s.Functor != g.Functor || len(s.Args) != len(g.Args) {
			return false
		}
		for i := range g.Args {
			if !m.term(g.Args[i], s.Args[i]) {
				return false
			}
		}
		return true
	}
	return general == special
}

// LGG returns the least general generalisation of two clauses (Plotkin 1970): the
// generalisations of every pair of literals of one sign and predicate, in which a
// pair of terms is the same variable wherever it stands.
func LGG(a, b []Literal) []Literal {
	g := &generaliser{}
	var all []Literal
	for _, x := range a {
		for _, y := range b {
			of, ok := x.Predicate()
			other, too := y.Predicate()
			if x.Negated != y.Negated || !ok || !too || of != other {
				continue
			}
			l := Literal{x.Negated, g.term(x.Atom, y.Atom)}
			if !contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}

// generaliser remembers the variable of each pair of terms.
type generaliser struct{ pairs [][2]Term }

func (g *generaliser) term(a, b Term) Term {
	if Compare(a, b) == 0 && isGround(a) {
		return a
	}
	if c, ok := a.(*Compound); ok {
		if d, ok := b.(*Compound); ok && c.Functor == d.Functor && len(c.Args) == len(d.Args) {
			args := make([]Term, len(c.Args))
			for i := range args {
				args[i] = g.term(c.Args[i], d.Args[i])
			}
			return &Compound{c.Functor, args}
		}
	}
	i := slices.IndexFunc(g.pairs, func(p [2]Term) bool { return Compare(p[0], a) == 0 && Compare(p[1], b) == 0 })
	if i < 0 {
		i = len(g.pairs)
		g.pairs = append(g.pairs, [2]Term{a, b})
	}
	return Var(i)
}

// Reduce leaves out the literals of a clause without which it is as general
// (Plotkin's reduction): it subsumes what is left.
func Reduce(clause []Literal) ([]Literal, error) {
	for i := 0; i < len(clause); {
		less := slices.Delete(slices.Clone(clause), i, i+1)
		_, holds, err := Subsumes(clause, less)
		if err != nil {
			return nil, err
		}
		if holds {
			clause = less
		} else {
			i++
		}
	}
	return clause, nil
}

func equalLiterals(a, b Literal) bool { return a.Negated == b.Negated && Compare(a.Atom, b.Atom) == 0 }

func contains(all []Literal, l Literal) bool {
	return slices.ContainsFunc(all, func(o Literal) bool { return equalLiterals(o, l) })
}

// union adds literals that are not there.
func union(all []Literal, more ...Literal) []Literal {
	for _, l := range more {
		if !contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// apart returns a clause with variables that another one does not have.
func apart(clause, other []Literal) []Literal {
	most := Var(-1)
	for _, l := range other {
		variables(l.Atom, func(v Var) { most = max(most, v) })
	}
	moved := make([]Literal, len(clause))
	for i, l := range clause {
		moved[i] = Literal{l.Negated, shift(l.Atom, most+1)}
	}
	return moved
}

// Resolve returns the resolvents of two clauses (Robinson 1965): a literal of one
// and the negation of one of the other are made equal, and leave. The second
// clause's variables are others than the first one's.
func Resolve(a, b []Literal) [][]Literal {
	b = apart(b, a)
	var all [][]Literal
	for i, x := range a {
		for j, y := range b {
			if x.Negated == y.Negated {
				continue
			}
			by, ok := Unify(x.Atom, y.Atom)
			if !ok {
				continue
			}
			var resolvent []Literal
			for _, l := range slices.Concat(a[:i], a[i+1:], b[:j], b[j+1:]) {
				resolvent = union(resolvent, Literal{l.Negated, Substitute(l.Atom, by)})
			}
			all = append(all, resolvent)
		}
	}
	return all
}

// Inverse returns the clauses that, resolved with one clause, give another: the
// inverse of Resolve without an inverse substitution (Mitchell 1997, tables 10.6
// and 10.7), the shortest first. All but one literal of the clause must be in the
// resolvent, after a substitution; those may be in the other parent, too.
func Inverse(resolvent, parent []Literal) ([][]Literal, error) {
	parent = apart(parent, resolvent)
	var all [][]Literal
	for i, l := range parent {
		rest := slices.Delete(slices.Clone(parent), i, i+1)
		by, holds, err := Subsumes(rest, resolvent)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		negation := Literal{!l.Negated, Substitute(l.Atom, by)}
		var shared, own []Literal
		for _, r := range rest {
			shared = union(shared, Literal{r.Negated, Substitute(r.Atom, by)})
		}
		for _, c := range resolvent {
			if !contains(shared, c) {
				own = append(own, c)
			}
		}
		if contains(resolvent, Literal{l.Negated, negation.Atom}) || len(shared) > 16 {
			continue
		}
		for subset := range 1 << len(shared) {
			other := slices.Clone(own)
			for k, s := range shared {
				if subset>>k&1 == 1 {
					other = append(other, s)
				}
			}
			all = append(all, append(other, negation))
		}
	}
	slices.SortStableFunc(all, func(a, b []Literal) int { return len(a) - len(b) })
	return all, nil
}

// mostPlaces is in how many places constants may stand for inverse substitutions
// to be listed.
const mostPlaces = 12

// Loosen returns the clauses that a substitution turns into this one: its inverse
// substitutions. A constant becomes a variable everywhere or nowhere or, place by
// place, in some places, equal or different ones. The first is the clause itself.
func Loosen(clause []Literal, byPlace bool) ([][]Literal, error) {
	var places []Term // the constants, in the order in which they stand
	most := Var(-1)
	var visit func(t Term)
	visit = func(t Term) {
		switch t := t.(type) {
		case Var:
			most = max(most, t)
		case *Compound:
			for _, a := range t.Args {
				visit(a)
			}
		default:
			places = append(places, t)
		}
	}
	for _, l := range clause {
		for _, a := range arguments(l.Atom) {
			visit(a)
		}
	}
	if len(places) > mostPlaces {
		return nil, errors.New("constants stand in too many places to list all that they may stand for; expected at most 12")
	}
	var all [][]Literal
	l := &loosening{clause: clause, places: places, to: make([]Term, len(places)), byPlace: byPlace, first: most + 1}
	l.choose(0, 0, func(c []Literal) { all = append(all, c) })
	return all, nil
}

// loosening is a choice of terms for the places of a clause's constants.
type loosening struct {
	clause  []Literal
	places  []Term
	to      []Term
	byPlace bool
	first   Var // that the clause does not have
}

// choose goes through the terms for a place and those behind it: the constant, the
// variables that it became before, and a new one.
func (l *loosening) choose(at int, used Var, found func([]Literal)) {
	if at == len(l.places) {
		found(l.made())
		return
	}
	before := -1 // where the constant stands before this place
	options := []Term{l.places[at]}
	for k := range at {
		if Compare(l.places[k], l.places[at]) != 0 {
			continue
		}
		before = k
		if _, isVar := l.to[k].(Var); isVar && !slices.Contains(options, l.to[k]) {
			options = append(options, l.to[k])
		}
	}
	switch {
	case l.byPlace || before < 0:
		options = append(options, l.first+used)
	default: // everywhere or nowhere
		options = []Term{l.to[before]}
	}
	for _, t := range options {
		l.to[at] = t
		next := used
		if t == Term(l.first+used) {
			next++
		}
		l.choose(at+1, next, found)
	}
}

// made returns the clause with the terms that were chosen.
func (l *loosening) made() []Literal {
	at := 0
	var put func(t Term) Term
	put = func(t Term) Term {
		switch t := t.(type) {
		case Var:
			return t
		case *Compound:
			args := make([]Term, len(t.Args))
			for i, a := range t.Args {
				args[i] = put(a)
			}
			return &Compound{t.Functor, args}
		default:
			at++
			return l.to[at-1]
		}
	}
	made := make([]Literal, len(l.clause))
	for i, literal := range l.clause {
		made[i] = literal
		if _, ok := literal.Atom.(*Compound); ok {
			made[i].Atom = put(literal.Atom)
		}
	}
	return made
}
