package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// Who tries many settings and reports the best one's error reports luck with
// it: the more settings, the more luck (Cawley and Talbot 2010). So the choice
// itself is judged: in each outer fold all settings are tried anew in folds of
// the other rows, and what is chosen there answers for the rows held out (nested
// cross-validation; Varma and Simon 2006).

// Candidate is a way to set a learner.
type Candidate struct {
	Settings map[string]string
	New      func() (learn.Learner, error)
}

// Tuning is what came of trying settings.
type Tuning struct {
	Data    string  `json:"data,omitempty"`
	Target  *string `json:"target"`
	Learner string  `json:"learner"`
	// Measure is what the figures are: "accuracy" or "rmse".
	Measure string `json:"measure"`
	// Best is the settings that did best in folds of all rows.
	Best map[string]string `json:"best"`
	// Estimate is what choosing among these settings reaches on rows that had
	// no say in the choice, with its interval.
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Default is what the first settings reach on the same rows, and Gain how
	// much better the choice is, with the interval of a paired t test over
	// the outer folds.
	Default  float64  `json:"default"`
	Gain     float64  `json:"gain"`
	GainLow  float64  `json:"gain_low"`
	GainHigh float64  `json:"gain_high"`
	Folds    int      `json:"folds"`
	Inner    int      `json:"inner_folds"`
	Rows     int      `json:"rows"`
	Level    float64  `json:"level"`
	Trials   []Tried  `json:"trials"` // the best first
	Notes    []string `json:"notes,omitempty"`
}

// Tried is one way to set the learner, and how it did in folds of all rows. The
// figure of the best is flattered by having been chosen.
type Tried struct {
	Settings map[string]string `json:"settings"`
	Value    *float64          `json:"value,omitempty"`
	Low      *float64          `json:"low,omitempty"`
	High     *float64          `json:"high,omitempty"`
	LogLoss  *float64          `json:"log_loss,omitempty"`
	Rules    *int              `json:"rules,omitempty"` // of a model, on average
	Chosen   int               `json:"chosen"`          // in so many outer folds
	Why      string            `json:"why,omitempty"`   // it could not be learnt

	order int
}

// Tune tries settings in folds of all rows, and judges the choice in nested
// folds. The first candidate is what is done without tuning.
func Tune(ctx context.Context, spec Spec, candidates []Candidate, outer, inner int) (*Tuning, error) {
	if len(candidates) < 2 {
		return nil, fmt.Errorf("evaluate: %d settings to choose from; expected at least 2", len(candidates))
	}
	spec.New = candidates[0].New
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	if spec.Target == learn.NoTarget {
		return nil, fmt.Errorf("evaluate: settings are chosen by how well a column is predicted; name one")
	}
	splits, err := spec.crossSplits(outer)
	if err != nil {
		return nil, err
	}
	steps := len(splits) + 1
	t := &Tuning{Data: spec.Data, Target: targetName(spec.Table.Schema, spec.Target), Learner: spec.Learner, Folds: outer, Inner: inner, Level: spec.level()}
	if err := t.search(part(ctx, 0, steps), &spec, candidates, splits); err != nil {
		return nil, err
	}
	var tuned, plain []trial
	for i, s := range splits {
		a, b, err := t.nested(part(ctx, i+1, steps), &spec, candidates, s, inner)
		if err != nil {
			return nil, err
		}
		tuned, plain = append(tuned, *a), append(plain, *b)
	}
	return t, t.judge(&spec, tuned, plain)
}

// search tries all candidates in the folds of all rows, and puts them in order.
func (t *Tuning) search(ctx context.Context, spec *Spec, candidates []Candidate, splits []split) error {
	_, results, err := choose(ctx, spec, candidates, splits)
	if err != nil {
		return err
	}
	for i, r := range results {
		tried := Tried{Settings: candidates[i].Settings, Why: r.why, order: i}
		if r.why == "" {
			tried.Value, tried.Low, tried.High, tried.LogLoss, tried.Rules = r.Accuracy, r.AccuracyLow, r.AccuracyHigh, r.LogLoss, r.Rules
			t.Measure, t.Rows = "accuracy", r.Rows
			if r.Accuracy == nil {
				t.Measure, tried.Value, tried.Low, tried.High = "rmse", r.RMSE, r.RMSELow, r.RMSEHigh
			}
		}
		t.Trials = append(t.Trials, tried)
	}
	slices.SortStableFunc(t.Trials, func(a, b Tried) int { return results[a.order].against(&results[b.order]) })
	t.Best = t.Trials[0].Settings
	return nil
}

// attempt is the result of a candidate, or why there is none.
type attempt struct {
	Result
	why string
}

// against orders attempts: the one that is right more often first, of equal
// ones that whose probabilities are better.
func (a *attempt) against(b *attempt) int {
	loss := func(x *attempt) (float64, float64) {
		switch {
		case x.why != "":
			return math.Inf(1), 0
		case x.Accuracy != nil:
			return 1 - *x.Accuracy, *x.LogLoss
		}
		return *x.RMSE, 0
	}
	first, then := loss(a)
	other, last := loss(b)
	return cmp.Or(cmp.Compare(first, other), cmp.Compare(then, last))
}

// choose tries all candidates on the splits and returns the best one. A
// candidate that cannot be learnt is none, unless it is the first.
func choose(ctx context.Context, spec *Spec, candidates []Candidate, splits []split) (best int, results []attempt, err error) {
	results = make([]attempt, len(candidates))
	for i, c := range candidates {
		s := *spec
		s.New = c.New
		trials, err := s.try(part(ctx, i, len(candidates)), splits, false)
		switch {
		case err != nil && (ctx.Err() != nil || i == 0):
			return 0, nil, err
		case err != nil:
			results[i].why = whole(err)
			continue
		}
		results[i].Result = *s.result(trials, 1)
		if results[i].against(&results[best]) < 0 {
			best = i
		}
	}
	return best, results, nil
}

// whole returns why something could not be learnt, without which split it was.
func whole(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ": "); ok && strings.Contains(text, ", split ") {
		return after
	}
	return text
}

// nested chooses among the candidates by the rows that a split learns from, and
// tests the choice and the first candidate on the others.
func (t *Tuning) nested(ctx context.Context, spec *Spec, candidates []Candidate, s split, inner int) (tuned, plain *trial, err error) {
	train, test := s.rows()
	sub := *spec
	sub.Table, sub.Seed = spec.Table.Select(train), s.seed
	sub.Groups, sub.Times = pick(spec.Groups, train), pick(spec.Times, train)
	splits, err := sub.crossSplits(inner)
	if err != nil {
		return nil, nil, fmt.Errorf("within an outer fold: %w", err)
	}
	best, _, err := choose(part(ctx, 0, 2), &sub, candidates, splits)
	if err != nil {
		return nil, nil, err
	}
	for i := range t.Trials {
		if t.Trials[i].order == best {
			t.Trials[i].Chosen++
		}
	}
	rivals := []Spec{*spec, *spec}
	rivals[0].New, rivals[1].New = candidates[best].New, candidates[0].New
	trials, err := tryAll(part(ctx, 1, 2), rivals, []split{listed(train, test, s.seed)}, false)
	if err != nil {
		return nil, nil, err
	}
	return &trials[0][0], &trials[1][0], nil
}

// pick returns some of many; nil of nil.
func pick[T any](all []T, rows []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(rows))
	for i, r := range rows {
		some[i] = all[r]
	}
	return some
}

// judge fills in what the choice is worth.
func (t *Tuning) judge(spec *Spec, tuned, plain []trial) error {
	r, first := spec.result(tuned, 1), spec.result(plain, 1)
	if t.Measure == "accuracy" {
		t.Estimate, t.Low, t.High, t.Default = *r.Accuracy, *r.AccuracyLow, *r.AccuracyHigh, *first.Accuracy
	} else {
		t.Estimate, t.Low, t.High, t.Default = *r.RMSE, *r.RMSELow, *r.RMSEHigh, *first.RMSE
	}
	over, err := differences(tuned, plain)
	if err != nil {
		return err
	}
	if t.Measure != "accuracy" { // a smaller error is the gain
		for i := range over {
			over[i] = -over[i]
		}
	}
	t.Gain = 0
	for _, d := range over {
		t.Gain += d / float64(len(over))
	}
	t.GainLow, t.GainHigh = t.Gain, t.Gain
	if len(over) > 1 {
		i := stat.PairedT(over).Interval(t.Level, stat.TwoSided)
		t.GainLow, t.GainHigh = i.Low, i.High
	}
	return nil
}

// Words writes settings as they are given; the first candidate has none.
func Words(settings map[string]string) string {
	if len(settings) == 0 {
		return "default"
	}
	var words []string
	for key, value := range settings {
		words = append(words, key+"="+value)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// Write writes what was tried and what it is worth, the most so many best.
func (t *Tuning) Write(w io.Writer, most int) {
	write := inUnits(t.Measure)
	numeric := t.Measure != "accuracy"
	fmt.Fprintf(w, "%s on %s%s: %d settings tried in %d folds of %d rows\n\n", t.Learner, t.Data, OfTarget(t.Target), len(t.Trials), t.Folds, t.Rows)
	var rows [][]string
	for _, x := range t.Trials[:min(len(t.Trials), most)] {
		row, last := []string{Words(x.Settings), "", ""}, ""
		switch {
		case x.Why != "":
			last = console.Shown("cannot: "+x.Why, 60)
		case x.Chosen > 0:
			last = fmt.Sprintf("chosen in %d of %d", x.Chosen, t.Folds)
		}
		if x.Value != nil {
			row[1], row[2] = write(*x.Value), console.Figure(x.Low, write)+" to "+console.Figure(x.High, write)
		}
		if !numeric {
			row = append(row, maybe(x.LogLoss))
		}
		rows = append(rows, append(row, last))
	}
	head := []string{"settings", t.Measure, Confidence(t.Level) + " interval"}
	if !numeric {
		head = append(head, "log loss")
	}
	console.Table(w, append(head, "outer folds"), rows)
	if more := len(t.Trials) - most; more > 0 {
		fmt.Fprintf(w, "and %d worse ones\n", more)
	}
	fmt.Fprintf(w, "\nbest: %s\n", Words(t.Best))
	fmt.Fprintf(w, "honest estimate of choosing so: %s %s (%s to %s), on rows that had no say in the choice; default settings %s there\n", t.Measure, write(t.Estimate), write(t.Low), write(t.High), write(t.Default))
	fmt.Fprintf(w, "%s\n", t.verdict())
	for _, note := range t.Notes {
		fmt.Fprintln(w, note)
	}
}

// verdict says whether tuning is worth it.
func (t *Tuning) verdict() string {
	numeric := t.Measure != "accuracy"
	between := fmt.Sprintf("(%s to %s)", gap(t.GainLow, numeric), gap(t.GainHigh, numeric))
	switch {
	case t.Gain == 0 && t.GainLow == t.GainHigh:
		return "tuning changes nothing on these rows: the default settings will do"
	case t.GainLow > 0:
		return fmt.Sprintf("tuning gains %s %s", gap(t.Gain, numeric), between)
	case t.GainHigh < 0:
		return fmt.Sprintf("tuning loses %s %s: keep the default settings", gap(-t.Gain, numeric), between)
	}
	return fmt.Sprintf("what tuning gains, %s %s, chance can explain: the default settings will do", gap(t.Gain, numeric), between)
}

// Worthwhile are the best settings if chance does not explain what they gain, else
// none: the default ones will do.
func (t *Tuning) Worthwhile() map[string]string {
	if t.GainLow > 0 {
		return t.Best
	}
	return nil
}

// Chart draws what was tried, the best first.
func (t *Tuning) Chart() Picture {
	bars := &draw.Ranked{Title: heading("settings", t.Learner, t.Data), Label: t.Measure, Percent: t.Measure == "accuracy", Free: true}
	for _, x := range t.Trials[:min(len(t.Trials), 40)] {
		if x.Value != nil && x.Low != nil && x.High != nil {
			bars.Bars = append(bars.Bars, draw.Bar{Name: Words(x.Settings), Value: *x.Value, Low: *x.Low, High: *x.High})
		}
	}
	return bars
}
