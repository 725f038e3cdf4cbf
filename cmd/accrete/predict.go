package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) predictCommand() *cobra.Command {
	var (
		flags   dataFlags
		out     string
		without string
	)
	c := &cobra.Command{
		Use:   "predict MODEL DATA [--out FILE] [--without SOURCE]",
		Short: "Answer for each row, with a probability",
		Long: `Predict answers for each row of DATA, in its order: a CSV with prediction and
probability (for a number: prediction, low and high, a 95 % interval), or with
--json one object a line. Where a model says that it does not know (concept), the
prediction is empty. If DATA has the answers, it says how many were right.`,
		Example: `  accrete predict people new.csv --out answers.csv
  accrete predict votes@1 votes --json | head -3`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			h, p, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			var score *life.Score
			err = a.output(out, func(w io.Writer) (err error) {
				score, err = a.predict(c.Context(), h, p, d, w)
				return err
			}, d.File())
			if err != nil {
				return err
			}
			if line := scoreLine(score); line != "" {
				fmt.Fprintf(a.errs, "where the answer is known (%s), %s %s\n", plural(int(score.Known), "row"), args[0], line)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", outUsage)
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	return c
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

// predict writes an answer for each row.
func (a *app) predict(ctx context.Context, h *life.Home, p *life.Part, d *life.Data, to io.Writer) (*life.Score, error) {
	if p.Target() == learn.NoTarget {
		return nil, fmt.Errorf("%s is a density of all columns and has no target to predict", p.Name)
	}
	w := bufio.NewWriterSize(to, 1<<16)
	answers := life.CSVAnswers
	if a.json {
		answers = life.JSONAnswers
	}
	print, flush := answers(w, p.Model)
	score, err := h.Predict(ctx, p, d, func(row int, t *table.Table, out *learn.Predictions) error {
		for i := range t.Rows() {
			if err := print(row+i+1, t, out, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return score, flush()
}
