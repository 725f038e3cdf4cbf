package policy

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Explain says what each action is worth in a row's state. Actions of which
// nothing is known are no reasons.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of a table of %d", row+1, t.Rows())
	}
	one := t.Slice(row, row+1)
	q := make([]float64, len(m.actions()))
	if err := m.values.worths(context.Background(), m, one, q); err != nil {
		return nil, err
	}
	x := &learn.Explanation{Prior: make([]float64, len(q))}
	for a := range x.Prior {
		x.Prior[a] = -math.Log(float64(len(q)))
	}
	cells := make([]float64, len(m.state))
	m.cellsOf(one, 0, cells)
	text := m.stateText(cells)
	if j, ok := m.values.(*judge); ok {
		text = fmt.Sprintf("V̂ of the boards that follow within %s", turns(j.depth))
	}
	for a, worth := range q {
		if worth == worth {
			x.Evidence = append(x.Evidence, learn.Evidence{Text: text, Class: a, Weight: worth})
		}
	}
	return x, nil
}

// stateText is a state as tests; cells that no state has are left out.
func (m *Model) stateText(cells []float64) string {
	var tests []string
	for i, test := range m.tests(cells) {
		if a := &m.schema.Attributes[m.state[i]]; a.Kind == table.Nominal && cells[i] < 0 || math.IsInf(cells[i], 0) {
			continue
		}
		tests = append(tests, test.String())
	}
	if tests == nil {
		return "ALWAYS"
	}
	return strings.Join(tests, " AND ")
}
