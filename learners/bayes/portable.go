package bayes

import (
	"github.com/accrete-ml/accrete/internal/portable"
)

var _ portable.Compiler = (*Model)(nil)

// Portable compiles the sums of logarithms, column by column, as predict adds them.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	if err := b.Texts(); err != nil {
		return portable.Answer{}, err
	}
	m.estimate()
	var active []int
	var prior []float64
	for c, log := range m.logPrior {
		if m.active(c) { // others have the probability 0
			active, prior = append(active, c), append(prior, log)
		}
	}
	n := len(active)
	logs := b.Constant(prior...)
	for j := range m.columns {
		switch e := &m.columns[j]; {
		case e.weights != nil:
			var rows []float64
			for at := 0; at < len(e.weights); at += len(m.logPrior) {
				for _, c := range active {
					rows = append(rows, e.weights[at+c])
				}
			}
			logs = b.Zip(portable.Add, logs, b.Lookup(j, n, rows))
		case e.normals != nil:
			mean, precision, peak := make([]float64, n), make([]float64, n), make([]float64, n)
			for i, c := range active {
				mean[i], precision[i], peak[i] = e.normals[c].mean, e.normals[c].precision, e.normals[c].peak
			}
			x := b.Scale(b.Cell(j, 0), e.scale, 0)
			z := b.Zip(portable.Multiply, b.Zip(portable.Subtract, x, b.Constant(mean...)), b.Constant(precision...))
			log := b.Zip(portable.Subtract, b.Constant(peak...), b.Scale(b.Zip(portable.Multiply, z, z), 0.5, 0))
			gone := make([]float64, n)
			if e.gone != nil {
				for i, c := range active {
					gone[i] = e.gone[c]
				}
			}
			logs = b.Zip(portable.Add, logs, b.Choose(b.Known(j), log, b.Constant(gone...)))
		}
	}
	return portable.Classes(b.Place(b.Softmax(logs), active, make([]float64, len(m.logPrior))))
}
