package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

// evaluation is what evaluate was asked for.
type evaluation struct {
	flags       dataFlags
	learner     learnerFlags
	target      string
	folds       int
	counted     bool // folds were asked for
	test        string
	holdout     int
	prequential bool
	batch       int
	curve       bool
	query       bool
	use         string
	decompose   bool
	division    life.Division

	on, positive string // judge a model
	costs        string
	env          string // judge a policy
	episodes     int
	acts         logFlags

	rules        life.Rules
	level, width float64
	errors       []float64
	pictures     string
}

func (a *app) evaluateCommand() *cobra.Command {
	var e evaluation
	c := &cobra.Command{
		Use:   "evaluate DATA --target COL --learner NAME [--folds K | --test FILE | --holdout N | --prequential | --curve | --query | --bias-variance] | evaluate MODEL --on FILE | evaluate MODEL --env ENV",
		Short: "Estimate how often a learner is right on rows it has not seen",
		Long: `Evaluate learns and tests on different rows: in K stratified folds (10 unless told
otherwise), on a file of its own (--test), on N random held-out thirds (--holdout),
row after row before learning each (--prequential, which also names rules whose
truth moved), with growing shares of the rows (--curve), or with rows that the
learner asks for against random ones (--query). --bias-variance learns many halves
of the rows and takes the error apart: what their answers have in common that is
wrong, and how much they differ. Rows that share a value of --group stay together;
with --time models learn the past and are judged on the future. Every rate comes
with its interval and a one-sided bound.

With --on the argument is a model, which is judged on rows of their own: by class,
and by how well it ranks rows by the probability of the positive class (the rarest
one, or --positive). Rows that it has learnt are recognised and said. With --costs
'yes:no=5' saying yes where no is true costs 5 (wrong answers that are not named
cost 1): what answers cost a row on average, with its interval, beside always the
same answer; with --on also from which probability on the positive class is the
cheaper one.

A policy that was learnt from a log with rewards is judged with --on by another log:
what it would earn, by importance sampling and doubly robust, with intervals, and
whether the log can tell at all. With --reward (and --episode) any other model is,
whose answers are the actions of the log.

With --env the argument is a policy, which acts in an environment for a number of
episodes: what it earns, with its interval.

--width says how many test rows would make the interval so narrow; with --error
LOW,HIGH and no data, for an error anywhere in that range.`,
		Example: `  accrete evaluate votes --learner bayes
  accrete evaluate train.csv --target y --test test.csv --pictures .
  accrete evaluate visits.csv --target ill --group patient
  accrete evaluate votes --on fresh.csv --positive republican --pictures .
  accrete evaluate loans --on fresh.csv --costs 'good:bad=5,bad:good=1'
  accrete evaluate --width 0.1 --error 0.2,0.6`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e.counted = c.Flags().Changed("folds")
			return a.evaluate(c.Context(), &e, args)
		},
	}
	e.flags.register(c)
	e.learner.register(c)
	registerDivision(c, &e.division)
	f := c.Flags()
	f.StringVar(&e.target, "target", "", targetUsage)
	console.CountVar(f, &e.folds, "folds", 10, 2, console.MostCount, "number of folds")
	f.StringVar(&e.test, "test", "", "learn from DATA, test on this file")
	f.StringVar(&e.rules.File, "rules", "", rulesUsage)
	console.CountVar(f, &e.holdout, "holdout", 0, 0, 10_000, "test on this many random held-out thirds")
	f.BoolVar(&e.prequential, "prequential", false, "test on each row before learning it")
	console.CountVar(f, &e.batch, "batch", 0, 0, console.MostCount, "rows to learn at a time with --prequential (default: a hundredth)")
	f.BoolVar(&e.curve, "curve", false, "accuracy against the number of rows learnt")
	f.BoolVar(&e.query, "query", false, "learn by asking: accuracy against the number of answers, asked for and random")
	f.StringVar(&e.use, "use", "", "what answers are worth to --query: disagreement, margin, error or reduction")
	f.BoolVar(&e.decompose, "bias-variance", false, "take the error apart into bias and variance over many training sets")
	f.StringVar(&e.on, "on", "", "judge the model MODEL on this file")
	f.StringVar(&e.env, "env", "", "judge the policy MODEL in this environment")
	console.CountVar(f, &e.episodes, "episodes", 100, 1, 1_000_000_000, "episodes to judge a policy in")
	e.acts.register(c)
	f.StringVar(&e.positive, "positive", "", "class that --on ranks rows by (default: the rarest)")
	f.StringVar(&e.costs, "costs", "", costsUsage)
	console.ShareVar(f, &e.level, "level", 0.95, "confidence of intervals and bounds")
	console.ShareVar(f, &e.width, "width", 0, "say how many test rows make the interval of the accuracy this narrow, such as 0.02")
	console.SharesVar(f, &e.errors, "error", "range of the error for --width without DATA, as LOW,HIGH")
	f.StringVar(&e.pictures, "pictures", "", "folder for pictures of the result (SVG)")
	c.MarkFlagsMutuallyExclusive("folds", "test", "holdout", "prequential", "curve", "query", "bias-variance", "on", "env")
	return c
}

// registerDivision adds the flags that keep rows together or in time.
func registerDivision(c *cobra.Command, d *life.Division) {
	c.Flags().StringVar(&d.Group, "group", "", "column whose rows of one value stay together in learning or testing")
	c.Flags().StringVar(&d.Time, "time", "", "column to order rows by: learn the past, judge the future")
	c.MarkFlagsMutuallyExclusive("group", "time")
}

// evaluate does what was asked for.
func (a *app) evaluate(ctx context.Context, e *evaluation, args []string) error {
	if len(args) == 0 {
		return a.neededRows(e)
	}
	if e.errors != nil {
		return usagef("--error is for --width without DATA; DATA has an error of its own")
	}
	h, err := a.home()
	if err != nil {
		return err
	}
	if judged, err := a.evaluatePolicy(ctx, h, args[0], e); judged {
		return err
	}
	bar, done := a.progress("evaluating")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	if e.on != "" {
		s, err := h.Score(ctx, args[0], e.on, life.Judging{Reading: e.flags.Reading, Positive: e.positive, Costs: e.costs, Level: e.level})
		if done(); err != nil {
			return err
		}
		return a.printScores(args[0], s, e)
	}
	spec, err := a.specOf(ctx, h, e, args[0])
	if err != nil {
		return err
	}
	if e.curve {
		points, err := evaluate.LearningCurve(ctx, spec, evaluate.CurveOptions{})
		if err != nil {
			return err
		}
		done()
		return a.printCurve(points, e.pictures)
	}
	if e.query {
		points, err := life.QueryCurve(ctx, spec, e.use)
		if err != nil {
			return err
		}
		done()
		return a.printQueryCurve(points, e.pictures)
	}
	if e.decompose {
		parts, err := evaluate.DecomposeError(ctx, spec, 0)
		if err != nil {
			return err
		}
		done()
		if a.json {
			return a.printJSON(parts)
		}
		parts.Write(a.out)
		return nil
	}
	var r *evaluate.Result
	switch {
	case e.prequential:
		r, err = evaluate.Prequential(ctx, spec, evaluate.PrequentialOptions{Batch: e.batch, Window: window(spec.Table.Rows())})
	case e.test != "":
		r, err = h.TrainTest(ctx, spec, e.test, e.flags.Reading)
	case e.holdout > 0:
		r, err = evaluate.HoldOut(ctx, spec, evaluate.HoldOutOptions{TestShare: 1. / 3, Repeats: e.holdout})
	default:
		h.SuggestDivision(spec, e.division)
		if !e.counted {
			e.folds = spec.FewFolds(e.folds)
		}
		r, err = evaluate.CrossValidate(ctx, spec, e.folds)
	}
	if err != nil {
		return err
	}
	done()
	if err := e.need(r); err != nil {
		return err
	}
	return a.printResult(r, e.pictures)
}

// specOf reads the data and chooses the learner.
func (a *app) specOf(ctx context.Context, h *life.Home, e *evaluation, data string) (evaluate.Spec, error) {
	choice, err := e.learner.choice(ctx)
	choice.Rules = e.rules.Given()
	e.acts.apply(&e.target, &e.flags.Reading, &choice)
	if err == nil && e.costs != "" && (e.curve || e.query || e.decompose) {
		err = usagef("--costs judges answers; --curve, --query and --bias-variance count wrong ones")
	}
	if err == nil && e.test != "" && e.division != (life.Division{}) {
		err = usagef("--test has rows of its own; --group and --time divide DATA")
	}
	if err != nil {
		return evaluate.Spec{}, err
	}
	spec, err := h.SpecOf(ctx, data, e.flags.Reading, e.target, choice, e.division, e.level)
	if err == nil {
		spec.Costs, err = life.CostsOf(e.costs, spec.Table.Schema, spec.Target)
	}
	return spec, err
}

// neededRows says how many test rows are enough for a width, for any error in
// a range.
func (a *app) neededRows(e *evaluation) error {
	if e.width == 0 || len(e.errors) != 2 {
		return usagef("expected DATA, or --width with --error LOW,HIGH; usage: accrete evaluate DATA --target COL")
	}
	n, err := evaluate.RowsForWidth(e.errors[0], e.errors[1], e.width, e.level)
	if err != nil {
		return usageError{err}
	}
	if a.json {
		return a.printJSON(struct {
			Rows  int     `json:"needed_rows"`
			Width float64 `json:"width"`
			Level float64 `json:"level"`
			Low   float64 `json:"error_low"`
			High  float64 `json:"error_high"`
		}{n, e.width, e.level, e.errors[0], e.errors[1]})
	}
	fmt.Fprintf(a.out, "%s: then the %s interval is narrower than %.4g points, whatever the error between %s and %s\n",
		plural(n, "test row"), evaluate.Confidence(e.level), 100*e.width, percent(e.errors[0]), percent(e.errors[1]))
	return nil
}

// need adds how many test rows make the interval of a result as narrow as was
// wished, whatever the error in its present interval is.
func (e *evaluation) need(r *evaluate.Result) (err error) {
	if e.width == 0 {
		return nil
	}
	if r.Accuracy == nil {
		return usagef("--width is about the accuracy of classes, and %s predicts none", r.Learner)
	}
	r.NeededRows, err = evaluate.RowsForWidth(1-*r.AccuracyHigh, 1-*r.AccuracyLow, e.width, e.level)
	return err
}

// window is how many rows "lately" means: a tenth of what there is, within
// what an eye can follow.
func window(rows int) int { return min(max(rows/10, 20), 1000) }

func (a *app) printResult(r *evaluate.Result, pictures string) error {
	if err := a.pictures(r.Pictures(), pictures); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	how := r.How
	switch {
	case r.Prequential != nil:
		how = "each row predicted, then learnt"
	case r.Folds <= 1:
		how = fmt.Sprintf("learnt from %s, tested on %s", plural(r.TrainRows, "row"), plural(r.TestRows, "row"))
	}
	fmt.Fprintln(a.out, r.Framework)
	fmt.Fprintf(a.out, "%s on %s%s: %s\n\n", r.Learner, r.Data, evaluate.OfTarget(r.Target), how)
	r.WriteMeasures(a.out)
	r.WriteCosts(a.out)
	r.WriteConfusion(a.out)
	if r.Prequential != nil {
		r.Prequential.WritePoints(a.out)
		printDrifts(a.out, r.Prequential.Drifts, "", r.Prequential.DriftRate, (*rule.Rule).String)
	}
	a.printNotes(r)
	if pictures == "" {
		fmt.Fprintln(a.out, "\nnext: --pictures DIR draws it; accrete compare tells learners apart")
	}
	return nil
}

func (a *app) printNotes(r *evaluate.Result) {
	for _, note := range r.Notes {
		fmt.Fprintln(a.out, "\n"+note)
	}
}

// printScores prints what a model is worth on rows of their own.
func (a *app) printScores(model string, s *evaluate.Scores, e *evaluation) error {
	if err := e.need(&s.Result); err != nil {
		return err
	}
	if err := a.pictures(s.Pictures(), e.pictures); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	fmt.Fprintln(a.out, s.Framework)
	fmt.Fprintf(a.out, "%s (%s) on %s%s: tested on %s\n\n", model, s.Learner, s.Data, evaluate.OfTarget(s.Target), plural(s.TestRows, "row"))
	s.WriteLearnt(a.out)
	s.WriteMeasures(a.out)
	s.WriteClasses(a.out)
	s.WriteConfusion(a.out)
	a.printNotes(&s.Result)
	return nil
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
	c.Write(a.out)
	return nil
}

// pictures draws all that a result has.
func (a *app) pictures(all []evaluate.Named, folder string) error {
	for _, p := range all {
		if err := a.picture(folder, p.Name, p.Picture); err != nil {
			return err
		}
	}
	return nil
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
