package draw

import (
	"bytes"
	"strings"
	"testing"
)

// A border stands between the two classes of four places, and rows in their
// own colours.
func TestRegions(t *testing.T) {
	r := &Regions{
		Title: "two classes", X: Axis{Name: "x", High: 2, Steps: 2}, Y: Axis{Name: "y", Values: []string{"low", "high"}, Steps: 2},
		Classes: []string{"no", "yes"},
		Cells:   []Answer{{Class: 0, P: 1}, {Class: 1, P: .9}, {Class: 0, P: 1}, {Class: 1, P: .6}},
		Spots:   []Spot{{X: .5, Y: 0, Class: 0}, {X: 1.5, Y: 1, Class: -1}},
	}
	var out bytes.Buffer
	if err := r.SVG(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{">no<", ">yes<", ">low<", ">high<", ">class not known<", "two classes", neutral.String(), colour(0).String()} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if n := strings.Count(text, "<circle"); n != 2+1 { // and one in the legend
		t.Errorf("%d rows drawn", n)
	}
	if n := strings.Count(text, "<rect"); n < 4 {
		t.Errorf("%d rectangles for 4 places of 3 shades", n)
	}
	r.Cells = r.Cells[1:]
	if err := r.SVG(&out); err == nil || !strings.Contains(err.Error(), "3 answers for 2 × 2 steps") {
		t.Errorf("%v", err)
	}
}

// A class has one colour, in whichever order a model knows the classes.
func TestRegionsAgreeOnColours(t *testing.T) {
	place := Axis{High: 1, Steps: 1}
	one := &Regions{X: place, Y: place, Classes: []string{"van", "bus", "car"}, Cells: []Answer{{Class: 1, P: 1}}}
	other := &Regions{X: place, Y: place, Classes: []string{"bus", "car", "van"}, Cells: []Answer{{Class: 0, P: 1}}}
	var a, b bytes.Buffer
	if one.SVG(&a) != nil || other.SVG(&b) != nil || a.String() != b.String() {
		t.Errorf("a bus is drawn in two ways:\n%s\n%s", a.String(), b.String())
	}
}

// Answers that are numbers have shades between the least and the greatest.
func TestRegionsOfNumbers(t *testing.T) {
	r := &Regions{X: Axis{High: 1, Steps: 2}, Y: Axis{High: 1, Steps: 1}, Cells: []Answer{{Number: 10}, {Number: 20}}}
	var out bytes.Buffer
	if err := r.SVG(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">10<", ">15<", ">20<", shadeOfNumber(10, 10, 20).String(), shadeOfNumber(20, 10, 20).String()} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}
