package logic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// mostGround bounds the clauses that a theory is grounded to.
const mostGround = 20_000

// Ground makes a first-order theory about the rows of one table propositional: its
// variables are replaced by constants in all ways (Mitchell 1997, exercise 12.3).
// Columns are called as ground atoms are, such as on(a,b); their arguments, and the
// constants of the clauses, are all there is. A predicate that has nothing but facts
// is known beforehand: its literals are settled, and are not in what comes out. A
// clause that needs what no column says and no clause concludes is left out.
// A propositional theory is returned as it is.
func Ground(p *Program, schema *table.Schema) (*Program, error) {
	if !slices.ContainsFunc(p.Clauses, func(c *Clause) bool {
		return isAtom(c.Head) || slices.ContainsFunc(c.Body, func(l Literal) bool { return isAtom(positive(l.Atom)) })
	}) {
		return p, nil
	}
	g := &grounding{columns: map[string]string{}, facts: map[string]bool{}, concluded: map[string]bool{}, constants: map[string]Term{}}
	for _, name := range schema.Names() {
		key := compact(name)
		g.columns[key] = name
		if open := strings.IndexByte(key, '('); open > 0 && strings.HasSuffix(key, ")") {
			for _, c := range strings.Split(key[open+1:len(key)-1], ",") {
				if term, err := readConstant(c); err == nil {
					g.constants[c] = term
				}
			}
		}
	}
	if len(g.constants) == 0 {
		return p, nil // of which Rules says what is wrong with it
	}
	for _, c := range p.Clauses {
		for _, t := range append([]Term{c.Head}, atomsOf(c)...) {
			if err := g.note(t, c); err != nil {
				return nil, err
			}
		}
		if k := predicateName(c.Head); len(c.Body) > 0 {
			g.concluded[k] = true
		}
	}
	for _, c := range p.Clauses {
		if k := predicateName(c.Head); len(c.Body) == 0 && isAtom(c.Head) && !g.concluded[k] {
			g.facts[compact(Format(c.Head, c.Names))] = true
		}
	}
	ground, err := g.all(p)
	if err != nil {
		return nil, err
	}
	if ground = g.provable(ground); len(ground) == 0 {
		return nil, errors.New("no clause is about the columns, whatever constants stand for its variables; columns are called as atoms are, such as on(a,b)")
	}
	return NewProgram(ground), nil
}

// isAtom reports whether a term is an atom with arguments, and no test.
func isAtom(t Term) bool {
	c, ok := t.(*Compound)
	if !ok || c.Functor == "n_of" || c.Functor == cons {
		return false
	}
	_, isTest := ops[c.Functor]
	return !isTest
}

// positive strips negations.
func positive(t Term) Term {
	for {
		c, ok := t.(*Compound)
		if !ok || len(c.Args) != 1 || c.Functor != "not" && c.Functor != `\+` {
			return t
		}
		t = c.Args[0]
	}
}

func atomsOf(c *Clause) []Term {
	var all []Term
	for _, l := range c.Body {
		all = append(all, positive(l.Atom))
	}
	return all
}

// predicateName is a predicate's name and arity.
func predicateName(t Term) string {
	if c, ok := t.(*Compound); ok {
		return fmt.Sprintf("%s/%d", c.Functor, len(c.Args))
	}
	return Format(t, nil)
}

// compact writes an atom as columns are called, without spaces.
func compact(s string) string { return strings.ReplaceAll(s, " ", "") }

// grounding is what is known of a theory's atoms.
type grounding struct {
	columns   map[string]string // by compact name
	facts     map[string]bool   // atoms that are true in all rows
	concluded map[string]bool   // predicates of clauses with a body
	constants map[string]Term
}

// note adds the constants of an atom.
func (g *grounding) note(t Term, c *Clause) error {
	if !isAtom(t) {
		return nil
	}
	for _, arg := range t.(*Compound).Args {
		switch arg := arg.(type) {
		case Var:
		case *Compound:
			return fmt.Errorf("line %d: %s has a function in it; a theory that becomes a network has variables and constants alone", c.Line, Format(t, c.Names))
		default:
			g.constants[compact(Format(arg, nil))] = arg
		}
	}
	return nil
}

// all replaces the variables of each clause by constants in all ways.
func (g *grounding) all(p *Program) ([]*Clause, error) {
	constants := slices.Sorted(maps.Keys(g.constants))
	var out []*Clause
	for _, c := range p.Clauses {
		if len(c.Body) == 0 && g.facts[compact(Format(c.Head, c.Names))] {
			continue
		}
		ways := 1
		for range c.Names {
			if ways *= len(constants); ways > mostGround {
				break
			}
		}
		if len(out)+ways > mostGround {
			return nil, fmt.Errorf("line %d: %d variables over %d constants make more than %d clauses; name fewer constants, or split the clause", c.Line, len(c.Names), len(constants), mostGround)
		}
		for n := range ways {
			bound := make([]Term, len(c.Names))
			for i, rest := 0, n; i < len(bound); i, rest = i+1, rest/len(constants) {
				bound[i] = g.constants[constants[rest%len(constants)]]
			}
			if one := g.clause(c, bound); one != nil {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// clause is one ground clause; nil if what is known beforehand denies it.
func (g *grounding) clause(c *Clause, bound []Term) *Clause {
	one := &Clause{Head: g.atom(c.Head, bound), Line: c.Line}
	for _, l := range c.Body {
		atom, negated := positive(l.Atom), l.Negated
		for t := l.Atom; t != atom; t = t.(*Compound).Args[0] {
			negated = !negated
		}
		if isAtom(atom) {
			named := g.atom(atom, bound)
			text := compact(string(named.(Atom)))
			if _, isColumn := g.columns[text]; !isColumn && !g.concluded[predicateName(atom)] {
				if g.facts[text] == negated {
					return nil
				}
				continue
			}
			atom = named
		}
		one.Body = append(one.Body, Literal{Atom: atom, Negated: negated})
	}
	return one
}

// atom names a ground atom: as a column is called, if there is one.
func (g *grounding) atom(t Term, bound []Term) Term {
	if !isAtom(t) {
		return t
	}
	c := t.(*Compound)
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		if v, ok := arg.(Var); ok {
			arg = bound[v]
		}
		args[i] = compact(Format(arg, nil))
	}
	text := c.Functor + "(" + strings.Join(args, ",") + ")"
	if name, ok := g.columns[text]; ok {
		text = name
	}
	return Atom(text)
}

// provable leaves out clauses that need an atom which no column says and no clause
// that is left concludes.
func (g *grounding) provable(all []*Clause) []*Clause {
	for {
		heads := map[string]bool{}
		for _, c := range all {
			heads[string(c.Head.(Atom))] = true
		}
		before := len(all)
		all = slices.DeleteFunc(all, func(c *Clause) bool {
			return slices.ContainsFunc(c.Body, func(l Literal) bool {
				name, ok := l.Atom.(Atom)
				_, isColumn := g.columns[compact(string(name))]
				return ok && !l.Negated && !isColumn && !heads[string(name)] && strings.HasSuffix(string(name), ")")
			})
		})
		for _, c := range all { // nor does what cannot hold deny anything
			c.Body = slices.DeleteFunc(c.Body, func(l Literal) bool {
				name, ok := l.Atom.(Atom)
				_, isColumn := g.columns[compact(string(name))]
				return ok && l.Negated && !isColumn && !heads[string(name)] && strings.HasSuffix(string(name), ")")
			})
		}
		if len(all) == before {
			return all
		}
	}
}

// readConstant reads an argument of a column's name.
func readConstant(text string) (Term, error) {
	p, err := Read("column", "c("+text+").")
	if err != nil || len(p.Clauses) != 1 {
		return nil, fmt.Errorf("%q is no constant", text)
	}
	c, ok := p.Clauses[0].Head.(*Compound)
	if !ok || len(c.Args) != 1 {
		return nil, fmt.Errorf("%q is no constant", text)
	}
	switch c.Args[0].(type) {
	case Var, *Compound:
		return nil, fmt.Errorf("%q is no constant", text)
	}
	return c.Args[0], nil
}
