package main

import (
	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
)

func (a *app) drawCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:               "draw MODEL [--out FILE]",
		Short:             "Draw a model as an SVG picture",
		Example:           `  accrete draw votes --out votes.svg`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			m, v, err := s.Load(args[0])
			if err != nil {
				return err
			}
			d, ok := learn.Ability[learn.Drawer](m)
			if !ok {
				return cannot(v.Learner, "be drawn", func(c learn.Can) bool { return c.Draw })
			}
			g, err := d.Graph()
			if err != nil {
				return err
			}
			if g.Title == "" {
				g.Title = v.Model
			}
			if err := a.output(out, g.SVG); err != nil {
				return err
			}
			if out != "" && a.json {
				return a.printJSON(struct {
					Model   string `json:"model"`
					Version int    `json:"version"`
					File    string `json:"file"`
				}{v.Model, v.Number, out})
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return c
}
