package relation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// cut is a number that a variable is compared with.
type cut struct {
	variable logic.Var
	op       operator
	at       float64
}

type cuts []cut

// comparisons are the cuts among literals.
func comparisons(body []logic.Literal) (all cuts) {
	for _, l := range body {
		if c, v, ok := comparison(l.Atom); ok && !l.Negated {
			c.variable = v
			all = append(all, c)
		}
	}
	return all
}

// comparison reads X > 3 and the like.
func comparison(t logic.Term) (cut, logic.Var, bool) {
	c, ok := t.(*logic.Compound)
	if !ok || len(c.Args) != 2 {
		return cut{}, 0, false
	}
	v, isVariable := c.Args[0].(logic.Var)
	x := 0.0
	switch n := c.Args[1].(type) {
	case logic.Int:
		x = float64(n)
	case logic.Float:
		x = float64(n)
	default:
		return cut{}, 0, false
	}
	switch c.Functor {
	case ">":
		return cut{op: above, at: x}, v, isVariable
	case ">=":
		return cut{op: above, at: math.Nextafter(x, math.Inf(-1))}, v, isVariable
	case "=<":
		return cut{op: atMost, at: x}, v, isVariable
	case "<":
		return cut{op: atMost, at: math.Nextafter(x, math.Inf(-1))}, v, isVariable
	}
	return cut{}, 0, false
}

func (all cuts) of(t logic.Term) (operator, float64, bool) {
	v, isVariable := t.(logic.Var)
	i := slices.IndexFunc(all, func(c cut) bool { return isVariable && c.variable == v })
	if i < 0 {
		return none, 0, false
	}
	return all[i].op, all[i].at, true
}

// told is a clause that somebody said, and how many rows it is worth. Told clauses
// answer before those that are learnt, from the rows that they leave.
type told struct {
	id, name string // of who told it
	worth    float64
	text     string
}

// saidBy writes what was told as a setting, a line a clause.
func saidBy(all []told) string {
	var b strings.Builder
	for _, t := range all {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", t.id, strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' {
				return ' '
			}
			return r
		}, t.name), strconv.FormatFloat(t.worth, 'g', -1, 64), t.text)
	}
	return b.String()
}

// told reads what was told.
func (s *settings) told() ([]told, error) {
	var all []told
	for line := range strings.Lines(s.Told) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(parts) != 4 {
			return nil, errors.New("a clause that was told is damaged")
		}
		worth, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || !(worth >= 0 && worth <= 1e12) {
			return nil, fmt.Errorf("a clause that was told is worth %s rows", parts[2])
		}
		if p, err := logic.Read("told", parts[3]); err != nil || len(p.Clauses) != 1 {
			return nil, fmt.Errorf("a clause that was told is none: %v", err)
		}
		all = append(all, told{parts[0], parts[1], worth, parts[3]})
	}
	return all, nil
}

// heard returns a clause that was told as one of the list; an error says what the data
// do not have.
func (m *Model) heard(db *database, t told) (*listed, []literal, error) {
	p, err := logic.Read("told", t.text)
	if err != nil || len(p.Clauses) != 1 {
		return nil, nil, fmt.Errorf("%s is no clause: %v", t.text, err)
	}
	c := p.Clauses[0]
	class := -1
	args := c.Arguments()
	for k := range m.classes() {
		name, value := m.head(k)
		of, _ := logic.Literal{Atom: c.Head}.Predicate()
		if of.Name != name {
			continue
		}
		if value == "" && len(args) == m.arity || len(args) == m.arity+1 && logic.Format(args[m.arity], nil) == logic.Format(constantTerm(m.classes()[k]), nil) {
			class = k
		}
	}
	if class < 0 {
		name, _ := m.head(0)
		return nil, nil, fmt.Errorf("%s does not conclude %s; write its head as those of the model's clauses", t.text, name)
	}
	for i, a := range args[:m.arity] {
		if _, ok := a.(logic.Var); !ok || slices.Contains(args[:i], a) {
			return nil, nil, fmt.Errorf("%s: expected different variables in the places of the head", t.text)
		}
	}
	body, ok := db.condition(c, m.arity)
	if !ok {
		for _, l := range c.Body {
			if of, known := l.Predicate(); known && db.byName[of.Name] == nil && !logic.IsBuiltIn(of) && of.Name != "," {
				return nil, nil, fmt.Errorf("%s speaks of %v, which the data do not have", t.text, of)
			}
		}
		return nil, nil, fmt.Errorf("%s is more than relations of the data, with names that they have and numbers compared by X > 3 or X =< 3", t.text)
	}
	return &listed{Class: class, Body: db.named(body), First: make([]float64, len(m.classes())), Worth: t.worth}, body, nil
}

// hear puts what was told before what is learnt, and returns the rows that are left.
func (m *Model) hear(f *search, left []int32) ([]int32, error) {
	all, err := m.lesson.Settings.told()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		l, body, err := m.heard(f.db, t)
		if err != nil {
			continue // names that the data have no more cover nothing
		}
		m.list = append(m.list, *l)
		left = slices.DeleteFunc(left, f.coverage(body, len(left)))
	}
	return left, f.err
}

// TellClauses returns the model with clauses that somebody says, each worth so many rows.
func (m *Model) TellClauses(ctx context.Context, source learn.Source, text string, worth float64) (learn.Model, error) {
	if s := m.lesson.Settings; s.Algorithm == EBGName || s.Algorithm == PlanName {
		return nil, fmt.Errorf("%s learns from a theory; tell it more by another theory", s.Algorithm)
	}
	p, err := logic.Read(source.Name, text)
	if err != nil {
		return nil, err
	}
	all, err := m.lesson.Settings.told()
	if err != nil {
		return nil, err
	}
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	db, _ := m.base(m.linked).over(t, m.target)
	for _, c := range p.Clauses {
		fresh := told{source.ID, source.Name, worth, c.String()}
		if _, _, err := m.heard(db, fresh); err != nil {
			return nil, err
		}
		all = append(all, fresh)
	}
	if len(p.Clauses) == 0 {
		return nil, errors.New("there are no clauses")
	}
	return m.saying(ctx, all)
}

// saying learns the rows again with what was told.
func (m *Model) saying(ctx context.Context, all []told) (learn.Model, error) {
	l := m.lesson
	l.Settings.Told = saidBy(all)
	return learned(learnRows(ctx, m.rows, m.around, l))
}

// IsTold reports whether somebody told the model clauses.
func (m *Model) IsTold() bool { return m.lesson.Settings.Told != "" }

// ToldAs returns the model with the clauses that another one was told.
func (m *Model) ToldAs(ctx context.Context, other learn.Model) (learn.Model, error) {
	o, ok := other.(*Model)
	if !ok {
		return m, nil
	}
	all, err := o.lesson.Settings.told()
	if err != nil {
		return nil, err
	}
	return m.saying(ctx, all)
}

// experts are who told the model clauses.
func (m *Model) experts() []learn.Source {
	all, _ := m.lesson.Settings.told()
	var experts []learn.Source
	for _, t := range all {
		if !slices.ContainsFunc(experts, func(s learn.Source) bool { return s.ID == t.id }) {
			experts = append(experts, learn.Source{ID: t.id, Name: t.name})
		}
	}
	return experts
}

// unsaid returns the model without what some told; the other sources are those of rows.
func (m *Model) unsaid(ctx context.Context, ids []string) (*Model, []string, error) {
	all, err := m.lesson.Settings.told()
	if err != nil {
		return nil, nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(t told) bool { return slices.Contains(ids, t.id) })
	if len(kept) == len(all) {
		return m, ids, nil
	}
	rest := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(all, func(t told) bool { return t.id == id })
	})
	less, err := m.saying(ctx, kept)
	if err != nil {
		return nil, nil, err
	}
	return less.(*Model), rest, nil
}
