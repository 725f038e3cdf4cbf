package rulenet

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// impossible is the log probability that stands for a class without rows.
const impossible = -1000.0

// Explain returns the prior of each class, the weight of each rule that fires,
// and how far the cells that are missing could move the answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := m.fits(t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	e := &learn.Explanation{Prior: make([]float64, len(m.bias)), Additive: true}
	scores := make([]float64, len(m.bias))
	copy(scores, m.bias)
	fired := make([]bool, len(m.units))
	for i, matcher := range m.matchers {
		fired[i] = matcher.MatchRow(t, row)
	}
	named := m.names()
	for i, l := range m.lines {
		if !fired[l.unit] {
			continue
		}
		for c, weight := range m.units[l.unit].weights {
			if c == l.class || l.class == everyClass && weight != 0 {
				scores[c] += weight
				e.Evidence = append(e.Evidence, learn.Evidence{ID: named[i].id, Text: named[i].text, Class: c, Weight: weight})
			}
		}
	}
	e.Normaliser = logsum.Of(scores)
	for c, b := range m.bias {
		e.Prior[c] = b
		if math.IsInf(b, -1) {
			e.Prior[c] = impossible + e.Normaliser
		}
	}
	p := make([]float64, len(scores))
	for c, s := range scores {
		p[c] = math.Exp(s - e.Normaliser)
	}
	if m.repeats != nil {
		if err := m.explainRepeats(t, row, p, e); err != nil {
			return nil, err
		}
	}
	best := learn.Best(p, m.coding.schema.Attributes[m.coding.target].Values)
	for col := range m.coding.schema.Attributes {
		if col != m.coding.target && missing(&t.Columns[col], row) {
			e.Missing = append(e.Missing, learn.MissingCell{
				Column:    m.coding.schema.Attributes[col].Name,
				CouldMove: m.couldMove(t, row, col, scores, p[best], best),
			})
		}
	}
	return e, nil
}

// lineName is how a line is called in explanations.
type lineName struct{ id, text string }

// names returns the ids and texts of the lines, which are made once.
func (m *Model) names() []lineName {
	m.naming.Do(func() {
		m.named = make([]lineName, len(m.lines))
		for i := range m.lines {
			r := &m.base.Rules[len(m.base.Rules)-len(m.lines)+i]
			m.named[i] = lineName{r.ID(), joined(r.If)}
		}
	})
	return m.named
}

func missing(c *table.Column, row int) bool {
	if c.Codes != nil {
		return c.Codes[row] == table.Missing
	}
	return table.IsMissing(c.Floats[row])
}

// couldMove returns how far knowing a missing cell could move the probability
// of a class: the most over the column's codes.
func (m *Model) couldMove(t *table.Table, row, col int, scores []float64, p float64, class int) float64 {
	// Units that would fire if the cell satisfied their test of it.
	type waiting struct {
		tests []test
		unit  int
	}
	var wait []waiting
	for i := range m.units {
		var own []test
		holds := true
		for j := range m.units[i].rule {
			u := &m.units[i].rule[j]
			if int(u.col) == col {
				own = append(own, *u)
			} else {
				holds = holds && u.holds(m.coding.code(t, row, int(u.col)))
			}
		}
		if own != nil && holds {
			wait = append(wait, waiting{own, i})
		}
	}
	all := func(tests []test, code int32) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return !t.holds(code) })
	}
	most := 0.0
	moved := make([]float64, len(scores))
	for code := range int32(m.coding.levels(col)) {
		copy(moved, scores)
		for _, w := range wait {
			if of := change(all(w.tests, table.Missing), all(w.tests, code)); of != 0 {
				for c, x := range m.units[w.unit].weights {
					moved[c] += of * x
				}
			}
		}
		most = max(most, math.Abs(math.Exp(moved[class]-logsum.Of(moved))-p))
	}
	return min(most, 1)
}

// change is 1 for what begins to hold, −1 for what ends.
func change(before, after bool) float64 {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// code returns the code of a cell.
func (c *coding) code(t *table.Table, row, col int) int32 {
	if cuts := c.cuts[col]; cuts != nil {
		return cuts.Code(t.Columns[col].Floats[row])
	}
	return t.Columns[col].Codes[row]
}
