package life

import (
	"cmp"
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// sampler is a model that rows can be drawn from: sequences of a length, where it
// has any.
type sampler interface {
	SampleRows(rows, length int, seed uint64) (*table.Table, error)
}

// mostDrawn bounds the rows that are drawn at a time.
const mostDrawn = 100_000_000

// Rows of a sequence, and of an episode at most, where nothing is said.
const (
	usualLength  = 100
	usualEpisode = 10_000
)

// Sampled is rows that a model made up: the cells of each column, null where nothing
// is said.
type Sampled struct {
	Model   string           `json:"model"`
	Version int              `json:"version"`
	Rows    int              `json:"rows"`
	Seed    uint64           `json:"seed"`
	Columns map[string][]any `json:"columns"`

	Table *table.Table `json:"-"`
}

// SampleOf draws rows from a model or, where the name is that of a world, writes a log
// of acts by lot in it, whose episodes have so many rows at most. A length of 0 is as
// long as is usual.
func (h *Home) SampleOf(ctx context.Context, name string, rows, length int, seed uint64) (*Sampled, error) {
	p, failed := h.Load(name)
	if failed == nil {
		if _, ok := learn.Ability[sampler](p.Model); ok {
			return h.Sample(ctx, p, rows, cmp.Or(length, usualLength), seed)
		}
	}
	w, err := h.World(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case w == nil && failed != nil:
		return nil, failed
	case w == nil:
		return h.Sample(ctx, p, rows, cmp.Or(length, usualLength), seed)
	case rows < 1 || rows > mostDrawn:
		return nil, fmt.Errorf("%d rows: expected 1 to %d", rows, mostDrawn)
	}
	defer w.Close()
	t, err := act.LogRows(ctx, w.Environment, rows, cmp.Or(length, usualEpisode), seed)
	if err != nil {
		return nil, err
	}
	return drawn(w.Name, 0, t, seed)
}

// Sample draws rows from a model of all columns together.
func (h *Home) Sample(ctx context.Context, p *Part, rows, length int, seed uint64) (*Sampled, error) {
	m, ok := learn.Ability[sampler](p.Model)
	switch {
	case !ok:
		return nil, notJoint(p.Learner(), "make rows up")
	case rows < 1 || rows > mostDrawn:
		return nil, fmt.Errorf("%d rows: expected 1 to %d", rows, mostDrawn)
	case length < 1:
		return nil, fmt.Errorf("sequences of %d rows: expected at least 1", length)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	t, err := m.SampleRows(rows, length, seed)
	if err != nil {
		return nil, err
	}
	return drawn(p.Version.Model, p.Version.Number, t, seed)
}

// drawn is rows with their cells by column.
func drawn(model string, version int, t *table.Table, seed uint64) (*Sampled, error) {
	t, err := inColumns(t)
	if err != nil {
		return nil, err
	}
	rows := t.Rows()
	all := &Sampled{model, version, rows, seed, map[string][]any{}, t}
	for j := range all.Table.Columns {
		a, cells := &all.Table.Schema.Attributes[j], make([]any, rows)
		for row := range cells {
			switch c := &all.Table.Columns[j]; {
			case c.Codes != nil && c.Codes[row] >= 0:
				cells[row] = a.Values[c.Codes[row]]
			case c.Floats != nil && !table.IsMissing(c.Floats[row]):
				cells[row] = c.Floats[row]
			}
		}
		all.Columns[a.Name] = cells
	}
	return all, nil
}

// inColumns returns a table whose sequences are a column, the first.
func inColumns(t *table.Table) (*table.Table, error) {
	if t.Sequence == nil {
		return t, nil
	}
	schema := &table.Schema{Attributes: append([]table.Attribute{{Name: t.Schema.Sequence, Values: t.SequenceNames}}, t.Schema.Attributes...)}
	return table.New(schema, append([]table.Column{{Codes: t.Sequence}}, t.Columns...), nil)
}
