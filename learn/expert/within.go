package expert

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Rules may name values and classes that the model within has never met. They
// stand behind its own in the schema of the told model, and what follows keeps
// them from the model within.

// within returns a table of the told model's schema as one of the model within:
// values that it has never met are unseen.
func (m *Told) within(t *table.Table) (*table.Table, error) {
	inner := m.inner.Schema()
	if m.schema == inner || table.Fits(inner, t) == nil {
		return t, nil
	}
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	columns := slices.Clone(t.Columns)
	for j := range columns {
		known := int32(len(inner.Attributes[j].Values))
		if columns[j].Words != nil && int(known) < len(m.schema.Attributes[j].Values) {
			seen, _, err := table.Conform(t, inner, false) // without the words that only rules name
			return seen, err
		}
		if columns[j].Codes == nil || int(known) == len(m.schema.Attributes[j].Values) {
			continue
		}
		codes := slices.Clone(columns[j].Codes)
		for r, code := range codes {
			if code >= known {
				codes[r] = table.Unseen
			}
		}
		columns[j].Codes = codes
	}
	return table.New(inner, columns, t.Weights)
}

// learnable returns a table of more rows for the model within: with the values
// that rows have, and not those that only rules name.
func (m *Told) learnable(t *table.Table) (*table.Table, error) {
	if m.schema == m.inner.Schema() {
		return t, nil
	}
	t, _, err := table.Conform(t, m.inner.Schema().Opened(t.Schema), true)
	return t, err
}

// predictWithin answers as the model within does; classes that it has never met
// are impossible.
func (m *Told) predictWithin(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	t, err := m.within(t)
	if err != nil {
		return err
	}
	own := len(m.inner.Schema().Attributes[m.Target()].Values)
	if own == out.Classes {
		return m.inner.Predict(ctx, t, out)
	}
	from := learn.NewPredictions(m.inner, t.Rows())
	if err := m.inner.Predict(ctx, t, from); err != nil {
		return err
	}
	if room := len(m.schema.Attributes[m.Target()].Values); out.Classes != room || len(out.P) < t.Rows()*room {
		return table.Fits(m.inner.Schema(), t)
	}
	for row := range t.Rows() {
		to := out.Row(row)
		clear(to[copy(to, from.Row(row)):])
	}
	return nil
}

// LogDensity is the model's: rules speak of the class alone.
func (m *Told) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	inner, err := ability[learn.Density](m, "tell how dense rows are")
	if err == nil {
		t, err = m.within(t)
	}
	if err != nil {
		return err
	}
	return inner.LogDensity(ctx, t, out)
}
