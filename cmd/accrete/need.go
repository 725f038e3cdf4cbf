package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
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
or one that is written out, of whose mistakes the game is played to its end:
  thresholds:points=7   intervals:points=5   singletons:points=7   sets:points=3   grid:points=3
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
	console.ShareVar(f, &ask.Error, "error", 0.05, "error that may be left")
	console.ShareVar(f, &ask.Confidence, "confidence", 0.95, "how sure to be of it")
	f.StringVar(&ask.Class, "class", "", "class of hypotheses, such as conjunctions:n=10")
	console.WeightVar(f, &ask.Hypotheses, "hypotheses", 0, "number of hypotheses")
	console.WeightVar(f, &ask.VC, "vc", 0, "Vapnik-Chervonenkis dimension")
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
	choice, err := learner.choice(c.Context())
	if err != nil {
		return nil, err
	}
	return h.NeedOf(c.Context(), d, target, choice, ask.Demand)
}

func (a *app) printNeed(n *life.Need) {
	var rows [][]string
	for _, p := range n.Curve {
		rows = append(rows, []string{strconv.Itoa(p.Rows), percent(p.Error), percent(p.Low), percent(p.High)})
	}
	if n.Learner != "" {
		printTable(a.out, []string{"rows", "error", "low", "high"}, rows)
		fmt.Fprintln(a.out)
	}
	for _, sentence := range n.Sentences() {
		fmt.Fprintln(a.out, sentence)
	}
	if n.Learner == "" {
		fmt.Fprintln(a.out, "\nnext: accrete need DATA --error E measures what your own rows say")
	}
}
