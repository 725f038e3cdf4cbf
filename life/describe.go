package life

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// Description is the columns of a table.
type Description struct {
	Data    string        `json:"data"`
	Format  string        `json:"format"`
	Rows    int           `json:"rows"`
	Columns []ColumnEntry `json:"columns"`
	Target  string        `json:"suggested_target,omitempty"`

	Summaries []table.Summary `json:"-"`
}

// Describe reads a table and describes its columns.
func (h *Home) Describe(ctx context.Context, d *Data) (*Description, error) {
	t, report, err := d.Read(ctx, d.options())
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	columns := table.Summarise(t)
	target := d.Target("")
	if target == "" {
		target = suggestedTarget(columns)
	}
	return &Description{d.Arg, report.Format, t.Rows(), columnEntries(columns), target, columns}, nil
}

// targetNames are what people call the column to predict.
var targetNames = []string{"class", "target", "label", "outcome", "y"}

// suggestedTarget guesses the column that is meant to be predicted: one that
// is called so, else the last one that has classes, else the last one.
func suggestedTarget(columns []table.Summary) string {
	for _, name := range targetNames {
		for _, s := range columns {
			if strings.EqualFold(s.Name, name) {
				return s.Name
			}
		}
	}
	for _, s := range slices.Backward(columns) {
		if s.Kind == table.Nominal && s.Distinct >= 2 && s.Distinct <= 20 {
			return s.Name
		}
	}
	if len(columns) == 0 {
		return ""
	}
	return columns[len(columns)-1].Name
}

// ColumnEntry is a column in a few figures.
type ColumnEntry struct {
	Name     string         `json:"name"`
	Kind     string         `json:"kind"`
	Date     bool           `json:"date,omitempty"`
	Missing  int            `json:"missing"`
	Distinct int            `json:"distinct"`
	Min      *float64       `json:"min,omitempty"`
	Mean     *float64       `json:"mean,omitempty"`
	Max      *float64       `json:"max,omitempty"`
	Top      map[string]int `json:"top,omitempty"`
}

func columnEntries(columns []table.Summary) []ColumnEntry {
	entries := make([]ColumnEntry, len(columns))
	for i, s := range columns {
		e := ColumnEntry{Name: s.Name, Kind: s.Shown(), Date: s.Date, Missing: s.Missing, Distinct: s.Distinct}
		if s.Kind == table.Numeric {
			if !math.IsNaN(s.Mean) {
				e.Min, e.Mean, e.Max = &s.Min, &s.Mean, &s.Max
			}
		} else {
			e.Top = map[string]int{}
			for _, f := range s.Top {
				e.Top[f.Value] = f.Count
			}
		}
		entries[i] = e
	}
	return entries
}
