// Package plan solves problems by operators, and learns from its own search how to
// search less (Mitchell 1997, section 11.4).
//
// A domain is operators in the manner of STRIPS (Fikes & Nilsson 1971), each with what
// it requires, adds and deletes. The solver works by means and ends: it picks a goal
// that does not hold, an operator that adds it, and what that one requires as the next
// goals, and goes back where nothing leads on. What it learns are control rules over
// the situation of a choice (Control), each from an explanation: the operators
// themselves are a theory, complete and correct, of why a choice was good or bad.
//
//   - before(G1,G2) and reject(Op,G) come from failures, as in PRODIGY (Minton 1988):
//     a goal that was undone again, an operator that needs what it is for. The
//     choice is explained from the operators' definitions, and regressed through the
//     explanation (logic.Theory).
//   - prefer(Op,G) are chunks, as in SOAR (Laird, Rosenbloom & Newell 1986): where
//     several operators would do, the acts that led on in the end are traced back to
//     the conditions under which they do.
//   - macro(Acts,G) are several acts as one (Fikes, Hart & Nilsson 1972).
//
// Each rule costs something wherever it is matched, and may cost more than it saves.
// What the search costs with and without it, in tests of conditions, decides what is
// kept (Minton 1990).
//
// Its neighbours are logic, whose terms, unification and regression it uses, and
// learners/relation, which makes models of it.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/logic"
)

// Operator changes a situation: where all that it requires holds, what it deletes holds
// no more, and what it adds does.
type Operator struct {
	Name          logic.Term // with its parameters
	Pre, Add, Del []logic.Term
	Differ        [][2]logic.Term // parameters that stand for different things
	names         []string
}

// Domain is the operators of a world.
type Domain struct{ Operators []Operator }

// Problem is a situation, and what is to hold.
type Problem struct{ Init, Goal []logic.Term }

// operatorPredicate is what operators are written as: operator(Name, Requires, Adds,
// Deletes).
var operatorPredicate = logic.Predicate{Name: "operator", Arity: 4}

// NewDomain finds the operators of a program: facts such as
//
//	operator(stack(X,Y), [table(X), clear(X), clear(Y), X \= Y], [on(X,Y)], [table(X), clear(Y)]).
func NewDomain(p *logic.Program) (*Domain, error) {
	d := &Domain{}
	for _, c := range p.Of(operatorPredicate) {
		args := c.Arguments()
		o := Operator{Name: args[0], names: c.Names}
		err := o.read(args)
		if len(c.Body) > 0 {
			err = fmt.Errorf("it has a body")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w; expected operator(name(X,Y), [requires], [adds], [deletes]), with names and variables as arguments", c.Line, logic.Format(args[0], c.Names), err)
		}
		d.Operators = append(d.Operators, o)
	}
	if len(d.Operators) == 0 {
		return nil, fmt.Errorf("there are no operators; write them as operator(name(X,Y), [requires], [adds], [deletes])")
	}
	return d, nil
}

func (o *Operator) read(args []logic.Term) error {
	if !isFlat(o.Name) {
		return fmt.Errorf("its name is no name with parameters")
	}
	for i, into := range []*[]logic.Term{&o.Pre, &o.Add, &o.Del} {
		all, ok := Elements(args[i+1])
		if !ok {
			return fmt.Errorf("%s is no list", logic.Format(args[i+1], o.names))
		}
		for _, t := range all {
			c, isPair := t.(*logic.Compound)
			switch {
			case i == 0 && isPair && c.Functor == `\=` && len(c.Args) == 2:
				o.Differ = append(o.Differ, [2]logic.Term{c.Args[0], c.Args[1]})
			case !isFlat(t):
				return fmt.Errorf("%s has terms inside terms", logic.Format(t, o.names))
			default:
				*into = append(*into, t)
			}
		}
	}
	if len(o.Add) == 0 {
		return fmt.Errorf("it adds nothing")
	}
	for _, t := range append(slices.Concat(o.Add, o.Del), o.Name) {
		for _, a := range arguments(t) {
			if v, ok := a.(logic.Var); ok && !mentions(o.Pre, v) {
				return fmt.Errorf("nothing is required of %s; say at least what it is, as in block(%s)", o.names[v], o.names[v])
			}
		}
	}
	return nil
}

func mentions(terms []logic.Term, v logic.Var) bool {
	return slices.ContainsFunc(terms, func(t logic.Term) bool {
		return slices.Contains(arguments(t), logic.Term(v))
	})
}

// Elements returns the elements of a list; false if it is none.
func Elements(t logic.Term) ([]logic.Term, bool) {
	var all []logic.Term
	for {
		if t == logic.Term(logic.Nil) {
			return all, true
		}
		c, ok := t.(*logic.Compound)
		if !ok || c.Functor != "." || len(c.Args) != 2 {
			return nil, false
		}
		all, t = append(all, c.Args[0]), c.Args[1]
	}
}

// NewProblem reads a situation and its goals from two lists of facts.
func NewProblem(init, goal logic.Term) (*Problem, error) {
	p := &Problem{}
	for _, side := range []struct {
		of   logic.Term
		into *[]logic.Term
	}{{init, &p.Init}, {goal, &p.Goal}} {
		all, ok := Elements(side.of)
		if !ok {
			return nil, fmt.Errorf("%s is no list of facts such as [on(a,b), clear(a)]", short(side.of))
		}
		for _, t := range all {
			if !isFlat(t) || !logic.IsGround(t) {
				return nil, fmt.Errorf("%s is no fact about names", short(t))
			}
		}
		*side.into = all
	}
	return p, nil
}

func short(t logic.Term) string {
	s := logic.Format(t, nil)
	if len(s) > 80 {
		s = s[:77] + "…"
	}
	return s
}

// isFlat reports whether a term is a name with simple arguments.
func isFlat(t logic.Term) bool {
	switch t := t.(type) {
	case logic.Atom:
		return t != logic.Nil
	case *logic.Compound:
		return t.Functor != "." && !slices.ContainsFunc(t.Args, func(a logic.Term) bool {
			_, nested := a.(*logic.Compound)
			return nested
		})
	}
	return false
}

func arguments(t logic.Term) []logic.Term {
	if c, ok := t.(*logic.Compound); ok {
		return c.Args
	}
	return nil
}

// Format writes acts as a list.
func Format(acts []logic.Term) string {
	var all []string
	for _, a := range acts {
		all = append(all, logic.Format(a, nil))
	}
	return "[" + strings.Join(all, ", ") + "]"
}
