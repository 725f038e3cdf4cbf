package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export MODEL[@N] FILE",
		Short: "Write a model to one self-contained file",
		Long: `Export writes a model with its history to one file that accrete import, or a
Go program (store.ReadFile), reads on any machine.`,
		Example:           `  accrete export votes votes.accrete`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			if err := h.Store.Export(args[0], args[1]); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Model string `json:"model"`
					File  string `json:"file"`
				}{args[0], args[1]})
			}
			fmt.Fprintf(a.out, "%s is in %s; read it with: accrete import %s\n", args[0], args[1], args[1])
			return nil
		},
	}
}
