package evaluate

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
)

// Result is what was measured. Rates are fractions; what does not apply is
// nil or empty, and absent from the JSON form.
type Result struct {
	Data    string  `json:"data,omitempty"`
	Target  *string `json:"target"` // null for a density
	Learner string  `json:"learner"`

	Framework Framework `json:"framework"`

	Rows      int    `json:"rows"`       // with a known target
	TrainRows int    `json:"train_rows"` // that a model learnt from; the fewest, if models differ
	TestRows  int    `json:"test_rows"`  // that were tested at least once
	Folds     int    `json:"folds,omitempty"`
	How       string `json:"how,omitempty"`     // rows were divided, in words
	Repeats   int    `json:"repeats,omitempty"` // where folds or samples were drawn more than once
	Seed      uint64 `json:"seed"`
	// Level is the confidence of intervals and bounds.
	Level float64 `json:"level"`

	// Baseline is what always the same answer gets on the tested rows: the
	// accuracy of the class that is most frequent in the rows learnt from,
	// or the root mean squared error of their mean.
	Baseline      *float64 `json:"baseline,omitempty"`
	BaselineClass string   `json:"baseline_class,omitempty"`
	// NeededRows is how many test rows make the accuracy's interval as narrow
	// as was wished (see RowsForWidth), if somebody wished.
	NeededRows int `json:"needed_rows,omitempty"`

	// For a nominal target. The interval is that of the error over all
	// tested rows together (Interval says by which method).
	Accuracy     *float64 `json:"accuracy,omitempty"`
	AccuracyLow  *float64 `json:"accuracy_low,omitempty"`
	AccuracyHigh *float64 `json:"accuracy_high,omitempty"`
	// AccuracyAtLeast is the one-sided bound: all of the doubt is below it.
	AccuracyAtLeast *float64 `json:"accuracy_at_least,omitempty"`
	Interval        string   `json:"interval,omitempty"` // "normal" or "exact"
	// LogLoss is the mean of −ln p(true class), with p no less than 1e-15.
	LogLoss *float64 `json:"log_loss,omitempty"`
	// Brier is the mean over rows of Σ (p(class) − [class is true])², over
	// all classes, so that it lies between 0 and 2.
	Brier *float64 `json:"brier,omitempty"`
	// ECE is the expected calibration error: how far confidence and
	// accuracy differ over the reliability bins, on average over rows.
	ECE *float64 `json:"ece,omitempty"`

	// Cost is what a row costs on average where the most probable class is said,
	// CostLeast where the class is said whose expected cost is least, and
	// CostAlways where always the same one is, the cheapest of them.
	Cost            *float64 `json:"cost,omitempty"`
	CostLow         *float64 `json:"cost_low,omitempty"`
	CostHigh        *float64 `json:"cost_high,omitempty"`
	CostLeast       *float64 `json:"cost_least,omitempty"`
	CostLeastLow    *float64 `json:"cost_least_low,omitempty"`
	CostLeastHigh   *float64 `json:"cost_least_high,omitempty"`
	CostAlways      *float64 `json:"cost_always,omitempty"`
	CostAlwaysClass string   `json:"cost_always_class,omitempty"`

	// For a numeric target, with intervals by the central limit theorem.
	RMSE     *float64 `json:"rmse,omitempty"`
	RMSELow  *float64 `json:"rmse_low,omitempty"`
	RMSEHigh *float64 `json:"rmse_high,omitempty"`
	// RMSEAtMost is the one-sided bound: all of the doubt is above it.
	RMSEAtMost *float64 `json:"rmse_at_most,omitempty"`
	MAE        *float64 `json:"mae,omitempty"`
	MAELow     *float64 `json:"mae_low,omitempty"`
	MAEHigh    *float64 `json:"mae_high,omitempty"`
	R2         *float64 `json:"r2,omitempty"`
	R2Low      *float64 `json:"r2_low,omitempty"`
	R2High     *float64 `json:"r2_high,omitempty"`
	// Coverage is the share of rows within the model's own 95 % intervals.
	Coverage *float64 `json:"coverage,omitempty"`

	// NLL is the mean of −ln density, for a model of the joint density.
	NLL     *float64 `json:"nll,omitempty"`
	NLLLow  *float64 `json:"nll_low,omitempty"`
	NLLHigh *float64 `json:"nll_high,omitempty"`

	Rules *int `json:"rules,omitempty"` // of a model, on average
	// Seconds are those of one model on average: to learn it, and to
	// predict the rows that it was tested on.
	TrainSeconds   float64 `json:"train_seconds"`
	PredictSeconds float64 `json:"predict_seconds"`

	// FoldAccuracies has a value for every model, in order of repeats and
	// folds; FoldRMSE the same for a numeric target.
	FoldAccuracies []float64 `json:"fold_accuracies,omitempty"`
	FoldRMSE       []float64 `json:"fold_rmse,omitempty"`
	// Confusion counts rows, by weight: [actual][predicted], both in the
	// order of Classes.
	Classes     []string    `json:"classes,omitempty"`
	Confusion   [][]float64 `json:"confusion,omitempty"`
	Reliability []Bin       `json:"reliability,omitempty"`
	Prequential *Prequence  `json:"prequential,omitempty"`
	// Notes are what a careful reader must know of the figures, a line each.
	Notes []string `json:"notes,omitempty"`

	shown []answered // some answers, where numbers are predicted
}

// Bin is the rows whose most probable class has a probability in a range.
type Bin struct {
	Low          float64 `json:"low"` // Low < probability ≤ High
	High         float64 `json:"high"`
	Weight       float64 `json:"weight"`     // of its rows
	Confidence   float64 `json:"confidence"` // mean probability of the predicted class
	Accuracy     float64 `json:"accuracy"`   // share of the rows where it was right, with its interval
	AccuracyLow  float64 `json:"accuracy_low"`
	AccuracyHigh float64 `json:"accuracy_high"`
}

// note adds a line to the notes.
func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// setNumber stores a figure unless it is not a number.
func setNumber(to **float64, x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		*to = &x
	}
}

func setInterval(low, high **float64, i stat.Interval) {
	setNumber(low, i.Low)
	setNumber(high, i.High)
}

// judge writes the figures of a tally into the result. Every row was tested
// so many times, which must not make the intervals narrower: n is the weight
// of the rows, not of the tests.
func (r *Result) judge(t *tally, level, times float64) {
	r.Level = level
	if t.clipped > 0 {
		r.note("log loss: %g of %g tests gave the true class a probability below 1e-15, taken as 1e-15", t.clipped, t.weight)
	}
	switch t.kind {
	case classes:
		r.judgeClasses(t, level, times)
	case numbers:
		r.judgeNumbers(t, level, times)
	case densities:
		if t.impossible > 0 {
			r.note("nll: infinite, since %g of %g tests gave a row density 0; the mean of the others is %.6g", t.impossible, t.weight, t.nll.Mean)
			return
		}
		m := t.nll
		m.N, m.M2 = m.N/times, m.M2/times
		e := m.Estimate()
		setNumber(&r.NLL, e.Value)
		setInterval(&r.NLLLow, &r.NLLHigh, e.Interval(level, stat.TwoSided))
	}
}

func (r *Result) judgeClasses(t *tally, level, times float64) {
	e := stat.ErrorRate{Errors: (t.weight - t.right) / times, Cases: t.weight / times}
	setNumber(&r.Accuracy, t.right/t.weight)
	i, method := e.Interval(level, stat.TwoSided)
	setInterval(&r.AccuracyLow, &r.AccuracyHigh, stat.Interval{Low: 1 - i.High, High: 1 - i.Low})
	r.Interval = string(method)
	i, _ = e.Interval(level, stat.Upper)
	setNumber(&r.AccuracyAtLeast, 1-i.High)
	if method == stat.Exact && t.weight > 0 {
		r.note("accuracy interval: exact binomial; the normal approximation asks for n ≥ 30 and n·e(1−e) ≥ 5, here n = %.4g and n·e(1−e) = %.2g", e.Cases, e.Curvature())
	}
	setNumber(&r.LogLoss, t.logLoss/t.weight)
	setNumber(&r.Brier, t.brier/t.weight)
	r.Classes, r.Confusion, r.Reliability = t.names, t.confusion(), t.reliability(level, times)
	ece := 0.0
	for _, b := range r.Reliability {
		ece += b.Weight / t.weight * math.Abs(b.Accuracy-b.Confidence)
	}
	setNumber(&r.ECE, ece)
	r.judgeCosts(t, level, times)
}

func (r *Result) judgeNumbers(t *tally, level, times float64) {
	square, absolute := t.square, t.absolute
	for _, m := range []*stat.Moments{&square, &absolute} {
		m.N, m.M2 = m.N/times, m.M2/times
	}
	setNumber(&r.RMSE, math.Sqrt(square.Mean))
	i := square.Estimate().Interval(level, stat.TwoSided)
	setInterval(&r.RMSELow, &r.RMSEHigh, stat.Interval{Low: math.Sqrt(max(i.Low, 0)), High: math.Sqrt(i.High)})
	setNumber(&r.RMSEAtMost, math.Sqrt(square.Estimate().Interval(level, stat.Upper).High))
	setNumber(&r.MAE, absolute.Mean)
	i = absolute.Estimate().Interval(level, stat.TwoSided)
	setInterval(&r.MAELow, &r.MAEHigh, stat.Interval{Low: max(i.Low, 0), High: i.High})
	e := t.determination(times)
	setNumber(&r.R2, e.Value)
	i = e.Interval(level, stat.TwoSided)
	setInterval(&r.R2Low, &r.R2High, stat.Interval{Low: i.Low, High: min(i.High, 1)})
	setNumber(&r.Coverage, t.covered/t.weight)
	r.shown = t.shown.rows
}
