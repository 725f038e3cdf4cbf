package formula

import (
	"testing"

	"pgregory.net/rapid"
)

// The range of a formula has all its values, and where there is one, there are
// values throughout.
func TestRangesHoldAllValues(t *testing.T) {
	known := 0
	rapid.Check(t, func(r *rapid.T) {
		f := random(r, 4)
		var of []Interval
		for range 2 {
			low := float64(rapid.IntRange(-8, 8).Draw(r, "low")) / 4
			of = append(of, Interval{low, low + float64(rapid.IntRange(0, 12).Draw(r, "wide"))/4})
		}
		within, ok := f.Range(of)
		if !ok {
			return
		}
		known++
		for i := range 5 {
			for k := range 5 {
				x := of[0].Low + (of[0].High-of[0].Low)*float64(i)/4
				y := of[1].Low + (of[1].High-of[1].Low)*float64(k)/4
				if v := at(f, x, y); !(v >= within.Low && v <= within.High) {
					r.Fatalf("%s is %v at %v and %v, beyond %v", f.Text(xy, -1), v, x, y, within)
				}
			}
		}
	})
	if known < 10 {
		t.Errorf("%d formulas of 100 have a range", known)
	}
}

func TestRanges(t *testing.T) {
	box := []Interval{{-1, 2}, {1, 4}}
	for text, want := range map[string]*Interval{
		"x+y": {0, 6}, "x*y": {-4, 8}, "x*x": {0, 4}, "x^2": {0, 4}, "x^3": {-1, 8}, "y^-2": {1. / 16, 1}, "x/y": {-1, 2}, "sqrt(y)": {1, 2}, "abs(x)": {0, 2}, "sin(y*x)": {-1, 1}, "sin(y/4)": nil,
		"cos(x)": nil, "pinv(y)": {.25, 1}, "y/x": {}, "1/x": {}, "log(x)": {}, "sqrt(x)": {}, "x^0.5": {}, "x^y": {}, "tan(y)": {}, "asin(y)": {}, "exp(y*1000)": {}, "pinv(x)": {}, "plog(x)": {},
	} {
		got, ok := parse(t, text).Range(box)
		switch none := want != nil && *want == (Interval{}); {
		case ok == none:
			t.Errorf("%s: a range %v, %v", text, got, ok)
		case want != nil && ok && (got.Low > want.Low || got.High < want.High || got.High-got.Low > (want.High-want.Low)*(1+1e-12)+1e-14):
			t.Errorf("%s: %v, want %v", text, got, *want)
		}
	}
}
