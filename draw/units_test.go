package draw

import (
	"slices"
	"strings"
	"testing"
)

// A network is written as formulas, and drawn in layers.
func TestUnits(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	n := &Units{Title: "and", Inputs: []string{"a", "colour = red"}, Units: []Unit{
		{Name: "h", Function: "sgn", Bias: f(-0.8), From: []UnitLink{{From: "a", Weight: f(0.5), Shared: "w"}, {From: "colour = red", Weight: f(-0.5)}}},
		{Name: "g", Function: "gauss", From: []UnitLink{{From: "a", Centre: f(1), Width: f(2)}}},
		{Name: "out", Function: "product", Output: true, From: []UnitLink{{From: "h"}, {From: "g"}}},
	}, Notes: []string{"a note"}}
	want := []string{
		"h = sgn(-0.8 + 0.5*a {w} - 0.5*[colour = red])",
		"g = gauss(a ~ 1 ± 2)",
		"out = product(h, g)",
		"# a note",
	}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("written as\n%s", strings.Join(got, "\n"))
	}
	g := n.Graph()
	layers := map[string]int{}
	for _, node := range g.Nodes {
		layers[node.ID] = node.Layer
	}
	if layers["a"] != 0 || layers["h"] != 1 || layers["out"] != 2 || len(g.Edges) != 5 {
		t.Errorf("layers %v, %d edges", layers, len(g.Edges))
	}
	if svg := render(t, g); !strings.Contains(svg, "bias -0.8") {
		t.Error("the picture has no bias")
	}
	s := &States{Units: []string{"h"}, Rows: []StateRow{{Row: 1, States: []float64{1, -1}, Answer: "yes"}}}
	if got := s.Lines()[0]; got != "row 1: + - answers yes" {
		t.Error(got)
	}
	s.Rows[0].States[0] = 0.5
	if got := s.Lines()[0]; got != "row 1: 0.50 -1.00 answers yes" {
		t.Error(got)
	}
}
