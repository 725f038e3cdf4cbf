package relation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Clauses make columns: what each of their variables stands for in a row, such as
// times(volume(a),density(a)), and whether each of their conditions holds there. An
// explanation so finds features that no table has, for learners that know none of
// logic (Mitchell 1997, section 11.3.1).

// column is what a clause says of each row.
type column struct {
	name  string
	cells []string
}

// Columns returns the names of the columns that the clauses make of rows, and their
// cells as text, "" where there is no value.
func (m *Model) Columns(ctx context.Context, t *table.Table) (names []string, cells [][]string, err error) {
	if err := m.fits(t); err != nil {
		return nil, nil, err
	}
	facts := m.base(t.Linked).program
	if facts == nil {
		return nil, nil, errors.New("clauses make columns of facts about rows; these are clauses about the rows' own cells")
	}
	w := newWriter(nil)
	clauses := make([]*logic.Clause, len(m.list))
	for i := range m.list {
		clauses[i] = m.clause(w, i)
	}
	a := &asked{table: t, target: m.target}
	program := logic.NewProgram(slices.Concat(facts.Clauses, m.computing(), clauses))
	for _, c := range clauses {
		made := newMaker(c, m.arguments(), t.Rows())
		for row := range t.Rows() {
			if body, ok := c.Instance(a.tuple(row)); ok {
				if err := made.fill(ctx, program, body, row); err != nil {
					return nil, nil, err
				}
			}
		}
		for _, c := range made.columns {
			if !slices.Contains(names, c.name) {
				names, cells = append(names, c.name), append(cells, c.cells)
			}
		}
	}
	return names, cells, nil
}

// arguments names the places of the relation that is learnt.
func (m *Model) arguments() (names []string) {
	for i, a := range m.schema.Attributes {
		if i != m.target && a.Kind == table.Nominal {
			names = append(names, a.Name)
		}
	}
	return names
}

// maker makes the columns of one clause.
type maker struct {
	literals []making
	columns  []column
}

// making is a literal of the body: the columns of the variables that it is the first
// to have, or of whether it holds.
type making struct {
	of    map[logic.Var]int // columns, by variable
	holds int               // a column; -1 if there are such variables
	needs []logic.Var       // variables of literals before it
}

func newMaker(c *logic.Clause, arguments []string, rows int) *maker {
	var mk maker
	var names []string // of variables, "" while they have none
	name := func(v logic.Var, text string) {
		for int(v) >= len(names) {
			names = append(names, "")
		}
		names[v] = text
	}
	for i, place := range c.Arguments() {
		if v, ok := place.(logic.Var); ok {
			name(v, arguments[i])
		}
	}
	add := func(text string) int {
		mk.columns = append(mk.columns, column{text, make([]string, rows)})
		return len(mk.columns) - 1
	}
	head := slices.Clone(names)
	for _, l := range c.Body {
		one := making{of: map[logic.Var]int{}, holds: -1}
		var fresh []logic.Var
		for _, v := range variablesOf(l.Atom) {
			switch {
			case int(v) >= len(names) || names[v] == "":
				fresh = append(fresh, v)
			case int(v) >= len(head) || head[v] == "":
				one.needs = append(one.needs, v)
			}
		}
		if l.Negated || len(fresh) == 0 {
			one.holds = add(l.Format(names))
		}
		for i, v := range fresh {
			if l.Negated {
				break // it tells nothing of them
			}
			text := valueOf(l.Atom, v, names)
			if i > 0 {
				text += " " + strconv.Itoa(i+1)
			}
			name(v, text)
			one.of[v] = add(text)
		}
		mk.literals = append(mk.literals, one)
	}
	return &mk
}

// valueOf names what a literal gives a variable: the other side of an equation, or
// the relation of its other places.
func valueOf(atom logic.Term, v logic.Var, names []string) string {
	c := atom.(*logic.Compound)
	if (c.Functor == "equal" || c.Functor == "is" || c.Functor == "=") && len(c.Args) == 2 && c.Args[0] == logic.Term(v) {
		return logic.Literal{Atom: c.Args[1]}.Format(names)
	}
	var others []string
	for _, a := range c.Args {
		free := slices.ContainsFunc(variablesOf(a), func(v logic.Var) bool { return int(v) >= len(names) || names[v] == "" })
		if a != logic.Term(v) && !free {
			others = append(others, logic.Literal{Atom: a}.Format(names))
		}
	}
	if len(others) == 0 {
		return c.Functor
	}
	return c.Functor + "(" + strings.Join(others, ",") + ")"
}

// variablesOf are the variables of a term, each once.
func variablesOf(t logic.Term) (all []logic.Var) {
	switch t := t.(type) {
	case logic.Var:
		return []logic.Var{t}
	case *logic.Compound:
		for _, a := range t.Args {
			for _, v := range variablesOf(a) {
				if !slices.Contains(all, v) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// fill writes a row's cells: literals are taken one by one, those that fail are left
// out, and variables are what they are in the first answer to the rest.
func (mk *maker) fill(ctx context.Context, program *logic.Program, body []logic.Literal, row int) error {
	var held []logic.Literal
	now := map[logic.Var]logic.Term{}
	for i, l := range body {
		one := &mk.literals[i]
		if slices.ContainsFunc(one.needs, func(v logic.Var) bool { return now[v] == nil }) {
			continue
		}
		var answer map[logic.Var]logic.Term
		err := program.Prove(ctx, append(held[:len(held):len(held)], l), logic.Limits{Steps: mostProofSteps}, func(a logic.Answer) bool {
			answer = a.Bindings
			return false
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one.holds >= 0 {
			mk.columns[one.holds].cells[row] = map[bool]string{true: "yes", false: "no"}[err == nil && answer != nil]
		}
		if err == nil && answer != nil {
			if held = append(held, l); !l.Negated {
				now = answer
			}
		}
	}
	for i := range mk.literals {
		for v, c := range mk.literals[i].of {
			if t := now[v]; t != nil {
				mk.columns[c].cells[row] = strings.Trim(logic.Literal{Atom: t}.Format(nil), "'")
			}
		}
	}
	return nil
}
