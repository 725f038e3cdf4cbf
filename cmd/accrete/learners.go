package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
)

func (a *app) learnersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "learners [NAME]",
		Short: "List the learners: what they take, can and keep; or the settings of one",
		Example: `  accrete learners
  accrete learners tree`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLearners,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				info, err := learn.Lookup(args[0])
				if err != nil {
					return usageError{err}
				}
				return a.printLearner(info)
			}
			if a.json {
				entries := []learnerEntry{}
				for _, info := range learn.All() {
					entries = append(entries, newLearnerEntry(info))
				}
				return a.printJSON(struct {
					Learners []learnerEntry `json:"learners"`
				}{entries})
			}
			var rows [][]string
			for _, info := range learn.All() {
				e := newLearnerEntry(info)
				rows = append(rows, []string{
					e.Name, strings.Join(e.Takes, ", "), strings.Join(e.Predicts, ", "), strings.Join(e.Can, ", "), e.Contract, e.Keeps, e.Source,
				})
			}
			printTable(a.out, []string{"learner", "takes", "predicts", "can", "update", "keeps", "source"}, rows)
			fmt.Fprintln(a.out, "\nsettings of one: accrete learners NAME")
			return nil
		},
	}
}

// learnerEntry is a learner as programs read it.
type learnerEntry struct {
	Name     string        `json:"name"`
	Summary  string        `json:"summary"`
	Takes    []string      `json:"takes"`
	Predicts []string      `json:"predicts"`
	Can      []string      `json:"can"`
	Contract string        `json:"contract"`
	Keeps    string        `json:"keeps"`
	Source   string        `json:"source"`
	Settings []optionEntry `json:"settings"`
}

type optionEntry struct {
	Key     string   `json:"key"`
	Default string   `json:"default"`
	Doc     string   `json:"doc"`
	Choices []string `json:"choices,omitempty"`
}

func newLearnerEntry(info learn.Info) learnerEntry {
	takes := info.Takes
	e := learnerEntry{
		Name: info.Name, Summary: info.Summary,
		Contract: info.Contract.String(), Keeps: info.Keeps, Source: info.Source, Settings: []optionEntry{},
		Takes: names(ability{"nominal", takes.Nominal}, ability{"numeric", takes.Numeric}, ability{"missing", takes.Missing},
			ability{"text", takes.Text}, ability{"sequences", takes.Sequences}),
		Predicts: names(ability{"classes", takes.Classes}, ability{"numbers", takes.Regression}, ability{"density", takes.Density}),
		Can:      info.Can.Names(),
	}
	for _, o := range learn.Options(info.New()) {
		e.Settings = append(e.Settings, optionEntry{o.Key, o.Default, o.Doc, o.Choices})
	}
	return e
}

// ability is something that a learner has or has not.
type ability struct {
	name string
	has  bool
}

func names(abilities ...ability) []string {
	had := []string{}
	for _, a := range abilities {
		if a.has {
			had = append(had, a.name)
		}
	}
	return had
}

func (a *app) printLearner(info learn.Info) error {
	e := newLearnerEntry(info)
	if a.json {
		return a.printJSON(e)
	}
	fmt.Fprintf(a.out, "%s: %s\n", e.Name, e.Summary)
	for _, line := range [][2]string{
		{"takes", strings.Join(e.Takes, ", ")}, {"predicts", strings.Join(e.Predicts, ", ")}, {"can", strings.Join(e.Can, ", ")},
		{"update", e.Contract}, {"keeps", e.Keeps}, {"source", e.Source},
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
