package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) importCommand() *cobra.Command {
	var name string
	var f life.Foreigner
	var l learnerFlags
	c := &cobra.Command{
		Use:   "import FILE [--name MODEL]",
		Short: "Read a model that was exported, or that another program learnt",
		Long: `Import reads what accrete export wrote, a base of rules, a belief network or a
logic program. With --as it reads the trees of another program as rules, which
then answer as it does, are explained, corrected and compared: XGBoost's
save_model as JSON, LightGBM's save_model as text or dump_model as JSON, and of
scikit-learn export_text or the lists of tree_ as JSON. These programs do not keep
what is predicted, and number classes: --target and --classes say what they are, so
that the model can be judged by data, and compared with others. How a network
learns and answers can be set, as in --set worth=50 or --set inference=gibbs.`,
		Example: `  accrete import votes.accrete --name votes-from-bern
  accrete import alarm.bif --set worth=50
  accrete import old.json --as xgboost --name old --target outcome --classes no,yes`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			chosen, err := l.choice(c.Context())
			if err != nil {
				return err
			}
			read := func(ctx context.Context, path, name string) (*life.Learnt, error) {
				return h.Import(ctx, path, name, chosen.Settings)
			}
			switch {
			case f.As != "" && len(l.set) > 0:
				return usagef("--set is for files of belief networks, and --as for models of other programs")
			case f.As != "":
				read = func(ctx context.Context, path, name string) (*life.Learnt, error) {
					return h.ImportAs(ctx, path, name, f)
				}
			case f.Target != "" || f.Classes != nil:
				return usagef("--target and --classes are for the models of other programs, which --as names")
			}
			v, err := read(c.Context(), args[0], name)
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
	l.registerSet(c)
	c.Flags().StringVar(&f.As, "as", "", "the program that wrote it: "+strings.Join(life.Foreign, ", "))
	_ = c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(life.Foreign, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&f.Target, "target", "", "of --as: what the model predicts (default: class or target)")
	c.Flags().StringSliceVar(&f.Classes, "classes", nil, "of --as: names of the classes 0, 1, …, in this order")
	c.Flags().StringVar(&name, "name", "", "name of the model here (default: the name it was exported under)")
	return c
}
