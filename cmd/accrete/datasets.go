package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/datasets"
)

func (a *app) datasetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "datasets",
		Short:   "List the built-in data sets and generators",
		Example: `  accrete datasets`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			sets := datasets.All()
			if a.json {
				return a.printJSON(struct {
					Datasets     []datasets.Set `json:"datasets"`
					Environments []act.World    `json:"environments"`
				}{sets, act.Worlds()})
			}
			var rows [][]string
			for _, s := range sets {
				rows = append(rows, []string{s.Name, strconv.Itoa(s.Rows), strconv.Itoa(s.Columns), s.Target, s.Title})
			}
			printTable(a.out, []string{"set", "rows", "columns", "target", "what"}, rows)
			fmt.Fprintln(a.out, "\nuse a name wherever DATA stands; generators take parameters: led:rows=500,noise=0.2,seed=3")
			fmt.Fprintln(a.out)
			rows = nil
			for _, w := range act.Worlds() {
				rows = append(rows, []string{w.Name, w.What})
			}
			printTable(a.out, []string{"environment", "to act in"}, rows)
			fmt.Fprintln(a.out, "\nlearn a policy in one: accrete learn frozenlake:size=8; settings: accrete datasets --json")
			fmt.Fprintln(a.out, "sources and terms: accrete datasets --json")
			return nil
		},
	}
}
