package prior

import "github.com/accrete-ml/accrete/internal/portable"

var _ portable.Compiler = (*Model)(nil)

// Portable is the same for every row.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	if m.p != nil {
		return portable.Classes(b.Constant(m.p...))
	}
	return portable.Interval(b.Constant(m.mean), b.Constant(m.low), b.Constant(m.high))
}
