package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "restore MODEL@N",
		Short:             "Make an old version the newest again",
		Example:           `  accrete restore votes@2`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			if !strings.Contains(args[0], "@") {
				return usagef("restore needs a version, as in %s@1; see accrete log %s", args[0], args[0])
			}
			start := time.Now()
			s, err := a.openStore()
			if err != nil {
				return err
			}
			v, err := s.Restore(c.Context(), args[0], start)
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
			fmt.Fprintf(a.out, "version %d of %s is what %s was\n", v.Number, v.Model, args[0])
			return nil
		},
	}
}
