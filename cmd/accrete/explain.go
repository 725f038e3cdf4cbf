package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) explainCommand() *cobra.Command {
	var (
		flags   dataFlags
		only    []int
		without string
	)
	c := &cobra.Command{
		Use:   "explain MODEL DATA [--row N]… [--without SOURCE]",
		Short: "Say why: the evidence for and against each answer",
		Long: `Explain answers for each row of DATA and gives the reasons: the prior, each
piece of evidence with its weight (natural logarithms of odds-like ratios; for
a number, in its own units), and what is missing and how far it could move the
answer. Weights add up to the log of the posterior.`,
		Example: `  accrete explain votes votes --row 1
  accrete explain people new.csv --json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			m, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			e, ok := learn.Ability[learn.Explainer](m)
			if !ok {
				return cannot(m.Learner(), "explain its answers", func(c learn.Can) bool { return c.Explain })
			}
			if m.Target() == learn.NoTarget {
				return fmt.Errorf("%s is a density of all columns and has no target to explain", args[0])
			}
			return a.explain(c.Context(), e, d, only)
		},
	}
	flags.register(c)
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	c.Flags().IntSliceVar(&only, "row", nil, "only these rows, counted from 1")
	return c
}

func (a *app) explain(ctx context.Context, m learn.Explainer, d *data, only []int) error {
	o := d.options()
	o.Schema, o.Target = m.Schema(), m.Schema().Attributes[m.Target()].Name
	stream, err := d.stream(ctx, o)
	if err != nil {
		return err
	}
	defer stream.Close()
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	row, found := 0, 0
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
		for i := range batch.Rows() {
			row++
			if only != nil && !slices.Contains(only, row) {
				continue
			}
			found++
			x, err := m.Explain(batch, i)
			if err != nil {
				return err
			}
			answer := newPredicted(m, row, out, i)
			if a.json {
				if err := encoder.Encode(newExplained(m, answer, x)); err != nil {
					return err
				}
				continue
			}
			if found > 1 {
				fmt.Fprintln(a.out)
			}
			printExplanation(a.out, m, answer, x)
		}
	}
	a.notes(stream.Report().Notes)
	if only != nil && found < len(only) {
		return usagef("%s has %s; --row asks for others", d.arg, plural(row, "row"))
	}
	return nil
}

// explained is an explanation as programs read it.
type explained struct {
	predicted
	Prior      any             `json:"prior"`
	Evidence   []evidenceEntry `json:"evidence"`
	Missing    []missingEntry  `json:"missing"`
	Normaliser *float64        `json:"normaliser,omitempty"`
	Additive   bool            `json:"additive"`
}

type evidenceEntry struct {
	ID     string  `json:"id,omitempty"`
	Text   string  `json:"text"`
	Class  string  `json:"class,omitempty"`
	Weight float64 `json:"weight"`
}

type missingEntry struct {
	Column    string  `json:"column"`
	CouldMove float64 `json:"could_move"`
}

func newExplained(m learn.Model, answer predicted, x *learn.Explanation) explained {
	target := &m.Schema().Attributes[m.Target()]
	e := explained{predicted: answer, Evidence: []evidenceEntry{}, Missing: []missingEntry{}, Additive: x.Additive}
	if target.Kind == table.Numeric {
		e.Prior = x.Prior[0]
	} else {
		prior := map[string]float64{}
		for c, w := range x.Prior {
			prior[target.Values[c]] = finite(w)
		}
		e.Prior, e.Normaliser = prior, &x.Normaliser
	}
	for _, v := range x.Evidence {
		entry := evidenceEntry{ID: v.ID, Text: v.Text, Weight: finite(v.Weight)}
		if target.Kind == table.Nominal {
			entry.Class = target.Values[v.Class]
		}
		e.Evidence = append(e.Evidence, entry)
	}
	for _, c := range x.Missing {
		e.Missing = append(e.Missing, missingEntry{c.Column, c.CouldMove})
	}
	return e
}

// finite replaces the log of zero, which JSON cannot write, by the log of the
// smallest number.
func finite(x float64) float64 {
	return min(max(x, math.Log(math.SmallestNonzeroFloat64)), math.MaxFloat64)
}

// printExplanation prints an answer and its reasons for people: what speaks
// for and against the answer, strongest first.
func printExplanation(w io.Writer, m learn.Model, answer predicted, x *learn.Explanation) {
	target := &m.Schema().Attributes[m.Target()]
	var rows [][]string
	if target.Kind == table.Numeric {
		fmt.Fprintf(w, "row %d: %s = %s (%s to %s)\n", answer.Row, target.Name, number(answer.Prediction.(float64)), number(*answer.Low), number(*answer.High))
		rows = append(rows, []string{number(x.Prior[0]), "the mean of all rows"})
		for _, v := range x.Evidence {
			rows = append(rows, []string{fmt.Sprintf("%+.4g", v.Weight), v.Text})
		}
	} else {
		class := answer.Prediction.(string)
		best := target.Code(class)
		fmt.Fprintf(w, "row %d: %s = %s, probability %s\n", answer.Row, target.Name, class, percent(answer.Probabilities[class]))
		rows = append(rows, []string{fmt.Sprintf("%+.3f", x.Prior[best]), fmt.Sprintf("prior: %s is %s before any evidence", class, percent(share(x.Prior, int(best))))})
		rows = append(rows, classEvidence(x, int(best), target.Values)...)
		if x.Normaliser != 0 {
			rows = append(rows, []string{fmt.Sprintf("%+.3f", -x.Normaliser), "so that all classes sum to 100 %"})
		}
	}
	printTable(w, []string{"weight", "evidence"}, rows)
	for _, c := range x.Missing {
		fmt.Fprintf(w, "missing: %s could move it by %s\n", c.Column, move(target, c.CouldMove))
	}
}

// share turns log weights of the classes into the probability of one.
func share(logs []float64, class int) float64 {
	sum := 0.0
	for _, w := range logs {
		sum += math.Exp(w - logs[class])
	}
	return 1 / sum
}

// classEvidence is the evidence on one class, strongest first.
func classEvidence(x *learn.Explanation, class int, names []string) [][]string {
	var mine []learn.Evidence
	for _, v := range x.Evidence {
		if v.Class == class {
			mine = append(mine, v)
		}
	}
	slices.SortStableFunc(mine, func(a, b learn.Evidence) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	var rows [][]string
	for _, v := range mine {
		side := "for"
		if v.Weight < 0 {
			side = "against"
		}
		rows = append(rows, []string{fmt.Sprintf("%+.3f", v.Weight), fmt.Sprintf("%s %s: %s", side, names[class], v.Text)})
	}
	return rows
}

func move(target *table.Attribute, by float64) string {
	if target.Kind == table.Numeric {
		return number(by)
	}
	return fmt.Sprintf("%.1f points", 100*by)
}
