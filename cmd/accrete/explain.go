package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) explainCommand() *cobra.Command {
	var (
		flags   dataFlags
		only    []int
		without string
	)
	c := &cobra.Command{
		Use:   "explain MODEL DATA [--row N]… [--without SOURCE]",
		Short: "Say why: the evidence for and against each answer",
		Long: `Explain answers for each row of DATA and gives the reasons: the prior, each
piece of evidence with its weight (natural logarithms of odds-like ratios; for
a number, in its own units), and what is missing and how far it could move the
answer. Weights add up to the log of the posterior.`,
		Example: `  accrete explain votes votes --row 1
  accrete explain people new.csv --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			h, p, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			first := true
			return h.Explain(c.Context(), p, d, only, func(x *life.Explained) error {
				if a.json {
					return a.printJSON(x)
				}
				if !first {
					fmt.Fprintln(a.out)
				}
				first = false
				x.Write(a.out)
				return nil
			})
		},
	}
	flags.register(c)
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	console.CountsVar(c.Flags(), &only, "row", "only these rows, counted from 1")
	return c
}
