package main

import (
	"fmt"

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
			h, err := a.home()
			if err != nil {
				return err
			}
			v, err := h.Import(c.Context(), args[0], name)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "model %s, version %d: %s, learnt from %s rows\n", v.Model, v.Version, v.Learner, count(v.Rows))
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "name of the model here (default: the name it was exported under)")
	return c
}
