package main

import (
	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) importanceCommand() *cobra.Command {
	var (
		flags    dataFlags
		level    float64
		top      int
		pictures string
	)
	c := &cobra.Command{
		Use:   "importance MODEL DATA",
		Short: "Say which columns the model needs, and how much",
		Long: `Importance hands the cells of one column to other rows of DATA, so that they tell
nothing any more, and says how much accuracy the model loses (how much the RMSE
rises, for a number), with its interval over the rows. Where a column has few
values for so many rows, that is the mean over all ways to hand them on; else over
ten random ones. Columns that say the same stand in for each other: each looks
less important than both. Rows that the model has learnt are left out where DATA
has 30 others.`,
		Example: `  accrete importance votes fresh.csv
  accrete importance boston boston --top 5 --pictures .`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			x, err := h.Importance(c.Context(), args[0], args[1], flags.Reading, level)
			if err != nil {
				return err
			}
			if err := a.picture(pictures, "importance", x.Chart(min(top, 40))); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(x)
			}
			x.Write(a.out, top)
			return nil
		}),
	}
	flags.register(c)
	console.ShareVar(c.Flags(), &level, "level", 0.95, "confidence of intervals")
	console.CountVar(c.Flags(), &top, "top", 20, 0, console.MostCount, "columns to print and draw at most")
	c.Flags().StringVar(&pictures, "pictures", "", "folder for a picture of the result (SVG)")
	return c
}
