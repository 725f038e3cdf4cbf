package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) needCommand() *cobra.Command {
	var (
		flags   dataFlags
		learner learnerFlags
		target  string
		ask     life.NeedOptions
	)
	c := &cobra.Command{
		Use:   "need [DATA] [--learner NAME] --error E [--confidence C] [--class C | --hypotheses N | --vc N] [--agnostic]",
		Short: "How many rows are enough",
		Long: `Need says how many rows bring the error below --error with --confidence. Without
DATA it is what theory promises for a class of hypotheses, whatever the
distribution: for --hypotheses of them, for a --vc dimension, or for a --class:
  conjunctions:n=10   kterm:n=10,k=3   kcnf:n=10,k=2   unbiased:n=5   trees2:n=10
  rectangles:r=2      perceptron:n=2   layered:r=2,s=3
With DATA it measures the learner's error at growing numbers of rows, fits
error = floor + scale · rows^-rate, and asks that curve, with a 95 % interval.`,
		Example: `  accrete need --hypotheses 973 --error 0.1 --confidence 0.95
  accrete need --class perceptron:n=2 --error 0.05 --confidence 0.9
  accrete need votes --learner tree --error 0.04`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			need, err := a.need(c, args, &flags, &learner, target, ask)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(need)
			}
			a.printNeed(need)
			return nil
		},
	}
	flags.register(c)
	learner.register(c)
	f := c.Flags()
	f.StringVar(&target, "target", "", targetUsage)
	f.Float64Var(&ask.Error, "error", 0.05, "error that may be left")
	f.Float64Var(&ask.Confidence, "confidence", 0.95, "how sure to be of it")
	f.StringVar(&ask.Class, "class", "", "class of hypotheses, such as conjunctions:n=10")
	f.Float64Var(&ask.Hypotheses, "hypotheses", 0, "number of hypotheses")
	f.Float64Var(&ask.VC, "vc", 0, "Vapnik-Chervonenkis dimension")
	f.BoolVar(&ask.Agnostic, "agnostic", false, "the truth need not be in the class")
	return c
}

func (a *app) need(c *cobra.Command, args []string, flags *dataFlags, learner *learnerFlags, target string, ask life.NeedOptions) (*life.Need, error) {
	if len(args) == 0 {
		return life.NeedInTheory(ask)
	}
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	d, err := h.Find(args[0], flags.Reading)
	if err != nil {
		return nil, err
	}
	choice, err := learner.choice()
	if err != nil {
		return nil, err
	}
	return h.NeedOf(c.Context(), d, target, choice, ask.Demand)
}

func (a *app) printNeed(n *life.Need) {
	w := a.out
	theory := fmt.Sprintf("%s rows for error %v with confidence %v (%s)", number(math.Ceil(n.Bound)), n.Error, n.Confidence, n.Class)
	if n.Learner == "" {
		fmt.Fprintln(w, theory)
		if n.Least != nil {
			fmt.Fprintf(w, "for some concepts no learner needs fewer than %s\n", number(math.Ceil(*n.Least)))
		}
		fmt.Fprintln(w, "\nnext: accrete need DATA --error E measures what your own rows say")
		return
	}
	var rows [][]string
	for _, p := range n.Curve {
		rows = append(rows, []string{strconv.Itoa(p.Rows), percent(p.Error), percent(p.Low), percent(p.High)})
	}
	printTable(w, []string{"rows", "error", "low", "high"}, rows)
	fmt.Fprintf(w, "\n%s: error = %s\n", n.Learner, n.Law)
	switch {
	case n.Rows == nil:
		fmt.Fprintf(w, "an error of %s is below the floor of this curve: more rows alone will not do; try another learner or more columns\n", percent(n.Error))
	case *n.Rows <= float64(n.Have):
		fmt.Fprintf(w, "an error of %s needs about %s rows (%s); there are %d\n", percent(n.Error), number(*n.Rows), interval(n), n.Have)
	default:
		fmt.Fprintf(w, "an error of %s needs about %s rows (%s): %s more than there are\n", percent(n.Error), number(*n.Rows), interval(n), number(*n.Rows-float64(n.Have)))
	}
	fmt.Fprintln(w, "theory, whatever the distribution: "+theory)
}

// interval is where a number of rows may lie.
func interval(n *life.Need) string {
	switch {
	case n.Low == nil:
		return "the interval has no end"
	case n.High == nil:
		return number(*n.Low) + " or more"
	}
	return number(*n.Low) + " to " + number(*n.High)
}
