package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) importCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:     "import FILE [--name MODEL]",
		Short:   "Read a model that was exported",
		Example: `  accrete import votes.accrete --name votes-from-bern`,
		Args:    cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			v, err := h.Import(c.Context(), args[0], name)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "model %s, version %d: %s, learnt from %s rows\n", v.Model, v.Version, v.Learner, count(v.Rows))
			return nil
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the model here (default: the name it was exported under)")
	return c
}
