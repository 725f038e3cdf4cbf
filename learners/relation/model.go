package relation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Model is a list of clauses, of which the first that covers a row answers. It is
// immutable.
type Model struct {
	lesson lesson
	rows   *kept.Rows
	around *surroundings
	linked *table.Linked // of all sources; nil if rows stand alone
	schema *table.Schema
	target int
	arity  int // of the clauses' heads
	writer *writer

	list []listed
	rest []float64 // class weights of the rows that no clause covers
	all  []float64 // class weights of all rows

	weighing *weighing // nil: the first clause that covers a row answers

	answer []float64 // class probabilities: of each clause, then of the default

	proving struct {
		once    sync.Once
		program *logic.Program
	}
}

// listed is a clause of the list.
type listed struct {
	Class int         `cbor:"class"` // that it was learnt for
	Body  []Condition `cbor:"body"`
	First []float64   `cbor:"first"` // class weights of the rows that it is the first to cover
	// Text is the clause where it is more than conditions on relations.
	Text string `cbor:"text,omitempty"`
	// Note is what else there is to say of it.
	Note string `cbor:"note,omitempty"`
	// Worth is how many rows it counts for if it was told.
	Worth float64 `cbor:"worth,omitempty"`
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
)

// derive computes the probabilities: the frequencies of the classes with m rows more,
// of all classes as they are frequent.
func (m *Model) derive() {
	m.answer = m.answer[:0]
	total := sum(m.all)
	for i := range m.list {
		counts := m.list[i].First
		if w := m.list[i].Worth; w > 0 {
			counts = slices.Clone(counts)
			counts[m.list[i].Class] += w
		}
		m.answer = m.appendAnswer(m.answer, counts, total)
	}
	rest := m.rest
	if other := slices.Index(m.classes(), logic.Other); m.lesson.Settings.Algorithm == EBGName && other >= 0 {
		// The world is closed: what no rule proves does not belong, also where the theory
		// leaves examples unexplained.
		rest = slices.Clone(rest)
		rest[other] += sum(rest) + 1
	}
	if sum(rest) == 0 {
		rest = m.all
	}
	m.answer = m.appendAnswer(m.answer, rest, total)
}

func (m *Model) appendAnswer(answer, counts []float64, total float64) []float64 {
	own := sum(counts) + m.lesson.Settings.M
	for c, w := range counts {
		if own > 0 {
			answer = append(answer, (w+m.lesson.Settings.M*m.all[c]/total)/own)
		} else {
			answer = append(answer, m.all[c]/total)
		}
	}
	return answer
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}

func (m *Model) classes() []string { return m.schema.Attributes[m.target].Values }

// Learner returns "foil", or another learner of clauses.
func (m *Model) Learner() string { return cmp.Or(m.lesson.Settings.Algorithm, FoilName) }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the clauses, the default among them.
func (m *Model) Size() learn.Size { return learn.Size{Rows: sum(m.all), Rules: len(m.list) + 1} }

// Novel lists the columns in which names that the model has not seen count: those by
// which rows are found in the tables around them.
func (m *Model) Novel() []int {
	if m.linked == nil {
		return nil
	}
	var columns []int
	for i, a := range m.schema.Attributes {
		if i != m.target && a.Kind == table.Nominal {
			columns = append(columns, i)
		}
	}
	return columns
}

// asked is a table with what answers for it.
type asked struct {
	db       *database
	examples *examples
	bodies   [][]literal
	program  *logic.Program // of clauses that call themselves; nil if none does
	clauses  []*logic.Clause
	table    *table.Table
	target   int
	planner  *planner // of problems; nil if rows are none
	count    int      // of the model's clauses
}

// ask prepares the clauses for a table: over what its rows point at or, if they stand
// alone, over what the model has learnt from.
func (m *Model) ask(t *table.Table) (*asked, error) {
	a := &asked{table: t, target: m.target, count: len(m.list)}
	base := m.base(t.Linked)
	a.db, a.examples = base.over(t, m.target)
	m.degrees(a.db, a.examples)
	if base.program == nil {
		prefix := ""
		if base.of >= 0 {
			prefix = base.domains[base.of].name + "_"
		}
		a.db.compared(t, prefix, a.examples, m.list)
	}
	if m.isPlanned(base) && len(m.list) > 0 {
		var err error
		a.planner, err = m.planner(base.program)
		return a, err
	}
	if base.program != nil && (m.isRecursive() || m.lesson.Settings.Algorithm == EBGName && m.lesson.Settings.Theory != "") {
		w := newWriter(nil)
		for i := range m.list {
			a.clauses = append(a.clauses, m.clause(w, i))
		}
		a.program = logic.NewProgram(slices.Concat(base.program.Clauses, m.computing(), a.clauses))
		return a, nil
	}
	for i := range m.list {
		body := a.db.bound(m.list[i].Body)
		for k := range body {
			if r := body[k].relation; r != nil {
				for c := range r.columns {
					r.indexed(c) // not while others read
				}
			}
		}
		a.bodies = append(a.bodies, body)
	}
	return a, nil
}

// isRecursive reports whether a clause calls the relation that it is of.
func (m *Model) isRecursive() bool {
	name, _ := m.head(0)
	return slices.ContainsFunc(m.list, func(l listed) bool {
		return slices.ContainsFunc(l.Body, func(c Condition) bool { return c.Relation == name && len(c.Args) == m.arity })
	})
}

// matches finds for each row the clause that answers; as many as there are for the
// default.
func (a *asked) matches(ctx context.Context, first []int) error {
	if a.planner != nil {
		return a.plans(ctx, first, a.count)
	}
	if a.program != nil {
		for r := range first {
			var err error
			if first[r], err = a.prove(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
	return learn.Split(ctx, len(first), func(lo, hi int) {
		binding := make([]int32, 0, 64)
		for r := lo; r < hi; r++ {
			first[r] = a.match(r, binding)
		}
	})
}

// match returns the clause that answers for a row; as many as there are for the
// default.
func (a *asked) match(row int, binding []int32) int {
	for i, body := range a.bodies {
		binding = binding[:0]
		for _, c := range a.examples.columns {
			binding = append(binding, c[row])
		}
		budget := mostProofSteps
		if _, ok := prove(body, 0, binding, nil, &budget); ok {
			return i
		}
	}
	return len(a.bodies)
}

// tuple is the terms of a row of examples.
func (a *asked) tuple(row int) []logic.Term {
	var args []logic.Term
	for i := range a.table.Columns {
		if i != a.target && a.table.Schema.Attributes[i].Kind == table.Nominal {
			args = append(args, constantTerm(a.table.Text(row, i)))
		}
	}
	return args
}

// prove is match for clauses that call themselves: the prover follows them.
func (a *asked) prove(ctx context.Context, row int) (int, error) {
	args := a.tuple(row)
	for i, c := range a.clauses {
		body, ok := c.Instance(args)
		if !ok {
			continue
		}
		holds, err := a.program.Holds(ctx, body, logic.Limits{Steps: mostProofSteps})
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err == nil && holds { // what is not proved within limits is not covered
			return i, nil
		}
	}
	return len(a.clauses), nil
}

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := m.fits(t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.classes())
	if out.Classes != k || len(out.P) < rows*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*k, k)
	}
	if rows == 0 {
		return ctx.Err()
	}
	if m.weighing != nil {
		return m.weighed(ctx, t, out)
	}
	a, err := m.ask(t)
	if err != nil {
		return err
	}
	first := make([]int, rows)
	if err := a.matches(ctx, first); err != nil {
		return err
	}
	for r, i := range first {
		copy(out.Row(r), m.answerOf(i))
	}
	return nil
}

// fits returns an error unless the table has the model's columns; names may be new.
func (m *Model) fits(t *table.Table) error {
	if m.linked == nil {
		return table.Fits(m.schema, t)
	}
	if len(t.Schema.Attributes) != len(m.schema.Attributes) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(t.Schema.Attributes), len(m.schema.Attributes))
	}
	for i := range m.schema.Attributes {
		if a, b := &m.schema.Attributes[i], &t.Schema.Attributes[i]; a.Name != b.Name || a.Kind != b.Kind {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", i+1, b.Name, b.Kind, a.Name, a.Kind)
		}
	}
	return nil
}

func (m *Model) answerOf(clause int) []float64 {
	k := len(m.classes())
	return m.answer[clause*k : (clause+1)*k]
}

// mostProved is how many facts of tables are put before the prover; of larger ones only
// those of relations that clauses name.
const mostProved = 3_000_000

// Program returns the clauses with all that is known around the rows, which answers
// goals. Dates are numbers in it: days since 1970.
func (m *Model) Program() *logic.Program {
	m.proving.once.Do(func() {
		w := newWriter(nil)
		var clauses []*logic.Clause
		for i := range m.list {
			clauses = append(clauses, m.clause(w, i))
		}
		base := m.base(nil)
		if base.program != nil {
			m.proving.program = logic.NewProgram(slices.Concat(base.program.Clauses, m.computing(), clauses))
			return
		}
		facts := 0
		for _, r := range base.relations {
			facts += r.size()
		}
		for _, r := range base.relations {
			if facts <= mostProved || m.names(r.name) {
				clauses = base.facts(r, clauses)
			}
		}
		if row := compound(base.rows(), []logic.Term{logic.Var(0)}); base.of >= 0 { // a clause that begins with what is not so asks of rows
			for _, c := range clauses[:len(m.list)] {
				c.Body = slices.Insert(c.Body, 0, logic.Literal{Atom: row})
			}
			for _, name := range base.domains[base.of].names {
				clauses = append(clauses, &logic.Clause{Head: compound(base.rows(), []logic.Term{constantTerm(name)})})
			}
		}
		m.proving.program = logic.NewProgram(clauses)
	})
	return m.proving.program
}

// rows is the predicate of the rows that clauses are of.
func (db *database) rows() string {
	if db.of < 0 {
		return ""
	}
	return db.domains[db.of].name
}

func (m *Model) names(relation string) bool {
	return slices.ContainsFunc(m.list, func(l listed) bool {
		return slices.ContainsFunc(l.Body, func(c Condition) bool { return c.Relation == relation })
	})
}

// facts appends a relation's tuples as facts.
func (db *database) facts(r *relation, to []*logic.Clause) []*logic.Clause {
	for i := range r.size() {
		args := make([]logic.Term, 0, len(r.places))
		for k, column := range r.columns {
			if column[i] < 0 || column[i] == unknown {
				break
			}
			args = append(args, constantTerm(db.domains[r.places[k].domain].names[column[i]]))
		}
		if r.numeric() && !table.IsMissing(r.numbers[i]) {
			args = append(args, numberTerm(&table.Attribute{}, r.numbers[i]))
		}
		if len(args) == len(r.places) {
			to = append(to, &logic.Clause{Head: compound(r.name, args)})
		}
	}
	return to
}
