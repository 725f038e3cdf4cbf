package life

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Write writes an answer and its reasons for people: what speaks for and
// against the answer, strongest first.
func (answer *Explained) Write(w io.Writer) {
	target, x := answer.Attribute, answer.Explanation
	var rows [][]string
	if target.Kind == table.Numeric {
		fmt.Fprintf(w, "row %d: %s = %s (%s to %s)\n", answer.Row, target.Name, console.Number(answer.Prediction.(float64)), console.Number(*answer.Low), console.Number(*answer.High))
		rows = append(rows, []string{console.Number(x.Prior[0]), "before any evidence"})
		for _, v := range x.Evidence {
			rows = append(rows, []string{fmt.Sprintf("%+.4g", v.Weight), v.Text})
		}
	} else {
		class, known := answer.Prediction.(string)
		if !known { // the model does not know; the reasons are for what is likeliest
			class = answer.Likeliest()
			fmt.Fprintf(w, "row %d: %s is not known\n", answer.Row, target.Name)
		} else {
			fmt.Fprintf(w, "row %d: %s = %s, probability %s\n", answer.Row, target.Name, class, console.Percent(answer.Probabilities[class]))
		}
		if answer.Votes != nil {
			fmt.Fprintln(w, "hypotheses: "+ballot(answer.Votes, target.Values))
		}
		if answer.Values != nil {
			answer.writeConsidered(w)
			return
		}
		best := int(target.Code(class))
		rows = append(rows, []string{fmt.Sprintf("%+.3f", x.Prior[best]), fmt.Sprintf("prior: %s is %s before any evidence", class, console.Percent(answer.PriorShare(best)))})
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
		writeCases(w, target.Name, x.Cases)
	} else {
		console.Table(w, []string{"weight", "evidence"}, rows)
	}
	for _, c := range x.Missing {
		fmt.Fprintf(w, "missing: %s could move it by %s\n", c.Column, move(target, c.CouldMove))
	}
}

// ballot writes votes: 3 say Yes, 3 say No.
func ballot(votes map[string]float64, classes []string) string {
	var said []string
	for _, class := range classes {
		said = append(said, fmt.Sprintf("%s say %s", console.Number(votes[class]), class))
	}
	return strings.Join(said, ", ")
}

// mostColumns is how many columns of a case are written for people.
const mostColumns = 5

// writeCases writes the nearest rows, and in which columns they are farthest.
func writeCases(w io.Writer, target string, cases []learn.Case) {
	var rows [][]string
	for _, c := range cases {
		far := slices.SortedStableFunc(slices.Values(c.Columns), func(a, b learn.CaseColumn) int { return cmp.Compare(b.Distance, a.Distance) })
		text := ""
		for i, column := range far {
			if i == mostColumns || column.Distance == 0 {
				break
			}
			text += fmt.Sprintf(" %s %s", column.Column, console.Number(column.Distance))
		}
		rows = append(rows, []string{console.Number(c.Distance), fmt.Sprintf("row %d of %s: %s = %s; apart in:%s", c.Row, c.Source.Name, target, c.Target, cmp.Or(text, " nothing"))})
	}
	console.Table(w, []string{"distance", "nearest case"}, rows)
}

func move(target *table.Attribute, by float64) string {
	if target.Kind == table.Numeric {
		return console.Number(by)
	}
	return fmt.Sprintf("%.1f points", 100*by)
}
