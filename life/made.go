package life

import (
	"context"
	"encoding/csv"
	"io"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// WriteColumns writes rows, those of data or else those that a model learnt, with
// the columns that its clauses make of them: a table that any learner can learn.
func (h *Home) WriteColumns(ctx context.Context, w io.Writer, p *Part, d *Data) error {
	m, ok := plain(p.Model).(interface {
		Columns(ctx context.Context, t *table.Table) (names []string, cells [][]string, err error)
	})
	if !ok {
		return remedy.Misusef("a model of %s has no clauses that could make columns; learners of relations have", p.Version.Learner)
	}
	rows, err := h.readOutRows(ctx, p, d)
	if err != nil {
		return err
	}
	names, cells, err := m.Columns(ctx, rows)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	line := append(rows.Schema.Names(), names...)
	if err := out.Write(line); err != nil {
		return err
	}
	for r := range rows.Rows() {
		line = line[:0]
		for j := range rows.Columns {
			line = append(line, rows.Text(r, j))
		}
		for _, c := range cells {
			line = append(line, c[r])
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readOutRows are the rows of data, as a model reads them, or those that it learnt.
func (h *Home) readOutRows(ctx context.Context, p *Part, d *Data) (*table.Table, error) {
	m, err := Answerer(p)
	if err != nil {
		return nil, err
	}
	if d != nil {
		rows, err := h.ReadAs(ctx, d, m.Schema())
		if err != nil {
			return nil, err
		}
		rows, _, err = table.Conform(rows, m.Schema(), false)
		return rows, err
	}
	rows, err := h.allRows(ctx, p, &Drawing{})
	if err != nil {
		return nil, remedy.New(Remedy{Kind: remedy.NameData}, "a model is read out from rows: %v", err)
	}
	return rows, nil
}
