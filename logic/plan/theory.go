package plan

import (
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// axioms say why a choice of the search is good or bad, in terms of what holds of all
// operators of a domain (facts).
//
// A goal is worked on before another that its achievement would undo: all that add it
// delete the other, or require what the other excludes. An operator is of no use for a
// goal if it requires what does not hold, and what can be had only where the goal holds
// already.
const axioms = `before(G,H) :- subgoal(G), subgoal(H), undoes(G,H).
undoes(G,H) :- presupposes(G,P), contradicts(H,P).
undoes(G,H) :- contradicts(G,H).
reject(Op,G) :- subgoal(G), achieves(Op,G), requires(Op,P), \+ holds(P), presupposes(P,G).
`

// theory returns the axioms with what follows from the operators.
func (d *Domain) theory() (*logic.Program, error) {
	p, err := logic.Read("axioms", axioms)
	if err != nil {
		return nil, err
	}
	fact := func(name string, a, b logic.Term) {
		c := logic.NewClause(&logic.Compound{Functor: name, Args: []logic.Term{a, b}}, nil)
		if text := c.String(); !slices.ContainsFunc(p.Clauses, func(have *logic.Clause) bool { return have.String() == text }) {
			p.Add(c)
		}
	}
	for i := range d.Operators {
		o := &d.Operators[i]
		for _, g := range o.Add {
			fact("achieves", o.Name, g)
			for _, del := range o.Del {
				if d.always(g, del, func(o *Operator) []logic.Term { return o.Del }) {
					fact("contradicts", g, del)
				}
			}
			for _, pre := range o.Pre {
				if d.always(g, pre, func(o *Operator) []logic.Term { return o.Pre }) {
					fact("presupposes", g, pre)
				}
			}
		}
		for _, pre := range o.Pre {
			fact("requires", o.Name, pre)
		}
	}
	return p, nil
}

// always reports whether each operator that adds a literal has another on one of its
// sides, too.
func (d *Domain) always(added, other logic.Term, side func(*Operator) []logic.Term) bool {
	for _, a := range arguments(other) {
		if v, ok := a.(logic.Var); ok && !slices.Contains(arguments(added), logic.Term(v)) {
			return false
		}
	}
	const apart = 1 << 10 // operators have fewer variables
	for i := range d.Operators {
		o := &d.Operators[i]
		for _, g := range o.Add {
			by, ok := logic.Unify(added, renamed(g, apart))
			if !ok {
				continue
			}
			want := replaced(other, by)
			if !slices.ContainsFunc(side(o), func(t logic.Term) bool {
				return logic.Compare(replaced(renamed(t, apart), by), want) == 0
			}) {
				return false
			}
		}
	}
	return true
}

// mapped returns a flat term with its arguments mapped.
func mapped(t logic.Term, to func(logic.Term) logic.Term) logic.Term {
	c, ok := t.(*logic.Compound)
	if !ok {
		return t
	}
	args := make([]logic.Term, len(c.Args))
	for i, a := range c.Args {
		args[i] = to(a)
	}
	return &logic.Compound{Functor: c.Functor, Args: args}
}

// renamed counts the variables of a flat term from another one on.
func renamed(t logic.Term, from int) logic.Term {
	return mapped(t, func(a logic.Term) logic.Term {
		if v, ok := a.(logic.Var); ok {
			return v + logic.Var(from)
		}
		return a
	})
}

func replaced(t logic.Term, by map[logic.Var]logic.Term) logic.Term {
	return mapped(t, func(a logic.Term) logic.Term {
		if v, ok := a.(logic.Var); ok {
			if to, bound := by[v]; bound {
				return to
			}
		}
		return a
	})
}
