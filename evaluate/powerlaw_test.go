package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A law's own points give it back, and the rows that it asks for reach the
// error.
func TestPowerLawIsFoundAgain(t *testing.T) {
	for _, law := range []PowerLaw{{0.05, 1, 0.5}, {0, 0.8, 0.3}, {0.2, 3, 1}} {
		var points []ErrorPoint
		for rows := 16.0; rows < 5000; rows *= 2 {
			points = append(points, ErrorPoint{rows, law.At(rows), 0.01})
		}
		got, err := FitPowerLaw(points)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Floor-law.Floor) > 1e-3 || math.Abs(got.Rate-law.Rate) > 1e-2 {
			t.Errorf("fitted %v to %v", got, law)
		}
		if target := law.At(20000); math.Abs(got.RowsFor(target)/20000-1) > 0.05 {
			t.Errorf("%v: %v rows for the error after 20000", law, got.RowsFor(target))
		}
		if !math.IsInf(law.RowsFor(law.Floor-0.01), 1) {
			t.Errorf("%v goes below its floor", law)
		}
	}
	if _, err := FitPowerLaw(make([]ErrorPoint, 2)); err == nil {
		t.Error("two points are a curve")
	}
}

// Of 40 noisy curves, the interval has the true number of rows in at least 31:
// at a coverage of 95 % fewer are expected in one of 100,000 runs (binomial),
// and the floor is only bounded from one side, which costs some coverage.
func TestForecastCovers(t *testing.T) {
	law := PowerLaw{0.1, 1.5, 0.6}
	random := rand.New(rand.NewPCG(3, 4))
	target := law.At(8000)
	inside := 0
	for trial := range 40 {
		var points []ErrorPoint
		for rows := 16.0; rows < 3000; rows *= 2 {
			points = append(points, ErrorPoint{rows, law.At(rows) + 0.01*random.NormFloat64(), 0.01})
		}
		f, err := ForecastRows(points, target, uint64(trial))
		if err != nil {
			t.Fatal(err)
		}
		if f.Low <= 8000 && 8000 <= f.High {
			inside++
		}
	}
	if inside < 31 {
		t.Errorf("%d of 40 intervals have the true number", inside)
	}
}
