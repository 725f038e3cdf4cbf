package main

import (
	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) sampleCommand() *cobra.Command {
	var (
		out          string
		rows, length int
	)
	c := &cobra.Command{
		Use:   "sample MODEL|ENV [--rows N] [--out FILE]",
		Short: "Make rows up as a model expects them",
		Long: `Sample draws rows from a model of all columns together (belief, gaussian, markov,
mixture): of a network each column given its parents, of a Markov model sequences of
states and what they show. Of an environment it writes a log of acts by lot: whole
episodes, of --length rows at most. The same --seed draws the same rows. It writes CSV.`,
		Example: `  accrete sample storm --rows 1000 --seed 2 --out made.csv
  accrete sample casino --rows 300 --length 100
  accrete sample inventory --rows 50000 --out log.csv`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if !c.Flags().Changed("length") {
				length = 0
			}
			made, err := h.SampleOf(c.Context(), args[0], rows, length, a.seed)
			if err == nil && (out != "" || !a.json) {
				err = a.tableOutput(out, made.Table.WriteCSV, made.Table.WrittenAs)
			}
			if err != nil || !a.json {
				return err
			}
			return a.printJSON(made)
		}),
	}
	console.CountVar(c.Flags(), &rows, "rows", 10, 1, console.MostCount, "rows to draw")
	console.CountVar(c.Flags(), &length, "length", 100, 1, console.MostCount, "rows of a sequence, of an episode at most (there 10000)")
	c.Flags().StringVar(&out, "out", "", outUsage)
	return c
}
