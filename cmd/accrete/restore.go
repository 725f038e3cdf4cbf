package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "restore MODEL@N",
		Short:             "Make an old version the newest again",
		Example:           `  accrete restore votes@2`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if !strings.Contains(args[0], "@") {
				return usagef("restore needs a version, as in %s@1; see accrete log %s", args[0], args[0])
			}
			v, err := h.Restore(c.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "version %d of %s is what %s was\n", v.Version, v.Model, args[0])
			return nil
		}),
	}
}
