package relation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/logic/plan"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// newWriter knows how the numbers of a database are written.
func newWriter(db *database) *writer {
	w := &writer{formats: map[string]table.Attribute{}}
	if db != nil {
		for _, r := range db.relations {
			if r.numeric() {
				w.formats[r.name] = r.attribute
			}
		}
	}
	return w
}

// head is the predicate of the clauses, and the class that stands in their heads: none
// where that goes without saying.
func (m *Model) head(class int) (name, value string) {
	name, value = m.lesson.Target, m.classes()[class]
	if m.linked != nil && len(m.linked.Tables) == 0 {
		name, _, _ = strings.Cut(m.linked.Of, "/")
	}
	if len(m.classes()) == 2 && slices.Contains([]string{"1", "yes", "true", "+", logic.Belongs}, value) {
		value = ""
	}
	return name, value
}

func (m *Model) formats() *writer {
	if len(m.writer.formats) > 0 {
		return m.writer
	}
	if m.linked != nil {
		return newWriter(compiled(m.linked))
	}
	w := newWriter(nil)
	for _, a := range m.schema.Attributes {
		w.formats[a.Name] = a
	}
	return w
}

// clause returns the i-th clause as logic writes it.
func (m *Model) clause(w *writer, i int) *logic.Clause {
	if text := m.list[i].Text; text != "" {
		if p, err := logic.Read("clause", text); err == nil && len(p.Clauses) == 1 {
			return p.Clauses[0]
		}
	}
	name, value := m.head(m.list[i].Class)
	return w.clause(name, m.arity, value, m.list[i].Body)
}

// Clauses returns the clauses in the order in which they answer, and the default.
func (m *Model) Clauses() []logic.Rule {
	var all []logic.Rule
	w := m.formats()
	for i := range m.list {
		c := m.clause(w, i)
		l := &m.list[i]
		all = append(all, logic.Rule{ID: c.ID(), Text: c.String(), Words: m.words(w, i), Class: m.classes()[l.Class], Probability: m.answerOf(i)[l.Class], Covered: sum(l.First), Correct: l.First[l.Class]})
		if i > 0 {
			all[i].Note = l.Note
		}
		if l.Worth > 0 {
			all[i].Told = l.Worth
		}
	}
	class := learn.Best(m.answerOf(len(m.list)), m.classes())
	covered, correct := sum(m.rest), m.rest[class]
	name, _ := m.head(class)
	c := w.clause(name, m.arity, m.classes()[class], nil)
	text := "otherwise " + m.lesson.Target + " = " + m.classes()[class]
	return append(all, logic.Rule{ID: c.ID(), Text: "% " + text, Words: text, Class: m.classes()[class], Probability: m.answerOf(len(m.list))[class], Covered: covered, Correct: correct})
}

// Explain gives the clause that answers for a row, with what it was proved by.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := m.fits(t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not in the table of %d rows", row, t.Rows())
	}
	if m.weighing != nil {
		return m.explainWeighed(t, row)
	}
	a, err := m.ask(t.Slice(row, row+1))
	if err != nil {
		return nil, err
	}
	first := make([]int, 1)
	if err := a.matches(context.Background(), first); err != nil {
		return nil, err
	}
	i := first[0]
	text, id := "ALWAYS", ""
	if i < len(m.list) {
		id, text = m.because(a, i)
	}
	x := &learn.Explanation{Prior: logs(m.appendAnswer(nil, m.all, sum(m.all))), Additive: true}
	for class, l := range logs(m.answerOf(i)) {
		x.Evidence = append(x.Evidence, learn.Evidence{ID: id, Text: text, Class: class, Weight: l - x.Prior[class]})
	}
	return x, nil
}

// because says which clause covers a row, and by what.
func (m *Model) because(a *asked, i int) (id, text string) {
	w := newWriter(a.db)
	c := m.clause(w, i)
	switch {
	case m.linked == nil:
		return c.ID(), m.tests(i)
	case a.db.program == nil && m.list[i].Text == "":
		text = m.words(w, i)
	default:
		text = c.String()
	}
	return c.ID(), text + " " + m.proof(a, w, i)
}

// impossible stands for the logarithm of 0, so that sums stay finite.
const impossible = -1000

func logs(p []float64) []float64 {
	l := make([]float64, len(p))
	for c, q := range p {
		if l[c] = impossible; q > 0 {
			l[c] = math.Log(q)
		}
	}
	return l
}

// tests writes a clause about rows that stand alone in the rule language.
func (m *Model) tests(i int) string {
	var all []string
	for _, c := range m.list[i].Body {
		if c.Op == none && len(c.Constants) == 0 {
			continue // that there is a value
		}
		t := rule.Test{Column: c.Relation, Op: rule.Eq}
		switch {
		case c.Op == none:
			t.Value = c.Constants[0]
			if c.Negated {
				t.Op = rule.Ne
			}
		default:
			t.Number, t.Op = c.Cut, rule.Le
			if (c.Op == above) != c.Negated {
				t.Op = rule.Gt
			}
		}
		all = append(all, t.String())
	}
	return strings.Join(all, " AND ")
}

// proof writes the tuples by which a clause covers a row.
func (m *Model) proof(a *asked, w *writer, i int) string {
	if a.planner != nil {
		acts, _, _ := a.planner.solve(context.Background(), a.tuple(0))
		return "by " + plan.Format(acts)
	}
	if a.program != nil {
		return a.because(i)
	}
	body := a.bodies[i]
	binding := make([]int32, 0, 64)
	for _, c := range a.examples.columns {
		binding = append(binding, c[0])
	}
	tuples := make([]int32, len(body))
	budget := mostProofSteps
	if _, ok := prove(body, 0, binding, tuples, &budget); !ok {
		return ""
	}
	var facts []string
	for k, l := range body {
		if l.relation == nil {
			continue
		}
		if l.negated {
			facts = append(facts, "there is no such "+words(l.relation.name))
			continue
		}
		var args []string
		for j := range l.args {
			args = append(args, a.db.nameOf(l.relation.places[j].domain, l.relation.columns[j][tuples[k]]))
		}
		if l.relation.numeric() {
			at := w.formats[l.relation.name]
			args = append(args, at.Format(l.relation.numbers[tuples[k]]))
		}
		facts = append(facts, strings.TrimSuffix(l.relation.name, numberMark)+"("+strings.Join(args, ",")+")"+a.db.members(l.relation, tuples[k]))
	}
	return "because " + strings.Join(facts, ", ")
}

// mostMembers is how many rows are named of which a number is an aggregate.
const mostMembers = 8

// members names the rows that an aggregate is of; "" if it is none.
func (db *database) members(r *relation, tuple int32) string {
	if r.over == nil {
		return ""
	}
	rows := r.over.with(1, r.columns[0][tuple])
	var names []string
	for _, row := range rows[:min(len(rows), mostMembers)] {
		names = append(names, db.nameOf(r.over.places[0].domain, r.over.columns[0][row]))
	}
	if more := len(rows) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return " of " + db.domains[r.over.places[0].domain].name + " " + strings.Join(names, ", ")
}

// because is the proof of a clause that calls itself, the facts at its leaves.
func (a *asked) because(i int) string {
	body, _ := a.clauses[i].Instance(a.tuple(0))
	var facts []string
	_ = a.program.Prove(context.Background(), body, logic.Limits{Steps: mostProofSteps}, func(answer logic.Answer) bool {
		for _, p := range answer.Proofs {
			p.Leaves(func(l logic.Literal) { facts = append(facts, l.Format(nil)) })
		}
		return false
	})
	return "because " + strings.Join(facts, ", ")
}

func (db *database) nameOf(domain int, code int32) string {
	if names := db.domains[domain].names; code >= 0 && int(code) < len(names) && names[code] != "" {
		return names[code]
	}
	return "this row"
}
