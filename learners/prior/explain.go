package prior

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// impossible is the logarithm of probability 0, as far as numbers that can be
// written go: its exponential is 0.
const impossible = -1000

// Explain returns the prior: nothing else speaks for or against an answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	e := &learn.Explanation{Additive: true}
	if m.p == nil {
		e.Prior = []float64{m.mean}
		return e, nil
	}
	for _, p := range m.p {
		e.Prior = append(e.Prior, max(math.Log(p), impossible))
	}
	return e, nil
}
