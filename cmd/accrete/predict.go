package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) predictCommand() *cobra.Command {
	var (
		flags   dataFlags
		out     string
		without string
		whole   bool
		how     life.Answering
	)
	c := &cobra.Command{
		Use:   "predict MODEL DATA [--out FILE] [--with-columns | --id COL] [--threshold P --positive CLASS | --costs SAID:TRUE=COST,…] [--without SOURCE] [--whole]",
		Short: "Answer for each row, with a probability",
		Long: `Predict answers for each row of DATA, in its order: a CSV with prediction and
probability (for a number: prediction, low and high, a 95 % interval), or with
--json one object a line. Where a model says that it does not know (concept), the
prediction is empty. --out FILE ends in .xlsx for a workbook, .parquet or .arrow for columns,
or is the address of a database's table, which gets all rows or none. With
--with-columns the columns of DATA stand before the answers, with --id one of them.
The most probable class is said, unless --threshold says from which probability on
--positive is, or wrong answers have --costs: then the class whose expected cost is
least. If DATA has the answers, it says how many were right. With --whole a model of
sequences (markov) answers once for each: its log likelihood, its most probable path
of states, and the log probability of that path.`,
		Example: `  accrete predict people new.csv --out answers.csv
  accrete predict loans new.csv --id applicant --costs 'good:bad=5'
  accrete predict loans 'sqlite:shop.db?table=new' --out 'sqlite:shop.db?table=scores'
  accrete predict votes@1 votes --json | head -3`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			h, p, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			if table.WritesTable(out) {
				if err := how.ByKey(c.Context(), d); err != nil {
					return err
				}
			}
			var score *life.Score
			err = a.tableOutput(out, func(w io.Writer) (err error) {
				if whole {
					return a.predictWhole(c.Context(), h, p, d, w)
				}
				how.JSON, how.Exact = a.json, table.Writes(out)
				score, err = h.WriteAnswers(c.Context(), p, d, w, &how)
				return err
			}, func() []table.Written { return how.Columns }, d.File())
			if err != nil {
				return err
			}
			if score == nil {
				return nil
			}
			if line := scoreLine(score); line != "" {
				if score.Learnt {
					line += ", which it has learnt"
				}
				fmt.Fprintf(a.errs, "where the answer is known (%s), %s %s\n", plural(int(score.Known), "row"), args[0], line)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", outUsage)
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	c.Flags().BoolVar(&how.WithColumns, "with-columns", false, "write the columns of DATA before the answers")
	c.Flags().StringVar(&how.ID, "id", "", "write this column of DATA before the answers")
	console.ShareVar(c.Flags(), &how.Threshold, "threshold", 0, "probability from which on --positive is said")
	c.Flags().StringVar(&how.Positive, "positive", "", "class that --threshold is of")
	c.Flags().StringVar(&how.Costs, "costs", "", costsUsage)
	c.MarkFlagsMutuallyExclusive("threshold", "costs")
	c.Flags().BoolVar(&whole, "whole", false, "one answer for each sequence")
	c.MarkFlagsMutuallyExclusive("with-columns", "id", "whole")
	return c
}

// predictWhole writes an answer for each sequence.
func (a *app) predictWhole(ctx context.Context, h *life.Home, p *life.Part, d *life.Data, w io.Writer) error {
	answers := life.CSVSequences
	if a.json {
		answers = life.JSONSequences
	}
	write, flush := answers(w)
	if err := h.Sequences(ctx, p, d, write); err != nil {
		return err
	}
	return flush()
}

// modelAndData loads MODEL, maybe without a source, and finds DATA.
func (a *app) modelAndData(ctx context.Context, args []string, flags *dataFlags, without string) (*life.Home, *life.Part, *life.Data, error) {
	h, err := a.home()
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := h.LoadWithout(ctx, args[0], without)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := h.Find(args[1], flags.Reading)
	return h, p, d, err
}
