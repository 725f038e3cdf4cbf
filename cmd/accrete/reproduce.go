package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/reproduce"
)

func (a *app) reproduceCommand() *cobra.Command {
	var seeds int
	c := &cobra.Command{
		Use:   "reproduce [NAME…]",
		Short: "Run published experiments again, published values beside ours",
		Long: `Reproduce re-runs experiments of the literature and sets the published value
beside ours. A name may be the beginning of several. The exit status is 1 if a
result falls outside its stated bound.`,
		Example: `  accrete reproduce
  accrete reproduce play-tennis`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			bar, done := a.progress("reproducing")
			outcomes, err := reproduce.Run(learn.WithProgress(c.Context(), bar), args, reproduce.Options{Seeds: seeds})
			done()
			if err != nil {
				return err
			}
			failed := 0
			for _, o := range outcomes {
				if !o.Holds {
					failed++
				}
			}
			if a.json {
				err = a.printJSON(struct {
					Experiments []reproduce.Outcome `json:"experiments"`
				}{outcomes})
			} else {
				var rows [][]string
				for _, o := range outcomes {
					holds := "yes"
					if !o.Holds {
						holds = "NO"
					}
					rows = append(rows, []string{o.Name, number(o.Published), number(o.Ours), number(o.Low), number(o.High), strconv.Itoa(o.Seeds), holds, o.Source})
				}
				printTable(a.out, []string{"experiment", "published", "ours", "from", "to", "seeds", "holds", "source"}, rows)
			}
			if failed > 0 {
				err = errors.Join(err, fmt.Errorf("%d of %d experiments do not hold", failed, len(outcomes)))
			}
			return err
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 0, "seeds of each experiment (default: its own)")
	return c
}
