package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) mergeCommand() *cobra.Command {
	var (
		name  string
		flags sourceFlags
	)
	c := &cobra.Command{
		Use:   "merge A B --name MODEL",
		Short: "Make one model of two that learnt apart",
		Long: `Merge joins two models of one learner, settings and target into the model of
both models' rows, and lists where their rules disagree: there the rows of both
together decide. Rules that experts told one of them are weighed against the
rows of both, for which the rows must still be there (see verify).`,
		Example: `  accrete merge north south --name country
  accrete merge north@3 south --name country --json`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if name == "" {
				return usagef("merge needs a name for the new model: --name MODEL")
			}
			at, err := flags.elsewhere()
			if err != nil {
				return err
			}
			m, err := h.Merge(c.Context(), args[0], args[1], name, at)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(m)
			}
			fmt.Fprintf(a.out, "model %s, version %d: %s of %s and %s, %s rows%s\n", m.Model, m.Version, m.Learner, args[0], args[1], count(m.Rows), sizeNote(m.Part.Size()))
			fmt.Fprintln(a.out, contractLine(m.Part.Model, "equal to one model of all rows"))
			a.printConflicts(m.Conflicts, args[0]+" says", args[1]+" says", "the rows of both decide")
			a.next(m.Part, "rules", "verify")
			return nil
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the new model")
	flags.register(c)
	return c
}

// contractLine says what a learner promises of a model that was changed.
func contractLine(m learn.Model, exactly string) string {
	if m, ok := learn.Ability[interface{ LearntAtOnce() bool }](m); ok && m.LearntAtOnce() {
		return "contract: bounded, and exact this time, as every row was there to be learnt again: " + exactly
	}
	switch learn.PromiseOf(m).Contract {
	case learn.Exact:
		return "contract: exact: " + exactly
	case learn.Bounded:
		return "contract: bounded: close to that, not equal; accrete verify measures it"
	}
	return "contract: none: " + m.Learner() + " promises nothing; accrete verify measures it"
}
