package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/table"
)

func (a *app) describeCommand() *cobra.Command {
	var flags dataFlags
	c := &cobra.Command{
		Use:   "describe DATA",
		Short: "Show the columns of a table: types, missing cells, values",
		Example: `  accrete describe people.csv
  accrete describe iris --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.find(args[0], &flags)
			if err != nil {
				return err
			}
			t, report, err := d.read(c.Context(), d.options())
			if err != nil {
				return err
			}
			a.notes(report.Notes)
			columns := table.Summarise(t)
			target := d.target("")
			if target == "" {
				target = suggestedTarget(columns)
			}
			if a.json {
				return a.printJSON(struct {
					Data    string        `json:"data"`
					Format  string        `json:"format"`
					Rows    int           `json:"rows"`
					Columns []columnEntry `json:"columns"`
					Target  string        `json:"suggested_target,omitempty"`
				}{d.arg, report.Format, t.Rows(), columnEntries(columns), target})
			}
			fmt.Fprintf(a.out, "%s: %s, %s (%s)\n\n", d.arg, plural(t.Rows(), "row"), plural(len(columns), "column"), report.Format)
			var rows [][]string
			for _, s := range columns {
				rows = append(rows, []string{s.Name, s.Kind.String(), strconv.Itoa(s.Missing), strconv.Itoa(s.Distinct), values(s)})
			}
			printTable(a.out, []string{"column", "type", "missing", "distinct", "values"}, rows)
			if target != "" {
				fmt.Fprintf(a.out, "\nnext: accrete learn %s --target %s\n", d.arg, target)
			}
			return nil
		},
	}
	flags.register(c)
	return c
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

// columnEntry is a column as programs read it.
type columnEntry struct {
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

func columnEntries(columns []table.Summary) []columnEntry {
	entries := make([]columnEntry, len(columns))
	for i, s := range columns {
		e := columnEntry{Name: s.Name, Kind: s.Kind.String(), Date: s.Date, Missing: s.Missing, Distinct: s.Distinct}
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

// values shows a column's range, or its most frequent values.
func values(s table.Summary) string {
	if s.Kind == table.Numeric {
		a := table.Attribute{Kind: table.Numeric, Date: s.Date}
		if s.Date {
			return fmt.Sprintf("%s to %s", a.Format(s.Min), a.Format(s.Max))
		}
		return fmt.Sprintf("%s to %s, mean %s", number(s.Min), number(s.Max), number(s.Mean))
	}
	var top []string
	for _, f := range s.Top {
		top = append(top, fmt.Sprintf("%s %d", f.Value, f.Count))
	}
	text := strings.Join(top, ", ")
	if s.Distinct > len(top) {
		text += ", …"
	}
	return text
}
