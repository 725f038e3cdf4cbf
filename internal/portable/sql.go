package portable

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Dialects are those of SQL that are written.
var Dialects = []string{"sqlite", "postgres", "duckdb"}

// SQL writes the program as one SELECT over a table: first the prediction, then a
// probability for each class, or the ends of the interval, then columns of the table
// that say which row it is, if any are named. NULL is missing.
//
// What is needed more than once is a column of a step before (WITH … AS
// MATERIALIZED, so that no database writes it out again for each use).
func (p *Program) SQL(dialect, table string, ids ...string) ([]byte, error) {
	if !slices.Contains(Dialects, dialect) {
		return nil, fmt.Errorf("unknown dialect %q; expected %s", dialect, strings.Join(Dialects, ", "))
	}
	s := &sqlPrinter{program: p, dialect: dialect, ids: ids, steps: make([][]*scalar, len(p.Steps))}
	for i := range p.Steps {
		s.steps[i] = s.step(&p.Steps[i])
	}
	return s.print(table)
}

// scalar is an expression of SQL: text, columns of the table, and other scalars,
// which stand in parentheses or, where they are kept, are columns of a step before.
type scalar struct {
	parts  []any // string, column or *scalar
	uses   int
	atom   bool   // needs no parentheses
	sum    bool   // is a sum, in which products need none
	times  bool   // is a product
	simple bool   // costs nothing to write again
	name   string // of its column, if it is kept
	level  int    // of the step that has the column, from 1
}

type column int

type sqlPrinter struct {
	program *Program
	dialect string
	ids     []string
	steps   [][]*scalar // of each step: its numbers
	kept    []*scalar
	names   map[string]int
}

// expr makes a scalar and counts the uses of those it is made of.
func expr(parts ...any) *scalar {
	e := &scalar{parts: parts}
	for _, p := range parts {
		if of, ok := p.(*scalar); ok {
			of.uses++
		}
	}
	return e
}

func atom(parts ...any) *scalar {
	e := expr(parts...)
	e.atom = true
	return e
}

// literal is a number. PostgreSQL would take it for a decimal, and compute with it
// as such.
func (s *sqlPrinter) literal(x float64) *scalar {
	text := number(x)
	switch {
	case s.dialect == "postgres":
		text = "float8 '" + text + "'"
	case !strings.ContainsAny(text, ".e"):
		text += ".0"
	}
	if s.dialect == "duckdb" && !strings.Contains(text, "e") {
		text += "e0"
	}
	return &scalar{parts: []any{text}, atom: x >= 0 || s.dialect == "postgres", simple: true}
}

func (s *sqlPrinter) step(step *Step) []*scalar {
	to := make([]*scalar, step.Width)
	of := func(i, k int) *scalar {
		x := s.steps[step.Of[i]]
		return x[min(k, len(x)-1)]
	}
	switch step.Op {
	case Softmax:
		s.softmax(step, to)
	case Walk:
		s.walk(step, to)
	case Join:
		to = to[:0]
		for _, r := range step.Of {
			to = append(to, s.steps[r]...)
		}
	default:
		for k := range to {
			to[k] = s.one(step, k, of)
		}
	}
	if step.Op == Sum && len(step.Tests) > 0 || step.Op == Affine && step.Width > 1 {
		for _, e := range to {
			s.keep(e, "score")
		}
	}
	return to
}

// one writes one number of a step.
func (s *sqlPrinter) one(step *Step, k int, of func(i, k int) *scalar) *scalar {
	infix := map[Op]string{Add: " + ", Subtract: " - ", Multiply: " * ", Divide: " / "}
	switch step.Op {
	case Constant:
		return s.literal(step.Numbers[k])
	case Cell:
		e := atom("COALESCE(", s.cell(step.Column), ", ", s.literal(step.Numbers[0]), ")")
		e.simple = true
		return e
	case Lookup:
		return s.lookup(step, k)
	case First:
		return s.cases(len(step.Tests), func(i int) (*scalar, float64) { return s.test(&step.Tests[i]), step.row(i)[k] }, step.row(len(step.Tests))[k])
	case Sum:
		terms := []*scalar{s.literal(step.row(0)[k])}
		for i := range step.Tests {
			if x := step.row(i + 1)[k]; x != 0 {
				terms = append(terms, atom("CASE WHEN ", s.test(&step.Tests[i]), " THEN ", s.literal(x), " ELSE ", s.literal(0), " END"))
			}
		}
		return s.sum(terms)
	case Affine:
		return s.affine(step, k, of)
	case Take:
		return of(0, step.Index)
	case Choose:
		return atom("CASE WHEN ", s.test(&step.Tests[0]), " THEN ", of(0, k), " ELSE ", of(1, k), " END")
	case Best:
		return s.best(step, k, of)
	case Add, Subtract, Multiply, Divide:
		return expr(of(0, k), infix[step.Op], of(1, k))
	case Least, Greatest:
		return s.extreme(step.Op, of(0, k), of(1, k))
	case Rectify:
		return s.extreme(Greatest, of(0, k), s.literal(0))
	case Exp:
		return s.exp(of(0, k), false)
	case Logistic:
		return expr(s.literal(1), " / ", expr(s.literal(1), " + ", s.exp(expr("-", of(0, k)), false)))
	case Tanh: // which not every database has, and which exp gives without loss where it counts
		return expr(s.literal(1), " - ", expr(s.literal(2), " / ", expr(s.literal(1), " + ", s.exp(expr(s.literal(2), " * ", of(0, k)), false))))
	case Log:
		return atom("ln(", of(0, k), ")")
	}
	return atom(string(step.Op), "(", of(0, k), ")")
}

// cell is a column as a number that is computed with.
func (s *sqlPrinter) cell(c int) *scalar {
	if s.dialect == "sqlite" {
		return atom(column(c))
	}
	return atom("CAST(", column(c), " AS double precision)")
}

// exp stays within what is a number: PostgreSQL makes an error of what is not.
func (s *sqlPrinter) exp(x *scalar, negative bool) *scalar {
	switch {
	case s.dialect != "postgres":
		return atom("exp(", x, ")")
	case negative:
		return atom("exp(GREATEST(", x, ", -700))")
	}
	return atom("exp(LEAST(GREATEST(", x, ", -700), 700))")
}

func (s *sqlPrinter) extreme(op Op, of ...*scalar) *scalar {
	if len(of) == 1 {
		return of[0]
	}
	name := map[Op]string{Least: "LEAST(", Greatest: "GREATEST("}[op]
	if s.dialect == "sqlite" {
		name = map[Op]string{Least: "min(", Greatest: "max("}[op]
	}
	parts := []any{name}
	for i, e := range of {
		if i > 0 {
			parts = append(parts, ", ")
		}
		parts = append(parts, e)
	}
	return atom(append(parts, ")")...)
}

// together is how many terms stand side by side: databases bound how deep
// expressions are, and sums are deep.
const together = 100

func (s *sqlPrinter) sum(terms []*scalar) *scalar {
	if len(terms) == 1 {
		return terms[0]
	}
	for len(terms) > together {
		var next []*scalar
		for part := range slices.Chunk(terms, together) {
			next = append(next, s.sum(part))
		}
		terms = next
	}
	var parts []any
	for i, t := range terms {
		if i > 0 {
			parts = append(parts, "\n    + ")
		}
		parts = append(parts, t)
	}
	e := expr(parts...)
	e.sum = true
	return e
}

// product is a number times another.
func product(x, y *scalar) *scalar {
	e := expr(x, " * ", y)
	e.times = true
	return e
}

func (s *sqlPrinter) affine(step *Step, k int, of func(i, k int) *scalar) *scalar {
	n := len(s.steps[step.Of[0]])
	factors := step.Numbers[k*(n+1):][:n+1]
	var terms []*scalar
	if factors[0] != 0 {
		terms = append(terms, s.literal(factors[0]))
	}
	for i, f := range factors[1:] {
		switch f {
		case 0:
		case 1:
			terms = append(terms, of(0, i))
		default:
			terms = append(terms, product(s.literal(f), of(0, i)))
		}
	}
	if len(terms) == 0 {
		return s.literal(0)
	}
	return s.sum(terms)
}

func (s *sqlPrinter) softmax(step *Step, to []*scalar) {
	x := s.steps[step.Of[0]]
	for _, e := range x {
		s.keep(e, "score")
	}
	top := s.extreme(Greatest, x...)
	top.simple = len(x) <= few
	s.keep(top, "top")
	var weights []*scalar
	for _, e := range x {
		below := expr(e, " - ", top)
		w := s.exp(below, true)
		if below.simple = top.simple; len(step.Numbers) > 0 {
			w = atom("CASE WHEN ", below, " > ", s.literal(step.Numbers[0]), " THEN ", w, " ELSE ", s.literal(0), " END")
		}
		s.keep(w, "weight")
		weights = append(weights, w)
	}
	total := s.sum(slices.Clone(weights))
	for k := range to {
		to[k] = expr(weights[k], " / ", total)
	}
	total.simple = len(x) <= few
	s.keep(total, "total")
}

// few numbers are written again rather than kept.
const few = 4

// walk gives each leaf a column that says how much of a row comes to it.
func (s *sqlPrinter) walk(step *Step, to []*scalar) {
	reach := make([]*scalar, len(step.Nodes)) // nil: all of it
	terms := make([][]*scalar, len(to))
	for i := range step.Nodes {
		n := &step.Nodes[i]
		for b := range n.Branches {
			reach[n.Branches[b].To] = s.branch(n, b, reach[i])
		}
		if len(n.Branches) > 0 {
			continue
		}
		if reach[i] == nil {
			reach[i] = s.literal(1)
		}
		s.keep(reach[i], "leaf")
		for k, x := range step.row(n.Row) {
			if x != 0 {
				terms[k] = append(terms[k], product(reach[i], s.literal(x)))
			}
		}
	}
	for k := range to {
		if to[k] = s.literal(0); len(terms[k]) > 0 {
			to[k] = s.sum(terms[k])
		}
	}
}

// branch is the share of a row that goes down a branch.
func (s *sqlPrinter) branch(n *Node, b int, above *scalar) *scalar {
	parts := []any{"CASE"}
	for i := range n.Branches {
		then := s.literal(0)
		if i == b {
			then = s.literal(1)
		}
		parts = append(parts, " WHEN ", s.test(&n.Branches[i].Test), " THEN ", then)
	}
	e := atom(append(parts, " ELSE ", s.literal(n.Branches[b].Share), " END")...)
	if above == nil {
		return e
	}
	return atom(above, "\n    * ", e)
}

// cases is a CASE of tests and numbers.
func (s *sqlPrinter) cases(n int, at func(i int) (*scalar, float64), last float64) *scalar {
	if n == 0 {
		return s.literal(last)
	}
	parts := []any{"CASE"}
	for i := range n {
		test, x := at(i)
		parts = append(parts, "\n      WHEN ", test, " THEN ", s.literal(x))
	}
	return atom(append(parts, "\n      ELSE ", s.literal(last), " END")...)
}

func (s *sqlPrinter) lookup(step *Step, k int) *scalar {
	unseen, missing := step.row(0)[k], step.row(1)[k]
	parts := []any{"CASE"}
	if missing != unseen {
		parts = append(parts, " WHEN ", column(step.Column), " IS NULL THEN ", s.literal(missing))
	}
	for v := range step.rows() - 2 {
		if x := step.row(v + 2)[k]; x != unseen {
			parts = append(parts, " WHEN ", column(step.Column), " = ", text(s.program.Columns[step.Column].Values[v]), " THEN ", s.literal(x))
		}
	}
	if len(parts) == 1 {
		return s.literal(unseen)
	}
	return atom(append(parts, " ELSE ", s.literal(unseen), " END")...)
}

// best is 1 where a number is the greatest, of equals the first in order.
func (s *sqlPrinter) best(step *Step, k int, of func(i, k int) *scalar) *scalar {
	for i := range step.Width {
		s.keep(of(0, i), "said")
	}
	parts := []any{"CASE WHEN "}
	before := true
	for _, i := range step.Order {
		if i == k {
			before = false
			continue
		}
		relation := " >= "
		if before {
			relation = " > "
		}
		if len(parts) > 1 {
			parts = append(parts, " AND ")
		}
		parts = append(parts, of(0, k), relation, of(0, i))
	}
	if len(parts) == 1 {
		return s.literal(1)
	}
	return atom(append(parts, " THEN ", s.literal(1), " ELSE ", s.literal(0), " END")...)
}

// test is a condition. NULL in it counts as false, as it does in WHEN.
func (s *sqlPrinter) test(t *Test) *scalar {
	switch t.Op {
	case Between:
		var parts []any
		for i, r := range t.relations() {
			if i > 0 {
				parts = append(parts, " AND ")
			}
			parts = append(parts, column(t.Column), " ", r[0], " ", r[1])
		}
		return atom(parts...) // AND binds faster than OR, and AND does not mind
	case Among:
		return atom(append([]any{column(t.Column)}, list(t.Points, number)...)...)
	case In, NotIn:
		return s.named(t)
	case Missing:
		return atom(column(t.Column), " IS NULL")
	case Known:
		return atom(column(t.Column), " IS NOT NULL")
	case Above:
		return atom(s.steps[t.Of][0], " > ", s.literal(*t.Low))
	case AtMost:
		return atom(s.steps[t.Of][0], " <= ", s.literal(*t.High))
	case Not:
		return atom("(", s.test(&t.Tests[0]), ") IS NOT TRUE")
	}
	var parts []any
	between := " AND "
	if t.Op == AtLeast {
		between = " OR "
	}
	if t.Op == AtLeast && t.Count > 1 && len(t.Tests) > 0 {
		for i := range t.Tests {
			if i > 0 {
				parts = append(parts, " + ")
			}
			parts = append(parts, atom("CASE WHEN ", s.test(&t.Tests[i]), " THEN 1 ELSE 0 END"))
		}
		return expr(append(parts, fmt.Sprintf(" >= %d", t.Count))...)
	}
	for i := range t.Tests {
		if i > 0 {
			parts = append(parts, between)
		}
		parts = append(parts, s.test(&t.Tests[i]))
	}
	switch {
	case t.Op == AtLeast && t.Count <= 0, t.Op == All && len(parts) == 0:
		return atom("1 = 1")
	case len(parts) == 0:
		return atom("1 = 0")
	}
	return expr(parts...)
}

// named is a test of a name.
func (s *sqlPrinter) named(t *Test) *scalar {
	values := s.program.Columns[t.Column].Values
	texts := make([]string, len(t.Values))
	for i, v := range t.Values {
		texts[i] = text(values[v])
	}
	switch {
	case len(texts) == 0 && t.Op == In:
		return expr("1 = 0")
	case len(texts) == 0:
		return atom(column(t.Column), " IS NOT NULL")
	case len(texts) == 1 && t.Op == In:
		return atom(column(t.Column), " = ", texts[0])
	case len(texts) == 1:
		return atom(column(t.Column), " <> ", texts[0])
	case t.Op == NotIn:
		return atom(column(t.Column), " NOT IN (", strings.Join(texts, ", "), ")")
	}
	return atom(column(t.Column), " IN (", strings.Join(texts, ", "), ")")
}

func list(points []float64, write func(float64) string) []any {
	texts := make([]string, len(points))
	for i, x := range points {
		texts[i] = write(x)
	}
	if len(texts) == 0 {
		return []any{" IS NULL AND 1 = 0"}
	}
	if len(texts) == 1 {
		return []any{" = " + texts[0]}
	}
	return []any{" IN (" + strings.Join(texts, ", ") + ")"}
}

// text is a string of SQL.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoted is a name of SQL.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

var plain = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// keep makes a scalar a column of a step, if that is worth it.
func (s *sqlPrinter) keep(e *scalar, name string) {
	if e.name != "" || e.simple {
		return
	}
	if s.names == nil {
		s.names = map[string]int{}
	}
	s.names[name]++
	e.name = fmt.Sprintf("%s_%d", name, s.names[name])
	s.kept = append(s.kept, e)
}
