package bayes

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain returns the weight of evidence of each known cell for each class,
// ln P(cell|class)/P(cell): what the cell alone would do to the probability
// of the class. P(cell) = Σ P(class)·P(cell|class) is the same for all
// classes, so that weights of cells can be compared.
//
// A class without rows has no evidence; its prior is low enough for the
// probability 0 that it gets.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	m.estimate()
	classes := len(m.logPrior)
	e := &learn.Explanation{Prior: make([]float64, classes), Additive: true}
	copy(e.Prior, m.logPrior)
	logs := make([]float64, classes)
	copy(logs, m.logPrior)
	cell := make([]float64, classes)
	var missing []int
	for j := range m.columns {
		a := &m.schema.Attributes[j]
		switch at := &t.Columns[j]; {
		case j == m.target:
			continue
		case a.Kind == table.Nominal && at.Codes[row] == table.Missing, a.Kind == table.Numeric && table.IsMissing(at.Floats[row]), a.Kind == table.Text && at.Words.Missing(row):
			missing = append(missing, j)
			m.explainMissing(e, logs, j)
			continue
		case a.Kind == table.Text:
			m.explainWords(e, logs, j, at.Words, row)
			continue
		}
		if !m.weigh(j, &t.Columns[j], row, cell) {
			continue
		}
		text := rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Text(row, j)}.String()
		for c, w := range cell {
			if m.active(c) {
				logs[c] += w
				e.Evidence = append(e.Evidence, learn.Evidence{ID: m.ruleID(j, t.Text(row, j), c), Text: text, Class: c, Weight: w})
			}
		}
	}
	p := append([]float64(nil), logs...)
	most, total := logsum.Normalise(p)
	e.Normaliser = most + math.Log(total)
	for c := range e.Prior {
		if !m.active(c) {
			e.Prior[c] = zero + min(0, e.Normaliser)
		}
	}
	best := learn.Best(p, m.class().Values)
	for _, j := range missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[j].Name, CouldMove: m.couldMove(j, logs, p[best], best)})
	}
	return e, nil
}

// explainWords adds the evidence of each word of a text.
func (m *Model) explainWords(e *learn.Explanation, logs []float64, j int, bag *table.Bag, row int) {
	a, of, classes := &m.schema.Attributes[j], &m.columns[j], len(m.logPrior)
	add := func(t rule.Test, times float64, weights []float64) {
		r := rule.Rule{If: []rule.Test{t}, Then: rule.Conclusion{Column: m.class().Name, By: []rule.Share{{}}}}
		id, text := r.ID(), t.String()
		for c, w := range weights {
			if m.active(c) {
				logs[c] += float64(times * w)
				e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: float64(times * w)})
			}
		}
	}
	if of.absent != nil {
		add(rule.Test{Op: rule.IsKnown, Column: a.Name}, 1, of.absent)
	}
	codes, counts := bag.Row(row)
	read := of.words.reading(counts)
	for i, code := range codes {
		if of.chosen[code] {
			add(m.wordTest(j, int(code)), read.times(counts[i])*read.share, of.value(int(code), classes))
		}
	}
}

// weigh fills in the weights of evidence of a cell for each class. It returns
// false if the cell says nothing.
func (m *Model) weigh(j int, cells *table.Column, row int, weights []float64) bool {
	e := &m.columns[j]
	switch {
	case e.weights != nil:
		code := cells.Codes[row]
		if code < 0 {
			return false
		}
		copy(weights, e.value(int(code), len(weights)))
	case e.normals != nil:
		x := cells.Floats[row]
		if x-x != 0 {
			return false
		}
		m.weighNumber(e, e.unit(x), weights)
	default:
		return false
	}
	return true
}

// value returns the weights of evidence of a value.
func (e *estimate) value(v, classes int) []float64 {
	return e.weights[(v+2)*classes:][:classes]
}

// weighNumber fills in the weights of evidence of a number in the column's
// unit.
func (m *Model) weighNumber(e *estimate, x float64, weights []float64) {
	for c := range weights {
		weights[c] = e.normals[c].log(x)
	}
	reference := mixture(m.logPrior, weights)
	for c := range weights {
		weights[c] -= reference
	}
}

// couldMove returns how far knowing a missing cell could move the probability
// p of a class: the most over the column's values or, for a number, over a
// grid of three deviations to both sides of each class's mean in steps of a
// tenth. (Further out the class with the largest deviation wins every time,
// on the word of a cell that no class expects.)
func (m *Model) couldMove(j int, logs []float64, p float64, class int) float64 {
	e := &m.columns[j]
	if e.chosen != nil {
		if slices.Contains(e.chosen, true) { // a text can be as long as it takes
			return max(p, 1-p)
		}
		return 0
	}
	most := 0.0
	moved := make([]float64, len(logs))
	try := func(weights []float64) {
		for c := range moved {
			moved[c] = logs[c] + weights[c]
		}
		logsum.Normalise(moved)
		most = max(most, math.Abs(moved[class]-p))
	}
	if gone := m.missing(j); gone != nil { // would not be, then
		logs = slices.Clone(logs)
		for c, w := range gone {
			logs[c] -= w
		}
	}
	for v := range e.marginal {
		try(e.value(v, len(logs)))
	}
	weights := make([]float64, len(logs))
	for c, n := range e.normals {
		for step := -30; step <= 30 && m.active(c); step++ {
			m.weighNumber(e, n.mean+float64(step)/10*n.deviation, weights)
			try(weights)
		}
	}
	return most
}
