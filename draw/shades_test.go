package draw

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestShades(t *testing.T) {
	s := &Shades{Title: "weights", Panels: []Panel{
		{Name: "pixels", Cells: [][]float64{{-2, 0, 1}, {math.NaN(), math.Inf(1), 2}}},
		{Name: "values", Rows: []string{"a & b", "c"}, Columns: []string{"unit 1"}, Cells: [][]float64{{.894}, {-.2}}},
		{Name: "nothing"},
	}}
	svg := render(t, s)
	for _, want := range []string{`fill="#d55e00"`, `fill="#0072b2"`, ">0.89<", ">-0.20<", "a &amp; b", "unit 1"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if n := strings.Count(svg, "<rect"); n != 1+6+1+2+1+1 {
		t.Errorf("%d rectangles", n)
	}
	for _, bad := range []Panel{{Rows: []string{"a"}}, {Cells: [][]float64{{1, 2}, {1}}}, {Columns: []string{"a"}, Cells: [][]float64{{1, 2}}}} {
		if (&Shades{Panels: []Panel{bad}}).SVG(&bytes.Buffer{}) == nil {
			t.Errorf("%+v is drawn", bad)
		}
	}
}
