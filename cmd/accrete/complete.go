package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accrete-ml/accrete/life"
)

// complete registers what the shell completes: what arguments and flags are
// called says what they take (life.Complete).
func (a *app) complete(commands []*cobra.Command) {
	for _, c := range commands {
		words := strings.Fields(c.Use)[1:]
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveDefault
			}
			name, _, _ := strings.Cut(strings.Trim(words[len(args)], "[]…"), "@")
			return a.completed(c, strings.TrimRight(name, "["), args, typed)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if life.Completed(f.Name) {
				_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
					return a.completed(c, f.Name, args, typed)
				})
			}
		})
	}
}

func (a *app) completed(c *cobra.Command, name string, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := a.home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if c.Name() == "learners" {
		name = "learner"
	}
	learner := ""
	if f := c.Flags().Lookup("learner"); f != nil {
		learner = f.Value.String()
	}
	words, files := h.Complete(c.Context(), name, args, typed, learner)
	switch {
	case files || words == nil && !life.Completed(name):
		return words, cobra.ShellCompDirectiveDefault
	case strings.HasSuffix(typed, ",") || name == "set" || name == "try":
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeModels completes an argument with the names of models.
func (a *app) completeModels(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completed(c, "MODEL", args, typed)
}
