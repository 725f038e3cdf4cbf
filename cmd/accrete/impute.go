package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) imputeCommand() *cobra.Command {
	var (
		flags dataFlags
		out   string
	)
	c := &cobra.Command{
		Use:   "impute MODEL DATA [--out FILE]",
		Short: "Fill in missing cells",
		Long: `Impute writes DATA as a CSV of the model's columns in which each missing cell is
replaced by what a model of all columns together expects given the others of its
row: the mean of a number, the most probable name. Known cells stay as they are.
With --json it lists the cells that were filled in.`,
		Example: `  accrete impute boston holes.csv --out filled.csv
  accrete impute boston holes.csv --json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			m, d, err := a.modelAndData(c.Context(), args, &flags, "")
			if err != nil {
				return err
			}
			imputer, ok := learn.Ability[learn.Imputer](m)
			if !ok {
				return notJoint(m.Learner(), "fill in missing cells")
			}
			t, err := a.readAs(c.Context(), d, m.Schema())
			if err != nil {
				return err
			}
			full, filled, err := impute(c.Context(), imputer, t)
			if err != nil {
				return err
			}
			if out != "" || !a.json {
				if err := a.output(out, full.WriteCSV); err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(struct {
					Rows   int          `json:"rows"`
					Filled int          `json:"filled"`
					Cells  []filledCell `json:"cells"`
				}{t.Rows(), len(filled), filled})
			}
			fmt.Fprintf(a.errs, "filled in %s of %s\n", plural(len(filled), "cell"), plural(t.Rows(), "row"))
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return c
}

// readAs reads a table as the columns of a model's schema. Names that the
// model does not know are kept.
func (a *app) readAs(ctx context.Context, d *data, schema *table.Schema) (*table.Table, error) {
	o := d.options()
	o.Schema, o.Extend = schema, true
	t, report, err := d.read(ctx, o)
	if err != nil {
		return nil, err
	}
	a.notes(report.Notes)
	return t, nil
}

// filledCell is a cell that was missing.
type filledCell struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
	Value  any    `json:"value"`
}

// impute fills in the missing cells of a table whose dictionaries begin with
// the model's, and lists them.
func impute(ctx context.Context, m learn.Imputer, t *table.Table) (*table.Table, []filledCell, error) {
	seen, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, nil, err
	}
	full, err := m.Impute(ctx, seen)
	if err != nil {
		return nil, nil, err
	}
	filled := []filledCell{}
	columns := make([]table.Column, len(t.Columns))
	for j := range columns {
		at, was := &t.Schema.Attributes[j], t.Columns[j]
		columns[j] = table.Column{Codes: slices.Clone(was.Codes), Floats: slices.Clone(was.Floats)}
		for r, code := range was.Codes {
			if now := full.Columns[j].Codes[r]; code == table.Missing && now >= 0 {
				columns[j].Codes[r] = now
				filled = append(filled, filledCell{r + 1, at.Name, at.Values[now]})
			}
		}
		for r, x := range was.Floats {
			if now := full.Columns[j].Floats[r]; table.IsMissing(x) && !table.IsMissing(now) {
				columns[j].Floats[r] = now
				filled = append(filled, filledCell{r + 1, at.Name, now})
			}
		}
	}
	slices.SortStableFunc(filled, func(a, b filledCell) int { return a.Row - b.Row })
	result, err := table.New(t.Schema, columns, t.Weights)
	return result, filled, err
}
