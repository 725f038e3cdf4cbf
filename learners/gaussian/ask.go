package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Ask returns the distribution of one column given the known cells of a row
// (equation 11): the units' densities of the column, weighted by how well the
// units explain what is known.
func (m *Model) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() || column < 0 || column >= len(m.columns) {
		return nil, fmt.Errorf("row %d and column %d are not among the table's %d rows and the model's %d columns", row+1, column+1, t.Rows(), len(m.columns))
	}
	units := make([]float64, len(m.logPrior))
	v := m.view(column)
	v.explain(t, row, row+1, units)
	most, total := m.posterior(units)
	a := &learn.Answer{LogDensity: most + math.Log(total)}
	a.Experience = m.experience(t, row, column, a.LogDensity)
	c := &m.columns[column]
	if c.share != nil {
		a.P = make([]float64, len(c.share)/len(units))
		c.answers().Classes(units, a.P)
		return a, nil
	}
	expected := v.expect(0).answers()
	a.Mean, _, _ = expected.Number(units)
	a.Median, a.Low, a.High = expected.Spread(units)
	a.Modes = expected.Modes(units)
	return a, nil
}

// experience returns the share of rows, made up as the model expects them,
// that are no denser than a row in the cells that are known of it; 1 if
// nothing is known.
func (m *Model) experience(t *table.Table, row, column int, density float64) float64 {
	known := false
	made := m.make(mixed.Probes, mixed.Seeded(), func(j int) bool {
		c := &m.columns[j]
		is := j != column && (c.share != nil && t.Columns[j].Codes[row] >= 0 || c.precision != nil && finite(t.Columns[j].Floats[row]))
		known = known || is
		return is
	})
	if !known {
		return 1
	}
	k := len(m.logPrior)
	logs, densities := make([]float64, mixed.Probes*k), make([]float64, mixed.Probes)
	m.view(column).explain(made, 0, mixed.Probes, logs)
	for r := range densities {
		densities[r] = logsum.Of(logs[r*k:][:k])
	}
	return mixed.Experience(densities, density)
}

// make makes up rows as the model expects them, in some columns; the cells of
// the others are missing.
func (m *Model) make(rows int, random *rand.Rand, wanted func(column int) bool) *table.Table {
	k := len(m.logPrior)
	priors := make([]float64, k)
	for i, l := range m.logPrior {
		priors[i] = math.Exp(l)
	}
	units := mixed.Units(rows, priors, random)
	columns := make([]table.Column, len(m.columns))
	correlated := m.joint.draw(m, units, random)
	for j := range columns {
		c := &m.columns[j]
		switch want := wanted(j); {
		case correlated == nil || c.precision == nil:
			columns[j] = c.answers().Make(units, k, want, random)
		case want:
			columns[j].Floats = correlated[j]
		default:
			columns[j].Floats = slices.Repeat([]float64{table.NA}, rows)
		}
	}
	return &table.Table{Schema: m.total.schema, Columns: columns}
}

// Impute returns the table with its missing cells filled in.
func (m *Model) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	columns := slices.Clone(t.Columns)
	for j := range columns {
		var rows []int
		for r := range t.Rows() {
			if columns[j].Codes != nil && columns[j].Codes[r] == table.Missing || columns[j].Codes == nil && table.IsMissing(columns[j].Floats[r]) {
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 || m.unknown(j) {
			continue
		}
		some := t.Select(rows)
		values := m.total.schema.Attributes[j].Values
		out := &learn.Predictions{Classes: len(values), P: make([]float64, len(rows)*len(values))}
		if columns[j].Codes == nil {
			out = &learn.Predictions{Mean: make([]float64, len(rows)), Low: make([]float64, len(rows)), High: make([]float64, len(rows))}
		}
		if err := m.predict(ctx, some, j, out); err != nil {
			return nil, err
		}
		columns[j] = table.Column{Codes: slices.Clone(columns[j].Codes), Floats: slices.Clone(columns[j].Floats)}
		for i, r := range rows {
			if columns[j].Codes != nil {
				columns[j].Codes[r] = int32(learn.Best(out.Row(i), values))
			} else {
				columns[j].Floats[r] = out.Mean[i]
			}
		}
	}
	return table.New(t.Schema, columns, t.Weights)
}

// unknown reports whether nothing was ever known of a column.
func (m *Model) unknown(j int) bool {
	if c := m.overall[j].counts; c != nil {
		return weight(c) == 0
	}
	return m.overall[j].moment.N == 0
}

// SampleRows draws rows; they stand alone, whatever the length of sequences.
func (m *Model) SampleRows(rows, _ int, seed uint64) (*table.Table, error) {
	if rows < 1 {
		return nil, fmt.Errorf("%d rows: expected at least 1", rows)
	}
	made := m.make(rows, rand.New(rand.NewPCG(seed, 0x9a05)), func(int) bool { return true })
	return table.New(made.Schema, made.Columns, nil)
}
