package relation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// advised returns the settings with the theory of a task's advice, or, of rows that stand
// alone, with a propositional theory written about the row.
func (s settings) advised(advice *rule.Base, schema *table.Schema, target string) (settings, error) {
	if s.Algorithm != FoclName {
		return s, nil
	}
	if advice == nil {
		theory, err := s.theory()
		if err != nil || !propositional(theory) || schema.Linked != "" {
			return s, err
		}
		if advice, err = logic.Rules(theory, schema, target); err != nil {
			return s, fmt.Errorf("the theory: %w", err)
		}
	}
	w := &rowTheory{schema: schema}
	for _, r := range advice.Rules {
		if err := w.rule(r, target); err != nil {
			return s, err
		}
	}
	var b strings.Builder
	for _, c := range w.clauses {
		b.WriteString(c.String() + "\n")
	}
	s.Theory = b.String()
	return s, nil
}

// propositional reports whether a theory speaks of one row only, without saying so.
func propositional(p *logic.Program) bool {
	return len(p.Clauses) > 0 && !slices.ContainsFunc(p.Clauses, func(c *logic.Clause) bool {
		_, isAtom := c.Head.(logic.Atom)
		return !isAtom
	})
}

// rowTheory writes rules about a row as clauses over its columns.
type rowTheory struct {
	schema  *table.Schema
	clauses []*logic.Clause
	news    int // concepts that were made for one of several values
}

func (w *rowTheory) rule(r rule.Rule, target string) error {
	row := []logic.Term{logic.Var(0)}
	head := compound(r.Then.Column, row)
	if at := w.schema.Index(r.Then.Column); at >= 0 {
		if r.Then.Column != target {
			return fmt.Errorf("the theory concludes %s, which is a column; expected %s or a concept that is none", r.Then.Column, target)
		}
		head = compound(target, append(slices.Clone(row), constantTerm(r.Then.Value)))
		if says(w.schema.Attributes[at].Values, r.Then.Value) {
			head = compound(target, row)
		}
	}
	b := &rowBody{theory: w, row: row, next: 1}
	for _, t := range r.If {
		if err := b.test(t); err != nil {
			return err
		}
	}
	w.clauses = append(w.clauses, logic.NewClause(head, b.body))
	return nil
}

// says reports whether a class is written without its name: the yes of two.
func says(classes []string, value string) bool {
	return len(classes) == 2 && slices.Contains([]string{"1", "yes", "true", "+", logic.Belongs}, value)
}

type rowBody struct {
	theory *rowTheory
	row    []logic.Term
	body   []logic.Literal
	next   logic.Var
}

func (b *rowBody) add(negated bool, name string, more ...logic.Term) {
	b.body = append(b.body, logic.Literal{Negated: negated, Atom: compound(name, append(slices.Clone(b.row), more...))})
}

// test writes a test as literals. Of a number of tests that must hold all are taken:
// what is not needed is pruned.
func (b *rowBody) test(t rule.Test) error {
	at := b.theory.schema.Index(t.Column)
	numeric := at >= 0 && b.theory.schema.Attributes[at].Kind == table.Numeric
	switch t.Op {
	case rule.AtLeast:
		for _, one := range t.Of {
			if err := b.test(one); err != nil {
				return err
			}
		}
	case rule.Eq, rule.Ne:
		switch {
		case at < 0:
			b.add(t.Op == rule.Ne, t.Column)
		case numeric:
			b.add((t.Op == rule.Ne) != (t.Value == "0"), t.Column)
		default:
			b.add(t.Op == rule.Ne, t.Column, constantTerm(t.Value))
		}
	case rule.NotIn:
		for _, v := range t.Values {
			b.add(true, t.Column, constantTerm(v))
		}
	case rule.In:
		b.theory.news++
		name := fmt.Sprintf("one_of_%d", b.theory.news)
		for _, v := range t.Values {
			b.theory.clauses = append(b.theory.clauses, logic.NewClause(compound(name, b.row), []logic.Literal{{Atom: compound(t.Column, append(slices.Clone(b.row), constantTerm(v)))}}))
		}
		b.add(false, name)
	case rule.Lt, rule.Le, rule.Gt, rule.Ge:
		v := b.next
		b.next++
		b.add(false, t.Column, v)
		by := map[rule.Op]string{rule.Lt: "<", rule.Le: "=<", rule.Gt: ">", rule.Ge: ">="}[t.Op]
		b.body = append(b.body, logic.Literal{Atom: &logic.Compound{Functor: by, Args: []logic.Term{v, logic.Float(t.Number)}}})
	default:
		return fmt.Errorf("the theory tests %s in a way that clauses do not have; write column=value, column<number or a concept", t.Column)
	}
	return nil
}

// frontiers is a theory whose negated concepts are written by what denies them, and in
// which what the data have themselves is left to them. With its parts, beside each clause
// stand those with one of its concepts alone (the frontiers of Pazzani & Kibler 1992).
func (db *database) frontiers(theory *logic.Program, parts bool) *logic.Program {
	var own []*logic.Clause
	for _, c := range theory.Clauses {
		if of, ok := (logic.Literal{Atom: c.Head}).Predicate(); ok && db.byName[of.Name] == nil {
			own = append(own, c)
		}
	}
	program := logic.NewProgram(own).Positive()
	if !parts {
		return program
	}
	all := slices.Clone(program.Clauses)
	for _, c := range program.Clauses {
		if len(c.Body) < 2 {
			continue
		}
		for _, l := range c.Body {
			if of, ok := l.Predicate(); ok && !l.Negated && len(program.Of(of)) > 0 && !strings.HasPrefix(of.Name, logic.Denial) {
				all = append(all, logic.NewClause(c.Head, []logic.Literal{l}))
			}
		}
	}
	return logic.NewProgram(all)
}
