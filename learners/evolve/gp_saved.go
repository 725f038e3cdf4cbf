package evolve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Relearning says how formulas are learnt again from the rows that are kept.
func (m *Formula) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "formula", Settings: m.lesson.Settings,
		Without: "this formula kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnFormulas(ctx, rows, m.lesson)
		},
	}
}

// Begin starts to learn more rows.
func (m *Formula) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the formulas of all models' rows.
func (m *Formula) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that formulas were learnt from, nil if none are kept.
func (m *Formula) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Formula) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the formulas of the other sources' rows.
func (m *Formula) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the rows are kept and no clock ends evolution.
func (m *Formula) Promise() learn.Promise {
	if m.lesson.Settings.Seconds > 0 {
		return learn.Promise{}
	}
	return kept.Promise(m)
}

// Shed returns the formulas without the rows that they were learnt from.
func (m *Formula) Shed() (learn.Model, bool, error) {
	bare := &Formula{
		lesson: m.lesson, schema: m.schema, target: m.target, inputs: m.inputs, answers: m.answers, rowWeight: m.rowWeight,
		mean: m.mean, low: m.low, high: m.high, prior: m.prior, asides: m.asides,
	}
	bare.lesson.Settings.Keep = "nothing"
	return bare, m.rows != nil, nil
}

// Names of a model's parts, besides those of its rows.
const (
	gpPart       = "gp"
	formulasPart = "formulas"
	gpFormat     = 1
)

// savedFormulas is what was learnt. Where rows are kept it can be learnt again.
type savedFormulas struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Inputs  []input             `cbor:"inputs"`
	Answers []answer            `cbor:"answers"`
	Rows    float64             `cbor:"rows"`
	Mean    float64             `cbor:"mean"`
	Low     float64             `cbor:"low"`
	High    float64             `cbor:"high"`
	Prior   []float64           `cbor:"prior,omitempty"`
	Asides  asides              `cbor:"asides,omitzero"`
}

// Parts returns the settings, the rows of each source, and the formulas.
func (m *Formula) Parts() ([]learn.Part, error) {
	body := savedFormulas{table.SaveColumns(m.schema), m.inputs, m.answers, m.rowWeight, m.mean, m.low, m.high, m.prior, m.asides}
	return m.lesson.Parts(gpPart, m.rows, formulasPart, body)
}

// decodeFormulas makes a model of its parts.
func decodeFormulas(parts []learn.Part) (learn.Model, error) {
	m := &Formula{}
	var body savedFormulas
	rows, found, err := m.lesson.Load(parts, gpPart, gpFormat, (*gpSettings).keeps, formulasPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnFormulas(context.Background(), rows, m.lesson)
	}
	m.rows = rows
	if err := m.restore(&body); err != nil {
		return nil, fmt.Errorf("part %q: %v", formulasPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Formula) restore(body *savedFormulas) (err error) {
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(m.lesson.Target)
	if m.target < 0 {
		return fmt.Errorf("the target %q is no column", m.lesson.Target)
	}
	a := &m.schema.Attributes[m.target]
	m.inputs, m.answers, m.rowWeight, m.mean, m.low, m.high, m.prior, m.asides = body.Inputs, body.Answers, body.Rows, body.Mean, body.Low, body.High, body.Prior, body.Asides
	want := 1
	switch {
	case a.Kind == table.Numeric && len(m.prior) > 0, a.Kind == table.Nominal && (len(m.prior) != len(a.Values) || len(a.Values) == 0), a.Kind != table.Numeric && a.Kind != table.Nominal:
		return fmt.Errorf("%d shares of classes do not fit the target", len(m.prior))
	case len(m.prior) > 2:
		want = len(m.prior)
	}
	if len(m.prior) == 0 {
		m.prior = nil
	}
	if len(m.answers) != want {
		return fmt.Errorf("%d formulas, expected %d", len(m.answers), want)
	}
	if !(m.rowWeight > 0) || !finite(m.rowWeight, m.mean, m.low, m.high) || !(m.low <= m.high) || slices.ContainsFunc(m.prior, func(p float64) bool { return !(p > 0 && p <= 1) }) {
		return fmt.Errorf("what the rows were like is not sound")
	}
	for i := range m.inputs {
		in := &m.inputs[i]
		if in.Column < 0 || in.Column >= len(m.schema.Attributes) || in.Column == m.target || !finite(in.Mean, in.Low, in.High) {
			return fmt.Errorf("variable %d is no column", i+1)
		}
		c := &m.schema.Attributes[in.Column]
		if in.Code >= 0 && (c.Kind != table.Nominal || int(in.Code) >= len(c.Values)) || in.Code < 0 && c.Kind != table.Numeric {
			return fmt.Errorf("variable %d does not fit column %q", i+1, c.Name)
		}
	}
	for i := range m.answers {
		f := &m.answers[i]
		if !f.Tree.Sound(len(m.inputs)) || !finite(f.Error, f.Margin, f.Shift, f.Slope) || !(f.Margin >= 0) {
			return fmt.Errorf("formula %d is not sound", i+1)
		}
		for _, p := range f.Front {
			if !p.Tree.Sound(len(m.inputs)) || !finite(p.Error) {
				return fmt.Errorf("a formula of front %d is not sound", i+1)
			}
		}
	}
	return nil
}

func finite(all ...float64) bool {
	return !slices.ContainsFunc(all, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
