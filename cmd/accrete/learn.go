package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// learnt is the JSON that commands which make a version answer with.
type learnt struct {
	Model    string   `json:"model"`
	Version  int      `json:"version"`
	Learner  string   `json:"learner"`
	Target   *string  `json:"target"`
	Rows     float64  `json:"rows"`
	Rules    int      `json:"rules"`
	Units    int      `json:"units"`
	Seconds  float64  `json:"seconds"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Low      *float64 `json:"accuracy_low,omitempty"`
	High     *float64 `json:"accuracy_high,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	// Drifts are rules whose truth moved with the rows of an update.
	Drifts []evaluate.Drift `json:"drifts,omitempty"`
	// Remarks are what the model says of the rows that it learnt last.
	Remarks []fmt.Stringer `json:"remarks,omitempty"`
}

func newLearnt(m learn.Model, v store.Version, seconds float64) learnt {
	l := learnt{
		Model: v.Model, Version: v.Number, Learner: v.Learner,
		Rows: v.Rows, Rules: v.Rules, Units: v.Units, Seconds: seconds,
	}
	if m.Target() != learn.NoTarget {
		l.Target = &m.Schema().Attributes[m.Target()].Name
	}
	l.Remarks, _ = remarks(m) // a model that cannot tell says nothing
	return l
}

func (a *app) learnCommand() *cobra.Command {
	var (
		flags   dataFlags
		learner learnerFlags
		target  string
		name    string
		folds   int
		rules   rulesFlags
		keep    bool
	)
	c := &cobra.Command{
		Use:   "learn DATA [--target COL] [--learner NAME] [--set key=value]… [--rules FILE] [--name MODEL]",
		Short: "Learn a model from a table, and keep it",
		Long: `Learn reads DATA (a file, - or a built-in set), learns a model, estimates how
often it is right on rows it has not seen, and keeps it in the store. Learning
under a name that exists adds a version.`,
		Example: `  accrete learn votes
  accrete learn people.csv --target income --learner bayes --set m=2
  accrete learn people.csv --target income --rules expert.rules --worth 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			d, err := a.find(args[0], &flags)
			if err != nil {
				return err
			}
			if name == "" {
				name = d.base()
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			if keep {
				if err := d.hold(); err != nil {
					return err
				}
			}
			what, err := a.lesson(ctx, d, target, &learner)
			if err != nil {
				return err
			}
			a.warnLearntBefore(s, name, what.report.Hash, d.arg)
			a.warnOneClass(what.table, what.target)
			now := time.Now()
			if err := what.hear(a.in, &rules, now); err != nil {
				return err
			}
			source := newSource(d, what.report.Hash, float64(what.table.Rows()), now)
			m, err := a.learn(ctx, what, source)
			if err != nil {
				return err
			}
			seconds := time.Since(now).Seconds()
			estimate, err := a.estimate(ctx, what, folds)
			if err != nil {
				return err
			}
			v, err := s.Save(ctx, name, m, store.Version{
				Kind: store.Learn, Source: source, At: now, Seed: a.seed, Settings: withWeight(what.settings, flags.weight), History: what.told,
			})
			if err != nil {
				return err
			}
			if keep {
				if err := a.keep(s, name, d, what.report.Hash); err != nil {
					return err
				}
			}
			return a.printLearnt(d, what.table, m, v, estimate, seconds)
		},
	}
	flags.register(c)
	learner.register(c)
	c.Flags().StringVar(&target, "target", "", "column to predict (a built-in set has one of its own)")
	c.Flags().StringVar(&name, "name", "", "name of the model (default: the data's)")
	c.Flags().StringVar(&rules.file, "rules", "", "what an expert knows: a file of rules")
	c.Flags().Float64Var(&rules.worth, "worth", 0, worthUsage)
	c.Flags().BoolVar(&keep, "keep", false, "keep a copy of the data in the store, so that it can be read again")
	c.Flags().IntVar(&folds, "folds", -1, "folds of the accuracy estimate; 0 for none (default: 5, a held-out third for large tables)")
	return c
}

// learn makes the model of a lesson.
func (a *app) learn(ctx context.Context, what *lesson, source store.Source) (learn.Model, error) {
	bar, done := a.progress("learning")
	defer done()
	return what.learner.Learn(learn.WithProgress(ctx, bar), learn.Task{
		Table: what.table, Target: what.target, Source: learn.Source{ID: source.ID, Name: source.Name}, Seed: a.seed,
	})
}

// warnOneClass says when there is nothing to tell apart.
func (a *app) warnOneClass(t *table.Table, target int) {
	if target == learn.NoTarget || t.Schema.Attributes[target].Kind == table.Numeric {
		return
	}
	if shares := classShares(t, target); len(shares) > 0 && shares[0].share == 1 {
		at := &t.Schema.Attributes[target]
		a.notes([]string{fmt.Sprintf("every row has the class %s = %s: there is nothing to tell apart", at.Name, at.Values[shares[0].class])})
	}
}

// newSource is the record of where rows came from.
func newSource(d *data, hash string, rows float64, at time.Time) store.Source {
	return store.Source{
		ID:   store.SourceID(d.path(), hash, at),
		Name: d.arg, Path: d.path(), Hash: hash, Rows: rows,
	}
}

// manyRows is where folds give way to a held-out third: the interval is
// narrow enough, and waiting ten times as long is not worth it.
const manyRows = 20000

// estimate judges the learner on rows that it has not seen. It returns nil
// where that makes no sense: not asked for, a density, or too few rows.
func (a *app) estimate(ctx context.Context, what *lesson, folds int) (*evaluate.Result, error) {
	rows := what.table.Rows()
	if folds == 0 || what.target == learn.NoTarget || rows < 10 {
		return nil, nil
	}
	spec := a.spec("", what.table, what.target, what.info, what.settings)
	spec.New = what.fresh
	bar, done := a.progress("estimating accuracy")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	if folds < 0 && rows > manyRows {
		return evaluate.HoldOut(ctx, spec, evaluate.HoldOutOptions{TestShare: 1. / 3, Repeats: 1})
	}
	if folds < 0 {
		folds = 5
	}
	return evaluate.CrossValidate(ctx, spec, folds)
}

func (a *app) printLearnt(d *data, t *table.Table, m learn.Model, v store.Version, estimate *evaluate.Result, seconds float64) error {
	l := newLearnt(m, v, seconds)
	if estimate != nil {
		l.Accuracy, l.Low, l.High, l.RMSE = estimate.Accuracy, estimate.AccuracyLow, estimate.AccuracyHigh, estimate.RMSE
	}
	if a.json {
		return a.printJSON(l)
	}
	w := a.out
	fmt.Fprintf(w, "%s: %s, %s%s\n", d.arg, plural(t.Rows(), "row"), plural(len(t.Columns), "column"), targetNote(t, m.Target()))
	fmt.Fprintf(w, "model %s, version %d: %s%s\n", v.Model, v.Number, v.Learner, sizeNote(m.Size()))
	if estimate != nil {
		fmt.Fprintln(w, estimateLine(estimate, t, m.Target()))
	}
	if told, ok := m.(*expert.Told); ok {
		if err := a.printTold(t, told); err != nil {
			return err
		}
		m = told.Unwrap()
	}
	if err := a.printRemarks(m); err != nil {
		return err
	}
	if err := printBest(w, m, v.Model, 10); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nnext: accrete predict %s DATA    accrete explain %s DATA    accrete rules %s\n", v.Model, v.Model, v.Model)
	return nil
}

// targetNote says what is predicted, and how its classes are shared out.
func targetNote(t *table.Table, target int) string {
	if target == learn.NoTarget {
		return ""
	}
	at := &t.Schema.Attributes[target]
	if at.Kind == table.Numeric {
		return ", target " + at.Name + " (a number)"
	}
	share := classShares(t, target)
	note := ", target " + at.Name + " ("
	for i, c := range share {
		if i == 5 {
			note += fmt.Sprintf(", … %d classes", len(share))
			break
		}
		if i > 0 {
			note += ", "
		}
		note += fmt.Sprintf("%s %s", at.Values[c.class], count(c.weight))
	}
	return note + ")"
}

// classShare is how much of a table a class makes up.
type classShare struct {
	class         int
	weight, share float64
}

// classShares returns the classes of a nominal target, the most frequent one
// first.
func classShares(t *table.Table, target int) []classShare {
	shares := make([]classShare, len(t.Schema.Attributes[target].Values))
	total := 0.0
	for c := range shares {
		shares[c].class = c
	}
	for r, c := range t.Columns[target].Codes {
		if c >= 0 {
			shares[c].weight += t.Weight(r)
			total += t.Weight(r)
		}
	}
	for c := range shares {
		shares[c].share = shares[c].weight / total
	}
	slices.SortStableFunc(shares, func(a, b classShare) int { return cmp.Compare(b.weight, a.weight) })
	return shares
}

func sizeNote(s learn.Size) string {
	note := ""
	if s.Rules > 0 {
		note += ", " + plural(s.Rules, "rule")
	}
	if s.Units > 0 {
		note += ", " + plural(s.Units, "unit")
	}
	return note
}

// estimateLine is the accuracy on unseen rows, its interval, and what always
// giving the same answer would reach.
func estimateLine(r *evaluate.Result, t *table.Table, target int) string {
	how := "on a held-out third"
	if r.Folds > 1 {
		how = fmt.Sprintf("%d-fold", r.Folds)
	}
	if r.Accuracy == nil {
		return fmt.Sprintf("error on unseen rows: RMSE %s (%s), R² %s", number(*r.RMSE), how, number(*r.R2))
	}
	line := fmt.Sprintf("accuracy on unseen rows: %s (%s to %s, %s)", percent(*r.Accuracy), percent(*r.AccuracyLow), percent(*r.AccuracyHigh), how)
	if shares := classShares(t, target); len(shares) > 0 && shares[0].share > 0 {
		line += fmt.Sprintf("; always %q is right in %s", t.Schema.Attributes[target].Values[shares[0].class], percent(shares[0].share))
	}
	return line
}

// longestShown is how much of a rule fits on a page.
const longestShown = 600

// printBest prints the most informative rules of a model that has rules.
func printBest(w io.Writer, m learn.Model, name string, most int) error {
	r, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return nil
	}
	base, err := r.Rules()
	if err != nil {
		return err
	}
	best, left := topRules(base, most)
	fmt.Fprintln(w)
	var text strings.Builder
	if err := rounded(best, true).Write(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if runes := []rune(line); len(runes) > longestShown {
			line = fmt.Sprintf("%s… (%d characters: accrete rules %s)\n", string(runes[:longestShown]), len(runes), name)
		}
		fmt.Fprint(w, line)
	}
	if left > 0 {
		fmt.Fprintf(w, "# and %d more: accrete rules %s\n", left, name)
	}
	return nil
}
