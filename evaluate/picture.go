package evaluate

import (
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
	if !c.Grows() {
		return nil
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
	if slices.Max(units.Y) == 0 {
		return nil
	}
	return growth(heading("growth", r.Learner, r.Data), "rows tested", false, units)
}

func growth(title, rows string, log bool, units draw.Series) Picture {
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
