package rulenet

import (
	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/rule"
)

var _ portable.Compiler = (*Numbers)(nil)

// Portable compiles the rules that add up to a number, and its interval, which is
// as wide everywhere.
func (m *Numbers) Portable(b *portable.Builder) (portable.Answer, error) {
	base, err := m.Rules()
	if err != nil {
		return portable.Answer{}, err
	}
	p, err := rule.NewPredictor(base, m.Schema(), m.Target())
	if err != nil {
		return portable.Answer{}, err
	}
	a, err := p.Portable(b)
	if err != nil {
		return portable.Answer{}, err
	}
	half := mixed.Normal95 * m.interval.Deviation
	return portable.Interval(*a.Number, b.Scale(*a.Number, 1, -half), b.Scale(*a.Number, 1, half))
}
