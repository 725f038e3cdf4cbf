package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
)

func (a *app) evaluateCommand() *cobra.Command {
	var (
		flags       dataFlags
		learner     learnerFlags
		target      string
		folds       int
		test        string
		holdout     int
		prequential bool
		batch       int
		curve       bool
		pictures    string
	)
	c := &cobra.Command{
		Use:   "evaluate DATA --target COL --learner NAME [--folds K | --test FILE | --holdout N | --prequential | --curve]",
		Short: "Estimate how often a learner is right on rows it has not seen",
		Long: `Evaluate learns and tests on different rows: in K stratified folds (10 unless
told otherwise), on a file of its own (--test), on N random held-out thirds
(--holdout), row after row before learning each (--prequential, which also names
rules whose truth moved), or with growing shares of the rows (--curve). Every rate comes with a 95 % interval.`,
		Example: `  accrete evaluate votes --learner bayes
  accrete evaluate train.csv --target y --test test.csv --pictures .
  accrete evaluate led:rows=5000 --learner bayes --prequential`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := a.home()
			if err != nil {
				return err
			}
			choice, err := learner.choice()
			if err != nil {
				return err
			}
			d, err := h.Find(args[0], flags.Reading)
			if err != nil {
				return err
			}
			l, err := h.Lesson(ctx, d, target, choice)
			if err != nil {
				return err
			}
			spec := h.Spec(d.Arg, l)
			bar, done := a.progress("evaluating")
			defer done()
			ctx = learn.WithProgress(ctx, bar)
			var r *evaluate.Result
			switch {
			case curve:
				points, err := evaluate.LearningCurve(ctx, spec, evaluate.CurveOptions{})
				if err != nil {
					return err
				}
				done()
				return a.printCurve(points, pictures)
			case prequential:
				r, err = evaluate.Prequential(ctx, spec, evaluate.PrequentialOptions{Batch: batch, Window: window(l.Table.Rows())})
			case test != "":
				r, err = h.TrainTest(ctx, spec, test, flags.Reading)
			case holdout > 0:
				r, err = evaluate.HoldOut(ctx, spec, evaluate.HoldOutOptions{TestShare: 1. / 3, Repeats: holdout})
			default:
				r, err = evaluate.CrossValidate(ctx, spec, folds)
			}
			if err != nil {
				return err
			}
			done()
			return a.printResult(r, pictures)
		},
	}
	flags.register(c)
	learner.register(c)
	f := c.Flags()
	f.StringVar(&target, "target", "", targetUsage)
	f.IntVar(&folds, "folds", 10, "number of folds")
	f.StringVar(&test, "test", "", "learn from DATA, test on this file")
	f.IntVar(&holdout, "holdout", 0, "test on this many random held-out thirds")
	f.BoolVar(&prequential, "prequential", false, "test on each row before learning it")
	f.IntVar(&batch, "batch", 0, "rows to learn at a time with --prequential (default: a hundredth)")
	f.BoolVar(&curve, "curve", false, "accuracy against the number of rows learnt")
	f.StringVar(&pictures, "pictures", "", "folder for pictures of the result (SVG)")
	c.MarkFlagsMutuallyExclusive("folds", "test", "holdout", "prequential", "curve")
	return c
}

// window is how many rows "lately" means: a tenth of what there is, within
// what an eye can follow.
func window(rows int) int { return min(max(rows/10, 20), 1000) }

func (a *app) printResult(r *evaluate.Result, pictures string) error {
	if err := a.picture(pictures, "confusion", r.ConfusionChart()); err != nil {
		return err
	}
	if err := a.picture(pictures, "reliability", r.ReliabilityChart()); err != nil {
		return err
	}
	if err := a.picture(pictures, "prequential", r.PrequentialChart()); err != nil {
		return err
	}
	if err := a.picture(pictures, "growth", r.GrowthChart()); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	w := a.out
	how := fmt.Sprintf("%d-fold cross-validation", r.Folds)
	switch {
	case r.Prequential != nil:
		how = "each row predicted, then learnt"
	case r.Folds <= 1:
		how = fmt.Sprintf("learnt from %s, tested on %s", plural(r.TrainRows, "row"), plural(r.TestRows, "row"))
	}
	fmt.Fprintf(w, "%s on %s%s: %s\n\n", r.Learner, r.Data, ofTarget(r.Target), how)
	var rows [][]string
	add := func(name string, x *float64, meaning string) {
		if x != nil {
			rows = append(rows, []string{name, number(*x), meaning})
		}
	}
	if r.Accuracy != nil {
		rows = append(rows, []string{"accuracy", percent(*r.Accuracy), fmt.Sprintf("95 %% interval %s to %s", percent(*r.AccuracyLow), percent(*r.AccuracyHigh))})
	}
	add("log loss", r.LogLoss, "nats a row; 0 is best")
	add("Brier", r.Brier, "squared error of the probabilities; 0 is best")
	add("ECE", r.ECE, "how far probabilities are from frequencies; 0 is best")
	add("RMSE", r.RMSE, "in units of the target")
	add("MAE", r.MAE, "in units of the target")
	add("R²", r.R2, "share of the variance explained; 1 is best")
	add("nll", r.NLL, "nats a row; lower is better")
	printTable(w, []string{"measure", "value", ""}, rows)
	printConfusion(w, r)
	if r.Prequential != nil {
		printPrequence(w, r.Prequential)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "\n"+note)
	}
	if pictures == "" {
		fmt.Fprintln(w, "\nnext: --pictures DIR draws it; accrete compare tells learners apart")
	}
	return nil
}

// mostClasses is how wide a confusion matrix is printed; a wider one is
// drawn.
const mostClasses = 12

func printConfusion(w io.Writer, r *evaluate.Result) {
	if r.Confusion == nil || len(r.Classes) > mostClasses {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for i, cells := range r.Confusion {
		row := []string{r.Classes[i]}
		for _, x := range cells {
			row = append(row, count(x))
		}
		rows = append(rows, row)
	}
	printTable(w, append([]string{"is \\ said"}, r.Classes...), rows)
}

// ofTarget names the target in a heading; a density has none.
func ofTarget(target *string) string {
	if target == nil {
		return ""
	}
	return ", target " + *target
}

// printCurve prints a learning curve.
func (a *app) printCurve(c *evaluate.Curve, pictures string) error {
	if err := a.picture(pictures, "curve", c.Chart()); err != nil {
		return err
	}
	if err := a.picture(pictures, "growth", c.GrowthChart()); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(c)
	}
	write := measure(c.Measure)
	var rows [][]string
	for _, p := range c.Points {
		row := []string{strconv.Itoa(p.Rows), write(p.Value), write(p.Low), write(p.High), write(p.Training)}
		if c.Grows() {
			row = append(row, number(p.Units))
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(a.out, "%s on %s: %s on unseen rows against the number of rows learnt\n\n", c.Learner, c.Data, c.Measure)
	head := []string{"rows learnt", c.Measure, "low", "high", "on the rows learnt"}
	if c.Grows() {
		head = append(head, "units")
	}
	printTable(a.out, head, rows)
	return nil
}

// printPrequence prints how a measure went while rows came in.
func printPrequence(w io.Writer, p *evaluate.Prequence) {
	write := measure(p.Measure)
	var rows [][]string
	step := max(len(p.Points)/20, 1)
	for i := step - 1; i < len(p.Points); i += step {
		q := p.Points[i]
		rows = append(rows, []string{strconv.Itoa(q.Rows), write(q.Window), write(q.Value)})
	}
	fmt.Fprintln(w)
	printTable(w, []string{"rows seen", p.Measure + " lately", p.Measure + " so far"}, rows)
	printDrifts(w, p.Drifts, "", p.DriftRate)
}

// measure returns how values of a measure are written.
func measure(name string) func(float64) string {
	if name == "accuracy" {
		return percent
	}
	return number
}

// picture writes a picture into the folder, if one was asked for.
func (a *app) picture(folder, name string, p evaluate.Picture) error {
	if folder == "" || p == nil {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, name+".svg")
	if err := a.output(path, p.SVG); err != nil {
		return err
	}
	fmt.Fprintln(a.errs, "picture: "+path)
	return nil
}
