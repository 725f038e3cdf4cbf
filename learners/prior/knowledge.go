package prior

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// impossible is the logarithm of probability 0, as far as numbers that can be
// written go: its exponential is 0.
const impossible = -1000

// Rules returns a rule without conditions for each class, or one that states
// the mean.
func (m *Model) Rules() (*rule.Base, error) {
	target := m.total.attribute()
	rows := m.total.rows()
	if m.p == nil {
		return &rule.Base{Kind: rule.Ordered, Else: &rule.Rule{
			Then:     rule.Conclusion{Column: target.Name, Numeric: true, Mean: m.mean, Deviation: m.deviation},
			Evidence: rule.Evidence{Covered: &rows},
		}}, nil
	}
	base := &rule.Base{Kind: rule.Weighed}
	for c, p := range m.p {
		if p == 0 {
			continue // a class without a prior has the probability 0
		}
		weight, correct := math.Log(p), m.total.classes[c]
		base.Rules = append(base.Rules, rule.Rule{
			Then:     rule.Conclusion{Column: target.Name, Value: target.Values[c]},
			With:     &p,
			Evidence: rule.Evidence{Covered: &rows, Correct: &correct, Weight: &weight},
		})
	}
	return base, nil
}

// Explain returns the prior: nothing else speaks for or against an answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := learn.Fits(m.total.schema, t); err != nil {
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
