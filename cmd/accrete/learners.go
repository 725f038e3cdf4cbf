package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) learnersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "learners [NAME]",
		Short: "List the learners: what they take, can and keep; or the settings of one",
		Example: `  accrete learners
  accrete learners tree`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				info, err := learn.Lookup(args[0])
				if err != nil {
					return usageError{err}
				}
				return a.printLearner(info)
			}
			if a.json {
				entries := []life.Learner{}
				for _, info := range learn.All() {
					entries = append(entries, life.NewLearner(info))
				}
				return a.printJSON(struct {
					Learners []life.Learner `json:"learners"`
				}{entries})
			}
			var rows [][]string
			for _, info := range learn.All() {
				e := life.NewLearner(info)
				rows = append(rows, []string{
					e.Name, strings.Join(e.Takes, ", "), strings.Join(e.Predicts, ", "), strings.Join(e.Can, ", "), e.Promised(), e.Keeps, e.Source,
				})
			}
			printTable(a.out, []string{"learner", "takes", "predicts", "can", "update", "keeps", "source"}, rows)
			fmt.Fprintln(a.out, "\nsettings of one: accrete learners NAME")
			return nil
		},
	}
}

func (a *app) printLearner(info learn.Info) error {
	e := life.NewLearner(info)
	if a.json {
		return a.printJSON(e)
	}
	fmt.Fprintf(a.out, "%s: %s\n", e.Name, e.Summary)
	for _, line := range [][2]string{
		{"takes", strings.Join(e.Takes, ", ")}, {"predicts", strings.Join(e.Predicts, ", ")}, {"can", strings.Join(e.Can, ", ")},
		{"update", e.Promised()}, {"keeps", e.Keeps}, {"source", e.Source},
	} {
		fmt.Fprintf(a.out, "  %-9s %s\n", line[0], line[1])
	}
	if len(e.Settings) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	var rows [][]string
	for _, o := range e.Settings {
		doc := o.Doc
		if len(o.Choices) > 0 {
			doc += ": " + strings.Join(o.Choices, ", ")
		}
		rows = append(rows, []string{o.Key, o.Default, doc})
	}
	printTable(a.out, []string{"setting", "default", "meaning"}, rows)
	return nil
}
