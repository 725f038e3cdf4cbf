package evaluate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
)

// Results for people: what was measured, as lines and tables.

// WriteMeasures writes what was measured, and how sure it is.
func (r *Result) WriteMeasures(w io.Writer) {
	var rows [][]string
	add := func(name string, x *float64, meaning string) {
		if x != nil {
			rows = append(rows, []string{name, console.Number(*x), meaning})
		}
	}
	between := func(low, high *float64, write func(float64) string) string {
		if low == nil || high == nil {
			return ""
		}
		return fmt.Sprintf("%s interval %s to %s", Confidence(r.Level), write(*low), write(*high))
	}
	if r.Accuracy != nil {
		rows = append(rows,
			[]string{"accuracy", console.Percent(*r.Accuracy), between(r.AccuracyLow, r.AccuracyHigh, console.Percent)},
			[]string{"at least", console.Percent(*r.AccuracyAtLeast), "one-sided bound, " + Confidence(r.Level) + " sure"})
		if r.Baseline != nil {
			rows = append(rows, []string{"baseline", console.Percent(*r.Baseline), fmt.Sprintf("always %q", r.BaselineClass)})
		}
	}
	add("log loss", r.LogLoss, "nats a row; 0 is best")
	add("Brier", r.Brier, "squared error of the probabilities; 0 is best")
	add("ECE", r.ECE, "how far probabilities are from frequencies; 0 is best")
	if r.RMSE != nil {
		add("RMSE", r.RMSE, between(r.RMSELow, r.RMSEHigh, console.Number))
		add("at most", r.RMSEAtMost, "one-sided bound, "+Confidence(r.Level)+" sure")
		add("baseline", r.Baseline, "RMSE of always the mean")
		add("MAE", r.MAE, between(r.MAELow, r.MAEHigh, console.Number))
		add("R²", r.R2, between(r.R2Low, r.R2High, console.Number))
		if r.Coverage != nil {
			rows = append(rows, []string{"coverage", console.Percent(*r.Coverage), "of the rows lie in the model's 95 % intervals"})
		}
	}
	add("nll", r.NLL, between(r.NLLLow, r.NLLHigh, console.Number))
	console.Table(w, []string{"measure", "value", ""}, rows)
	if r.NeededRows > 0 {
		fmt.Fprintf(w, "\n%s would make the interval as narrow as wished\n", console.Plural(r.NeededRows, "test row"))
	}
}

// WriteClasses writes what a model is worth class by class, and how well it
// ranks rows.
func (s *Scores) WriteClasses(w io.Writer) {
	if s.Recall != nil {
		var rows [][]string
		cell := func(of map[string]float64, class string) string {
			if x, ok := of[class]; ok {
				return console.Percent(x)
			}
			return ""
		}
		for _, class := range s.Classes {
			rows = append(rows, []string{class, cell(s.Recall, class), cell(s.Precision, class), cell(s.F1, class)})
		}
		fmt.Fprintln(w)
		console.Table(w, []string{"class", "recall", "precision", "F1"}, rows)
	}
	if s.AUC != nil {
		fmt.Fprintf(w, "\nranked by the probability of %s: AUC %.3f (%.3f to %.3f), average precision %.3f; F1 is greatest from %s on\n",
			s.Positive, *s.AUC, *s.AUCLow, *s.AUCHigh, *s.AveragePrecision, console.Percent(s.bestF1))
	}
	for _, l := range s.Lift {
		if l.Share == 0.1 {
			fmt.Fprintf(w, "the tenth of the rows ranked first has %s times as many %s as all rows have (lift), %s of them all\n", console.Number(l.Lift), s.Positive, console.Percent(l.Found))
		}
	}
	s.WriteCosts(w)
	switch {
	case s.CostThreshold == nil:
	case *s.Threshold > 1:
		fmt.Fprintf(w, "on these rows it is cheapest never to say %s: %s a row\n", s.Positive, console.Number(*s.CostThreshold))
	default:
		fmt.Fprintf(w, "on these rows it is cheapest to say %s from %s on: %s a row\n", s.Positive, console.Percent(*s.Threshold), console.Number(*s.CostThreshold))
	}
}

// WriteCosts says what answers cost, if it was said what wrong ones do.
func (r *Result) WriteCosts(w io.Writer) {
	if r.Cost == nil {
		return
	}
	between := func(low, high *float64) string {
		if low == nil || high == nil {
			return ""
		}
		return fmt.Sprintf(" (%s to %s)", console.Number(*low), console.Number(*high))
	}
	fmt.Fprintf(w, "\ncost a row: %s%s if the most probable class is said, %s%s if the one whose expected cost is least; always %s costs %s\n",
		console.Number(*r.Cost), between(r.CostLow, r.CostHigh), console.Number(*r.CostLeast), between(r.CostLeastLow, r.CostLeastHigh), r.CostAlwaysClass, console.Number(*r.CostAlways))
}

// WriteLearnt says which of the rows the model has learnt from.
func (s *Scores) WriteLearnt(w io.Writer) {
	tested := console.Plural(s.TestRows, "row")
	switch {
	case s.LearntRows == 0:
	case s.LearntRows == s.TestRows:
		fmt.Fprintf(w, "on rows that the model has learnt, all %s: this says how well it remembers, not how well it will do\n\n", tested)
	case s.Unseen != nil:
		fmt.Fprintf(w, "%d of %s are rows that the model has learnt; on the others it is right in %s\n\n", s.LearntRows, tested, console.Percent(*s.Unseen))
	default:
		fmt.Fprintf(w, "%d of %s are rows that the model has learnt\n\n", s.LearntRows, tested)
	}
}

// Confidence writes a level as people say it: 95 %.
func Confidence(level float64) string { return fmt.Sprintf("%.4g %%", 100*level) }

// mostClasses is how wide a confusion matrix is printed; a wider one is
// drawn.
const mostClasses = 12

// WriteConfusion writes which classes were taken for which.
func (r *Result) WriteConfusion(w io.Writer) {
	if r.Confusion == nil || len(r.Classes) > mostClasses {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for i, cells := range r.Confusion {
		row := []string{r.Classes[i]}
		for _, x := range cells {
			row = append(row, console.Count(x))
		}
		rows = append(rows, row)
	}
	console.Table(w, append([]string{"is \\ said"}, r.Classes...), rows)
}

// OfTarget names the target in a heading; a density has none.
func OfTarget(target *string) string {
	if target == nil {
		return ""
	}
	return ", target " + *target
}

// WritePoints writes how a measure went while rows came in.
func (p *Prequence) WritePoints(w io.Writer) {
	write := inUnits(p.Measure)
	var rows [][]string
	step := max(len(p.Points)/20, 1)
	for i := step - 1; i < len(p.Points); i += step {
		q := p.Points[i]
		rows = append(rows, []string{strconv.Itoa(q.Rows), write(q.Window), write(q.Value)})
	}
	fmt.Fprintln(w)
	console.Table(w, []string{"rows seen", p.Measure + " lately", p.Measure + " so far"}, rows)
}

// inUnits returns how values of a measure are written.
func inUnits(name string) func(float64) string {
	if name == "accuracy" {
		return console.Percent
	}
	return console.Number
}

// Write writes a learning curve.
func (c *Curve) Write(w io.Writer) {
	write := inUnits(c.Measure)
	var rows [][]string
	for _, p := range c.Points {
		row := []string{strconv.Itoa(p.Rows), write(p.Value), write(p.Low), write(p.High), write(p.Training)}
		if c.Grows() {
			row = append(row, console.Number(p.Units))
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(w, "%s on %s: %s on unseen rows against the number of rows learnt\n\n", c.Learner, c.Data, c.Measure)
	head := []string{"rows learnt", c.Measure, "low", "high", "on the rows learnt"}
	if c.Grows() {
		head = append(head, "units")
	}
	console.Table(w, head, rows)
}

// Write writes what asking saves.
func (c *QueryCurve) Write(w io.Writer) {
	write := inUnits(c.Measure)
	between := func(low, high float64) string { return write(low) + " to " + write(high) }
	var rows [][]string
	for _, p := range c.Points {
		rows = append(rows, []string{strconv.Itoa(p.Rows), write(p.Query), between(p.QueryLow, p.QueryHigh), write(p.Random), between(p.RandomLow, p.RandomHigh)})
	}
	fmt.Fprintf(w, "%s on %s: %s on unseen rows after so many answers, over %d divisions\n\n", c.Learner, c.Data, c.Measure, c.Seeds)
	console.Table(w, []string{"answers", "asking", "", "random", ""}, rows)
	fmt.Fprintln(w, "\n"+c.verdict(write))
}

// Write writes learners side by side and which differences are real; how is
// the way they were tested.
func (r *Comparison) Write(w io.Writer, how string) {
	first := r.Learners[0]
	fmt.Fprintf(w, "%s%s, %s\n\n", first.Data, OfTarget(first.Target), how)
	header, rows := sideBySide(r)
	console.Table(w, header, rows)
	fmt.Fprintln(w)
	some := false
	for i := range r.Differences {
		if d := &r.Differences[i]; d.Significant {
			fmt.Fprintln(w, inWords(d, r.Measure != "accuracy"))
			some = true
		}
	}
	if !some {
		fmt.Fprintf(w, "no difference is significant at %.2g %%\n", 100*(1-r.Level))
	}
}

// WriteCriterion writes what errors on the rows and differences from a theory cost
// together.
func (r *Comparison) WriteCriterion(w io.Writer) {
	var rows [][]string
	for _, c := range r.Criterion {
		least := ""
		if c.Least {
			least = "the least"
		}
		rows = append(rows, []string{c.Learner, console.Percent(c.ErrorRows), console.Percent(c.ErrorTheory), console.Number(c.Score), least})
	}
	fmt.Fprintln(w)
	console.Table(w, []string{"learner", "unseen rows wrong", "other than the theory", "together", ""}, rows)
}

// WriteMcNemar writes what the rows say that only one of two learners gets
// right.
func (r *Comparison) WriteMcNemar(w io.Writer) {
	fmt.Fprintln(w)
	for i := range r.Differences {
		fmt.Fprintln(w, mcnemarInWords(&r.Differences[i], r.Level))
	}
}

// sideBySide is a row a learner, with what its kind of answer is judged by.
func sideBySide(r *Comparison) (header []string, rows [][]string) {
	for _, l := range r.Learners {
		switch {
		case l.Accuracy != nil:
			header = []string{"learner", "accuracy", "low", "high", "log loss", "ECE", "rules"}
			rows = append(rows, []string{l.Learner, console.Percent(*l.Accuracy), console.Percent(*l.AccuracyLow), console.Percent(*l.AccuracyHigh), maybe(l.LogLoss), maybe(l.ECE), rulesOf(l)})
		case l.RMSE != nil:
			header = []string{"learner", "RMSE", "low", "high", "MAE", "R²"}
			rows = append(rows, []string{l.Learner, console.Number(*l.RMSE), maybe(l.RMSELow), maybe(l.RMSEHigh), maybe(l.MAE), maybe(l.R2)})
		default:
			header = []string{"learner", "nll", "low", "high"}
			rows = append(rows, []string{l.Learner, maybe(l.NLL), maybe(l.NLLLow), maybe(l.NLLHigh)})
		}
	}
	return header, rows
}

// maybe writes a number that may not be known.
func maybe(x *float64) string { return console.Figure(x, console.Number) }

// inWords says which of two is better.
func inWords(d *Difference, numeric bool) string {
	worse := d.B
	if d.Better == d.B {
		worse = d.A
	}
	by, low, high := d.Difference, d.Low, d.High
	if by < 0 {
		by, low, high = -by, -high, -low
	}
	return fmt.Sprintf("%s is better than %s by %s (%s to %s, p = %.2g)", d.Better, worse, gap(by, numeric), gap(low, numeric), gap(high, numeric), d.PHolm)
}

// mcnemarInWords says what the rows say that only one of two gets right.
func mcnemarInWords(d *Difference, level float64) string {
	m := d.McNemar
	how := fmt.Sprintf("χ² = %.2f", m.Statistic)
	if m.Exact {
		how = "exact"
	}
	says := "which chance can explain"
	if m.PHolm < 1-level {
		says = "which is more than chance"
	}
	return fmt.Sprintf("McNemar: only %s gets %s right, only %s %s: %s (%s, p = %.2g)", d.A, rowsOf(m.OnlyB), d.B, rowsOf(m.OnlyA), says, how, m.PHolm)
}

// rowsOf writes a weight of rows.
func rowsOf(weight float64) string {
	if weight == 1 {
		return "1 row"
	}
	return console.Count(weight) + " rows"
}

// gap writes a difference in the measure's own unit.
func gap(x float64, numeric bool) string {
	if numeric {
		return console.Number(x)
	}
	const least = 0.0005 // as it is printed
	if math.Abs(x) < least {
		x = 0 // and has no sign
	}
	return strings.Replace(fmt.Sprintf("%.1f points", 100*x), "-", "−", 1)
}

// rulesOf is the mean number of rules, "" for a learner without.
func rulesOf(r *Result) string {
	if r.Rules == nil {
		return ""
	}
	return strconv.Itoa(*r.Rules)
}
