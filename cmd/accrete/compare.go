package main

import (
	"context"
	"fmt"
	"strconv"

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
	fiveByTwo bool
	test      string
	division  life.Division
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
that only one of two gets right. --group and --time divide rows as in evaluate.`,
		Example: `  accrete compare votes --learners prior,bayes,tree
  accrete compare votes --learners tree,tree:prune=none,bayes:m=2 --5x2cv
  accrete compare monks1 --learners tree,bayes --test monks1-test`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.compare(c.Context(), &q, args[0]) },
	}
	q.flags.register(c)
	registerDivision(c, &q.division)
	f := c.Flags()
	f.StringVar(&q.target, "target", "", targetUsage)
	f.StringSliceVar(&q.learners, "learners", nil, "learners to compare, each with settings as name:key=value,key=value")
	console.CountVar(f, &q.folds, "folds", 10, 2, console.MostCount, "number of folds")
	f.BoolVar(&q.fiveByTwo, "5x2cv", false, "learn from one half and test on the other, five times both ways")
	f.StringVar(&q.test, "test", "", "learn from DATA, test on this file")
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
		r, err = evaluate.Compare(ctx, specs, q.folds)
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
	w, first := a.out, r.Learners[0]
	how := fmt.Sprintf("%d folds", first.Folds)
	switch {
	case q.fiveByTwo:
		how = "five times two halves"
	case q.test != "":
		how = fmt.Sprintf("learnt from %s, tested on %s of %s", plural(first.TrainRows, "row"), plural(first.TestRows, "row"), q.test)
	}
	fmt.Fprintf(w, "%s%s, %s\n\n", first.Data, ofTarget(first.Target), how)
	header, rows := sideBySide(r)
	printTable(w, header, rows)
	fmt.Fprintln(w)
	some := false
	for i := range r.Differences {
		if d := &r.Differences[i]; d.Significant {
			fmt.Fprintln(w, inWords(d, r.Measure != "accuracy"))
			some = true
		}
	}
	if !some {
		fmt.Fprintf(w, "no difference is significant at %.2g %%\n", 100*(1-r.Level))
	}
	if q.test != "" {
		fmt.Fprintln(w)
		for i := range r.Differences {
			fmt.Fprintln(w, mcnemarInWords(&r.Differences[i], r.Level))
		}
	}
}

// sideBySide is a row a learner, with what its kind of answer is judged by.
func sideBySide(r *evaluate.Comparison) (header []string, rows [][]string) {
	for _, l := range r.Learners {
		switch {
		case l.Accuracy != nil:
			header = []string{"learner", "accuracy", "low", "high", "log loss", "ECE", "rules"}
			rows = append(rows, []string{l.Learner, percent(*l.Accuracy), percent(*l.AccuracyLow), percent(*l.AccuracyHigh), maybe(l.LogLoss), maybe(l.ECE), rulesOf(l)})
		case l.RMSE != nil:
			header = []string{"learner", "RMSE", "low", "high", "MAE", "R²"}
			rows = append(rows, []string{l.Learner, number(*l.RMSE), maybe(l.RMSELow), maybe(l.RMSEHigh), maybe(l.MAE), maybe(l.R2)})
		default:
			header = []string{"learner", "nll", "low", "high"}
			rows = append(rows, []string{l.Learner, maybe(l.NLL), maybe(l.NLLLow), maybe(l.NLLHigh)})
		}
	}
	return header, rows
}

// maybe writes a number that may not be known.
func maybe(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}

// inWords says which of two is better.
func inWords(d *evaluate.Difference, numeric bool) string {
	worse := d.B
	if d.Better == d.B {
		worse = d.A
	}
	by, low, high := d.Difference, d.Low, d.High
	if by < 0 {
		by, low, high = -by, -high, -low
	}
	return fmt.Sprintf("%s is better than %s by %s (%s to %s, p = %.2g)", d.Better, worse, gap(by, numeric), gap(low, numeric), gap(high, numeric), d.PHolm)
}

// mcnemarInWords says what the rows say that only one of two gets right.
func mcnemarInWords(d *evaluate.Difference, level float64) string {
	m := d.McNemar
	how := fmt.Sprintf("χ² = %.2f", m.Statistic)
	if m.Exact {
		how = "exact"
	}
	says := "which chance can explain"
	if m.PHolm < 1-level {
		says = "which is more than chance"
	}
	return fmt.Sprintf("McNemar: only %s gets %s right, only %s %s: %s (%s, p = %.2g)", d.A, rowsOf(m.OnlyB), d.B, rowsOf(m.OnlyA), says, how, m.PHolm)
}

// rowsOf writes a weight of rows.
func rowsOf(weight float64) string {
	if weight == 1 {
		return "1 row"
	}
	return count(weight) + " rows"
}

// gap writes a difference in the measure's own unit.
func gap(x float64, numeric bool) string {
	if numeric {
		return number(x)
	}
	return fmt.Sprintf("%.1f points", 100*x)
}

// rulesOf is the mean number of rules, "" for a learner without.
func rulesOf(r *evaluate.Result) string {
	if r.Rules == nil {
		return ""
	}
	return strconv.Itoa(*r.Rules)
}
