package life

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// strangersRows returns the rows that a model learnt from as a stranger reads
// them who has all sources at once. A column that looked like an id in the first
// source was left out of the model for good; if it does not over all sources, it
// is among the rows, and the notes say so.
func (h *Home) strangersRows(ctx context.Context, p *Part, at Elsewhere) (rows []learn.Learnt, notes []string, err error) {
	if rows, err = h.LearntRows(ctx, p, at); err != nil || len(rows) < 2 {
		return rows, nil, err
	}
	if k, ok := learn.Ability[learn.Keeper](p.Model); ok {
		if kept, err := k.Kept(ctx); kept != nil || err != nil {
			return rows, nil, err // it has what it keeps
		}
	}
	sources := slices.DeleteFunc(live(p.Model, p.Versions), func(v store.Version) bool { return v.Kind == store.Tell })
	first := table.Options{}
	if p.Target() != learn.NoTarget {
		first.Target = p.Schema().Attributes[p.Target()].Name
	}
	_, report, err := h.readAgain(ctx, p, sources[0], at, first)
	if err != nil {
		return nil, nil, err
	}
	var ignored []string
	_ = json.Unmarshal([]byte(sources[0].Settings[ignoreSetting]), &ignored) // without the setting there are none
	wider := table.CopySchema(p.Schema())
	for _, name := range report.IDs {
		if wider.Index(name) < 0 && !slices.Contains(ignored, name) {
			wider.Attributes = append(wider.Attributes, table.Attribute{Name: name, Kind: table.Nominal})
		}
	}
	own := len(p.Schema().Attributes)
	if len(wider.Attributes) == own {
		return rows, nil, nil
	}
	tables := make([]*table.Table, len(sources))
	for i, v := range sources {
		if tables[i], _, err = h.readAgain(ctx, p, v, at, table.Options{Schema: wider, Extend: true}); err != nil {
			return rows, nil, nil // a later source has no such column
		}
	}
	kept, err := keptByAll(ctx, tables, own)
	if err != nil || len(kept) == 0 {
		return rows, nil, err
	}
	for i, v := range sources {
		rows[i] = learn.Learnt{Source: learn.Source{ID: v.Source.ID, Name: v.Source.Name}, Table: tables[i].Project(append(upTo(own), kept...))}
	}
	for _, j := range kept {
		notes = append(notes, fmt.Sprintf("column %q looked like an id in %s and was left out; over all %d sources it is kept", wider.Attributes[j].Name, sources[0].Source.Name, len(sources)))
	}
	return rows, notes, nil
}

// keptByAll returns which columns from one on are not left out when the cells of
// all tables are read together.
func keptByAll(ctx context.Context, tables []*table.Table, from int) ([]int, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	record := []string{"row"} // so that no line is empty
	for j := from; j < len(tables[0].Columns); j++ {
		record = append(record, fmt.Sprint("column ", j))
	}
	_ = w.Write(record) // a buffer takes all
	for _, t := range tables {
		for r := range t.Rows() {
			record = append(record[:0], "1")
			for j := from; j < len(t.Columns); j++ {
				record = append(record, t.Text(r, j))
			}
			_ = w.Write(record)
		}
	}
	w.Flush()
	all, _, err := table.Read(ctx, &text, table.Options{Name: "all.csv"})
	if err != nil {
		return nil, err
	}
	var kept []int
	for j := from; j < len(tables[0].Columns); j++ {
		if all.Schema.Index(fmt.Sprint("column ", j)) >= 0 {
			kept = append(kept, j)
		}
	}
	return kept, nil
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
