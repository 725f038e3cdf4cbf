package draw

import (
	"io"
	"math"
	"strconv"
)

// Ranked is bars that lie, each beside its name, with whiskers: what matters
// most stands on top. Names of columns are too long to stand under bars.
type Ranked struct {
	Title, Label string
	Bars         []Bar
	Percent      bool // numbers are written as percentages
	Points       bool // numbers are written as points of a hundred
	Free         bool // the axis need not begin at 0: points instead of bars
}

// Bar is a value and its interval.
type Bar struct {
	Name             string
	Value, Low, High float64
}

const (
	barHeight = 20.0
	nameWidth = 240.0
)

// SVG writes the bars as a picture.
func (r *Ranked) SVG(w io.Writer) error {
	var p picture
	top := margin + p.title(chartWidth, r.Title)
	low, high := r.extent()
	scale := ticks(low, high, 6)
	f := frame{right: chartWidth - margin - 14, x0: low, x1: high, top: top + 6}
	widest := 0.0
	for _, b := range r.Bars {
		widest = max(widest, width(clip(b.Name, nameWidth)))
	}
	f.left = margin + widest + 10
	f.bottom = f.top + barHeight*float64(max(len(r.Bars), 1))
	for _, v := range scale.at {
		at := f.x(v)
		p.add("line", "x1", at, "y1", f.top, "x2", at, "y2", f.bottom, "stroke", faint)
		p.text(at, f.bottom+16, "middle", r.write(v, &scale))
	}
	zero := f.x(min(max(0, low), high))
	for i, b := range r.Bars {
		y := f.top + barHeight*(float64(i)+0.5)
		p.open("g")
		p.tooltip(b.Name + ": " + r.write(b.Value, nil) + " (" + r.write(b.Low, nil) + " to " + r.write(b.High, nil) + ")")
		p.text(f.left-8, y+4, "end", clip(b.Name, nameWidth))
		at := f.x(b.Value)
		if r.Free {
			p.add("circle", "cx", at, "cy", y, "r", 4.0, "fill", colour(0))
		} else {
			p.add("rect", "x", min(zero, at), "y", y-6, "width", math.Abs(at-zero), "height", 12.0, "fill", colour(0).mix(white, 0.25))
		}
		p.add("line", "x1", f.x(b.Low), "y1", y, "x2", f.x(b.High), "y2", y, "stroke", ink, "stroke-width", 1.3)
		for _, end := range []float64{b.Low, b.High} {
			p.add("line", "x1", f.x(end), "y1", y-4, "x2", f.x(end), "y2", y+4, "stroke", ink, "stroke-width", 1.3)
		}
		p.close("g")
	}
	if !r.Free {
		p.add("line", "x1", zero, "y1", f.top, "x2", zero, "y2", f.bottom, "stroke", ink)
	}
	if len(r.Bars) == 0 {
		p.text((f.left+f.right)/2, (f.top+f.bottom)/2+4, "middle", "no data", "fill", soft)
	}
	p.text((f.left+f.right)/2, f.bottom+34, "middle", shorten(r.Label, f.right-f.left))
	return p.writeTo(w, r.Title, chartWidth, f.bottom+34+margin)
}

// extent is the least and the greatest number that is drawn.
func (r *Ranked) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, b := range r.Bars {
		for _, x := range []float64{b.Value, b.Low, b.High} {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if !r.Free {
		low, high = min(low, 0), max(high, 0)
	}
	if !(low < high) {
		low, high = min(low, 0), max(high, 1)
		if math.IsInf(low, 0) || math.IsInf(high, 0) {
			low, high = 0, 1
		}
	}
	return low, high
}

// write writes a number of the axis.
func (r *Ranked) write(v float64, s *scale) string {
	switch {
	case r.Percent:
		return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'g', 4, 64) + " %"
	case r.Points:
		return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'g', 4, 64)
	case s != nil:
		return s.text(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
