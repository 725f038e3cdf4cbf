package logic

import (
	"context"
	"errors"
	"fmt"
)

// Programs can be asked about clauses, too, which stand in a goal as terms: (p(X) :- q(X)),
// or (a ; b :- c, d) and (a ; b ; \+ c ; \+ d) for clauses that are not Horn's. A literal
// behind \+ is the negation of one, in the head as in the body.

func init() {
	about := func(of func(s *search, clauses [][]Literal) (bool, error), n int) func(*search, []Term) (bool, error) {
		return func(s *search, args []Term) (bool, error) {
			var clauses [][]Literal
			for _, a := range args[:n] {
				c, err := clauseOf(s.resolve(a))
				if err != nil {
					return false, err
				}
				clauses = append(clauses, c)
			}
			return of(s, clauses)
		}
	}
	// list binds the last argument to the clauses that are made of the others.
	list := func(n int, make func(clauses [][]Literal) ([][]Literal, error)) func(*search, []Term) (bool, error) {
		return func(s *search, args []Term) (bool, error) {
			return about(func(s *search, clauses [][]Literal) (bool, error) {
				made, err := make(clauses)
				var terms []Term
				for _, m := range made {
					terms = append(terms, s.clauseTerm(m))
				}
				return err == nil && s.unify(args[n], List(terms, Nil)), err
			}, n)(s, args)
		}
	}
	for of, holds := range map[Predicate]func(*search, []Term) (bool, error){
		{"$subsumes", 2}: about(func(_ *search, c [][]Literal) (bool, error) {
			_, holds, err := Subsumes(c[0], c[1])
			return holds, err
		}, 2),
		{"$entails", 2}: about(func(s *search, c [][]Literal) (bool, error) { return entails(s.ctx, c[0], c[1]) }, 2),
		{"$lggs", 3}: list(2, func(c [][]Literal) ([][]Literal, error) {
			less, err := Reduce(LGG(c[0], c[1]))
			return [][]Literal{less}, err
		}),
		{"$resolvents", 3}:         list(2, func(c [][]Literal) ([][]Literal, error) { return Resolve(c[0], c[1]), nil }),
		{"$inverse_resolvents", 3}: list(2, func(c [][]Literal) ([][]Literal, error) { return Inverse(c[0], c[1]) }),
		{"$loosened", 2}:           list(1, func(c [][]Literal) ([][]Literal, error) { return Loosen(c[0], true) }),
	} {
		builtIns[of] = holds
	}
}

// clauseOf reads a clause that is a term.
func clauseOf(t Term) ([]Literal, error) {
	head, body := t, Term(nil)
	if c, ok := t.(*Compound); ok && c.Functor == ":-" {
		head, body = nil, c.Args[len(c.Args)-1]
		if len(c.Args) == 2 {
			head = c.Args[0]
		}
	}
	var clause []Literal
	var add func(t Term, join string, negated bool) error
	add = func(t Term, join string, negated bool) error {
		if c, ok := t.(*Compound); ok && c.Functor == join && len(c.Args) == 2 {
			if err := add(c.Args[0], join, negated); err != nil {
				return err
			}
			return add(c.Args[1], join, negated)
		}
		if c, ok := t.(*Compound); ok && c.Functor == `\+` && len(c.Args) == 1 {
			return add(c.Args[0], join, !negated)
		}
		if of, ok := predicateOf(t); !ok || isControl(of) || of.Name == ":-" {
			return fmt.Errorf("%s is no literal; expected clauses such as (p(X) :- q(X)), in parentheses", Format(t, nil))
		}
		clause = union(clause, Literal{negated, t})
		return nil
	}
	if head != nil {
		if err := add(head, ";", false); err != nil {
			return nil, err
		}
	}
	if body != nil {
		if err := add(body, ",", true); err != nil {
			return nil, err
		}
	}
	return clause, nil
}

// clauseTerm is a clause as a term, with variables of its own.
func (s *search) clauseTerm(clause []Literal) Term {
	own := map[Var]Term{}
	var heads, body []Term
	for _, l := range clause {
		variables(l.Atom, func(v Var) {
			if own[v] == nil {
				own[v] = s.room(1)
			}
		})
		if atom := Substitute(l.Atom, own); l.Negated {
			body = append(body, atom)
		} else {
			heads = append(heads, atom)
		}
	}
	switch {
	case len(clause) == 0:
		return Atom("false")
	case len(body) == 0:
		return joined(";", heads)
	case len(heads) == 0:
		return &Compound{":-", []Term{joined(",", body)}}
	}
	return &Compound{":-", []Term{joined(";", heads), joined(",", body)}}
}

// joined is terms with an operator between each two.
func joined(by string, terms []Term) Term {
	all := terms[len(terms)-1]
	for i := len(terms) - 2; i >= 0; i-- {
		all = &Compound{by, []Term{terms[i], all}}
	}
	return all
}

// The limits of a proof that one clause entails another, which need not end.
var entailment = Limits{Steps: 1_000_000, Depth: 1000}

// entails reports whether a Horn clause follows from another: its head is proved from the
// other and from its body, in which each variable is something of its own.
func entails(ctx context.Context, general, special []Literal) (bool, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	head, body, err := horn(general)
	if err != nil {
		return false, err
	}
	goal, facts, err := horn(special)
	if err != nil {
		return false, err
	}
	own := map[Var]Term{}
	for _, l := range special {
		variables(l.Atom, func(v Var) { own[v] = Atom(fmt.Sprintf("$%d", v)) })
	}
	clauses := []*Clause{}
	for _, l := range facts {
		clauses = append(clauses, NewClause(Substitute(l.Atom, own), nil))
	}
	return NewProgram(append(clauses, NewClause(head, body))).Holds(ctx, []Literal{{Atom: Substitute(goal, own)}}, entailment)
}

// horn takes a clause of one head apart.
func horn(clause []Literal) (head Term, body []Literal, err error) {
	for _, l := range clause {
		if l.Negated {
			body = append(body, Literal{Atom: l.Atom})
		} else if head == nil {
			head = l.Atom
		} else {
			head, body = nil, nil
			break
		}
	}
	if head == nil {
		err = errors.New("what a clause entails is asked of clauses with one literal in the head")
	}
	return head, body, err
}
