package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) forgetCommand() *cobra.Command {
	var (
		erase bool
		flags editFlags
	)
	c := &cobra.Command{
		Use:   "forget MODEL SOURCE [--erase] [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Take a source or an expert back out",
		Long: `Forget makes a new version without what SOURCE brought: a table that was
learnt, or rules that were told. SOURCE is a base name, a path, a version number
or the beginning of a hash (6 digits). Older versions stay; with --erase SOURCE
is taken out of them and of the log too, and only its name, its hash and the
date are left. Whose answers change is said, and with --preview nothing is done.`,
		Example: `  accrete forget people march.csv
  accrete forget people 3
  accrete forget people march.csv --erase`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			edit, err := flags.at(h)
			if err != nil {
				return err
			}
			f, err := h.Forget(c.Context(), name, args[1], erase, edit)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(f)
			}
			done := "forgot"
			if erase {
				done = "erased"
			}
			what, contract := plural(int(f.Source.Rows), "row"), contractLine(f.Part.Model, "what is left equals never having learnt it")
			if f.WasTold { // rules were added to what rows say, and go without a trace for any learner
				what, contract = "rules", "contract: exact: what is left equals never having been told"
			}
			fmt.Fprintf(a.out, "%s: %s %s (%s), %s rows left%s\n", versionOf(&f.Learnt), done, filepath.Base(f.Source.Name), what, count(f.Rows), sizeNote(f.Part.Size()))
			fmt.Fprintln(a.out, contract)
			a.printRemarks(f.Remarks)
			for _, n := range f.Also {
				a.note(n)
			}
			a.printEffect(&f.Learnt)
			if f.Preview {
				return nil
			}
			a.next(f.Part, append(nextDiff(&f.Learnt), "log")...)
			return nil
		}),
	}
	flags.register(c)
	c.Flags().BoolVar(&erase, "erase", false, "also take it out of every older version and the log")
	return c
}
