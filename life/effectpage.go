package life

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
)

// Write says what a change does, people first: whose answers change, how the
// model fares before and after on rows that it has not learnt, how sure that is,
// and for whom.
func (e *Effect) Write(w io.Writer, preview bool) {
	if e == nil || len(e.Tables) == 0 {
		return
	}
	get := "get another answer"
	if e.numbers {
		get = "move by more than the interval"
	}
	if preview {
		get = "would " + get
	}
	fmt.Fprintf(w, "%s of %s %s%s\n", console.Count(e.Changed), console.Plural(int(e.Rows), "row"), get, e.becomes())
	for i := range e.Tables {
		t := &e.Tables[i]
		if i == 0 || !t.Learnt {
			fmt.Fprintf(w, "  %s: %s\n", t.where(), t.words())
		}
	}
	if t := &e.Tables[0]; t.Learnt && t.AccuracyBefore != nil {
		fmt.Fprintln(w, "  a model knows the rows that it has learnt better than others: data that it has not learnt would judge it")
	}
	e.writeGroups(w)
}

// mostGroups is how many groups are shown that nobody asked for.
const mostGroups = 5

func (e *Effect) writeGroups(w io.Writer) {
	shown := len(e.Groups)
	if e.by == "" {
		shown = min(shown, mostGroups)
	}
	if shown > 0 {
		var rows [][]string
		for _, g := range e.Groups[:shown] {
			rows = append(rows, []string{g.Say, console.Count(g.Rows), console.Percent(g.Before), console.Percent(g.After), Points(g.Low, g.High)})
		}
		fmt.Fprintln(w)
		if more := len(e.Groups) - shown; more > 0 {
			defer fmt.Fprintf(w, "and %d more groups\n", more)
		}
		console.Table(w, []string{"group", "rows", "before", "after", "difference"}, rows)
	}
}

// becomes says how many of the changed answers are right now, or nearer.
func (e *Effect) becomes() string {
	if e.numbers && e.Changed > e.Unknown {
		return fmt.Sprintf(": %s nearer to the truth, %s farther from it", console.Count(e.Fixed), console.Count(e.Broken))
	}
	switch e.Changed {
	case 0:
		return ""
	case e.Unknown:
		return "; which of them are right is not known"
	}
	text := fmt.Sprintf(": %s right, %s wrong", turn(e.Fixed), turn(e.Broken))
	if other := e.Changed - e.Fixed - e.Broken - e.Unknown; other > 0 {
		text += fmt.Sprintf(", %s stay wrong", console.Count(other))
	}
	if e.Unknown > 0 {
		text += fmt.Sprintf(", %s nobody knows", console.Count(e.Unknown))
	}
	return text
}

// turn says how many rows become something.
func turn(rows float64) string {
	if rows == 1 {
		return "1 becomes"
	}
	return console.Count(rows) + " become"
}

// became says whether a new answer is right.
func (f *EffectFlip) became() string {
	switch {
	case f.Truth == nil:
		return ""
	case f.P == nil && *f.Right:
		return ", nearer to the truth, " + *f.Truth
	case f.P == nil:
		return ", farther from the truth, " + *f.Truth
	case *f.Right:
		return ", now right"
	case f.Before == *f.Truth:
		return ", now wrong"
	}
	return ", still not " + console.Shown(*f.Truth, console.LongestCell)
}

// where names the rows of a table.
func (t *EffectTable) where() string {
	switch {
	case t.HeldOut && t.Folds == 1:
		return "on rows held out, a fifth of all"
	case t.HeldOut:
		return fmt.Sprintf("on rows held out, in %d folds", t.Folds)
	case t.Learnt:
		return "on rows that it has learnt"
	}
	return "on " + t.Data
}

// words say how the model fares, before and after.
func (t *EffectTable) words() string {
	switch {
	case t.RMSEBefore != nil:
		return t.further()
	case t.AccuracyBefore == nil:
		return "what is right is not known"
	}
	if t.Changed == 0 {
		return fmt.Sprintf("right %s; no answer changes", console.Percent(*t.AccuracyBefore))
	}
	text := fmt.Sprintf("right %s → %s (%s of %s become right, %s wrong)", console.Percent(*t.AccuracyBefore), console.Percent(*t.AccuracyAfter),
		console.Count(t.Fixed), console.Count(t.Changed), console.Count(t.Broken))
	sense := "better"
	if *t.Difference < 0 {
		sense = "worse"
	}
	switch t.Verdict() {
	case Better:
		return text + ": better (" + Points(*t.Low, *t.High) + ")"
	case Worse:
		return text + ": worse (" + Points(*t.Low, *t.High) + ")"
	}
	if *t.Difference == 0 {
		return fmt.Sprintf("%s: neither better nor worse, as far as they tell (%s)", text, Points(*t.Low, *t.High))
	}
	return fmt.Sprintf("%s: too few to be sure it is %s (%s)", text, sense, Points(*t.Low, *t.High))
}

// further says how far numbers are off, before and after.
func (t *EffectTable) further() string {
	text := fmt.Sprintf("RMSE %s → %s", console.Number(*t.RMSEBefore), console.Number(*t.RMSEAfter))
	if t.Low == nil || *t.Difference == 0 {
		return text
	}
	range_ := strings.ReplaceAll(fmt.Sprintf("%+.3g to %+.3g", *t.Low, *t.High), "-", "−")
	switch sense := map[bool]string{true: "worse", false: "better"}[*t.Difference > 0]; t.Verdict() {
	case Better, Worse:
		return fmt.Sprintf("%s: %s (%s)", text, sense, range_)
	default:
		return fmt.Sprintf("%s: too few to be sure it is %s (%s)", text, sense, range_)
	}
}

// Points writes the interval of a difference of rates, in points.
func Points(low, high float64) string {
	point := func(x float64) string {
		text := fmt.Sprintf("%+.0f", math.Round(100*x)+0)
		if math.Abs(x) < .005 {
			text = fmt.Sprintf("%+.1f", math.Round(1000*x)/10+0)
		}
		return strings.NewReplacer("-", "−", "+0.0", "0").Replace(text)
	}
	return point(low) + " to " + point(high) + " points"
}
