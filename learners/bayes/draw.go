package bayes

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the network that the model is: the class, and an arrow to
// each column, as wide as the information that the column shares with the class.
func (m *Model) Graph() (*draw.Graph, error) {
	m.estimate()
	class := m.class().Name
	g := &draw.Graph{Title: "naive Bayes", Nodes: []draw.Node{{ID: class, Lines: []string{class}}}}
	for j := range m.columns {
		if j == m.target {
			continue
		}
		a := &m.schema.Attributes[j]
		edge := draw.Edge{From: class, To: a.Name}
		lines := []string{a.Name}
		switch a.Kind {
		case table.Text:
			var words string
			edge.Weight, words = m.textInformation(j)
			lines = append(lines, fmt.Sprintf("%.3f bits a word", edge.Weight), words)
		case table.Nominal:
			edge.Weight = m.mutualInformation(j)
			lines = append(lines, fmt.Sprintf("%.3f bits", edge.Weight))
		case table.Numeric:
			edge.Weight = m.numericInformation(j)
			lines = append(lines, fmt.Sprintf("%.3f bits", edge.Weight))
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: a.Name, Lines: lines, Layer: 1})
		g.Edges = append(g.Edges, edge)
	}
	return g, nil
}

// textInformation returns what a word of a text tells of the class, in bits,
// and how many words there are.
func (m *Model) textInformation(j int) (bits float64, words string) {
	l, q, n := m.lexicon(j), make([]float64, len(m.logPrior)), 0
	for v, in := range l.chosen {
		if in {
			bits += l.bits(v, m.logPrior, q)
			n++
		}
	}
	return bits, fmt.Sprintf("%d words", n)
}

// mutualInformation returns what a nominal column tells of the class, in bits.
func (m *Model) mutualInformation(j int) float64 {
	e := &m.columns[j]
	bits := 0.0
	for v, marginal := range e.marginal {
		for c, weight := range e.value(v, len(m.logPrior)) {
			if m.active(c) {
				bits += math.Exp(m.logPrior[c]+weight+marginal) * weight / math.Ln2
			}
		}
	}
	return max(0, bits)
}

// numericInformation returns the same of a column of numbers: an integral over
// the normal density of each class, in steps of a twentieth of its deviation.
func (m *Model) numericInformation(j int) float64 {
	e := &m.columns[j]
	const farthest, steps = 6.0, 240
	bits := 0.0
	for c := range e.normals {
		if !m.active(c) {
			continue
		}
		of := &e.normals[c]
		for i := range steps {
			z := farthest * (2*(float64(i)+.5)/steps - 1)
			x := of.mean + z*of.deviation
			all := 0.0 // density of any class, relative to that of this one
			for k := range e.normals {
				if o := &e.normals[k]; m.active(k) {
					y := (x - o.mean) * o.precision
					all += math.Exp(m.logPrior[k]+(z*z-y*y)/2) * o.precision / of.precision
				}
			}
			bits -= math.Exp(m.logPrior[c]-z*z/2) / math.Sqrt(2*math.Pi) * (2 * farthest / steps) * math.Log2(all)
		}
	}
	return max(0, bits)
}
