package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
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
			h, p, d, err := a.modelAndData(c.Context(), args, &flags, without)
			if err != nil {
				return err
			}
			first := true
			return h.Explain(c.Context(), p, d, only, func(x *life.Explained) error {
				if a.json {
					return a.printJSON(x)
				}
				if !first {
					fmt.Fprintln(a.out)
				}
				first = false
				printExplanation(a.out, x)
				return nil
			})
		},
	}
	flags.register(c)
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	c.Flags().IntSliceVar(&only, "row", nil, "only these rows, counted from 1")
	return c
}

// printExplanation prints an answer and its reasons for people: what speaks
// for and against the answer, strongest first.
func printExplanation(w io.Writer, answer *life.Explained) {
	target, x := answer.Attribute, answer.Explanation
	var rows [][]string
	if target.Kind == table.Numeric {
		fmt.Fprintf(w, "row %d: %s = %s (%s to %s)\n", answer.Row, target.Name, number(answer.Prediction.(float64)), number(*answer.Low), number(*answer.High))
		rows = append(rows, []string{number(x.Prior[0]), "the mean of all rows"})
		for _, v := range x.Evidence {
			rows = append(rows, []string{fmt.Sprintf("%+.4g", v.Weight), v.Text})
		}
	} else {
		class, known := answer.Prediction.(string)
		if !known { // the model does not know; the reasons are for what is likeliest
			class = answer.Likeliest()
			fmt.Fprintf(w, "row %d: %s is not known\n", answer.Row, target.Name)
		} else {
			fmt.Fprintf(w, "row %d: %s = %s, probability %s\n", answer.Row, target.Name, class, percent(answer.Probabilities[class]))
		}
		if answer.Votes != nil {
			fmt.Fprintln(w, "hypotheses: "+ballot(answer.Votes, target.Values))
		}
		best := int(target.Code(class))
		rows = append(rows, []string{fmt.Sprintf("%+.3f", x.Prior[best]), fmt.Sprintf("prior: %s is %s before any evidence", class, percent(answer.PriorShare(best)))})
		for _, v := range answer.About(best) {
			side := "for"
			if v.Weight < 0 {
				side = "against"
			}
			rows = append(rows, []string{fmt.Sprintf("%+.3f", v.Weight), fmt.Sprintf("%s %s: %s", side, class, v.Text)})
		}
		if x.Normaliser != 0 {
			rows = append(rows, []string{fmt.Sprintf("%+.3f", -x.Normaliser), "so that all classes sum to 100 %"})
		}
	}
	if len(x.Cases) > 0 {
		printCases(w, target.Name, x.Cases)
	} else {
		printTable(w, []string{"weight", "evidence"}, rows)
	}
	for _, c := range x.Missing {
		fmt.Fprintf(w, "missing: %s could move it by %s\n", c.Column, move(target, c.CouldMove))
	}
}

// ballot writes votes: 3 say Yes, 3 say No.
func ballot(votes map[string]float64, classes []string) string {
	var said []string
	for _, class := range classes {
		said = append(said, fmt.Sprintf("%s say %s", number(votes[class]), class))
	}
	return strings.Join(said, ", ")
}

// mostColumns is how many columns of a case are printed for people.
const mostColumns = 5

// printCases prints the nearest rows, and in which columns they are farthest.
func printCases(w io.Writer, target string, cases []learn.Case) {
	var rows [][]string
	for _, c := range cases {
		far := slices.SortedStableFunc(slices.Values(c.Columns), func(a, b learn.CaseColumn) int { return cmp.Compare(b.Distance, a.Distance) })
		text := ""
		for i, column := range far {
			if i == mostColumns || column.Distance == 0 {
				break
			}
			text += fmt.Sprintf(" %s %s", column.Column, number(column.Distance))
		}
		rows = append(rows, []string{number(c.Distance), fmt.Sprintf("row %d of %s: %s = %s; apart in:%s", c.Row, c.Source.Name, target, c.Target, cmp.Or(text, " nothing"))})
	}
	printTable(w, []string{"distance", "nearest case"}, rows)
}

func move(target *table.Attribute, by float64) string {
	if target.Kind == table.Numeric {
		return number(by)
	}
	return fmt.Sprintf("%.1f points", 100*by)
}
