package rulebase

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// units is a base of WHEN rules: a mixture of all columns together, with or
// without a target. Any column can be had from the others.
type units struct {
	*Model
	of []answered // by column
}

// answered is what answers for one column, nil if nothing is known of it.
type answered struct {
	*rule.Predictor
	mixed.Column
	priors []float64
}

var (
	_ learn.Asker   = (*units)(nil)
	_ learn.Imputer = (*units)(nil)
	_ learn.Density = (*units)(nil)
)

// newUnits compiles the units once for each column that may be asked for. A
// column of which they say nothing, and the SCHEMA line neither, cannot be.
func newUnits(m *Model, learnt *rule.Base) (*units, error) {
	u := &units{m, make([]answered, len(m.schema.Attributes))}
	var wrong error
	some := false
	for j := range u.of {
		p, err := rule.NewPredictor(learnt, m.schema, j, m.overall...)
		if err != nil {
			wrong = err
			continue
		}
		some = true
		e := p.Expected()
		u.of[j] = answered{p, mixed.Column{Scale: 1, Mean: e.Mean, Deviation: e.Deviation, Share: e.Shares, Silent: m.overall[j].Deviation == 0}, e.Priors}
	}
	if !some {
		return nil, wrong
	}
	return u, nil
}

// fill gives numbers their intervals, by the deviations that the units state.
func (m *units) fill(t *table.Table, out *learn.Predictions) {
	of := &m.of[m.target]
	shares := make([]float64, len(of.priors))
	for row := range t.Rows() {
		of.Units(t, row, shares)
		_, out.Low[row], out.High[row] = of.Number(shares)
	}
}

// Predict answers as the units say, and takes into account what experts told.
func (m *units) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if m.target == learn.NoTarget {
		return ctx.Err() // there is nothing to predict
	}
	if err := m.Model.Predict(ctx, t, out); err != nil || out.Classes > 0 {
		return err
	}
	m.fill(t, out)
	return ctx.Err()
}

// Ask returns the distribution of one column given the known cells of a row.
func (m *units) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() || column < 0 || column >= len(m.of) {
		return nil, fmt.Errorf("row %d and column %d are not among the table's %d rows and the model's %d columns", row+1, column+1, t.Rows(), len(m.of))
	}
	of := &m.of[column]
	if of.Predictor == nil {
		return nil, fmt.Errorf("the rules say nothing of column %q", m.schema.Attributes[column].Name)
	}
	shares := make([]float64, len(of.priors))
	a := &learn.Answer{LogDensity: of.Units(t, row, shares) + m.perDeviation(t, row, column)}
	a.Experience = m.experience(t, row, column, a.LogDensity)
	if of.Share != nil {
		a.P = make([]float64, len(of.Share)/len(shares))
		of.Classes(shares, a.P)
		if column == m.target {
			m.blend(t, row, a.P, make([]float64, len(a.P)))
		}
		return a, nil
	}
	a.Mean, _, _ = of.Number(shares)
	a.Median, a.Low, a.High = of.Spread(shares)
	a.Modes = of.Modes(shares)
	return a, nil
}

// knows reports whether the units can tell something by a cell when they are
// asked for a column.
func (m *units) knows(t *table.Table, row, column, j int) bool {
	if j == column || !m.of[max(column, m.first())].Speaks(j) {
		return false
	}
	c := &t.Columns[j]
	return c.Codes != nil && c.Codes[row] >= 0 || c.Floats != nil && c.Floats[row]-c.Floats[row] == 0
}

// first returns the first column that can be asked for.
func (m *units) first() int {
	return slices.IndexFunc(m.of, func(a answered) bool { return a.Predictor != nil })
}

// perDeviation is what the log density grows by when numbers are counted in
// deviations of their columns.
func (m *units) perDeviation(t *table.Table, row, column int) float64 {
	sum := 0.0
	for j := range m.of {
		if d := m.overall[j].Deviation; m.schema.Attributes[j].Kind == table.Numeric && d > 0 && m.knows(t, row, column, j) {
			sum += math.Log(d)
		}
	}
	return sum
}

// experience returns the share of rows, made up as the units expect them, that
// are no denser than a row in the cells that are known of it; 1 if none is.
func (m *units) experience(t *table.Table, row, column int, density float64) float64 {
	known := false
	of, random := &m.of[column], mixed.Seeded()
	k := len(of.priors)
	drawn := mixed.Units(mixed.Probes, of.priors, random)
	columns := make([]table.Column, len(m.of))
	for j := range columns {
		wanted := m.knows(t, row, column, j)
		known = known || wanted
		columns[j] = table.Column{Codes: slices.Repeat([]int32{table.Missing}, mixed.Probes)}
		if m.schema.Attributes[j].Kind == table.Numeric {
			columns[j] = table.Column{Floats: slices.Repeat([]float64{table.NA}, mixed.Probes)}
		}
		if m.of[j].Predictor != nil {
			columns[j] = m.of[j].Make(drawn, k, wanted, random)
		}
	}
	if !known {
		return 1
	}
	made := &table.Table{Schema: m.schema, Columns: columns}
	shares, densities := make([]float64, k), make([]float64, mixed.Probes)
	for r := range densities {
		densities[r] = of.Units(made, r, shares) + m.perDeviation(made, r, column)
	}
	return mixed.Experience(densities, density)
}

// LogDensity fills in the natural log of the density at the rows, numbers in
// deviations of their columns.
func (m *units) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if len(out) < t.Rows() {
		return fmt.Errorf("room for %d densities, expected %d", len(out), t.Rows())
	}
	// What the units say of the column that is left out, the first, is added.
	at := m.first()
	of := &m.of[at]
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		shares := make([]float64, len(of.priors))
		for row := lo; row < hi; row++ {
			out[row] = of.Units(t, row, shares) + m.perDeviation(t, row, at) + m.own(at, shares, t, row)
		}
	})
}

// own is the log density of a column's cell given the units' probabilities.
func (m *units) own(column int, shares []float64, t *table.Table, row int) float64 {
	of, c, p := &m.of[column], &t.Columns[column], 0.0
	switch {
	case c.Codes != nil && c.Codes[row] >= 0:
		for u, share := range shares {
			p += share * of.Share[int(c.Codes[row])*len(shares)+u]
		}
	case c.Floats != nil && !of.Silent && c.Floats[row]-c.Floats[row] == 0:
		overall := m.overall[column].Deviation
		for u, share := range shares {
			d := of.Deviation[u] / overall
			z := (c.Floats[row] - of.Mean[u]) / of.Deviation[u]
			p += share * math.Exp(-0.5*z*z) / d / math.Sqrt(2*math.Pi)
		}
	default:
		return 0
	}
	return math.Log(p)
}

// Impute returns the table with each missing cell replaced by what the units
// expect given the known cells of its row.
func (m *units) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	columns := slices.Clone(t.Columns)
	for j := range columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, was := &m.schema.Attributes[j], t.Columns[j]
		if m.of[j].Predictor == nil || !slices.Contains(was.Codes, table.Missing) && !slices.ContainsFunc(was.Floats, table.IsMissing) {
			continue
		}
		p, means := make([]float64, t.Rows()*len(a.Values)), make([]float64, t.Rows())
		if err := m.of[j].Predict(t, p, means); err != nil {
			return nil, err
		}
		columns[j] = table.Column{Codes: slices.Clone(was.Codes), Floats: slices.Clone(was.Floats)}
		for r, code := range was.Codes {
			if code == table.Missing {
				columns[j].Codes[r] = int32(learn.Best(p[r*len(a.Values):][:len(a.Values)], a.Values))
			}
		}
		for r, x := range was.Floats {
			if table.IsMissing(x) {
				columns[j].Floats[r] = means[r]
			}
		}
	}
	return table.New(t.Schema, columns, t.Weights)
}
