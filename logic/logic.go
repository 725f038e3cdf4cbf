// Package logic is relations: terms, Horn clauses and programs, a reader and
// writer of the Prolog that relational data come in, a prover, and what it is for
// one clause to be more general than another.
//
// A program is facts and rules. What is asked of it is proved backwards, clause by
// clause in their order (SLD resolution, Kowalski 1974), with negation as failure
// and arithmetic, inside limits on steps and depth; a proof is an object that can
// be printed (Proof). Predicates that are Datalog, names and numbers only, no
// matter how they call each other, are not searched but computed: all their facts
// at once, bottom up and semi-naively (Bancilhon 1986), so that left recursion ends.
//
// θ-subsumption and least general generalisation are Plotkin's (1970), inverse
// resolution is Muggleton and Buntine's (1988), as in Mitchell 1997, chapter 10.
//
// It knows nothing of models: learners of relations build on it.
package logic

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Term is an Atom, an Int, a Float, a Var or a *Compound. Terms are immutable.
type Term interface {
	// rank is the place of the kind in the standard order of terms.
	rank() int
}

// Atom is a name that stands for itself.
type Atom string

// Int is a whole number.
type Int int64

// Float is a number.
type Float float64

// Var is a variable, by its number in the clause or goal that it stands in.
type Var int

// Compound is a functor with arguments, at least one.
type Compound struct {
	Functor string
	Args    []Term
}

func (Var) rank() int       { return 0 }
func (Float) rank() int     { return 1 }
func (Int) rank() int       { return 2 }
func (Atom) rank() int      { return 3 }
func (*Compound) rank() int { return 4 }

// Nil is the empty list.
const Nil Atom = "[]"

// cons is the functor of the others: the first element and the rest.
const cons = "."

// List returns the list of some terms, followed by a tail, Nil for a proper list.
func List(elements []Term, tail Term) Term {
	for _, e := range slices.Backward(elements) {
		tail = &Compound{cons, []Term{e, tail}}
	}
	return tail
}

// Compare is the standard order: variables, numbers, atoms, compound terms by
// arity, name and arguments.
func Compare(a, b Term) int {
	for {
		x, isX := number(a)
		y, isY := number(b)
		if isX && isY {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.rank(), b.rank()), compareNumbers(a, b))
		}
		if c := cmp.Compare(a.rank(), b.rank()); c != 0 {
			return c
		}
		c, ok := a.(*Compound)
		if !ok {
			break
		}
		d := b.(*Compound)
		if o := cmp.Or(cmp.Compare(len(c.Args), len(d.Args)), strings.Compare(c.Functor, d.Functor)); o != 0 {
			return o
		}
		last := len(c.Args) - 1
		if o := slices.CompareFunc(c.Args[:last], d.Args[:last], Compare); o != 0 {
			return o
		}
		a, b = c.Args[last], d.Args[last]
	}
	if v, ok := a.(Var); ok {
		return cmp.Compare(v, b.(Var))
	}
	return strings.Compare(string(a.(Atom)), string(b.(Atom)))
}

// number returns the value of a number.
func number(t Term) (float64, bool) {
	switch t := t.(type) {
	case Int:
		return float64(t), true
	case Float:
		return float64(t), true
	}
	return 0, false
}

// Literal is an atomic formula or its negation: \+ in a body.
type Literal struct {
	Negated bool
	Atom    Term // an Atom, a *Compound, or a Var that a goal is bound to
}

// Predicate names a relation: father/2.
type Predicate struct {
	Name  string
	Arity int
}

func (p Predicate) String() string { return p.Name + "/" + strconv.Itoa(p.Arity) }

// Predicate returns the relation that a literal speaks of; there is none for a
// variable or a number.
func (l Literal) Predicate() (Predicate, bool) { return predicateOf(l.Atom) }

func predicateOf(t Term) (Predicate, bool) {
	switch t := t.(type) {
	case Atom:
		return Predicate{string(t), 0}, true
	case *Compound:
		return Predicate{t.Functor, len(t.Args)}, true
	}
	return Predicate{}, false
}

// Clause is head ← body, a fact if the body is empty. Its variables are numbered
// from 0; Names are what they were called.
type Clause struct {
	Head  Term
	Body  []Literal
	Names []string
	Line  int // in the file that it was read from, 0 if none

	why *derived // where the clause is a fact that was computed
}

// Literals returns the clause as a disjunction: its head and the negations of its
// body.
func (c *Clause) Literals() []Literal {
	literals := []Literal{{Atom: c.Head}}
	for _, l := range c.Body {
		literals = append(literals, Literal{!l.Negated, l.Atom})
	}
	return literals
}

// variables calls visit for each variable of a term, from left to right.
func variables(t Term, visit func(Var)) {
	for {
		switch of := t.(type) {
		case Var:
			visit(of)
			return
		case *Compound:
			last := len(of.Args) - 1
			for _, a := range of.Args[:last] {
				variables(a, visit)
			}
			t = of.Args[last]
		default:
			return
		}
	}
}

// Arguments returns the terms in the places of the clause's head.
func (c *Clause) Arguments() []Term { return arguments(c.Head) }

// Instance returns the body of the clause for terms in the places of its head; false if
// they do not fit.
func (c *Clause) Instance(args []Term) ([]Literal, bool) {
	own := c.Arguments()
	if len(own) != len(args) {
		return nil, false
	}
	by := map[Var]Term{}
	for i, a := range own {
		if v, ok := a.(Var); ok {
			if have, bound := by[v]; bound && Compare(have, args[i]) != 0 {
				return nil, false
			}
			by[v] = args[i]
		} else if Compare(a, args[i]) != 0 {
			return nil, false
		}
	}
	body := make([]Literal, len(c.Body))
	for i, l := range c.Body {
		body[i] = Literal{l.Negated, Substitute(l.Atom, by)}
	}
	return body, true
}

// IsGround reports whether a term has no variables.
func IsGround(t Term) bool { return isGround(t) }

func isGround(t Term) bool {
	ground := true
	variables(t, func(Var) { ground = false })
	return ground
}

// Substitute replaces variables; those without a term stay.
func Substitute(t Term, by map[Var]Term) Term {
	switch of := t.(type) {
	case Var:
		if to, ok := by[of]; ok {
			return to
		}
	case *Compound:
		args := make([]Term, len(of.Args))
		for i, a := range of.Args {
			args[i] = Substitute(a, by)
		}
		return &Compound{of.Functor, args}
	}
	return t
}

// NewClause returns a clause whose variables are numbered in the order in which
// they stand, and named A, B, … in it.
func NewClause(head Term, body []Literal) *Clause {
	c := &Clause{}
	order := map[Var]Term{}
	name := func(v Var) {
		if _, ok := order[v]; !ok {
			order[v] = Var(len(c.Names))
			c.Names = append(c.Names, letters(len(c.Names)))
		}
	}
	variables(head, name)
	for _, l := range body {
		variables(l.Atom, name)
	}
	c.Head = Substitute(head, order)
	for _, l := range body {
		c.Body = append(c.Body, Literal{l.Negated, Substitute(l.Atom, order)})
	}
	return c
}

// letters returns A … Z, A1 … Z1 and so on.
func letters(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		name += strconv.Itoa(i / 26)
	}
	return name
}

// Program is clauses by predicate, in their order.
type Program struct {
	Clauses []*Clause
	// Directives are what stands behind a lone :-, such as table reach/2.
	Directives []Term

	relations map[Predicate]*relation
	tables    tables
}

// relation is the clauses of a predicate, with those that a goal can match found by each of
// its arguments.
type relation struct {
	clauses []*Clause
	mutex   sync.Mutex
	by      []map[string][]*Clause // by the key of each argument; nil: not yet, empty: none
}

// NewProgram returns a program of clauses, which it keeps.
func NewProgram(clauses []*Clause) *Program {
	p := &Program{relations: map[Predicate]*relation{}}
	p.Add(clauses...)
	return p
}

// Add puts clauses behind those that are there. It must not be called while
// something is proved.
func (p *Program) Add(clauses ...*Clause) {
	p.Clauses = append(p.Clauses, clauses...)
	p.tables.reset()
	for _, c := range clauses {
		of, _ := predicateOf(c.Head)
		r := p.relations[of]
		if r == nil {
			r = &relation{}
			p.relations[of] = r
		}
		r.clauses, r.by = append(r.clauses, c), make([]map[string][]*Clause, of.Arity)
	}
}

// Predicates returns what the program has clauses for, in order of names.
func (p *Program) Predicates() []Predicate {
	var all []Predicate
	for of := range p.relations {
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b Predicate) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Arity, b.Arity))
	})
	return all
}

// Of returns the clauses of a predicate.
func (p *Program) Of(of Predicate) []*Clause {
	if r := p.relations[of]; r != nil {
		return r.clauses
	}
	return nil
}

// fewForIndex is up to how many clauses are simply gone through.
const fewForIndex = 8

// index finds clauses by one of their arguments, unless one of them takes any there.
func (r *relation) index(argument int) map[string][]*Clause {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.by[argument] != nil {
		return r.by[argument]
	}
	by := map[string][]*Clause{}
	for _, c := range r.clauses {
		key, ok := keyOf(c.Head.(*Compound).Args[argument])
		if !ok {
			clear(by)
			break
		}
		by[key] = append(by[key], c)
	}
	r.by[argument] = by
	return by
}

// matching returns the clauses that a goal with these arguments may match: the fewest that
// one of them finds.
func (r *relation) matching(args []Term, walk func(Term) Term) []*Clause {
	few := r.clauses
	for i, a := range args {
		if len(few) <= fewForIndex {
			break
		}
		key, ok := keyOf(walk(a))
		if !ok {
			continue
		}
		if by := r.index(i); len(by) > 0 && len(by[key]) < len(few) {
			few = by[key]
		}
	}
	return few
}

// keyOf returns what two terms must share to be unified; nothing for a variable.
// Whole numbers and others are never equal.
func keyOf(t Term) (string, bool) {
	switch t := t.(type) {
	case Atom:
		return "a" + string(t), true
	case Int:
		return "i" + strconv.FormatInt(int64(t), 36), true
	case Float:
		return "f" + strconv.FormatUint(math.Float64bits(float64(t)), 36), true
	case *Compound:
		return "c" + strconv.Itoa(len(t.Args)) + t.Functor, true
	}
	return "", false
}
