package logic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules writes a propositional program about the rows of a table as rules, for
// learners that reason with a domain theory (rule.NewTheory):
//
//	promoter :- contact, conformation.
//	contact  :- minus_35, \+ stop, p-10=a, age >= 30.
//	minus_35 :- n_of(3, [p-37=c, p-36=(t;a), p-35=t]).
//
// An atom is a column that says yes (yes, true, 1, +), a class of the target, or
// else a concept that clauses conclude. If no clause concludes the target, and
// only one concept is not used by others, that concept is the target's yes.
func Rules(p *Program, schema *table.Schema, target string) (*rule.Base, error) {
	p, err := Ground(p, schema)
	if err != nil {
		return nil, err
	}
	w := &theoryWriter{schema: schema, target: target}
	used := map[string]bool{}
	var heads []string
	for _, c := range p.Clauses {
		head, ok := c.Head.(Atom)
		if !ok {
			return nil, fmt.Errorf("line %d: %s has arguments; a theory about the rows of one table is propositional: write names, and column=value", c.Line, Format(c.Head, c.Names))
		}
		if !slices.Contains(heads, string(head)) {
			heads = append(heads, string(head))
		}
		for _, l := range c.Body {
			mentions(l.Atom, used)
		}
	}
	if at := schema.Index(target); at >= 0 {
		concludes := func(head string) bool { return head == target || w.class(head) != "" }
		if !slices.ContainsFunc(heads, concludes) {
			tops := slices.DeleteFunc(slices.Clone(heads), func(h string) bool { return used[h] || schema.Index(h) >= 0 })
			if len(tops) == 1 {
				w.top = tops[0]
			}
		}
	}
	w.heads = heads
	base := &rule.Base{}
	for _, c := range p.Clauses {
		r, err := w.clause(c)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", c.Line, err)
		}
		base.Rules = append(base.Rules, r)
	}
	return base, nil
}

// mentions notes the atoms that a literal is made of.
func mentions(t Term, used map[string]bool) {
	switch t := t.(type) {
	case Atom:
		used[string(t)] = true
	case *Compound:
		if _, isTest := ops[t.Functor]; isTest && len(t.Args) == 2 {
			return
		}
		for _, arg := range t.Args {
			mentions(arg, used)
		}
	}
}

type theoryWriter struct {
	schema *table.Schema
	target string
	heads  []string
	top    string // the concept that is the target's yes
}

var ops = map[string]rule.Op{
	"=": rule.Eq, "\\=": rule.Ne, "==": rule.Eq, "\\==": rule.Ne,
	"<": rule.Lt, "=<": rule.Le, ">": rule.Gt, ">=": rule.Ge,
}

// affirmative are the values that mean yes.
var affirmative = []string{"yes", "true", "1", "+", "y", "t", "pos", "positive"}

// yes returns the value of a column that means yes.
func (w *theoryWriter) yes(column int) (string, error) {
	a := &w.schema.Attributes[column]
	if a.Kind == table.Numeric {
		return "1", nil
	}
	for _, want := range affirmative {
		for _, v := range a.Values {
			if strings.EqualFold(v, want) {
				return v, nil
			}
		}
	}
	return "", fmt.Errorf("column %q has no value that means yes (%s); write %s=VALUE", a.Name, strings.Join(affirmative[:4], ", "), a.Name)
}

// class returns the class of the target that a name is, "" if none.
func (w *theoryWriter) class(name string) string {
	at := w.schema.Index(w.target)
	if at < 0 || w.schema.Index(name) >= 0 {
		return ""
	}
	values := w.schema.Attributes[at].Values
	if slices.Contains(values, name) {
		return name
	}
	for _, v := range values {
		if strings.EqualFold(v, name) {
			return v
		}
	}
	return ""
}

// atom returns what a name says: a column and its value.
func (w *theoryWriter) atom(name string) (column, value string, err error) {
	if name == w.top {
		name = w.target
	}
	if at := w.schema.Index(name); at >= 0 {
		value, err = w.yes(at)
		return name, value, err
	}
	if class := w.class(name); class != "" {
		return w.target, class, nil
	}
	if !slices.Contains(w.heads, name) {
		known := w.schema.Names()
		for _, head := range w.heads {
			if !slices.Contains(known, head) {
				known = append(known, head)
			}
		}
		return "", "", fmt.Errorf("%s is neither a column nor concluded by a clause%s", name, spell.Hint(name, known))
	}
	return name, "yes", nil
}

func (w *theoryWriter) clause(c *Clause) (rule.Rule, error) {
	var r rule.Rule
	var err error
	if r.Then.Column, r.Then.Value, err = w.atom(string(c.Head.(Atom))); err != nil {
		return r, err
	}
	for _, l := range c.Body {
		t, err := w.test(l.Atom, l.Negated, c.Names)
		if err != nil {
			return r, err
		}
		r.If = append(r.If, t)
	}
	return r, nil
}

// test writes a literal as a test.
func (w *theoryWriter) test(t Term, negated bool, names []string) (rule.Test, error) {
	switch t := t.(type) {
	case Atom:
		column, value, err := w.atom(string(t))
		test := rule.Test{Op: rule.Eq, Column: column, Value: value}
		if negated {
			test.Op = rule.Ne
		}
		return test, err
	case *Compound:
		op, isTest := ops[t.Functor]
		switch {
		case isTest && len(t.Args) == 2:
			return w.compare(op, t, negated, names)
		case (t.Functor == "not" || t.Functor == `\+`) && len(t.Args) == 1:
			return w.test(t.Args[0], !negated, names)
		case t.Functor == "n_of" && len(t.Args) == 2:
			return w.count(t, negated, names)
		}
	}
	return rule.Test{}, fmt.Errorf("%s is no test; expected a name, column=value, column<number, n_of(N,[…]) or \\+ before one", Format(t, names))
}

// count writes n_of(N, [tests]); if fewer hold, more of the opposites do.
func (w *theoryWriter) count(t *Compound, negated bool, names []string) (rule.Test, error) {
	n, ok := t.Args[0].(Int)
	test := rule.Test{Op: rule.AtLeast, Count: int(n)}
	rest := t.Args[1]
	for ok {
		cell, isCell := rest.(*Compound)
		if !isCell || cell.Functor != cons {
			break
		}
		one, err := w.test(cell.Args[0], negated, names)
		if err != nil {
			return test, err
		}
		test.Of, rest = append(test.Of, one), cell.Args[1]
	}
	if !ok || rest != Term(Nil) || n < 1 || int(n) > len(test.Of) {
		return test, fmt.Errorf("%s: expected n_of(N, [tests]) with N from 1 to the number of tests", Format(t, names))
	}
	if negated {
		test.Count = len(test.Of) - int(n) + 1
	}
	return test, nil
}

// opposite is the comparison that holds where another does not.
var opposite = map[rule.Op]rule.Op{
	rule.Eq: rule.Ne, rule.Ne: rule.Eq, rule.Lt: rule.Ge, rule.Ge: rule.Lt, rule.Gt: rule.Le, rule.Le: rule.Gt,
	rule.In: rule.NotIn, rule.NotIn: rule.In,
}

// compare writes column=value, column=(a;b) or column<number.
func (w *theoryWriter) compare(op rule.Op, t *Compound, negated bool, names []string) (rule.Test, error) {
	test := rule.Test{Op: op, Column: plainText(t.Args[0], names)}
	var values []string
	right := t.Args[1]
	for {
		or, isOr := right.(*Compound)
		if !isOr || or.Functor != ";" {
			break
		}
		values, right = append(values, plainText(or.Args[0], names)), or.Args[1]
	}
	values = append(values, plainText(right, names))
	switch {
	case op == rule.Eq || op == rule.Ne:
		if test.Value = values[0]; len(values) > 1 {
			test.Op, test.Value, test.Values = map[rule.Op]rule.Op{rule.Eq: rule.In, rule.Ne: rule.NotIn}[op], "", values
		}
	default:
		x, isNumber := number(right)
		if !isNumber || len(values) > 1 {
			return test, fmt.Errorf("%s: expected a number behind %s", Format(t, names), t.Functor)
		}
		test.Number = x
	}
	if negated {
		test.Op = opposite[test.Op]
	}
	return test, nil
}

// plainText is a name as the data have it: p-37 is written as a difference, and
// a capital letter as a variable.
func plainText(t Term, names []string) string {
	switch t := t.(type) {
	case Atom:
		return string(t)
	case Int:
		return strconv.FormatInt(int64(t), 10)
	case Float:
		return strconv.FormatFloat(float64(t), 'g', -1, 64)
	case Var:
		if int(t) < len(names) {
			return names[t]
		}
	case *Compound:
		if _, ok := infix[t.Functor]; ok && len(t.Args) == 2 {
			return plainText(t.Args[0], names) + t.Functor + plainText(t.Args[1], names)
		}
	}
	return Format(t, names)
}
