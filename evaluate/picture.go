package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/accrete-ml/accrete/draw"
)

// Picture is something that can be drawn. A nil Picture means that there is
// nothing to draw.
type Picture interface {
	SVG(w io.Writer) error
}

// heading names what was measured.
func heading(what, learner, data string) string {
	title := what + ": " + learner
	if data != "" {
		title += " on " + data
	}
	return title
}

// ConfusionChart draws how actual classes were predicted; nil if the target
// is not a class.
func (r *Result) ConfusionChart() Picture {
	if r.Confusion == nil {
		return nil
	}
	return &draw.Matrix{
		Title: heading("confusion", r.Learner, r.Data), RowLabel: "is", ColumnLabel: "predicted",
		Rows: r.Classes, Columns: r.Classes, Cells: r.Confusion,
	}
}

// ReliabilityChart draws how often the model is right against how sure it
// is, bin by bin: on the diagonal it is as right as it says. The share of
// rows in each bin stands below. It is nil if the target is not a class.
func (r *Result) ReliabilityChart() Picture {
	if len(r.Reliability) == 0 {
		return nil
	}
	total := 0.0
	for _, b := range r.Reliability {
		total += b.Weight
	}
	right := draw.Series{Name: "share right", Kind: draw.Points}
	shares := draw.Series{Name: "share of rows", Kind: draw.Bars}
	for _, b := range r.Reliability {
		right.X = append(right.X, b.Confidence)
		right.Y = append(right.Y, b.Accuracy)
		right.Low = append(right.Low, b.AccuracyLow)
		right.High = append(right.High, b.AccuracyHigh)
		shares.X = append(shares.X, (b.Low+b.High)/2)
		shares.Y = append(shares.Y, b.Weight/total)
	}
	title := heading("reliability", r.Learner, r.Data)
	if r.ECE != nil {
		title += fmt.Sprintf(" (ECE %.3f, %g rows)", *r.ECE, total)
	}
	return &draw.Chart{
		Title: title, XLabel: "probability of the predicted class", YLabel: "share", Percent: true,
		XRange: [2]float64{0, 1}, YRange: [2]float64{0, 1},
		Series: []draw.Series{shares, {Name: "as sure as right", X: []float64{0, 1}, Y: []float64{0, 1}, Kind: draw.Dashed}, right},
	}
}

// Chart draws the learning curve, on unseen rows with its interval and on the
// rows learnt from.
func (c *Curve) Chart() Picture {
	unseen := draw.Series{Name: "unseen rows"}
	learnt := draw.Series{Name: "rows learnt from", Kind: draw.Dashed}
	for _, p := range c.Points {
		x := float64(p.Rows)
		unseen.X, unseen.Y = append(unseen.X, x), append(unseen.Y, p.Value)
		unseen.Low, unseen.High = append(unseen.Low, p.Low), append(unseen.High, p.High)
		learnt.X, learnt.Y = append(learnt.X, x), append(learnt.Y, p.Training)
	}
	return &draw.Chart{
		Title: heading("learning curve", c.Learner, c.Data), XLabel: "training rows", YLabel: c.Measure,
		LogX: true, Percent: c.Measure == "accuracy", Series: []draw.Series{unseen, learnt},
	}
}

// GrowthChart draws how many units the models have that learnt so many rows;
// nil for learners whose models have none.
func (c *Curve) GrowthChart() Picture {
	units := draw.Series{Name: "units"}
	for _, p := range c.Points {
		units.X, units.Y = append(units.X, float64(p.Rows)), append(units.Y, p.Units)
	}
	return growth(heading("growth", c.Learner, c.Data), "training rows", true, units)
}

// GrowthChart draws how many units the model had as rows came in; nil if the
// evaluation was not prequential or models have no units.
func (r *Result) GrowthChart() Picture {
	if r.Prequential == nil || len(r.Prequential.Points) == 0 {
		return nil
	}
	units := draw.Series{Name: "units"}
	for _, q := range r.Prequential.Points {
		units.X, units.Y = append(units.X, float64(q.Rows)), append(units.Y, float64(q.Units))
	}
	return growth(heading("growth", r.Learner, r.Data), "rows tested", false, units)
}

// growth is nil where there is nothing to see: of a model that has as many units
// all along, or none.
func growth(title, rows string, log bool, units draw.Series) Picture {
	if len(units.Y) == 0 || slices.Max(units.Y) == slices.Min(units.Y) {
		return nil
	}
	return &draw.Chart{Title: title, XLabel: rows, YLabel: "units", LogX: log, Series: []draw.Series{units}}
}

// PrequentialChart draws the measure as rows came in: over all so far with
// its interval, over the window, and with fading memory. It is nil if the
// evaluation was not prequential.
func (r *Result) PrequentialChart() Picture {
	p := r.Prequential
	if p == nil {
		return nil
	}
	all := draw.Series{Name: "so far"}
	window := draw.Series{Name: fmt.Sprintf("last %d", p.Window)}
	faded := draw.Series{Name: fmt.Sprintf("fading by %g", p.Fade), Kind: draw.Dashed}
	for _, q := range p.Points {
		x := float64(q.Rows)
		all.X, all.Y = append(all.X, x), append(all.Y, q.Value)
		all.Low, all.High = append(all.Low, q.Low), append(all.High, q.High)
		window.X, window.Y = append(window.X, x), append(window.Y, q.Window)
		faded.X, faded.Y = append(faded.X, x), append(faded.Y, q.Faded)
	}
	return &draw.Chart{
		Title: heading("test, then train", r.Learner, r.Data), XLabel: "rows tested", YLabel: p.Measure,
		Percent: p.Measure == "accuracy", Series: []draw.Series{all, window, faded},
	}
}

// Named is a picture and what to call its file.
type Named struct {
	Name string
	Picture
}

// Pictures returns all that a result has to show.
func (r *Result) Pictures() []Named {
	return there([]Named{
		{"confusion", r.ConfusionChart()}, {"reliability", r.ReliabilityChart()},
		{"predicted", r.PredictedChart()}, {"errors", r.ErrorChart()},
		{"prequential", r.PrequentialChart()}, {"growth", r.GrowthChart()},
	})
}

// Pictures returns all that scores have to show.
func (s *Scores) Pictures() []Named {
	return append(s.Result.Pictures(), there([]Named{{"roc", s.ROCChart()}, {"precision", s.PrecisionChart()}, {"lift", s.LiftChart()}, {"thresholds", s.ThresholdChart()}})...)
}

// there leaves out what there is nothing to draw of.
func there(all []Named) []Named {
	return slices.DeleteFunc(all, func(p Named) bool { return p.Picture == nil })
}

// PredictedChart draws numbers against what was predicted for them, some rows of
// many: on the diagonal they are equal. It is nil if the target is no number.
func (r *Result) PredictedChart() Picture {
	if len(r.shown) == 0 {
		return nil
	}
	rows := draw.Series{Name: "rows", Kind: draw.Dots}
	least, most := r.shown[0].mean, r.shown[0].mean
	for _, a := range r.shown {
		rows.X, rows.Y = append(rows.X, a.mean), append(rows.Y, a.is)
		least, most = min(least, a.mean, a.is), max(most, a.mean, a.is)
	}
	title := heading("predicted and true", r.Learner, r.Data)
	if r.R2 != nil {
		title += fmt.Sprintf(" (R² %.3f)", *r.R2)
	}
	return &draw.Chart{
		Title: title, XLabel: "predicted " + *r.Target, YLabel: "true " + *r.Target,
		Series: []draw.Series{rows, {Name: "predicted = true", X: []float64{least, most}, Y: []float64{least, most}, Kind: draw.Dashed}},
	}
}

// ErrorChart draws errors against what was predicted, and the mean half width of
// the model's own intervals in stretches of equal numbers of rows: 19 of 20
// rows should lie between its lines. It is nil if the target is no number.
func (r *Result) ErrorChart() Picture {
	if len(r.shown) == 0 {
		return nil
	}
	sorted := slices.SortedStableFunc(slices.Values(r.shown), func(a, b answered) int { return cmp.Compare(a.mean, b.mean) })
	rows := draw.Series{Name: "rows", Kind: draw.Dots}
	low, high := draw.Series{Name: "low of 95 %", Kind: draw.Dashed}, draw.Series{Name: "high of 95 %", Kind: draw.Dashed}
	for _, a := range sorted {
		rows.X, rows.Y = append(rows.X, a.mean), append(rows.Y, a.is-a.mean)
	}
	stretches := min(max(len(sorted)/20, 1), 20)
	for i := range stretches {
		part := sorted[i*len(sorted)/stretches : (i+1)*len(sorted)/stretches]
		x, under, over := 0.0, 0.0, 0.0
		for _, a := range part {
			n := float64(len(part))
			x, under, over = x+a.mean/n, under+(a.low-a.mean)/n, over+(a.high-a.mean)/n
		}
		low.X, low.Y = append(low.X, x), append(low.Y, under)
		high.X, high.Y = append(high.X, x), append(high.Y, over)
	}
	title := heading("errors", r.Learner, r.Data)
	if r.Coverage != nil {
		title += fmt.Sprintf(" (%.1f %% of rows within 95 %% intervals)", 100**r.Coverage)
	}
	zero := draw.Series{X: []float64{sorted[0].mean, sorted[len(sorted)-1].mean}, Y: []float64{0, 0}}
	return &draw.Chart{Title: title, XLabel: "predicted " + *r.Target, YLabel: "true − predicted", Series: []draw.Series{rows, zero, low, high}}
}

// stages calls visit after each stretch of rows of equal probability, from the
// highest down: with that probability, and what was ranked so far.
func (s *Scores) stages(visit func(p, hits, misses float64)) (positives, negatives float64) {
	for lo := 0; lo < len(s.ranked); {
		hi := lo
		for ; hi < len(s.ranked) && s.ranked[hi].p == s.ranked[lo].p; hi++ {
			if s.ranked[hi].positive {
				positives += s.ranked[hi].weight
			} else {
				negatives += s.ranked[hi].weight
			}
		}
		visit(s.ranked[lo].p, positives, negatives)
		lo = hi
	}
	return positives, negatives
}

// thinned returns at most so many points of a line, its ends included.
func thinned(s draw.Series) draw.Series {
	const most = 600
	n := len(s.X)
	if n <= most {
		return s
	}
	thin := s
	thin.X, thin.Y = nil, nil
	for i := range most {
		at := i * (n - 1) / (most - 1)
		thin.X, thin.Y = append(thin.X, s.X[at]), append(thin.Y, s.Y[at])
	}
	return thin
}

// unit is an axis of shares.
var unit = [2]float64{0, 1}

// ROCChart draws the share of the positive class that is found against the share
// of the others that is taken for it, by threshold; nil where there is no ranking.
func (s *Scores) ROCChart() Picture {
	if s.AUC == nil {
		return nil
	}
	line := draw.Series{Name: s.Learner, X: []float64{0}, Y: []float64{0}}
	positives, negatives := s.stages(func(_, hits, misses float64) { line.X, line.Y = append(line.X, misses), append(line.Y, hits) })
	for i := range line.X {
		line.X[i] /= negatives
		line.Y[i] /= positives
	}
	return &draw.Chart{
		Title: heading("ROC of "+s.Positive, s.Learner, s.Data) + fmt.Sprintf(" (AUC %.3f)", *s.AUC), XLabel: "share of the others taken for " + s.Positive, YLabel: "share of " + s.Positive + " found",
		Percent: true, XRange: unit, YRange: unit,
		Series: []draw.Series{thinned(line), {Name: "by chance", X: []float64{0, 1}, Y: []float64{0, 1}, Kind: draw.Dashed}},
	}
}

// PrecisionChart draws precision against recall, by threshold.
func (s *Scores) PrecisionChart() Picture {
	if s.AUC == nil {
		return nil
	}
	line := draw.Series{Name: s.Learner}
	positives, negatives := s.stages(func(_, hits, misses float64) {
		line.X, line.Y = append(line.X, hits), append(line.Y, hits/(hits+misses))
	})
	for i := range line.X {
		line.X[i] /= positives
	}
	share := positives / (positives + negatives)
	return &draw.Chart{
		Title: heading("precision of "+s.Positive, s.Learner, s.Data) + fmt.Sprintf(" (average %.3f)", *s.AveragePrecision), XLabel: "share of " + s.Positive + " found (recall)", YLabel: "share right (precision)",
		Percent: true, XRange: unit, YRange: unit,
		Series: []draw.Series{thinned(line), {Name: "by chance", X: []float64{0, 1}, Y: []float64{share, share}, Kind: draw.Dashed}},
	}
}

// LiftChart draws what share of the positive class is among the rows ranked
// first.
func (s *Scores) LiftChart() Picture {
	if s.AUC == nil {
		return nil
	}
	line := draw.Series{Name: s.Learner, X: []float64{0}, Y: []float64{0}}
	positives, negatives := s.stages(func(_, hits, misses float64) { line.X, line.Y = append(line.X, hits+misses), append(line.Y, hits) })
	for i := range line.X {
		line.X[i] /= positives + negatives
		line.Y[i] /= positives
	}
	share := positives / (positives + negatives)
	return &draw.Chart{
		Title: heading("lift of "+s.Positive, s.Learner, s.Data), XLabel: "share of rows looked at, the most probable first", YLabel: "share of " + s.Positive + " found",
		Percent: true, XRange: unit, YRange: unit,
		Series: []draw.Series{thinned(line), {Name: "by chance", X: []float64{0, 1}, Y: []float64{0, 1}, Kind: draw.Dashed}, {Name: "at best", X: []float64{0, share, 1}, Y: []float64{0, 1, 1}, Kind: draw.Dashed}},
	}
}

// ThresholdChart draws recall, precision and F1 against the probability from
// which on the positive class is said.
func (s *Scores) ThresholdChart() Picture {
	if s.AUC == nil {
		return nil
	}
	recall, precision, f1 := draw.Series{Name: "recall"}, draw.Series{Name: "precision"}, draw.Series{Name: "F1", Kind: draw.Dashed}
	total := 0.0
	for i := range s.ranked {
		if s.ranked[i].positive {
			total += s.ranked[i].weight
		}
	}
	s.stages(func(p, hits, misses float64) {
		for _, line := range []struct {
			to *draw.Series
			y  float64
		}{{&recall, hits / total}, {&precision, hits / (hits + misses)}, {&f1, 2 * hits / (hits + misses + total)}} {
			line.to.X, line.to.Y = append(line.to.X, p), append(line.to.Y, line.y)
		}
	})
	return &draw.Chart{
		Title: heading("thresholds of "+s.Positive, s.Learner, s.Data), XLabel: "probability from which on " + s.Positive + " is said", YLabel: "share", Percent: true, XRange: unit, YRange: unit,
		Series: []draw.Series{thinned(recall), thinned(precision), thinned(f1)},
	}
}
