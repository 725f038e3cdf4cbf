package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) queryCommand() *cobra.Command {
	var (
		flags dataFlags
		top   int
		use   string
		ask   bool
	)
	c := &cobra.Command{
		Use:   "query MODEL [DATA] [--top N] [--use disagreement|margin|error|reduction | --ask]",
		Short: "Name the rows whose answers would teach the model most",
		Long: `Query turns the table: the model asks. Without DATA a version space (concept)
names rows whose answer would halve it. With DATA any model ranks the rows whose
answer is missing by what it would be worth: how evenly its members are divided
(disagreement, in bits), how near the two likeliest classes are to each other
(margin), how often its own answer would be wrong (error; for numbers the width
of the interval), or how much knowing it would lower the errors on the other rows
(reduction, tried out). Of rows that are alike one is asked for first.

With --ask a version space, or clauses over a program (cigol, foil and the others),
ask one question after another; each answer is learnt at once, as a version, and
the next question follows from it. ? passes on, an empty line ends.

Learn other answers with accrete update; accrete evaluate DATA --query measures
what asking saves.`,
		Example: `  accrete query enjoy-sport
  accrete query enjoy-sport --ask
  accrete query people unlabelled.csv --top 20 --json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if ask {
				return a.interview(c.Context(), args)
			}
			q, err := a.query(c.Context(), args, &flags, knowledge.QuestionOptions{N: top, Use: use})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(q)
			}
			q.Write(a.out)
			if len(q.Questions) > 0 {
				fmt.Fprintf(a.out, "\nnext: accrete update %s ANSWERS, with %s filled in\n", q.Model, q.Target)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&ask, "ask", false, "ask one question after another, and learn each answer as a version")
	console.CountVar(c.Flags(), &top, "top", 5, 0, console.MostCount, "how many rows to ask for")
	c.Flags().StringVar(&use, "use", "", "what an answer is worth: disagreement, margin, error or reduction (default: what the model is best for)")
	c.MarkFlagsMutuallyExclusive("ask", "use")
	return c
}

func (a *app) query(ctx context.Context, args []string, flags *dataFlags, o knowledge.QuestionOptions) (*life.Query, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	p, err := h.Load(args[0])
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return h.Question(ctx, p, o.N)
	}
	d, err := h.Find(args[1], flags.Reading)
	if err != nil {
		return nil, err
	}
	return h.QuestionRows(ctx, p, d, o)
}

// printQueryCurve prints what asking saves.
func (a *app) printQueryCurve(c *evaluate.QueryCurve, pictures string) error {
	if err := a.picture(pictures, "query", c.Chart()); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(c)
	}
	c.Write(a.out)
	return nil
}

func (a *app) interview(ctx context.Context, args []string) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	return h.Interview(ctx, args, a.out, a.json)
}
