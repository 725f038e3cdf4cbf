package stat

import (
	"math"
	"testing"
)

// The interval of a paired difference is symmetric, contains the point where
// there are rows enough, and narrows as √n.
func TestPairedRates(t *testing.T) {
	i := PairedRates(0, 0, 100)
	if i.Low != -i.High || i.High <= 0 {
		t.Errorf("no case differs: %v", i)
	}
	a, b := PairedRates(11, 2, 100), PairedRates(2, 11, 100)
	if math.Abs(a.Low+b.High) > 1e-15 || math.Abs(a.High+b.Low) > 1e-15 || a.Low <= 0 || !a.Contains(.09) {
		t.Errorf("%v and %v", a, b)
	}
	// (11.5 − 2.5)/102 ± 1.96 √(14 − 81/102)/102
	if want := 9./102 - 1.959963984540054*math.Sqrt(14-81./102)/102; math.Abs(a.Low-want) > 1e-12 {
		t.Errorf("from %v, expected %v", a.Low, want)
	}
	if r := PairedRates(1100, 200, 1e4).Width() / a.Width(); r < .09 || r > .11 {
		t.Errorf("a hundred times the cases make it %v as wide", r)
	}
	if !math.IsNaN(PairedRates(0, 0, 0).Low) {
		t.Error("no cases have an interval")
	}
}
