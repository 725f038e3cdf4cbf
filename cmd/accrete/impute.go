package main

import (
	"fmt"

	"github.com/spf13/cobra"
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
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			h, p, d, err := a.modelAndData(c.Context(), args, &flags, "")
			if err != nil {
				return err
			}
			filled, err := h.Impute(c.Context(), p, d)
			if err != nil {
				return err
			}
			if out != "" || !a.json {
				if err := a.tableOutput(out, filled.Table.WriteCSV, filled.Table.WrittenAs, d.File()); err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(filled)
			}
			fmt.Fprintf(a.errs, "filled in %s of %s\n", plural(filled.Filled, "cell"), plural(filled.Rows, "row"))
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", outUsage)
	return c
}
