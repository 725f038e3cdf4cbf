package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) restoreCommand() *cobra.Command {
	var flags editFlags
	c := &cobra.Command{
		Use:   "restore MODEL@N [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Make an old version the newest again",
		Example: `  accrete restore votes@2 --preview
  accrete restore votes@2`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if !strings.Contains(args[0], "@") {
				return usagef("restore needs a version, as in %s@1; see accrete log %s", args[0], args[0])
			}
			edit, err := flags.at(h)
			if err != nil {
				return err
			}
			v, err := h.Restore(c.Context(), args[0], edit)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			if v.Preview {
				fmt.Fprintf(a.out, "version %d of %s would be what %s was; nothing was changed\n", v.Version, v.Model, args[0])
			} else {
				fmt.Fprintf(a.out, "version %d of %s is what %s was\n", v.Version, v.Model, args[0])
			}
			a.printEffect(v)
			return nil
		}),
	}
	flags.register(c)
	return c
}
