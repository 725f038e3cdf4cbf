package cover

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is a list of rules, of which the first that matches answers. It is
// immutable.
type Model struct {
	settings settings
	seed     uint64
	rows     *kept.Rows // nil: not kept
	schema   *table.Schema
	target   int

	list []listed
	rest []float64 // class weights of the rows that no rule covers
	all  []float64 // class weights of all rows
	// why says for each class why no more rules came; one reason if rules
	// are learnt for all classes at once.
	why []stop

	answer []float64 // class probabilities: of each rule, then of the default
}

// listed is a rule of the list.
type listed struct {
	tests []condition
	class int       // that it was learnt for
	first []float64 // class weights of the rows that it is the first to cover
	// alone is the class weights of all rows that it covers; nil unless it
	// is the first to cover none.
	alone []float64
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
	_ learn.Grower    = (*Model)(nil)
)

// cover learns the list from the rows' table.
func (m *Model) cover(ctx context.Context, t *table.Table) error {
	x, err := newExamples(ctx, t, m.target)
	if err != nil {
		return err
	}
	c := newCovering(x, m.settings, m.seed)
	c.progress = func(f float64) { learn.Report(ctx, min(f, 1)*almostAll) }
	list, why, err := c.rules(ctx)
	if err != nil {
		return err
	}
	m.why = why
	if err := m.assemble(ctx, c, list); err != nil {
		return err
	}
	m.derive()
	return nil
}

// almostAll is the part of the work that covering is.
const almostAll = 0.95

// assemble counts what each rule is the first to cover. A rule that repeats an
// earlier one is left out, and so is what follows one without tests.
func (m *Model) assemble(ctx context.Context, c *covering, list []learnt) error {
	left, of := bits.Fill(c.rowCount()), bits.New(c.rowCount())
	weigh := func(rows bits.Set) []float64 {
		counts := make([]float64, c.classes)
		for r := range rows.All {
			counts[c.class[r]] += c.weight[r]
		}
		return counts
	}
	m.all = weigh(left)
	for _, found := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(found.tests) == 0 {
			break
		}
		rows := c.cover(found.tests)
		bits.And(of, rows, left)
		l := listed{tests: found.tests, class: found.class, first: weigh(of)}
		if sum(l.first) == 0 {
			repeats := slices.ContainsFunc(m.list, func(have listed) bool { return sameTests(have.tests, l.tests) })
			if l.alone = weigh(rows); repeats || sum(l.alone) == 0 {
				continue
			}
		}
		m.list = append(m.list, l)
		bits.AndNot(left, left, rows)
	}
	m.rest = weigh(left)
	return nil
}

// derive computes the probabilities: the frequencies of the classes with m
// rows more, of all classes in equal parts, so that the most frequent class
// stays the most probable.
func (m *Model) derive() {
	m.answer = m.answer[:0]
	for i := range m.list {
		counts := m.list[i].first
		if m.list[i].alone != nil {
			counts = m.list[i].alone
		}
		m.answer = m.appendAnswer(m.answer, counts)
	}
	counts := m.rest
	if sum(counts) == 0 {
		counts = m.all
	}
	m.answer = m.appendAnswer(m.answer, counts)
}

func (m *Model) appendAnswer(answer, counts []float64) []float64 {
	k := float64(len(counts))
	total := sum(counts) + m.settings.M
	for _, w := range counts {
		answer = append(answer, (w+m.settings.M/k)/total)
	}
	return answer
}

func (m *Model) classes() []string { return m.schema.Attributes[m.target].Values }

// Learner returns "cover".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the rules, the default among them.
func (m *Model) Size() learn.Size { return learn.Size{Rows: sum(m.all), Rules: len(m.list) + 1} }

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.classes())
	if out.Classes != k || len(out.P) < rows*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*k, k)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(out.Row(r), m.answerOf(m.match(t.Columns, r)))
		}
	})
}

// match returns the rule that answers for a row; len(m.list) for the default.
func (m *Model) match(columns []table.Column, row int) int {
next:
	for i := range m.list {
		tests := m.list[i].tests
		for k := range tests {
			if !tests[k].holds(columns, row) {
				continue next
			}
		}
		return i
	}
	return len(m.list)
}

func (m *Model) answerOf(rule int) []float64 {
	k := len(m.classes())
	return m.answer[rule*k : (rule+1)*k]
}
