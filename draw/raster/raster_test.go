package raster

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/draw"
)

// Pictures of every kind become pixels: white where nothing is, ink where
// something is.
func TestPNG(t *testing.T) {
	chart := &draw.Chart{Title: "a title", XLabel: "x", YLabel: "runs upwards", Series: []draw.Series{
		{Name: "line", X: []float64{0, 1, 2}, Y: []float64{0, 1, 0}, Low: []float64{0, 0, 0}, High: []float64{1, 1, 1}},
		{Name: "dashed", X: []float64{0, 2}, Y: []float64{0, 1}, Kind: draw.Dashed}, {Name: "points", X: []float64{1}, Y: []float64{1}, Kind: draw.Points},
	}}
	tree := &draw.Graph{Nodes: []draw.Node{{ID: "a", Lines: []string{"a"}}, {ID: "b", Lines: []string{"b"}, Leaf: true, Class: "x"}}, Edges: []draw.Edge{{From: "a", To: "b", Label: "≤ 1"}}}
	for what, svg := range map[string]func(io.Writer) error{
		"chart": chart.SVG, "tree": tree.SVG, "text": func(w io.Writer) error { return draw.TextSVG(w, "page", "one\ntwo") },
		"ranked": (&draw.Ranked{Bars: []draw.Bar{{Name: "a", Value: 1, Low: 0.5, High: 2}}}).SVG,
	} {
		var out bytes.Buffer
		if err := PNG(&out, svg); err != nil {
			t.Fatal(what, err)
		}
		p, err := png.Decode(&out)
		if err != nil {
			t.Fatal(what, err)
		}
		inked := 0
		for x := range p.Bounds().Dx() {
			for y := range p.Bounds().Dy() {
				if r, g, b, _ := p.At(x, y).RGBA(); r+g+b < 3*0xc000 {
					inked++
				}
			}
		}
		if c := color.NRGBAModel.Convert(p.At(0, 0)).(color.NRGBA); c != (color.NRGBA{255, 255, 255, 255}) || inked < 100 {
			t.Errorf("%s: %v in the corner, %d pixels have ink", what, c, inked)
		}
	}
}

// What draw does not write is refused, or left out.
func TestOddPictures(t *testing.T) {
	for _, text := range []string{"", "<svg", `<rect width="1"/>`, `<svg width="0" height="1"/>`, `<svg width="1e9" height="1e9"/>`,
		`<svg width="9" height="9"><path d="L1 2"/></svg>`, `<svg width="9" height="9"><path d="M1 2Q3 4"/></svg>`, `<svg width="9" height="9"><path d="M1 x"/></svg>`} {
		if err := PNG(io.Discard, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err == nil {
			t.Errorf("%q is taken for a picture", text)
		}
	}
	odd := `<svg width="9" height="9"><ellipse rx="1"/><rect x="1e9" width="1" height="1"/><circle r="1e300"/><text font-size="1e9" x="1">x</text></svg>`
	if err := PNG(io.Discard, func(w io.Writer) error { _, err := fmt.Fprint(w, odd); return err }); err != nil {
		t.Error(err)
	}
	if lines := dashes(polyline{points: []point{{0, 0}, {10, 0}}}, "3 2"); len(lines) != 2 || len(strings.Fields(fmt.Sprint(lines))) == 0 || lines[1].points[0] != (point{5, 0}) || lines[1].points[1] != (point{8, 0}) {
		t.Errorf("%v", lines)
	}
}

// A straight line that a curve is written as has straight edges: pieces of it do
// not lie upon each other.
func TestEdgesOfLines(t *testing.T) {
	var out bytes.Buffer
	line := `<svg width="200" height="20"><path d="M 10 10.3 C 70 10.3 130 10.3 190 10.3" fill="none" stroke="#0072b2" stroke-width="4.7"/></svg>`
	if err := PNG(&out, func(w io.Writer) error { _, err := io.WriteString(w, line); return err }); err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	middle := p.Bounds().Dx() / 2
	for x := p.Bounds().Dx() / 4; x < 3*p.Bounds().Dx()/4; x++ {
		for y := range p.Bounds().Dy() {
			if p.At(x, y) != p.At(middle, y) {
				t.Fatalf("pixel %d, %d is %v, and %v in the middle", x, y, p.At(x, y), p.At(middle, y))
			}
		}
	}
}

// Borders between regions are short strokes from where they begin.
func TestRegionsAsPixels(t *testing.T) {
	r := draw.Regions{
		X: draw.Axis{Name: "x", High: 2, Steps: 2}, Y: draw.Axis{Name: "y", Values: []string{"low", "high"}, Steps: 2}, Classes: []string{"no", "yes"},
		Cells: []draw.Answer{{Class: 0, P: 1}, {Class: 1, P: 1}, {Class: 1, P: 1}, {Class: 1, P: 1}},
	}
	var out bytes.Buffer
	if err := PNG(&out, r.SVG); err != nil {
		t.Fatal(err)
	}
	lines, err := path("M1 2v3h4M5 5H6V7")
	if err != nil || len(lines) != 2 || lines[0].points[2] != (point{5, 5}) || lines[1].points[2] != (point{6, 7}) {
		t.Errorf("%v, %v", lines, err)
	}
}
