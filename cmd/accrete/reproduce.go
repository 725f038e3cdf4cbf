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
	var folder string
	c := &cobra.Command{
		Use:   "reproduce [NAME…]",
		Short: "Run published experiments again, published values beside ours",
		Long: `Reproduce re-runs experiments of the literature and sets the published value
beside ours. A name may be the beginning of several. The exit status is 1 if a
result falls outside its stated bound.

Some experiments read larger data sets, which come with the source code and
not with the program. Where their folder is not found they are left out, which
is said.`,
		Example: `  accrete reproduce
  accrete reproduce play-tennis
  accrete reproduce networks-faces --data ~/accrete/bench/data`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			bar, done := a.progress("reproducing")
			type leftOut struct {
				Name string `json:"name"`
				Why  string `json:"why"`
			}
			var missing []leftOut
			outcomes, err := reproduce.Run(learn.WithProgress(c.Context(), bar), args, reproduce.Options{
				Seeds: seeds, Data: folder,
				Missing: func(name string, err *reproduce.MissingData) { missing = append(missing, leftOut{name, err.Error()}) },
			})
			done()
			if err != nil {
				return err
			}
			if len(outcomes) == 0 && len(missing) > 0 {
				return fmt.Errorf("experiment %s: %s", missing[0].Name, missing[0].Why)
			}
			for _, m := range missing {
				a.notes([]string{m.Name + " is left out: " + m.Why})
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
					LeftOut     []leftOut           `json:"left_out,omitempty"`
				}{outcomes, missing})
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
	c.Flags().StringVar(&folder, "data", reproduce.Folder, "folder with the larger data sets of the source code")
	return c
}
