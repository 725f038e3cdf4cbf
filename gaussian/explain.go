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
	if err := learn.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	if target == learn.NoTarget {
		return &learn.Explanation{}, nil
	}
	logs := append([]float64(nil), m.logPrior...)
	e := &learn.Explanation{Prior: m.answer(logs), Additive: true}
	last := append([]float64(nil), e.Prior...)
	var missing []int
	for j := range m.columns {
		c := &m.columns[j]
		switch {
		case j == target:
			continue
		case c.share != nil && t.Columns[j].Codes[row] == table.Missing, c.share == nil && table.IsMissing(t.Columns[j].Floats[row]):
			missing = append(missing, j)
			continue
		case c.share != nil && t.Columns[j].Codes[row] < 0, c.share == nil && (c.precision == nil || !finite(t.Columns[j].Floats[row])):
			continue
		case c.share != nil:
			c.addNominal(logs, t.Columns[j].Codes[row:row+1], len(logs))
		default:
			c.addNumber(logs, c.unit(t.Columns[j].Floats[row]))
		}
		text := rule.Test{Op: rule.Eq, Column: m.total.schema.Attributes[j].Name, Value: t.Text(row, j)}.String()
		now := m.answer(logs)
		for class := range now {
			if now[class] != last[class] {
				e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: class, Weight: now[class] - last[class]})
			}
		}
		last = now
	}
	for _, j := range missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.total.schema.Attributes[j].Name, CouldMove: m.couldMove(j, logs, last)})
	}
	return e, nil
}

// answer returns the log probabilities of the classes, or the expected number,
// given the logs of what the units explain. It leaves the logs alone.
func (m *Model) answer(logs []float64) []float64 {
	units := append([]float64(nil), logs...)
	m.posterior(units)
	c := &m.columns[m.total.target]
	if c.share == nil {
		mean, _, _ := c.number(units)
		return []float64{mean}
	}
	p := make([]float64, len(c.share)/len(units))
	c.classes(units, p)
	for v := range p {
		p[v] = max(math.Log(p[v]), impossible)
	}
	return p
}

// couldMove returns how far knowing a missing cell could move the probability
// of the most probable class, or the number: the most over the column's values
// or, for a number, over three deviations to both sides of each unit's centre
// in steps of a half.
func (m *Model) couldMove(j int, logs, now []float64) float64 {
	best := 0
	for v := range now {
		if now[v] > now[best] {
			best = v
		}
	}
	most, classes := 0.0, m.columns[m.total.target].share != nil
	try := func(add func(logs []float64)) {
		moved := append([]float64(nil), logs...)
		add(moved)
		then := m.answer(moved)
		if classes {
			most = max(most, math.Abs(math.Exp(then[best])-math.Exp(now[best])))
		} else {
			most = max(most, math.Abs(then[0]-now[0]))
		}
	}
	c := &m.columns[j]
	for v := range m.overall[j].counts {
		try(func(logs []float64) { c.addNominal(logs, []int32{int32(v)}, len(logs)) })
	}
	if c.precision != nil {
		for i := range c.mean {
			for step := -6; step <= 6; step++ {
				x := c.number64(c.mean[i] + float64(step)/2*c.deviation[i])
				try(func(logs []float64) { c.addNumber(logs, c.unit(x)) })
			}
		}
	}
	return min(most, math.MaxFloat64)
}
