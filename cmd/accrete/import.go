package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) importCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:     "import FILE [--name MODEL]",
		Short:   "Read a model that was exported",
		Example: `  accrete import votes.accrete --name votes-from-bern`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			start := time.Now()
			s, err := a.openStore()
			if err != nil {
				return err
			}
			v, err := s.Import(c.Context(), args[0], name, start)
			if err != nil {
				return err
			}
			if a.json {
				m, v, err := s.Load(fmt.Sprintf("%s@%d", v.Model, v.Number))
				if err != nil {
					return err
				}
				return a.printJSON(newLearnt(m, v, time.Since(start).Seconds()))
			}
			fmt.Fprintf(a.out, "model %s, version %d: %s, learnt from %s rows\n", v.Model, v.Number, v.Learner, count(v.Rows))
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "name of the model here (default: the name it was exported under)")
	return c
}
