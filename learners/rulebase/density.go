package rulebase

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// density is a mixture without a target: a model of all columns together. Any
// column can be had from the others.
type density struct{ *Model }

var _ learn.Imputer = (*density)(nil)

// check says what is wrong with the units.
func (m *Model) check() error {
	_, err := rule.NewPredictor(m.base, m.schema, 0, m.overall...)
	return err
}

// Impute returns the table with each missing cell replaced by what the units
// expect given the known cells of its row.
func (m *density) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	columns := slices.Clone(t.Columns)
	for j := range columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, was := &m.schema.Attributes[j], t.Columns[j]
		if !slices.Contains(was.Codes, table.Missing) && !slices.ContainsFunc(was.Floats, table.IsMissing) {
			continue
		}
		answers, err := rule.NewPredictor(m.base, m.schema, j, m.overall...)
		if err != nil {
			return nil, err
		}
		p, means := make([]float64, t.Rows()*len(a.Values)), make([]float64, t.Rows())
		if err := answers.Predict(t, p, means); err != nil {
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
