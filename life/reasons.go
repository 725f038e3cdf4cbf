package life

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Write writes an answer and its reasons for people: what each cell adds, then
// what each rule does, strongest first.
func (answer *Explained) Write(w io.Writer) {
	s, x := answer.explainer.speaker, answer.Explanation
	answer.writeAnswer(w)
	if answer.NoValue {
		fmt.Fprintln(w, "the formula has no value for this row (it divides by zero or overflows there): what is usual in the rows that it was learnt from answers")
	}
	if answer.Impossible {
		fmt.Fprintln(w, "what is known of this row has the probability 0 in the network: it is answered as if nothing were known")
		return
	}
	if answer.Values != nil {
		answer.writeConsidered(w)
		return
	}
	if len(x.Cases) > 0 {
		writeCases(w, s.Label(answer.Attribute.Name), x.Cases)
	} else {
		answer.writeReasons(w)
	}
	for _, c := range answer.Missing {
		line := fmt.Sprintf("%s is not known. It could move this by %s", s.Label(c.Column), move(answer.Attribute, c.CouldMove))
		if to, ok := c.To.(string); ok {
			line = fmt.Sprintf("%s is not known. It could make this %s, %s", s.Label(c.Column), s.Class(to), say.Percent(c.Probability))
		}
		fmt.Fprintln(w, line+".")
	}
	if len(answer.unused) > 0 && len(answer.Cells) > 0 {
		shown := answer.unused[:min(len(answer.unused), mostUnused)]
		rest := ""
		if left := len(answer.unused) - len(shown); left > 0 {
			rest = fmt.Sprintf(" and %d more", left)
		}
		fmt.Fprintf(w, "no part in it: %s%s\n", strings.Join(shown, ", "), rest)
	}
}

// mostUnused is how many cells that have no part in an answer are listed.
const mostUnused = 12

// writeAnswer writes the answer, what is usual, and what is true.
func (answer *Explained) writeAnswer(w io.Writer) {
	s, target := answer.explainer.speaker, answer.Attribute
	label := s.Label(target.Name)
	if target.Kind == table.Numeric {
		line := fmt.Sprintf("row %d: %s = %s (%s to %s)", answer.Row, label, say.Rounded(answer.Prediction.(float64), 4), say.Rounded(*answer.Low, 4), say.Rounded(*answer.High, 4))
		if truth, ok := answer.Truth.(float64); ok {
			line += "; the data say " + say.Number(truth)
		}
		fmt.Fprintln(w, line)
		return
	}
	class, known := answer.Prediction.(string)
	if !known { // the model does not know; the reasons are for what is likeliest
		fmt.Fprintf(w, "row %d: %s is not known\n", answer.Row, label)
	} else {
		line := fmt.Sprintf("row %d: %s = %s, %s", answer.Row, label, s.Value(target.Name, class), say.Percent(answer.Probabilities[class]))
		if answer.Usual != nil {
			line += fmt.Sprintf(" (usually %s)", say.Percent(*answer.Usual))
		}
		if truth, ok := answer.Truth.(string); ok {
			verdict := "right"
			if truth != class {
				verdict = "wrong"
			}
			if said := s.Value(target.Name, truth); answer.Values != nil { // what somebody did is not the truth
				line += "; in the data " + said
			} else {
				line += fmt.Sprintf("; the data say %s: %s", said, verdict)
			}
		}
		fmt.Fprintln(w, line)
	}
	if answer.Votes != nil {
		fmt.Fprintln(w, "hypotheses: "+ballot(answer.Votes, target.Values))
	}
	if c := answer.Calibration; c != nil {
		fmt.Fprintln(w, c.sentence(s))
	}
}

// reason is a line of reasons: what it adds, and what it is.
type reason struct {
	weight float64
	text   string
}

// writeReasons writes what speaks for the answer and against it, by cell and by
// rule. Weights of classes are said as times likelier than the next class.
func (answer *Explained) writeReasons(w io.Writer) {
	r, numeric := answer.explainer, answer.Attribute.Kind == table.Numeric
	best, beside := 0, -1
	if !numeric {
		best, beside = r.rivals(answer)
	}
	var cells, rules []reason
	for _, c := range answer.Cells {
		cells = append(cells, reason{c.Weight, c.Say})
	}
	said := map[string]bool{} // what cells say by themselves
	for _, c := range cells {
		said[c.text] = true
	}
	more := false // rules say more than the cells do
	for i := range answer.Evidence {
		v := &answer.Evidence[i]
		text := v.Text
		if v.Say != nil {
			text = v.Say.String()
		}
		more = more || len(v.Columns) > 0 && (v.Told || !said[text])
		if v.Told {
			text += " (told)"
		}
		if v.ID != "" {
			text += " [" + v.ID + "]"
		}
		line := reason{r.moves(v, best, beside), text}
		if len(v.Columns) == 0 { // what no cell stands for
			cells = append(cells, reason{line.weight, text})
		}
		if v.Text != silence {
			rules = append(rules, line)
		}
	}
	if len(cells) == 0 {
		fmt.Fprintln(w, "nothing speaks for it or against it but what is usual")
		return
	}
	title := "what each cell adds:"
	if !numeric && beside >= 0 {
		title = fmt.Sprintf("what each cell adds, as times likelier than %s:", r.speaker.Class(answer.Beside))
	}
	fmt.Fprintln(w, title)
	if answer.Additive {
		begin, end := answer.ends(best, beside)
		writeWeights(w, slices.Concat([]reason{{begin, answer.beginning(best)}}, largest(cells), []reason{{end, "together"}}), numeric, true)
	} else {
		writeWeights(w, largest(cells), numeric, false)
	}
	if more {
		fmt.Fprintln(w, "by rule:")
		writeWeights(w, largest(rules), numeric, false)
	}
	if len(answer.Silent) > 0 {
		fmt.Fprintln(w, "would speak against it, but does not apply:")
		var silent []reason
		for _, v := range answer.Silent {
			silent = append(silent, reason{math.Log(v.Odds), fmt.Sprintf("%s [%s]; here %s", v.Say, v.ID, strings.Join(v.Because, " and "))})
		}
		writeWeights(w, silent, false, false)
	}
}

// beginning says what reasons begin with.
func (answer *Explained) beginning(best int) string {
	if answer.Usual != nil {
		prior, sum := answer.Prior.(map[string]float64), 0.0
		for _, w := range prior {
			sum += math.Exp(w - prior[answer.Attribute.Values[best]])
		}
		if math.Abs(1/sum-*answer.Usual) < 0.02 {
			return "before any of it (what is usual)"
		}
	}
	return "before any of it"
}

// ends are where the weights begin and where they come to.
func (answer *Explained) ends(best, beside int) (begin, end float64) {
	if answer.Attribute.Kind == table.Numeric {
		return answer.Prior.(float64), answer.Prediction.(float64)
	}
	prior := answer.Prior.(map[string]float64)
	values := answer.Attribute.Values
	begin = prior[values[best]]
	p, q := answer.Probabilities[values[best]], 0.0
	if beside >= 0 {
		begin -= prior[values[beside]]
		q = answer.Probabilities[values[beside]]
	}
	return begin, finite(math.Log(p) - math.Log(q))
}

// largest sorts reasons, the largest first.
func largest(reasons []reason) []reason {
	return slices.SortedStableFunc(slices.Values(reasons), func(a, b reason) int { return cmp.Compare(math.Abs(b.weight), math.Abs(a.weight)) })
}

// weak is the weight below which reasons are counted, not listed: × 1.05.
var weak = math.Log(1.05)

// writeWeights writes lines of reasons, from where they begin to where they come
// to, if they have these ends.
func writeWeights(w io.Writer, reasons []reason, numeric, ends bool) {
	left, width := 0, 0
	var sizes, texts []string
	for i, r := range reasons {
		if !numeric && math.Abs(r.weight) < weak && !(ends && (i == 0 || i == len(reasons)-1)) {
			left++
			continue
		}
		size := "× " + say.Times(r.weight)
		switch {
		case numeric && ends && (i == 0 || i == len(reasons)-1):
			size = say.Rounded(r.weight, 4)
		case numeric:
			if size = say.Rounded(r.weight, 3); r.weight > 0 {
				size = "+" + size
			}
		case r.weight < 0:
			size = "÷ " + say.Times(r.weight)
		}
		sizes, texts = append(sizes, size), append(texts, r.text)
		width = max(width, utf8.RuneCountInString(size))
	}
	for i := range sizes {
		if left > 0 && ends && i == len(sizes)-1 {
			fmt.Fprintf(w, "  %*s  and %d weaker\n", width, "", left)
		}
		fmt.Fprintf(w, "  %s%s  %s\n", strings.Repeat(" ", width-utf8.RuneCountInString(sizes[i])), sizes[i], texts[i])
	}
	if left > 0 && !ends {
		fmt.Fprintf(w, "  %*s  and %d weaker\n", width, "", left)
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
