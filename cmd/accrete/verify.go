package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) verifyCommand() *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use:   "verify MODEL [--source NAME=PATH]…",
		Short: "Learn again from the recorded sources, and compare",
		Long: `Verify learns everything that a model has learnt once more, all at once and
without touching the store, and prints the largest difference in predictions and
rules next to what the learner promises. It reads the rows that the model keeps,
else the copies that learn --keep made, else the recorded files if they are
unchanged, else what --source names. It fails if the promise is broken, or if
the rows cannot be had.`,
		Example: `  accrete verify votes
  accrete verify people --source march.csv=archive/march.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			return a.verify(c.Context(), args[0], &flags)
		},
	}
	c.Flags().StringArrayVar(&flags.at, "source", nil, sourceUsage)
	return c
}

func (a *app) verify(ctx context.Context, ref string, flags *sourceFlags) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	p, err := a.loadPart(s, ref)
	if err != nil {
		return err
	}
	rows, err := a.learntRows(ctx, s, p.Model, p.name, p.versions, flags)
	if err != nil {
		return fmt.Errorf("%s cannot be verified: %w", ref, err)
	}
	l, err := a.learnerAgain(p, flags)
	if err != nil {
		return fmt.Errorf("%s cannot be verified: %w", ref, err)
	}
	bar, done := a.progress("learning again")
	proof, err := knowledge.Verify(learn.WithProgress(ctx, bar), p.Model, l, rows, p.version.Seed)
	done()
	if err != nil {
		return fmt.Errorf("%s cannot be verified: %w", ref, err)
	}
	if a.json {
		if err := a.printJSON(struct {
			Contract      string  `json:"contract"`
			MaxDifference float64 `json:"max_difference"`
			RulesDiffer   int     `json:"rules_differ"`
			Holds         bool    `json:"holds"`
			Sources       int     `json:"sources"`
		}{proof.Contract.String(), proof.MaxDifference, proof.RulesDiffer, proof.Holds, len(rows)}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "%s against %s of %s learnt at once:\n", ref, p.version.Learner, plural(len(rows), "source"))
		fmt.Fprintf(a.out, "  largest difference in predictions  %s\n", number(proof.MaxDifference))
		fmt.Fprintf(a.out, "  rules that differ                  %d\n", proof.RulesDiffer)
		promise := map[learn.Contract]string{
			learn.Exact:   "equal to learning everything at once",
			learn.Bounded: "close to learning everything at once",
			learn.None:    "nothing is promised",
		}[proof.Contract]
		verdict := "holds"
		if !proof.Holds {
			verdict = "is broken"
		}
		fmt.Fprintf(a.out, "contract: %v (%s): %s\n", proof.Contract, promise, verdict)
	}
	if !proof.Holds {
		return errors.New(ref + " is not what its sources make: the contract is broken")
	}
	return nil
}

// learnerAgain returns the learner that made a model, with the rules that it
// took into the learning itself. Rules that stand next to what was learnt are
// part of the model.
func (a *app) learnerAgain(p *part, flags *sourceFlags) (learn.Learner, error) {
	l, err := learn.New(p.version.Learner, learnerSettings(p.version))
	if err != nil {
		return nil, err
	}
	again := &withRules{Learner: l}
	var beside []learn.Source
	if told, ok := p.Model.(*expert.Told); ok {
		beside, _ = told.Experts()
	}
	for _, v := range live(p.Model, p.versions) {
		if v.Kind != store.Tell || hasSource(beside, v.Source.ID) {
			continue
		}
		path, err := flags.find(v.Source)
		if err != nil {
			return nil, err
		}
		rules := rulesFlags{file: cmp.Or(path, v.Source.Path)}
		if worth := v.Settings[worthSetting]; worth != "" {
			if rules.worth, err = strconv.ParseFloat(worth, 64); err != nil {
				return nil, err
			}
		}
		base, source, err := rules.read(a.in, p.Schema())
		if err != nil {
			return nil, err
		}
		if source.Hash != v.Source.Hash {
			return nil, fmt.Errorf("%s is not the file of rules that version %d was told", rules.file, p.version.Number)
		}
		expert := learn.Source{ID: v.Source.ID, Name: v.Source.Name}
		if v.Number == 0 && again.rules == nil { // it came with the rows
			again.rules, again.expert = base, expert
		} else {
			again.later = append(again.later, learntRules{base, expert})
		}
	}
	return again, nil
}
