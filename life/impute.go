package life

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Imputed is a table whose missing cells were filled in.
type Imputed struct {
	Rows   int          `json:"rows"`
	Filled int          `json:"filled"`
	Cells  []FilledCell `json:"cells"`

	Table *table.Table `json:"-"`
}

// Impute fills in the missing cells of data, which is read as the columns of a
// model of all columns together.
func (h *Home) Impute(ctx context.Context, p *Part, d *Data) (*Imputed, error) {
	m, ok := learn.Ability[learn.Imputer](p.Model)
	if !ok {
		return nil, cannot(p.Learner(), "fill in missing cells", func(c learn.Can) bool { return c.Impute })
	}
	t, err := h.ReadAs(ctx, d, p.Schema())
	if err != nil {
		return nil, err
	}
	full, filled, err := impute(ctx, m, t)
	if err != nil {
		return nil, err
	}
	if seen, _, err := table.Conform(t, m.Schema(), false); err == nil {
		beyond := &impossibles{model: p.Model, wanted: learn.NoTarget}
		beyond.count(seen)
		beyond.say(h)
	}
	return &Imputed{t.Rows(), len(filled), filled, full}, nil
}

// FilledCell is a cell that was missing.
type FilledCell struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
	Value  any    `json:"value"`
}

// impute fills in the missing cells of a table whose dictionaries begin with
// the model's, and lists them.
func impute(ctx context.Context, m learn.Imputer, t *table.Table) (*table.Table, []FilledCell, error) {
	seen, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, nil, err
	}
	full, err := m.Impute(ctx, seen)
	if err != nil {
		return nil, nil, err
	}
	filled := []FilledCell{}
	columns := make([]table.Column, len(t.Columns))
	for j := range columns {
		at, was := &t.Schema.Attributes[j], t.Columns[j]
		columns[j] = table.Column{Codes: slices.Clone(was.Codes), Floats: slices.Clone(was.Floats), Words: was.Words}
		for r, code := range was.Codes {
			if now := full.Columns[j].Codes[r]; code == table.Missing && now >= 0 {
				columns[j].Codes[r] = now
				filled = append(filled, FilledCell{r + 1, at.Name, at.Values[now]})
			}
		}
		for r, x := range was.Floats {
			if now := full.Columns[j].Floats[r]; table.IsMissing(x) && !table.IsMissing(now) {
				columns[j].Floats[r] = now
				filled = append(filled, FilledCell{r + 1, at.Name, now})
			}
		}
	}
	slices.SortStableFunc(filled, func(a, b FilledCell) int { return a.Row - b.Row })
	result, err := table.New(t.Schema, columns, t.Weights)
	return result, filled, err
}
