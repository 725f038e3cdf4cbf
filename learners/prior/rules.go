package prior

import (
	"math"

	"github.com/accrete-ml/accrete/rule"
)

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
