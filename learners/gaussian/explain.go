package gaussian

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// impossible is the log of a probability that is 0.
const impossible = -1000

// Explain returns what each known cell adds to the answer, cell after cell in
// the order of the columns: the log probability of each class, or the expected
// number, given the cells so far, less that without the last one. As columns
// are not independent over all units, what a cell adds depends on those before
// it; the sum does not. A density answers nothing, and has nothing to explain.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	target := m.total.target
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	if target == learn.NoTarget {
		return &learn.Explanation{}, nil
	}
	q := m.question(target)
	e := &learn.Explanation{Prior: q.answer(), Additive: true}
	last := append([]float64(nil), e.Prior...)
	var missing []int
	for j := range m.columns {
		c, cell := &m.columns[j], t.Columns[j]
		switch {
		case j == target:
			continue
		case c.share != nil && cell.Codes[row] == table.Missing, c.share == nil && table.IsMissing(cell.Floats[row]):
			missing = append(missing, j)
			continue
		case c.share != nil && cell.Codes[row] < 0, c.share == nil && (c.precision == nil || !finite(cell.Floats[row])):
			continue
		case c.share != nil:
			q.known[j].Codes[0] = cell.Codes[row]
		default:
			q.known[j].Floats[0] = cell.Floats[row]
		}
		text := rule.Test{Op: rule.Eq, Column: m.total.schema.Attributes[j].Name, Value: t.Text(row, j)}.String()
		now := q.answer()
		for class := range now {
			if now[class] != last[class] {
				e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: class, Weight: now[class] - last[class]})
			}
		}
		last = now
	}
	for _, j := range missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.total.schema.Attributes[j].Name, CouldMove: q.couldMove(j, last)})
	}
	return e, nil
}

// question is a row whose cells become known one after the other.
type question struct {
	*Model
	view  *view
	known []table.Column
	logs  []float64
}

// question returns the row of which nothing is known.
func (m *Model) question(target int) *question {
	q := &question{Model: m, view: m.view(target), known: make([]table.Column, len(m.columns)), logs: make([]float64, len(m.logPrior))}
	for j := range q.known {
		if m.columns[j].share != nil {
			q.known[j].Codes = []int32{table.Missing}
		} else {
			q.known[j].Floats = []float64{table.NA}
		}
	}
	return q
}

// answer returns the log probabilities of the classes, or the expected number,
// given what is known.
func (q *question) answer() []float64 {
	q.view.explain(&table.Table{Schema: q.total.schema, Columns: q.known}, 0, 1, q.logs)
	q.posterior(q.logs)
	c := &q.columns[q.total.target]
	if c.share == nil {
		mean, _, _ := q.view.expect(0).answers().Number(q.logs)
		return []float64{mean}
	}
	p := make([]float64, len(c.share)/len(q.logs))
	c.answers().Classes(q.logs, p)
	for v := range p {
		p[v] = max(math.Log(p[v]), impossible)
	}
	return p
}

// couldMove returns how far knowing a missing cell could move the probability
// of the most probable class, or the number: the most over the column's values
// or, for a number, over three deviations to both sides of each unit's centre
// in steps of a half.
func (q *question) couldMove(j int, now []float64) float64 {
	best := learn.Best(now, q.Schema().Attributes[q.total.target].Values)
	most, classes := 0.0, q.columns[q.total.target].share != nil
	compare := func() {
		then := q.answer()
		if classes {
			most = max(most, math.Abs(math.Exp(then[best])-math.Exp(now[best])))
		} else {
			most = max(most, math.Abs(then[0]-now[0]))
		}
	}
	c := &q.columns[j]
	for v := range q.overall[j].counts {
		q.known[j].Codes[0] = int32(v)
		compare()
	}
	if c.share != nil {
		q.known[j].Codes[0] = table.Missing
		return most
	}
	if c.precision != nil {
		for i := range c.mean {
			for step := -6; step <= 6; step++ {
				q.known[j].Floats[0] = c.number64(c.mean[i] + float64(step)/2*c.deviation[i])
				compare()
			}
		}
	}
	q.known[j].Floats[0] = table.NA
	return min(most, math.MaxFloat64)
}
