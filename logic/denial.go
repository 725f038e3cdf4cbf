package logic

import "slices"

// Denial begins the names of concepts that are the negation of others.
const Denial = "not "

// Positive returns a program whose negated concepts are concepts of their own, so that
// they can be unfolded as others are: ¬p holds where each clause of p has a literal that
// fails. A concept that calls itself, or has variables in its bodies that its heads have
// not, stays negated.
func (p *Program) Positive() *Program {
	d := &denials{theory: p, done: map[Predicate]bool{}}
	for _, c := range p.Clauses {
		d.clauses = append(d.clauses, d.denied(c))
	}
	return NewProgram(d.clauses)
}

type denials struct {
	theory  *Program
	clauses []*Clause
	done    map[Predicate]bool
}

// mostDenials bounds the clauses of one negation.
const mostDenials = 64

// denied returns a clause whose negated concepts are concepts of their own.
func (d *denials) denied(c *Clause) *Clause {
	body := slices.Clone(c.Body)
	for i, l := range body {
		if of, ok := l.Predicate(); ok && l.Negated && len(d.theory.Of(of)) > 0 && d.deny(of) {
			body[i] = Literal{Atom: named(Denial+of.Name, arguments(l.Atom))}
		}
	}
	return NewClause(c.Head, body)
}

func named(name string, args []Term) Term {
	if len(args) == 0 {
		return Atom(name)
	}
	return &Compound{name, args}
}

// deny adds the clauses of a negation; false if it has none.
func (d *denials) deny(of Predicate) bool {
	if done, ok := d.done[of]; ok {
		return done
	}
	d.done[of] = false // what calls itself stays as it is
	args := make([]Term, of.Arity)
	for i := range args {
		args[i] = Var(i)
	}
	bodies := [][]Literal{nil} // one literal of each clause fails
	for _, c := range d.theory.Of(of) {
		by := map[Var]Term{}
		for i, a := range arguments(c.Head) {
			if v, ok := a.(Var); ok {
				by[v] = Var(i)
			}
		}
		if len(by) < of.Arity {
			return false
		}
		var next [][]Literal
		for _, l := range c.Body {
			foreign := false
			variables(l.Atom, func(v Var) { foreign = foreign || by[v] == nil })
			if foreign {
				return false
			}
			for _, b := range bodies {
				next = append(next, append(slices.Clone(b), Literal{!l.Negated, Substitute(l.Atom, by)}))
			}
		}
		if bodies = next; len(bodies) > mostDenials {
			return false
		}
	}
	for _, b := range bodies {
		d.clauses = append(d.clauses, d.denied(NewClause(named(Denial+of.Name, args), b)))
	}
	d.done[of] = true
	return true
}
