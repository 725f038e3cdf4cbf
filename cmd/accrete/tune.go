package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) tuneCommand() *cobra.Command {
	var (
		flags    dataFlags
		learner  learnerFlags
		o        life.TuneOptions
		pictures string
	)
	c := &cobra.Command{
		Use:   "tune DATA [--target COL] [--learner NAME] [--try key=a,b,c]… [--trials N]",
		Short: "Try settings of a learner, and say honestly what the choice is worth",
		Long: `Tune tries settings in folds of DATA: all combinations of --try, or without it
every setting that has words to choose from or a number, changed one at a time.
What the best one reached in these folds is luck in part; so the choice itself is
judged: in each outer fold the settings are tried anew in folds of the other rows,
and what is chosen there answers for the rows held out. --set gives settings that
are the same in all trials; --group and --time divide rows as in evaluate.`,
		Example: `  accrete tune credit-a --learner tree --try prune=none,pessimistic,cost --try m=1,2,4
  accrete tune votes --learner bayes --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) (err error) {
			if o.Choice, err = learner.choice(c.Context()); err != nil {
				return err
			}
			if o.Data, err = h.Find(args[0], flags.Reading); err != nil {
				return err
			}
			o.FewFolds = !c.Flags().Changed("folds") && !c.Flags().Changed("inner")
			t, err := h.Tune(c.Context(), o)
			if err != nil {
				return err
			}
			if err := a.picture(pictures, "settings", t.Chart()); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(t)
			}
			t.Write(a.out, 20)
			next := "accrete learn " + word(args[0]) + " --target " + word(*t.Target) + " --learner " + t.Learner
			for _, key := range slices.Sorted(maps.Keys(t.Worthwhile())) {
				next += " --set " + word(key+"="+t.Best[key])
			}
			fmt.Fprintln(a.out, "\nnext: "+next)
			return nil
		}),
	}
	flags.register(c)
	learner.register(c)
	registerDivision(c, &o.Division)
	f := c.Flags()
	f.StringVar(&o.Target, "target", "", targetUsage)
	f.StringArrayVar(&o.Try, "try", nil, "values of a setting to try, as key=a,b,c; several give all combinations")
	console.CountVar(f, &o.Trials, "trials", 16, 1, 10_000, "settings to try at most, drawn by chance from more")
	console.CountVar(f, &o.Folds, "folds", 5, 2, console.MostCount, "outer folds, in which the choice is judged")
	console.CountVar(f, &o.Inner, "inner", 3, 2, console.MostCount, "inner folds, in which the choice is made")
	console.ShareVar(f, &o.Level, "level", 0.95, "confidence of intervals")
	f.StringVar(&pictures, "pictures", "", "folder for a picture of the result (SVG)")
	return c
}
