package life

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Description is the columns of a table.
type Description struct {
	Data    string        `json:"data"`
	Format  string        `json:"format"`
	Rows    int           `json:"rows"`
	Columns []ColumnEntry `json:"columns"`
	Target  string        `json:"suggested_target,omitempty"`
	// LeftOut are the columns that are not read: ids and texts, and what is to be ignored.
	LeftOut []string `json:"left_out,omitempty"`
	// Reachable is the share of the rows that can be right at best: rows that
	// are alike in all other columns get one answer, and may have several.
	Reachable *float64 `json:"best_reachable,omitempty"`
	// Classes are the answers that columns are counted by, with their rows.
	Classes      []string      `json:"classes,omitempty"`
	ClassRows    []int         `json:"class_rows,omitempty"`
	Warnings     []Warning     `json:"warnings"`
	Associations []Association `json:"associations,omitempty"`

	Summaries []table.Summary `json:"-"`

	gaps [][]float64 // of each column, shares of missing cells along the rows
}

// Describe reads a table and describes its columns.
func (h *Home) Describe(ctx context.Context, d *Data) (*Description, error) {
	return h.DescribeFor(ctx, d, "")
}

// DescribeFor is Describe by the classes of a target; "" for the one that suggests
// itself.
func (h *Home) DescribeFor(ctx context.Context, d *Data, target string) (*Description, error) {
	o := d.options()
	o.Target = target
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	columns := table.Summarise(t)
	if target = d.Target(target); target == "" {
		target = suggestedTarget(columns, t.Rows())
	}
	x := &Description{Data: d.called(), Format: report.Format, Rows: t.Rows(), Columns: columnEntries(columns), Target: target, LeftOut: leftOut(report, d.Reading), Summaries: columns}
	col := t.Schema.Index(target)
	if x.Reachable, err = reachable(ctx, t, col); err != nil {
		return nil, err
	}
	p := newProfiler(t, col)
	if err := p.profile(ctx, x.Columns); err != nil {
		return nil, err
	}
	if x.Warnings, err = p.warnings(ctx, report); err != nil {
		return nil, err
	}
	x.Classes, x.ClassRows = p.classes, make([]int, len(p.classes))
	for _, c := range p.class {
		if c >= 0 {
			x.ClassRows[c]++
		}
	}
	x.gaps = gaps(t)
	x.Associations, err = p.associations(ctx)
	return x, err
}

// gaps returns, for each column, what share of the cells is missing in each
// hundredth of the rows.
func gaps(t *table.Table) [][]float64 {
	parts := min(100, t.Rows())
	all := make([][]float64, len(t.Columns))
	for col := range t.Columns {
		all[col] = make([]float64, parts)
		for k := range parts {
			from, to := k*t.Rows()/parts, (k+1)*t.Rows()/parts
			for r := from; r < to; r++ {
				if isGap(&t.Columns[col], r) {
					all[col][k] += 1 / float64(to-from)
				}
			}
		}
	}
	return all
}

func isGap(c *table.Column, row int) bool {
	switch {
	case c.Codes != nil:
		return c.Codes[row] == table.Missing
	case c.Words != nil:
		return c.Words.Missing(row)
	}
	return table.IsMissing(c.Floats[row])
}

// reachable returns the share of the rows whose class is the most frequent one
// of the rows that are alike in all other columns; nil where there are no
// classes.
func reachable(ctx context.Context, t *table.Table, target int) (*float64, error) {
	if target < 0 || t.Schema.Attributes[target].Kind != table.Nominal || len(t.Columns) < 2 {
		return nil, nil
	}
	var others []int
	for j := range t.Columns {
		if j != target {
			others = append(others, j)
		}
	}
	hashes, err := kept.HashRows(ctx, t.Project(others))
	if err != nil {
		return nil, err
	}
	type answer struct {
		row  uint64
		code int32
	}
	counts, best := make(map[answer]float64), make(map[uint64]float64)
	right, total := 0.0, 0.0
	for r, h := range hashes {
		code := t.Columns[target].Codes[r]
		if code < 0 {
			continue
		}
		total += t.Weight(r)
		counts[answer{h, code}] += t.Weight(r)
		if more := counts[answer{h, code}] - best[h]; more > 0 {
			best[h] += more
			right += more
		}
	}
	if total == 0 {
		return nil, nil
	}
	right /= total
	return &right, nil
}

// targetNames are what people call the column to predict.
var targetNames = []string{"class", "target", "label", "outcome", "y"}

// suggestedTarget guesses the column that is meant to be predicted: one that
// is called so, else the last one that has classes, else the last one; never one
// of a single value, which leaves nothing to tell apart.
func suggestedTarget(columns []table.Summary, rows int) string {
	columns = slices.DeleteFunc(slices.Clone(columns), func(s table.Summary) bool { return s.Distinct < 2 })
	for _, name := range targetNames {
		for _, s := range columns {
			if strings.EqualFold(s.Name, name) {
				return s.Name
			}
		}
	}
	for _, s := range slices.Backward(columns) {
		if s.Kind == table.Nominal && s.Distinct >= 2 && s.Distinct <= 20 && s.Missing <= rows/4 {
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
	// Bits is what the column alone tells of the target.
	Bits      *float64     `json:"bits,omitempty"`
	Histogram *Histogram   `json:"histogram,omitempty"`
	Values    []ValueCount `json:"values,omitempty"`
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
