package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "delete MODEL[@N]",
		Short:   "Delete a model, or one version of it",
		Example: "  accrete delete votes@1\n  accrete delete votes",
		Args:    cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if err := h.Store.Delete(c.Context(), args[0]); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Deleted string `json:"deleted"`
				}{args[0]})
			}
			fmt.Fprintf(a.out, "%s is deleted\n", args[0])
			return nil
		}),
	}
}
