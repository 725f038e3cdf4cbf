package experts

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is experts and their gates. It is immutable.
type Model struct {
	lesson  lesson
	rows    *kept.Rows
	schema  *table.Schema
	target  int
	weight  float64
	scale   scale
	gates   []gate
	experts []learn.Model
	widths  []float64 // how far each expert errs on its rows; 0 for classes
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
	_ learn.Remarker  = (*Model)(nil)
)

// blank returns a model that has learnt nothing yet.
func blank(schema *table.Schema, l lesson) (*Model, error) {
	m := &Model{lesson: l, schema: schema, target: schema.Index(l.Target)}
	if m.target < 0 || schema.Attributes[m.target].Kind == table.Text {
		return nil, fmt.Errorf("no source has the target %q", l.Target)
	}
	_, err := l.Settings.OfBase.Base(l.Settings.Base, m.classes() > 0, m.classes() == 0)
	return m, err
}

// classes is 0 where the target is a number.
func (m *Model) classes() int {
	if a := &m.schema.Attributes[m.target]; a.Kind == table.Nominal {
		return len(a.Values)
	}
	return 0
}

// Learner returns the name of the learner.
func (m *Model) Learner() string { return Name }

// Schema returns the columns.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted column.
func (m *Model) Target() int { return m.target }

// Size counts the experts as units.
func (m *Model) Size() learn.Size { return learn.Size{Rows: m.weight, Units: len(m.experts)} }

// ask returns what an expert says of the rows.
func (m *Model) ask(ctx context.Context, c int, t *table.Table) (*learn.Predictions, error) {
	said := learn.NewPredictions(m.experts[c], t.Rows())
	return said, m.experts[c].Predict(ctx, t, said)
}

// Predict hears every expert on all rows, each as far as its gate says. The
// interval of a number is that of a normal density with the variance of the whole:
// what experts leave open, and how far they differ.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if out.Classes != m.classes() || len(out.P) < t.Rows()*out.Classes || out.Classes == 0 && len(out.Mean) < t.Rows() {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d rows of %d", len(out.P), out.Classes, t.Rows(), m.classes())
	}
	said := make([]*learn.Predictions, len(m.experts))
	for c := range said {
		var err error
		if said[c], err = m.ask(ctx, c, t); err != nil {
			return err
		}
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		n := make([]float64, len(m.gates))
		for row := lo; row < hi; row++ {
			m.open(t.Columns, row, n)
			if out.Classes > 0 {
				mix(n, said, row, out.Row(row))
			} else {
				out.Mean[row], out.Low[row], out.High[row] = mixNumbers(n, said, row)
			}
		}
	})
}

// open fills in n_i(x), how far each gate is open for a row.
func (m *Model) open(columns []table.Column, row int, n []float64) {
	for c := range n {
		n[c] = m.gates[c].logDensity(columns, m.scale, row)
	}
	logsum.Normalise(n)
}

// mix is equation 22 for classes.
func mix(n []float64, said []*learn.Predictions, row int, p []float64) {
	clear(p)
	for c, share := range n {
		for class, of := range said[c].Row(row) {
			p[class] = min(p[class]+float64(share*of), 1)
		}
	}
}

// deviations of a normal density that hold 95 % of it.
const deviations = 1.959963984540054

// mixNumbers is equation 22 for a number, with its 95 % interval.
func mixNumbers(n []float64, said []*learn.Predictions, row int) (mean, low, high float64) {
	for c, share := range n {
		mean += float64(share * said[c].Mean[row])
	}
	variance := 0.0
	for c, share := range n {
		own, off := (said[c].High[row]-said[c].Low[row])/2/deviations, said[c].Mean[row]-mean
		variance += float64(share * (own*own + off*off))
	}
	reach := deviations * math.Sqrt(variance)
	if !known(reach) {
		reach = math.MaxFloat64
	}
	return mean, max(mean-reach, -math.MaxFloat64), min(mean+reach, math.MaxFloat64)
}

// Explain shows what each expert brings, a reason each (expert = 2): of a number,
// n_i·o_i, which add up to it; of classes its part n_i·p_i of the probability of
// each, which is no sum of logs.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	one, ctx := t.Slice(row, row+1), context.Background()
	answer := learn.NewPredictions(m, 1)
	if err := m.Predict(ctx, one, answer); err != nil {
		return nil, err
	}
	e := &learn.Explanation{Prior: make([]float64, max(answer.Classes, 1)), Additive: answer.Classes == 0}
	for class := range answer.Classes {
		e.Prior[class] = math.Log(max(answer.P[class], 1e-300))
	}
	n := make([]float64, len(m.gates))
	m.open(one.Columns, 0, n)
	for c := range m.experts {
		said, err := m.ask(ctx, c, one)
		if err != nil {
			return nil, err
		}
		brings := said.Mean
		if answer.Classes > 0 {
			brings = said.Row(0)
		}
		for class, of := range brings {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: fmt.Sprintf("expert = %d", c+1), Class: class, Weight: n[c] * of})
		}
	}
	return e, nil
}

// Remark is where an expert is heard, and how well it knows its rows.
type Remark struct {
	Expert int
	Share  float64
	Base   string
	Width  float64 // of a number: how far it errs on its rows
}

func (r Remark) String() string {
	text := fmt.Sprintf("expert %d (%s) has %.1f %% of the rows", r.Expert, r.Base, 100*r.Share)
	if r.Width > 0 {
		text += fmt.Sprintf(", on which it errs by %.3g", r.Width)
	}
	return text
}

// Remarks says how the rows are shared.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	var all []fmt.Stringer
	for c := range m.gates {
		all = append(all, Remark{c + 1, math.Exp(m.gates[c].Log), m.lesson.Settings.Base, m.widths[c]})
	}
	return all, nil
}
