package linear

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain returns what each cell adds to the mean; it adds up to the answer.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := explainable(m.total.schema, t, row); err != nil {
		return nil, err
	}
	e := m.plane.explain(t, row, []int{0}, m.total.attribute().Name, nil)
	m.plane.listMissing(e, t, row, func(scores []float64) float64 { return scores[0] })
	return e, nil
}

// Explain returns what each cell adds to the score of each class; scores less
// their normaliser are log probabilities.
func (m *Classes) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := explainable(m.schema, t, row); err != nil {
		return nil, err
	}
	e := m.plane.explain(t, row, m.seen, m.schema.Attributes[m.target].Name, m.classes())
	scores := make([]float64, len(m.seen))
	m.plane.scores(t.Columns, row, scores)
	p := slices.Clone(scores)
	most, total := logsum.Normalise(p)
	e.Normaliser = most + math.Log(total)
	prior := slices.Repeat([]float64{impossible + min(0, e.Normaliser)}, len(m.counts))
	for k, c := range m.seen {
		prior[c] = e.Prior[k]
	}
	e.Prior = prior
	best := slices.Index(p, slices.Max(p))
	m.plane.listMissing(e, t, row, func(scores []float64) float64 {
		logsum.Normalise(scores)
		return scores[best]
	})
	return e, nil
}

// impossible is the logarithm of probability 0, as far as numbers that can be
// written go: its exponential is 0.
const impossible = -1000

func explainable(schema *table.Schema, t *table.Table, row int) error {
	if err := table.Fits(schema, t); err != nil {
		return err
	}
	if row < 0 || row >= t.Rows() {
		return fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	return nil
}

// explain lists what the cells of a row add, in the order in which they are
// added; outputs says which class each output is.
func (p *plane) explain(t *table.Table, row int, outputs []int, target string, classes []string) *learn.Explanation {
	e := &learn.Explanation{Prior: slices.Clone(p.prior), Additive: true}
	for j := range p.frames {
		if p.count(j) == 0 {
			continue
		}
		term, says := p.says(j, &t.Columns[j], row)
		if !says {
			continue
		}
		a := &p.schema.Attributes[j]
		test, id := rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Text(row, j)}, ""
		if p.numeric(j) && term >= 0 && !table.IsMissing(t.Columns[j].Floats[row]) {
			test = rule.Test{Op: rule.IsKnown, Column: a.Name} // infinite
		} else if term >= 0 {
			test = p.test(j, term)
			r := rule.Rule{If: []rule.Test{test}, Then: rule.Conclusion{Column: target, Numeric: true, Adds: true}}
			if classes != nil {
				r.Then = rule.Conclusion{Column: target, By: []rule.Share{{}}}
			}
			id = r.ID()
		}
		text := test.String()
		for k, class := range outputs {
			e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: class, Weight: p.contribution(j, &t.Columns[j], row, k)})
		}
	}
	return e
}

// listMissing lists the missing cells, and how far each could move the answer:
// by any value of its column, or a number within a unit of its mean.
func (p *plane) listMissing(e *learn.Explanation, t *table.Table, row int, answer func(scores []float64) float64) {
	scores, moved := make([]float64, p.outputs), make([]float64, p.outputs)
	p.scores(t.Columns, row, scores)
	now := answer(slices.Clone(scores))
	for j := range p.frames {
		if p.count(j) == 0 || t.Text(row, j) != "" {
			continue
		}
		far := 0.0
		try := func(cell *table.Column) {
			for k := range moved {
				moved[k] = scores[k] - p.contribution(j, &t.Columns[j], row, k) + p.contribution(j, cell, 0, k)
			}
			if d := math.Abs(answer(moved) - now); d > far {
				far = min(d, math.MaxFloat64/2)
			}
		}
		if p.numeric(j) {
			if f := p.frames[j]; f.Set {
				for z := -1.0; z <= 1; z += 0.25 { // the unit holds the rows seen
					try(&table.Column{Floats: []float64{math.Ldexp(f.Shift+z, f.Exp)}})
				}
			}
		} else {
			for v := range p.schema.Attributes[j].Values {
				try(&table.Column{Codes: []int32{int32(v)}})
			}
		}
		e.Missing = append(e.Missing, learn.MissingCell{Column: p.schema.Attributes[j].Name, CouldMove: far})
	}
}
