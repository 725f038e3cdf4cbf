package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
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
--json one object a line. If DATA has the answers, it says how many were right.`,
		Example: `  accrete predict people new.csv --out answers.csv
  accrete predict votes@1 votes --json | head -3`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			m, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			if m.Target() == learn.NoTarget {
				return fmt.Errorf("%s is a density of all columns and has no target to predict", args[0])
			}
			score := newScore(m)
			err = a.output(out, func(w io.Writer) error { return a.predict(c.Context(), m, d, w, score) })
			if err != nil {
				return err
			}
			if line := score.line(); line != "" {
				fmt.Fprintf(a.errs, "where the answer is known (%s), %s %s\n", plural(int(score.known), "row"), args[0], line)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	return c
}

// modelAndData loads MODEL, maybe without a source, and finds DATA.
func (a *app) modelAndData(ctx context.Context, args []string, flags *dataFlags, without string) (learn.Model, *data, error) {
	s, err := a.openStore()
	if err != nil {
		return nil, nil, err
	}
	m, _, err := a.loadWithout(ctx, s, args[0], without)
	if err != nil {
		return nil, nil, err
	}
	d, err := a.find(args[1], flags)
	return m, d, err
}

func (a *app) predict(ctx context.Context, m learn.Model, d *data, to io.Writer, score *score) error {
	o := d.options()
	o.Schema, o.Target = m.Schema(), m.Schema().Attributes[m.Target()].Name
	bar, done := a.progress("predicting")
	defer done()
	o.Progress = bar
	stream, err := d.stream(ctx, o)
	if err != nil {
		return err
	}
	defer stream.Close()
	w := bufio.NewWriterSize(to, 1<<16)
	var print func(row int, out *learn.Predictions, i int) error
	flush := w.Flush
	if a.json {
		print = jsonPredictions(w, m)
	} else {
		print, flush = csvPredictions(w, m)
	}
	row := 0
	for {
		batch, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		out := learn.NewPredictions(m, batch.Rows())
		if err := m.Predict(ctx, batch, out); err != nil {
			return err
		}
		score.count(batch, out)
		for i := range batch.Rows() {
			row++
			if err := print(row, out, i); err != nil {
				return err
			}
		}
	}
	a.notes(stream.Report().Notes)
	return flush()
}

// csvPredictions returns a function that writes a row's answer as CSV, and
// one that writes what is still buffered.
func csvPredictions(w *bufio.Writer, m learn.Model) (print func(row int, out *learn.Predictions, i int) error, flush func() error) {
	cw := csv.NewWriter(w)
	classes := m.Schema().Attributes[m.Target()].Values
	numeric := m.Schema().Attributes[m.Target()].Kind == table.Numeric
	header := []string{"prediction", "probability"}
	if numeric {
		header = []string{"prediction", "low", "high"}
	}
	_ = cw.Write(header) // an error stays with the writer until flush
	record := make([]string, len(header))
	print = func(_ int, out *learn.Predictions, i int) error {
		if numeric {
			record[0], record[1], record[2] = decimal(out.Mean[i]), decimal(out.Low[i]), decimal(out.High[i])
		} else {
			p := out.Row(i)
			best := learn.Best(p, classes)
			record[0], record[1] = classes[best], decimal(p[best])
		}
		return cw.Write(record)
	}
	flush = func() error {
		cw.Flush()
		return errors.Join(cw.Error(), w.Flush())
	}
	return print, flush
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// predicted is one answer as programs read it.
type predicted struct {
	Row           int                `json:"row"`
	Prediction    any                `json:"prediction"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Low           *float64           `json:"low,omitempty"`
	High          *float64           `json:"high,omitempty"`
}

func newPredicted(m learn.Model, row int, out *learn.Predictions, i int) predicted {
	a := &m.Schema().Attributes[m.Target()]
	if a.Kind == table.Numeric {
		return predicted{Row: row, Prediction: out.Mean[i], Low: &out.Low[i], High: &out.High[i]}
	}
	p := out.Row(i)
	probabilities := make(map[string]float64, len(p))
	for c, x := range p {
		probabilities[a.Values[c]] = x
	}
	return predicted{Row: row, Prediction: a.Values[learn.Best(p, a.Values)], Probabilities: probabilities}
}

func jsonPredictions(w *bufio.Writer, m learn.Model) func(row int, out *learn.Predictions, i int) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return func(row int, out *learn.Predictions, i int) error {
		return e.Encode(newPredicted(m, row, out, i))
	}
}
