package bayes

import (
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// countMissing counts cells that are missing beside those that are known. What is
// missing needs no counts of its own: it is the rows of a class less those whose
// cell is known, so that such a model updates, merges and forgets as any other.
const countMissing = "count"

// gaps are the logarithms of the shares of each class whose cell of a column is
// known, and missing; nil where no cell is missing, or none is counted.
func (m *Model) gaps(known []float64) (here, gone []float64) {
	if m.settings.Missing != countMissing {
		return nil, nil
	}
	some := false
	for c, n := range m.total.classes {
		lack := max(0, n-known[c])
		some = some || lack > 1e-9*n
		here, gone = append(here, m.share(known[c], n)), append(gone, m.share(lack, n))
	}
	if !some {
		return nil, nil
	}
	return here, gone
}

// share is the logarithm of the m-estimate of one of two cases.
func (m *Model) share(part, of float64) float64 {
	switch {
	case of == 0:
		return math.Log(0.5)
	case part == 0 && m.settings.M == 0:
		return zero
	}
	return logRatio(part+m.settings.M/2, of+m.settings.M)
}

// missing returns the weights of evidence of a missing cell, nil if it says nothing.
func (m *Model) missing(j int) []float64 {
	e := &m.columns[j]
	switch {
	case !e.gapped:
		return nil
	case e.weights != nil:
		return e.value(-1, len(m.logPrior))
	}
	return e.gone
}

// missingTest is the test that a cell is missing.
func (m *Model) missingTest(j int) rule.Test {
	return rule.Test{Op: rule.IsMissing, Column: m.schema.Attributes[j].Name}
}

// explainMissing adds the evidence of a missing cell, and returns what the classes'
// logarithms were without it.
func (m *Model) explainMissing(e *learn.Explanation, logs []float64, j int) {
	t := m.missingTest(j)
	id := ""
	for c, w := range m.missing(j) {
		if !m.active(c) {
			continue
		}
		if !m.numeric() {
			id = (&rule.Rule{If: []rule.Test{t}, Then: m.conclude(c)}).ID()
		}
		logs[c] += w
		e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: t.String(), Class: c, Weight: w})
	}
}

// missingRules are the rules of missing cells, a rule for each class.
func (m *Model) missingRules(j int) []rule.Rule {
	weights := m.missing(j)
	if weights == nil {
		return nil
	}
	lack, known := make([]float64, len(weights)), m.known(j)
	for c, n := range m.total.classes {
		lack[c] = max(0, n-known[c])
	}
	rows := sum(m.total.classes)
	var rules []rule.Rule
	for c, weight := range weights {
		if !m.active(c) {
			continue
		}
		p := min(1, math.Exp(m.logPrior[c]+weight))
		rules = append(rules, rule.Rule{
			If: []rule.Test{m.missingTest(j)}, Then: m.conclude(c), With: pointer(p),
			Evidence: rule.Evidence{
				Covered: pointer(sum(lack)), Correct: pointer(lack[c]), Weight: pointer(weight),
				Bits: pointer(jMeasure(sum(lack)/rows, p, math.Exp(m.logPrior[c]))),
			},
		})
	}
	return rules
}

// known returns the weight of each class's rows whose cell of a column is known.
func (m *Model) known(j int) []float64 {
	known, c := make([]float64, len(m.total.classes)), &m.total.columns[j]
	for at, n := range c.counts {
		known[at%len(known)] += n
	}
	for i := range c.moments {
		known[i] = c.moments[i].N
	}
	return known
}
