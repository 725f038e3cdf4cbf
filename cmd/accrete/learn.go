package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) learnCommand() *cobra.Command {
	var (
		flags   dataFlags
		learner learnerFlags
		rules   life.Rules
		acts    logFlags
		o       life.LearnOptions
	)
	c := &cobra.Command{
		Use:   "learn DATA [--target COL] [--learner NAME] [--set key=value]… [--rules FILE] [--name MODEL]",
		Short: "Learn a model from a table, and keep it",
		Long: `Learn reads DATA (a file, - or a built-in set), learns a model, keeps it in the
store, and estimates how often it is right on rows it has not seen. Learning under a
name that exists adds a version; of another learner or target only with --replace.
Where a column names somebody who comes back (patient, customer_id), the estimate
never learns from the rows that it judges somebody by; where rows come in the order
of a date, it learns the past and judges the future; --group and --time say which
column, or none. DATA may be an environment, such as gridworld or frozenlake:size=8,
in which a policy is learnt by acting, and with --action, --reward and --episode a
log of acts to learn a policy from. Learners that take rows as they come (see
accrete learners) learn tables of any size in little memory.`,
		Example: `  accrete learn votes
  accrete learn people.csv --target income --learner bayes --set m=2
  accrete learn people.csv --target income --rules expert.rules --worth 20
  accrete learn gridworld:size=6,slip=0.1 --learner q --set episodes=5000
  accrete learn visits.csv --action treat --reward outcome --episode patient`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			o.Rules = rules.Given()
			if o.Choice, err = learner.choice(c.Context()); err != nil {
				return err
			}
			acts.apply(&o.Target, &flags.Reading, &o.Choice)
			return a.learn(c.Context(), args[0], &flags, o)
		},
	}
	flags.register(c)
	learner.register(c)
	c.Flags().StringVar(&o.Target, "target", "", targetUsage)
	acts.register(c)
	registerDivision(c, &o.Division)
	c.Flags().StringVar(&o.Name, "name", "", "name of the model (default: the data's)")
	c.Flags().StringVar(&rules.File, "rules", "", rulesUsage)
	console.WeightVar(c.Flags(), &rules.Worth, "worth", 0, worthUsage)
	c.Flags().BoolVar(&o.Replace, "replace", false, "let a model of another learner or target go on as this one")
	c.Flags().BoolVar(&o.Keep, "keep", false, keepUsage)
	console.CountVar(c.Flags(), &o.Folds, "folds", -1, 0, console.MostCount, "folds of the accuracy estimate; 0 for none (default: 5, a held-out third for large tables)")
	return c
}

func (a *app) learn(ctx context.Context, arg string, flags *dataFlags, o life.LearnOptions) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	if w, err := h.World(ctx, arg); err != nil || w != nil {
		if err != nil {
			return err
		}
		defer w.Close()
		return a.learnActing(ctx, h, w, o)
	}
	if o.Data, err = h.Find(arg, flags.Reading); err != nil {
		return err
	}
	l, failed := h.Learn(ctx, o)
	if l == nil {
		return failed
	}
	if a.json {
		err = a.printJSON(l)
	} else {
		err = a.printLearnt(ctx, o.Data, l)
	}
	if failed == nil && ctx.Err() != nil {
		failed = err
	}
	if failed != nil { // the model is kept all the same
		return kept{failed}
	}
	return err
}

func (a *app) printLearnt(ctx context.Context, d *life.Data, l *life.NewLearnt) error {
	w, m := a.out, l.Part.Model
	fmt.Fprintf(w, "%s: %s, %s%s\n", d.Arg, plural(l.Read, "row"), plural(l.Columns, "column"), targetNote(l))
	fmt.Fprintf(w, "model %s, version %d: %s%s\n", l.Model, l.Version, l.Learner, sizeNote(m.Size())+caseNote(l.K)+gammaNote(l.Part))
	if l.Estimate != nil {
		fmt.Fprintln(w, estimateLine(l))
	}
	if told, ok := m.(*expert.Told); ok {
		conflicts, err := life.LearntConflicts(told, l.Table)
		if err != nil {
			return err
		}
		fmt.Fprintln(w)
		if err := life.WriteStandings(ctx, w, l.Part); err != nil {
			return err
		}
		a.printConflicts(conflicts, "", "", bothDecide)
	}
	a.printRemarks(l.Remarks)
	if err := printBest(ctx, w, l.Part, 5); err != nil {
		return err
	}
	a.next(l.Part, "predict", "explain", "rules")
	return nil
}

// gammaNote says what later rewards count for, of a policy from a log.
func gammaNote(p *life.Part) string {
	if gamma, ok := life.CountsLater(p); ok {
		return ", gamma " + number(gamma)
	}
	return ""
}

// targetNote says what is predicted, and how its classes are shared out.
func targetNote(l *life.NewLearnt) string {
	switch {
	case l.Target == nil:
		return ""
	case len(l.Shares) == 0:
		return ", target " + *l.Target + " (a number)"
	}
	var classes []string
	for i, c := range l.Shares {
		if i == 5 {
			classes = append(classes, fmt.Sprintf("… %d classes", len(l.Shares)))
			break
		}
		classes = append(classes, c.Class+" "+count(c.Weight))
	}
	return ", target " + *l.Target + " (" + strings.Join(classes, ", ") + ")"
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

// caseNote says how many of the nearest rows answer.
func caseNote(k float64) string {
	if k == 0 {
		return ""
	}
	return fmt.Sprintf(", k %s", number(k))
}

// estimateLine is the accuracy on unseen rows, its interval, and what always
// giving the same answer would reach.
func estimateLine(l *life.NewLearnt) string {
	r, how := l.Estimate, "on a held-out third"
	switch {
	case r.Folds > 1:
		how = fmt.Sprintf("%d-fold", r.Folds)
	case l.Table == nil:
		how = fmt.Sprintf("on %s rows held out, by a hash of their number", count(float64(r.TestRows)))
	}
	switch {
	case l.Group != "":
		how += fmt.Sprintf(", all rows of a %q together", l.Group)
	case l.Time != "":
		how += fmt.Sprintf(", past learnt and future judged by %q", l.Time)
	}
	if r.Accuracy == nil {
		return fmt.Sprintf("error on unseen rows: RMSE %s (%s), R² %s", number(*r.RMSE), how, number(*r.R2))
	}
	line := fmt.Sprintf("accuracy on unseen rows: %s (%s to %s, %s)", percent(*r.Accuracy), percent(*r.AccuracyLow), percent(*r.AccuracyHigh), how)
	if most := l.Shares[0]; most.Share > 0 {
		line += fmt.Sprintf("; always %q is right in %s", most.Class, percent(most.Share))
	}
	return line
}

// longestShown is how much of a rule fits on a page.
const longestShown = 600

// printBest prints the first rules of a model that has rules, as sentences.
func printBest(ctx context.Context, w io.Writer, p *life.Part, most int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if clauses := life.Clauses(p, nil); clauses != nil {
		fmt.Fprintln(w)
		clauses.WriteClauses(w)
		return nil
	}
	var text strings.Builder
	if life.WriteFormulas(&text, p.Model, false) {
		fmt.Fprint(w, "\n"+text.String())
		return nil
	}
	if _, err := life.WritePolicy(&text, p, &mostStates); err != nil || text.Len() > 0 {
		fmt.Fprint(w, "\n"+text.String())
		return err
	}
	left, err := life.BestSentences(ctx, &text, p, most)
	if err != nil || text.Len() == 0 {
		return err
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(text.String()) {
		if runes := []rune(line); len(runes) > longestShown {
			line = fmt.Sprintf("%s… (%d characters: accrete rules %s)\n", string(runes[:longestShown]), len(runes), p.Name)
		}
		fmt.Fprint(w, line)
	}
	if left > 0 {
		fmt.Fprintf(w, "and %d more: accrete rules %s\n", left, p.Name)
	}
	return nil
}
