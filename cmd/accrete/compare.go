package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

// contest is what compare was asked for.
type contest struct {
	flags     dataFlags
	target    string
	learners  []string
	folds     int
	counted   bool // folds were asked for
	fiveByTwo bool
	test      string
	division  life.Division
	rules     life.Rules
	criterion string
	level     float64
}

func (a *app) compareCommand() *cobra.Command {
	var q contest
	c := &cobra.Command{
		Use:   "compare DATA --target COL --learners a,b:key=value,c [--folds K | --5x2cv | --test FILE]",
		Short: "Set learners side by side, and say which differences are real",
		Long: `Compare tests all learners on the same folds. Differences come with the
interval and p-value of a paired t test over the folds, Holm-corrected for the
number of pairs; only significant ones are called so. A learner's settings
follow its name: tree:prune=none,max-depth=3.

With --5x2cv half of the rows learn and the other half test, five times both ways
(Dietterich 1998), which calls chance a difference less often. With --test all
learn from DATA and are tested on one file, where McNemar's test looks at the rows
that only one of two gets right. --group and --time divide rows as in evaluate.

With --rules and --criterion kD:kB learners are weighed by kD · error on unseen rows
+ kB · share of random rows answered other than the theory (Mitchell, 12.2.1).`,
		Example: `  accrete compare votes --learners prior,bayes,tree
  accrete compare votes --learners tree,tree:prune=none,bayes:m=2 --5x2cv
  accrete compare monks1 --learners tree,bayes --test monks1-test`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q.counted = c.Flags().Changed("folds")
			return a.compare(c.Context(), &q, args[0])
		},
	}
	q.flags.register(c)
	registerDivision(c, &q.division)
	f := c.Flags()
	f.StringVar(&q.target, "target", "", targetUsage)
	f.StringSliceVar(&q.learners, "learners", nil, "learners to compare, each with settings as name:key=value,key=value")
	console.CountVar(f, &q.folds, "folds", 10, 2, console.MostCount, "number of folds")
	f.BoolVar(&q.fiveByTwo, "5x2cv", false, "learn from one half and test on the other, five times both ways")
	f.StringVar(&q.test, "test", "", "learn from DATA, test on this file")
	f.StringVar(&q.rules.File, "rules", "", "a theory: a file of rules, for those learners that reason with one")
	f.StringVar(&q.criterion, "criterion", "", "kD:kB, as in 1:0.5: what an error on a row and a difference from the theory cost, by which learners are weighed")
	console.ShareVar(f, &q.level, "level", 0.95, "confidence of intervals and tests")
	c.MarkFlagsMutuallyExclusive("folds", "5x2cv", "test")
	return c
}

// compare does what was asked for.
func (a *app) compare(ctx context.Context, q *contest, data string) error {
	choices, names, err := life.Choices(q.learners)
	if err != nil {
		return err
	}
	for i := range choices {
		choices[i].Rules = q.rules.Given()
	}
	if len(choices) < 2 {
		return usagef("compare needs at least two learners: --learners a,b; see accrete learners")
	}
	h, err := a.home()
	if err != nil {
		return err
	}
	d, err := h.Find(data, q.division.Reading(q.flags.Reading))
	if err != nil {
		return err
	}
	specs, err := h.Specs(ctx, d, q.target, choices)
	if err != nil {
		return err
	}
	for i := range specs {
		specs[i].Learner, specs[i].Level = names[i], q.level
	}
	if q.test != "" && q.division != (life.Division{}) {
		return usagef("--test has rows of its own; --group and --time divide DATA")
	}
	if q.test == "" {
		h.SuggestDivision(specs[0], q.division)
	}
	if err := h.Divide(specs, q.division); err != nil {
		return err
	}
	bar, done := a.progress("comparing")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	var r *evaluate.Comparison
	switch {
	case q.fiveByTwo:
		r, err = evaluate.CompareFiveByTwo(ctx, specs)
	case q.test != "":
		r, err = h.CompareOn(ctx, specs, q.test, q.flags.Reading)
	default:
		if !q.counted {
			q.folds = specs[0].FewFolds(q.folds)
		}
		r, err = evaluate.Compare(ctx, specs, q.folds)
	}
	if err == nil {
		err = h.Weigh(ctx, r, specs, &q.rules, q.criterion)
	}
	if err != nil {
		return err
	}
	done()
	if a.json {
		return a.printJSON(r)
	}
	a.printComparison(r, q)
	return nil
}

func (a *app) printComparison(r *evaluate.Comparison, q *contest) {
	first := r.Learners[0]
	how := fmt.Sprintf("%d folds%s", first.Folds, q.division.Apart())
	switch {
	case q.fiveByTwo:
		how = "five times two halves"
	case q.test != "":
		how = fmt.Sprintf("learnt from %s, tested on %s of %s", plural(first.TrainRows, "row"), plural(first.TestRows, "row"), q.test)
	}
	r.Write(a.out, how)
	if q.test != "" {
		r.WriteMcNemar(a.out)
	}
	if q.criterion != "" {
		r.WriteCriterion(a.out)
	}
}
