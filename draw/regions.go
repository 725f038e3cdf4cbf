package draw

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
)

// Regions is what a model answers over two columns: the plane in the colours of
// the classes, paler the less sure the answer is, with a line where the answer
// changes (Mitchell 1997, figures 4.5 and 8.1); numbers in shades of blue.
type Regions struct {
	Title string
	X, Y  Axis
	// Classes names the answers; nil where answers are numbers.
	Classes []string
	// Cells are the answers at the middles of the steps, those of the lowest
	// step of Y first.
	Cells []Answer
	Spots []Spot

	colours []rgb // of the classes
}

// Axis is a column cut into steps: a range of numbers, or one step a value.
type Axis struct {
	Name      string
	Low, High float64
	Steps     int
	Values    []string             // of a nominal column, as many as there are steps
	Text      func(float64) string // writes a number of the column, if it is a date or a time; nil for as it is
	Unit      float64              // of Text: round numbers of it are written; 0 is 1
}

// Answer is a class with its probability, or a number.
type Answer struct {
	Class  int
	P      float64
	Number float64
}

// Spot is a row to draw: its place, for a nominal column the value's index, and
// what is known of it. Class is negative where the answer is not known.
type Spot struct {
	X, Y   float64
	Class  int
	Number float64
}

// Middle returns the number at the middle of a step; of a nominal column, the
// index of its value.
func (a *Axis) Middle(step int) float64 {
	if a.Values != nil {
		return float64(step)
	}
	return a.Low + (a.High-a.Low)*(float64(step)+.5)/float64(a.Steps)
}

// ends returns where the axis begins and ends.
func (a *Axis) ends() (low, high float64) {
	if a.Values != nil {
		return -.5, float64(len(a.Values)) - .5
	}
	e := extent{a.Low, a.High, true}
	return e.ends()
}

// shadesOfCells is how many shades a colour comes in.
const shadesOfCells = 8

// SVG writes the regions as a picture.
func (r *Regions) SVG(w io.Writer) error {
	if r.X.Steps < 1 || r.Y.Steps < 1 || len(r.Cells) != r.X.Steps*r.Y.Steps {
		return fmt.Errorf("draw: %d answers for %d × %d steps", len(r.Cells), r.X.Steps, r.Y.Steps)
	}
	r.rank()
	var p picture
	top := margin + p.title(chartWidth, r.Title)
	var f frame
	f.x0, f.x1 = r.X.ends()
	f.y0, f.y1 = r.Y.ends()
	labels, at, widest := r.Y.marks()
	f.left, f.right = margin+widest+10+lineHeight+4, chartWidth-margin-10
	low, high := r.numbers()
	top += p.legend(f.left, top, f.right-f.left, r.legend(low, high))
	f.top = top + 8
	f.bottom = f.top + chartHeight - 80

	below := f.bottom + (&Chart{Categories: r.X.Values, axis: &r.X}).xAxis(&p, &f)
	r.ground(&p, &f, low, high)
	for i, v := range at {
		p.text(f.left-7, f.y(v)+4, "end", labels[i])
	}
	r.borders(&p, &f)
	for _, s := range r.Spots {
		if !finite(s.X) || !finite(s.Y) {
			continue
		}
		fill := neutral
		if r.Classes == nil {
			fill = shadeOfNumber(s.Number, low, high)
		} else if s.Class >= 0 && s.Class < len(r.colours) {
			fill = r.colours[s.Class]
		}
		p.add("circle", "cx", f.x(s.X), "cy", f.y(s.Y), "r", 3.0, "fill", fill, "stroke", ink, "stroke-width", 0.5)
	}
	p.add("path", "d", fmt.Sprintf("M%s %sV%sH%s", num(f.left), num(f.top), num(f.bottom), num(f.right)), "fill", "none", "stroke", ink)
	p.text((f.left+f.right)/2, below+14, "middle", shorten(r.X.Name, f.right-f.left))
	p.upright(margin+10, (f.top+f.bottom)/2, shorten(r.Y.Name, f.bottom-f.top))
	return p.writeTo(w, r.Title, chartWidth, below+18+margin)
}

// rank gives the classes their colours, by the order of their names, so that the
// pictures of two models agree also where they know the classes in another order.
func (r *Regions) rank() {
	names := slices.Sorted(slices.Values(r.Classes))
	r.colours = make([]rgb, len(r.Classes))
	for i, name := range r.Classes {
		at, _ := slices.BinarySearch(names, name)
		r.colours[i] = colour(at)
	}
}

// ticks are round numbers of the axis's unit, and how they are written.
func (a *Axis) ticks(low, high float64, about int) scale {
	if a.Text == nil {
		return ticks(low, high, about)
	}
	unit := max(a.Unit, 1)
	s := ticks(low/unit, high/unit, about)
	for i := range s.at {
		s.at[i] *= unit
	}
	s.write = a.Text
	return s
}

// marks are what stands beside the y axis, where, and how wide the widest is.
func (a *Axis) marks() (labels []string, at []float64, widest float64) {
	if a.Values != nil {
		every := max(1, len(a.Values)/22) // of very many only some are named
		for i := 0; i < len(a.Values); i += every {
			labels, at = append(labels, clip(a.Values[i], 140)), append(at, float64(i))
		}
	} else {
		low, high := a.ends()
		t := a.ticks(low, high, 6)
		for _, v := range t.at {
			labels, at = append(labels, t.text(v)), append(at, v)
		}
	}
	for _, l := range labels {
		widest = max(widest, width(l))
	}
	return labels, at, widest
}

// numbers is the range of the answers and rows that are numbers.
func (r *Regions) numbers() (low, high float64) {
	e := extent{}
	if r.Classes == nil {
		for i := range r.Cells {
			if finite(r.Cells[i].Number) {
				e.include(r.Cells[i].Number)
			}
		}
	}
	return e.ends()
}

// legend names the classes that appear, or the ends of the shades.
func (r *Regions) legend(low, high float64) []item {
	if r.Classes == nil {
		return []item{
			{name: tickText(low), colour: shadeOfNumber(low, low, high), swatch: true},
			{name: tickText((low + high) / 2), colour: shadeOfNumber((low+high)/2, low, high), swatch: true},
			{name: tickText(high), colour: shadeOfNumber(high, low, high), swatch: true},
		}
	}
	seen := make([]bool, len(r.Classes))
	for i := range r.Cells {
		if c := r.Cells[i].Class; c >= 0 && c < len(seen) {
			seen[c] = true
		}
	}
	for _, s := range r.Spots {
		if s.Class >= 0 && s.Class < len(seen) {
			seen[s.Class] = true
		}
	}
	var items []item
	for c, name := range r.Classes {
		if seen[c] {
			items = append(items, item{name: name, colour: r.colours[c], swatch: true})
		}
	}
	if slices.ContainsFunc(r.Spots, func(s Spot) bool { return s.Class < 0 }) {
		items = append(items, item{name: "class not known", colour: neutral, kind: Dots})
	}
	return items
}

// tickText writes a number as short as a legend wants it.
func tickText(v float64) string { return Number(v, 4) }

// shadeOfNumber is the blue of a number between two others.
func shadeOfNumber(v, low, high float64) rgb {
	step := math.Round(share(v, low, high) * shadesOfCells)
	return white.mix(palette[0], .05+.9*step/shadesOfCells)
}

// shade is the colour of a cell.
func (r *Regions) shade(a *Answer, low, high float64) rgb {
	switch {
	case r.Classes == nil:
		return shadeOfNumber(a.Number, low, high)
	case a.Class < 0 || a.Class >= len(r.Classes):
		return white
	}
	chance := 1 / float64(max(len(r.Classes), 2))
	sure := min(max((a.P-chance)/(1-chance), 0), 1)
	return white.mix(r.colours[a.Class], .1+.4*math.Round(sure*shadesOfCells)/shadesOfCells)
}

// ground fills the plane, neighbours of one colour together.
func (r *Regions) ground(p *picture, f *frame, low, high float64) {
	wide, tall := (f.right-f.left)/float64(r.X.Steps), (f.bottom-f.top)/float64(r.Y.Steps)
	for y := range r.Y.Steps {
		row := r.Cells[y*r.X.Steps : (y+1)*r.X.Steps]
		for from := 0; from < len(row); {
			fill, to := r.shade(&row[from], low, high), from+1
			for to < len(row) && r.shade(&row[to], low, high) == fill {
				to++
			}
			// A little more than the cell: neighbours must not show a seam.
			p.add("rect", "x", f.left+float64(from)*wide, "y", f.bottom-float64(y+1)*tall-.3, "width", float64(to-from)*wide, "height", tall+.6, "fill", fill)
			from = to
		}
	}
}

// borders draws lines where the class changes from one cell to its neighbour.
func (r *Regions) borders(p *picture, f *frame) {
	if r.Classes == nil {
		return
	}
	wide, tall := (f.right-f.left)/float64(r.X.Steps), (f.bottom-f.top)/float64(r.Y.Steps)
	var d bytes.Buffer
	for y := range r.Y.Steps {
		for x := range r.X.Steps {
			class := r.Cells[y*r.X.Steps+x].Class
			if x+1 < r.X.Steps && r.Cells[y*r.X.Steps+x+1].Class != class {
				fmt.Fprintf(&d, "M%s %sv%s", num(f.left+float64(x+1)*wide), num(f.bottom-float64(y+1)*tall), num(tall))
			}
			if y+1 < r.Y.Steps && r.Cells[(y+1)*r.X.Steps+x].Class != class {
				fmt.Fprintf(&d, "M%s %sh%s", num(f.left+float64(x)*wide), num(f.bottom-float64(y+1)*tall), num(wide))
			}
		}
	}
	if d.Len() > 0 {
		p.add("path", "d", d.String(), "fill", "none", "stroke", soft, "stroke-width", 1.2, "stroke-linecap", "square")
	}
}
