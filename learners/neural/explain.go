package neural

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain begins with a row of which nothing is known and fills its cells in,
// one after the other: what a cell moves the log probability of a class by,
// or the predicted number, is its weight. What a cell moves depends on those
// before it; so they are filled in from the first to the last column and from
// the last to the first, and weights are the mean of the two (two of the
// orders over which Shapley 1953 takes the mean). The prior is the classes'
// shares, or the mean; how the network's answer to an empty row differs from
// it is shared out among the cells. All adds up to the answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	pass := m.newForwardPass(1)
	return m.explain(t, row, learn.NewPredictions(m, 1), func(row *table.Table, out *learn.Predictions) { pass.answer(row, 0, 1, out) })
}

// explain explains the answer to a row, given what answers one.
func (m *encoded) explain(t *table.Table, row int, out *learn.Predictions, answer func(row *table.Table, out *learn.Predictions)) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	q, err := m.newQuestion(out, answer)
	if err != nil {
		return nil, err
	}
	var known, missing []int
	for j := range t.Columns {
		switch {
		case j == m.target:
		case isMissing(&t.Columns[j], row):
			missing = append(missing, j)
		default:
			known = append(known, j)
		}
	}
	outputs := m.outputs()
	empty := q.ask()
	e := &learn.Explanation{Prior: empty, Additive: true}
	if len(known) > 0 {
		e.Prior = m.prior()
		if m.regression() {
			e.Prior[0] = m.unscale(0)
		}
	}
	weights := make([][]float64, len(t.Columns))
	for _, j := range known {
		weights[j] = make([]float64, outputs)
		for c := range empty {
			weights[j][c] = (empty[c] - e.Prior[c]) / float64(len(known))
		}
	}
	for _, backwards := range []bool{false, true} {
		before := append([]float64(nil), empty...)
		for i := range known {
			j := known[i]
			if backwards {
				j = known[len(known)-1-i]
			}
			q.fill(j, &t.Columns[j], row)
			after := q.ask()
			for c := range after {
				weights[j][c] += (after[c] - before[c]) / 2
			}
			before = after
		}
		if !backwards {
			for _, j := range known {
				q.blank(j)
			}
		}
	}
	for _, j := range known {
		text := rule.Test{Op: rule.Eq, Column: m.schema.Attributes[j].Name, Value: t.Text(row, j)}.String()
		for c, w := range weights[j] {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: c, Weight: w})
		}
	}
	now := q.ask()
	for _, j := range missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[j].Name, CouldMove: q.couldMove(j, now)})
	}
	return e, nil
}

func isMissing(c *table.Column, row int) bool {
	if c.Codes != nil {
		return c.Codes[row] == table.Missing
	}
	return table.IsMissing(c.Floats[row])
}

// question is a row whose cells are filled in one by one.
type question struct {
	model  *encoded
	row    *table.Table
	answer func(row *table.Table, out *learn.Predictions)
	out    *learn.Predictions
}

func (m *encoded) newQuestion(out *learn.Predictions, answer func(row *table.Table, out *learn.Predictions)) (*question, error) {
	columns := make([]table.Column, len(m.schema.Attributes))
	for j := range columns {
		if m.schema.Attributes[j].Kind == table.Nominal {
			columns[j].Codes = []int32{table.Missing}
		} else {
			columns[j].Floats = []float64{table.NA}
		}
	}
	row, err := table.New(m.schema, columns, nil)
	return &question{m, row, answer, out}, err
}

func (q *question) fill(j int, from *table.Column, row int) {
	if from.Codes != nil {
		q.row.Columns[j].Codes[0] = from.Codes[row]
	} else {
		q.row.Columns[j].Floats[0] = from.Floats[row]
	}
}

func (q *question) blank(j int) {
	if c := &q.row.Columns[j]; c.Codes != nil {
		c.Codes[0] = table.Missing
	} else {
		c.Floats[0] = table.NA
	}
}

// ask returns the log probabilities of the classes, or the number.
func (q *question) ask() []float64 {
	q.answer(q.row, q.out)
	if q.model.regression() {
		return []float64{q.out.Mean[0]}
	}
	logs := make([]float64, q.out.Classes)
	for c, p := range q.out.Row(0) {
		logs[c] = math.Log(p)
	}
	return logs
}

// couldMove returns how far a missing cell could move the probability of the
// best class, or the number: the most over the column's values or, for a
// number, over a grid of three deviations to both sides of the mean.
func (q *question) couldMove(j int, answer []float64) float64 {
	best := learn.Best(answer, q.model.schema.Attributes[q.model.target].Values)
	most := 0.0
	try := func() {
		moved := q.ask()[best]
		if q.model.regression() {
			most = max(most, math.Abs(moved/2-answer[best]/2)*2)
		} else {
			most = max(most, math.Abs(math.Exp(moved)-math.Exp(answer[best])))
		}
	}
	if c := &q.row.Columns[j]; c.Codes != nil {
		for v := range q.model.schema.Attributes[j].Values {
			c.Codes[0] = int32(v)
			try()
		}
	} else {
		for _, in := range q.model.matrix.Inputs {
			if in.Column != j || in.Scale.Factor == 0 {
				continue
			}
			for step := -30; step <= 30; step++ {
				c.Floats[0] = in.Scale.Offset + float64(step)/10/in.Scale.Factor
				try()
			}
		}
	}
	q.blank(j)
	return min(most, math.MaxFloat64)
}
