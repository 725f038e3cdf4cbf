package logic

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Solution is the answers to a goal.
type Solution struct {
	// Bindings are what the variables of the goal stand for, each way once: one
	// that is empty where a goal without variables holds, none where it does not.
	// A variable that may stand for anything stands for itself.
	Bindings []map[string]string
	Proofs   []string // of the first of each
	Notes    []string // where there is no answer: names of the goal that nothing has
	names    []string // of the variables, in the order of the goal
	Limited  bool     // there are more answers than are given
}

// Found is an answer that was found by other means than a proof: what the variables stand
// for, in their order, and why.
type Found struct {
	Values []string
	Why    string
}

// NewSolution is the solution of a goal with such variables.
func NewSolution(names []string, all ...Found) *Solution {
	s := &Solution{Bindings: []map[string]string{}, Proofs: []string{}, names: names}
	for _, f := range all {
		binding := map[string]string{}
		for i, name := range names {
			binding[name] = f.Values[i]
		}
		s.Bindings, s.Proofs = append(s.Bindings, binding), append(s.Proofs, f.Why)
	}
	return s
}

// mostAnswers is how many answers are given.
const mostAnswers = 100_000

// Solve proves a goal in every way.
func (p *Program) Solve(ctx context.Context, question string) (*Solution, error) {
	literals, asked, err := ReadGoal(question)
	if err != nil {
		return nil, err
	}
	if err := p.check(literals); err != nil {
		return nil, err
	}
	s := &Solution{Bindings: []map[string]string{}, Proofs: []string{}}
	for _, name := range asked {
		if !strings.HasPrefix(name, "_") {
			s.names = append(s.names, name)
		}
	}
	known := map[string]bool{}
	err = p.Prove(ctx, literals, Limits{}, func(a Answer) bool {
		binding, key := map[string]string{}, ""
		called, names := a.called(asked)
		for v, name := range asked {
			if strings.HasPrefix(name, "_") {
				continue
			}
			term := Term(Var(v))
			if to, ok := a.Bindings[Var(v)]; ok {
				term = Substitute(to, called)
			}
			binding[name] = Format(term, names)
			key += binding[name] + "\x00"
		}
		if known[key] {
			return true
		}
		if len(s.Bindings) == mostAnswers {
			s.Limited = true
			return false
		}
		known[key] = true
		var proof strings.Builder
		for _, part := range a.Proofs {
			proof.WriteString(part.Format(names))
		}
		s.Bindings, s.Proofs = append(s.Bindings, binding), append(s.Proofs, proof.String())
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(s.Bindings) == 0 {
		s.Notes = p.strangers(literals)
	}
	return s, nil
}

// strangers says which names of a goal stand nowhere in the program.
func (p *Program) strangers(literals []Literal) []string {
	known := map[Atom]bool{}
	for _, c := range p.Clauses {
		atoms(c.Head, known)
		for _, l := range c.Body {
			atoms(l.Atom, known)
		}
	}
	var names []string
	for a := range known {
		names = append(names, string(a))
	}
	slices.Sort(names)
	asked := map[Atom]bool{}
	for _, l := range literals {
		if of, ok := l.Predicate(); ok && p.Of(of) != nil {
			atoms(l.Atom, asked)
		}
	}
	var notes []string
	for _, a := range slices.Sorted(maps.Keys(asked)) {
		if known[a] || a == Nil {
			continue
		}
		note := "nothing is called " + Format(a, nil)
		if near, ok := spell.Nearest(string(a), names); ok {
			note += "; did you mean " + Format(Atom(near), nil) + "?"
		}
		notes = append(notes, note)
	}
	return notes
}

// atoms collects the names that are arguments of a term.
func atoms(t Term, to map[Atom]bool) {
	c, ok := t.(*Compound)
	if !ok {
		return
	}
	for _, arg := range c.Args {
		if a, ok := arg.(Atom); ok {
			to[a] = true
		}
		atoms(arg, to)
	}
}

// called gives the variables that are free in an answer and not in its goal names of their
// own: letters that the goal does not have, in the order in which they are met. It returns
// what they are instead, and the names of all.
func (a *Answer) called(names []string) (map[Var]Term, []string) {
	asked := names
	own := map[Var]Term{}
	next := 0
	for v := range asked {
		to, bound := a.Bindings[Var(v)]
		if !bound {
			continue
		}
		variables(to, func(v Var) {
			if int(v) < len(asked) || own[v] != nil {
				return
			}
			for slices.Contains(asked, letters(next)) {
				next++
			}
			own[v] = Var(len(names))
			names = append(slices.Clip(names), letters(next))
			next++
		})
	}
	return own, names
}

// check refuses goals of predicates that the program does not speak of, which
// would be false without a word.
func (p *Program) check(literals []Literal) error {
	for _, l := range literals {
		of, ok := l.Predicate()
		if !ok || isKnown(of) || foreign(of) != nil || p.Of(of) != nil {
			continue
		}
		var near []string
		for _, known := range p.Predicates() {
			if known.Name == of.Name {
				near = append(near, known.String())
			}
		}
		if len(near) > 0 {
			return fmt.Errorf("the program says nothing of %v; it has %s", of, strings.Join(near, ", "))
		}
		for _, known := range p.Predicates() {
			near = append(near, known.String())
		}
		return fmt.Errorf("the program says nothing of %v; it has %s", of, shortList(near))
	}
	return nil
}

// shortList names the first of many.
func shortList(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + fmt.Sprintf(" and %d more", len(names)-8)
	}
	return strings.Join(names, ", ")
}

// mostForPeople is how many answers are printed.
const mostForPeople = 20

// String is the answers for people, and why the first holds.
func (s *Solution) String() string {
	var b strings.Builder
	switch {
	case len(s.Bindings) == 0:
		b.WriteString("no\n")
		for _, note := range s.Notes {
			b.WriteString("note: " + note + "\n")
		}
		return b.String()
	case len(s.names) == 0:
		b.WriteString("yes\n")
	}
	for i, binding := range s.Bindings {
		if i == mostForPeople {
			fmt.Fprintf(&b, "and %d more\n", len(s.Bindings)-i)
			break
		}
		var parts []string
		for _, name := range s.names {
			parts = append(parts, name+" = "+binding[name])
		}
		if len(parts) > 0 {
			b.WriteString(strings.Join(parts, ", ") + "\n")
		}
	}
	if s.Limited {
		fmt.Fprintf(&b, "and more than %d in all\n", mostAnswers)
	}
	b.WriteString("\nwhy the first holds:\n")
	for line := range strings.Lines(s.Proofs[0]) {
		b.WriteString("  " + line)
	}
	return b.String()
}
