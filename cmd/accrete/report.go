package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) reportCommand() *cobra.Command {
	var (
		out   string
		on    []string
		flags editFlags
	)
	c := &cobra.Command{
		Use:   "report MODEL[@N] [--out FILE.html] [--on DATA] [--by COL]",
		Short: "Write the page that somebody signs: data, rules, accuracy, who told what, limits",
		Long: `Report writes one HTML file that needs nothing else: where the rows came from, how
often the version is right and for whom, whether it knows how sure it may be, its
rules as sentences, who told or struck what and why, where people and rows
disagree, what it is not good for, the hash of the model, and a line to sign. It
is judged on --on DATA, or else on its own rows, held out.`,
		Example:           `  accrete report votes@3 --out votes.html`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			flags.on = on
			edit, err := flags.at(h)
			if err != nil {
				return err
			}
			r, err := h.Report(c.Context(), args[0], edit)
			if err != nil {
				return err
			}
			if out == "" {
				name, _, _ := store.ParseRef(args[0]) // it was found by it
				out = fmt.Sprintf("%s-%d.html", name, r.Version)
			}
			if err := a.output(out, r.Write, on...); err != nil || out == "-" {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"model": r.Name, "version": r.Version, "file": out, "hash": r.Hash})
			}
			fmt.Fprintf(a.out, "%s has the report of %s, version %d%s\n", out, r.Name, r.Version, r.Judgement())
			return nil
		}),
	}
	c.Flags().StringVar(&out, "out", "", "file to write, - for standard output (default: MODEL-N.html)")
	c.Flags().StringSliceVar(&on, "on", nil, "data that it is judged on (default: rows that were learnt, held out)")
	c.Flags().StringVar(&flags.edit.Groups, "by", "", "column by whose values it is judged")
	flags.where.register(c)
	return c
}
