package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) compareCommand() *cobra.Command {
	var (
		flags    dataFlags
		target   string
		learners []string
		folds    int
	)
	c := &cobra.Command{
		Use:   "compare DATA --target COL --learners a,b,c [--folds K]",
		Short: "Set learners side by side, and say which differences are real",
		Long: `Compare tests all learners on the same folds. Differences come with the
interval and p-value of a paired t test over the folds, Holm-corrected for the
number of pairs; only significant ones are called so.`,
		Example: `  accrete compare votes --learners prior,bayes,tree`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if len(learners) < 2 {
				return usagef("compare needs at least two learners: --learners a,b; see accrete learners")
			}
			h, err := a.home()
			if err != nil {
				return err
			}
			d, err := h.Find(args[0], flags.Reading)
			if err != nil {
				return err
			}
			var choices []life.Choice
			for _, name := range learners {
				choices = append(choices, life.Choice{Learner: name})
			}
			specs, err := h.Specs(ctx, d, target, choices)
			if err != nil {
				return err
			}
			bar, done := a.progress("comparing")
			defer done()
			r, err := evaluate.Compare(learn.WithProgress(ctx, bar), specs, folds)
			if err != nil {
				return err
			}
			done()
			if a.json {
				return a.printJSON(r)
			}
			a.printComparison(r)
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&target, "target", "", targetUsage)
	c.Flags().StringSliceVar(&learners, "learners", nil, "learners to compare")
	c.Flags().IntVar(&folds, "folds", 10, "number of folds")
	return c
}

func (a *app) printComparison(r *evaluate.Comparison) {
	w := a.out
	numeric := r.Learners[0].Accuracy == nil
	var rows [][]string
	header := []string{"learner", "accuracy", "low", "high", "log loss", "ECE", "rules"}
	if numeric {
		header = []string{"learner", "RMSE", "MAE", "R²"}
	}
	for _, l := range r.Learners {
		if numeric {
			rows = append(rows, []string{l.Learner, number(*l.RMSE), number(*l.MAE), number(*l.R2)})
			continue
		}
		rows = append(rows, []string{l.Learner, percent(*l.Accuracy), percent(*l.AccuracyLow), percent(*l.AccuracyHigh), number(*l.LogLoss), number(*l.ECE), rulesOf(l)})
	}
	fmt.Fprintf(w, "%s%s, %d folds\n\n", r.Learners[0].Data, ofTarget(r.Learners[0].Target), r.Learners[0].Folds)
	printTable(w, header, rows)
	fmt.Fprintln(w)
	var some []string
	for _, d := range r.Differences {
		if !d.Significant {
			continue
		}
		worse := d.B
		if d.Better == d.B {
			worse = d.A
		}
		by, low, high := d.Difference, d.Low, d.High
		if by < 0 {
			by, low, high = -by, -high, -low
		}
		some = append(some, fmt.Sprintf("%s is better than %s by %s (%s to %s, p = %.2g)", d.Better, worse, gap(by, numeric), gap(low, numeric), gap(high, numeric), d.PHolm))
	}
	if len(some) == 0 {
		fmt.Fprintln(w, "no difference is significant at 5 %")
		return
	}
	fmt.Fprintln(w, strings.Join(some, "\n"))
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
