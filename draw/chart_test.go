package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0.4, 0.95, "0.4 0.5 0.6 0.7 0.8 0.9"},
		{-1000, 3000, "−1000 0 1000 2000 3000"},
		{0, 0.001, "0.0000 0.0002 0.0004 0.0006 0.0008 0.0010"},
		{0, 60000, "0 10,000 20,000 30,000 40,000 50,000 60,000"},
		{0, 12, "0 2 4 6 8 10 12"},
		{1e9, 2e9, "1e9 1.2e9 1.4e9 1.6e9 1.8e9 2e9"},
	} {
		s := ticks(c.low, c.high, 6)
		var text []string
		for _, v := range s.at {
			text = append(text, s.text(v))
		}
		if got := strings.Join(text, " "); got != c.want {
			t.Errorf("ticks(%g, %g): %s, expected %s", c.low, c.high, got, c.want)
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{1, 2, []float64{10, 20, 50, 100}},
		{0, 5, []float64{1, 10, 100, 1000, 1e4, 1e5}},
		{0.31, 0.35, []float64{math.Pow(10, 0.31), math.Pow(10, 0.35)}},
	} {
		got := decades(c.low, c.high).at
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }) {
			t.Errorf("decades(%g, %g) = %v, expected %v", c.low, c.high, got, c.want)
		}
	}
}

// Any numbers at all give a picture.
func TestChartOfAnyNumbers(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1, 1 + 1e-16, 1e300,
	}))
	rapid.Check(t, func(t *rapid.T) {
		c := &Chart{
			Title: rapid.String().Draw(t, "title"), XLabel: rapid.String().Draw(t, "x label"), YLabel: rapid.String().Draw(t, "y label"),
			LogX: rapid.Bool().Draw(t, "log"), Percent: rapid.Bool().Draw(t, "percent"),
			XRange: [2]float64{number.Draw(t, "range"), number.Draw(t, "range")},
			YRange: [2]float64{number.Draw(t, "range"), number.Draw(t, "range")},
		}
		for range rapid.IntRange(0, 9).Draw(t, "series") {
			n := rapid.IntRange(0, 6).Draw(t, "points")
			s := Series{Name: rapid.String().Draw(t, "name"), Kind: Kind(rapid.IntRange(0, int(Steps)).Draw(t, "kind"))}
			s.X, s.Y = rapid.SliceOfN(number, n, n).Draw(t, "x"), rapid.SliceOfN(number, n, n).Draw(t, "y")
			if rapid.Bool().Draw(t, "interval") {
				s.Low, s.High = rapid.SliceOfN(number, n, n).Draw(t, "low"), rapid.SliceOfN(number, n, n).Draw(t, "high")
			}
			c.Series = append(c.Series, s)
		}
		render(t, c)
	})
}

func TestLineIsInterrupted(t *testing.T) {
	c := &Chart{Series: []Series{{X: []float64{0, 1, 2, 3, 4, 5}, Y: []float64{1, 2, math.NaN(), 2, 1, 3}}}}
	svg := render(t, c)
	if n := strings.Count(svg, `stroke="#0072b2"`); n != 2 {
		t.Errorf("%d pieces, expected 2", n)
	}
	if strings.Contains(svg, "no data") {
		t.Error("says that there is no data")
	}
}

func TestEmptyChartSaysSo(t *testing.T) {
	for _, c := range []*Chart{{}, {Series: []Series{{Name: "a", X: []float64{math.Inf(1)}, Y: []float64{1}}}}, {LogX: true, Series: []Series{{X: []float64{-1, 0}, Y: []float64{1, 2}}}}} {
		if svg := render(t, c); !strings.Contains(svg, "no data") {
			t.Error("does not say that there is no data")
		}
	}
}

func TestChartKinds(t *testing.T) {
	x, y, low, high := []float64{0, 1, 2}, []float64{0.5, 0.7, 0.9}, []float64{0.4, 0.6, 0.8}, []float64{0.6, 0.8, 1}
	for kind, want := range map[Kind]string{
		Line: "fill-opacity=\"0.16\"", Dashed: "stroke-dasharray=\"6 4\"", Points: "<circle", Bars: "height=", Steps: "fill-opacity=\"0.16\"",
		Dots: "r=\"1.8\"",
	} {
		if svg := render(t, &Chart{Series: []Series{{Name: "s", X: x, Y: y, Low: low, High: high, Kind: kind}}}); !strings.Contains(svg, want) {
			t.Errorf("kind %d: no %s", kind, want)
		}
	}
	bars := Series{Name: "a", X: x, Y: y, Kind: Bars}
	svg := render(t, &Chart{LogX: true, Series: []Series{bars, bars}})
	if n := strings.Count(svg, `fill="#4095c5"`); n == 0 {
		t.Error("no bars on a logarithmic axis")
	}
}

func TestCategories(t *testing.T) {
	few := render(t, &Chart{Categories: []string{"a", "b"}, Series: []Series{{X: []float64{0, 1}, Y: []float64{1, 2}, Kind: Bars}}})
	if strings.Contains(few, "rotate(-40") {
		t.Error("short names are slanted")
	}
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprint("a rather long category ", i))
	}
	if many := render(t, &Chart{Categories: names}); !strings.Contains(many, "rotate(-40") {
		t.Error("long names are not slanted")
	}
}

func TestChartErrors(t *testing.T) {
	for want, s := range map[string]Series{
		`draw: series "a" has 1 x values for 2 y values`:                  {Name: "a", X: []float64{1}, Y: []float64{1, 2}},
		`draw: series "b" has intervals with 0 and 1 ends for 1 y values`: {Name: "b", X: []float64{1}, Y: []float64{1}, High: []float64{1}},
	} {
		if err := (&Chart{Series: []Series{s}}).SVG(io.Discard); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func TestMatrix(t *testing.T) {
	classes := []string{"setosa", "versi<color>", "virginica & more"}
	m := &Matrix{Title: "confusion", Rows: classes, Columns: classes, RowLabel: "actual", ColumnLabel: "predicted",
		Cells: [][]float64{{50, 0, 0}, {0, 47, 3}, {0, 4.5, 46}}}
	svg := render(t, m)
	for _, want := range []string{">50<", ">47<", ">4.5<", "versi&lt;color&gt;", "actual", "predicted"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
	var names []string
	cells := make([][]float64, 40)
	for i := range cells {
		names = append(names, fmt.Sprint("class number ", i))
		cells[i] = make([]float64, 40)
		cells[i][i] = 1e12
	}
	cells[0] = slices.Repeat([]float64{math.NaN(), math.Inf(1), -1, math.Inf(-1)}, 10)
	if svg := render(t, &Matrix{Rows: names, Columns: names, Cells: cells}); !strings.Contains(svg, "rotate(-45") {
		t.Error("names of many columns are not slanted")
	}
	if svg := render(t, &Matrix{}); !strings.Contains(svg, "no data") {
		t.Error("an empty matrix does not say so")
	}
}

func TestMatrixErrors(t *testing.T) {
	for want, m := range map[string]*Matrix{
		"draw: matrix has 0 rows of cells for 1 names":        {Rows: []string{"a"}},
		"draw: row 1 of the matrix has 2 cells for 1 columns": {Rows: []string{"a"}, Columns: []string{"a"}, Cells: [][]float64{{1, 2}}},
	} {
		if err := m.SVG(io.Discard); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func BenchmarkChart(b *testing.B) {
	var s Series
	for i := range 1000 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, math.Sin(float64(i)/100))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := (&Chart{Series: []Series{s}}).SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleChart_SVG() {
	c := Chart{Title: "Learning curve", XLabel: "rows", YLabel: "accuracy", Percent: true, Series: []Series{{
		Name: "tree", X: []float64{10, 20, 30}, Y: []float64{0.7, 0.8, 0.85},
		Low: []float64{0.6, 0.73, 0.8}, High: []float64{0.8, 0.87, 0.9},
	}}}
	var svg strings.Builder
	if err := c.SVG(&svg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(svg.String(), ">80 %<"))
	// Output: true
}
