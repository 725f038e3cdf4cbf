package evaluate

import (
	"math"
	"testing"
)

// Of two classes the cheaper answer changes at C(false alarm) / (C(false alarm)
// + C(missed)): Elkan 2001, equation 2.
func TestCosts(t *testing.T) {
	c := NewCosts([]string{"no", "yes"})
	if c.Threshold("yes") != 0.5 || c.Least([]float64{0.4, 0.6}) != 1 || c.Least([]float64{0.6, 0.4}) != 0 {
		t.Errorf("equal costs: threshold %v", c.Threshold("yes"))
	}
	c.Of[1][0] = 4 // yes said, no true
	if got := c.Threshold("yes"); got != 0.8 {
		t.Errorf("threshold %v, expected 0.8", got)
	}
	if c.Least([]float64{0.21, 0.79}) != 0 || c.Least([]float64{0.19, 0.81}) != 1 {
		t.Error("the cheaper answer changes at 0.8")
	}
	if !math.IsNaN(NewCosts([]string{"a", "b", "c"}).Threshold("a")) {
		t.Error("three classes have no threshold")
	}
	rows := []scored{{0.9, 1, true}, {0.8, 1, false}, {0.7, 2, true}, {0.2, 1, false}}
	// From 0.9 on: 2 missed; from 0.7 on: one false alarm; never: 3 missed.
	for _, q := range []struct{ alarm, threshold, cost float64 }{{1, 0.7, 1}, {3, 0.9, 2}, {0, 0.7, 0}} {
		threshold, cost := cheapest(rows, []float64{q.alarm, 0}, []float64{0, 1}, 1)
		if threshold != q.threshold || cost != q.cost {
			t.Errorf("false alarms that cost %v: from %v on for %v", q.alarm, threshold, cost)
		}
	}
	if threshold, _ := cheapest(rows[1:2], []float64{1, 0}, []float64{0, 1}, 1); threshold <= 1 {
		t.Errorf("yes is never the cheaper answer, but said from %v on", threshold)
	}
}

// Half of the rows are positive: at best the first tenth has twice as many.
func TestLift(t *testing.T) {
	s := &Scores{}
	for i := range 10 {
		s.ranked = append(s.ranked, scored{p: 1 - float64(i)/10, weight: 1, positive: i < 5})
	}
	s.lift(5, 5)
	for i, want := range []Lift{{0.05, 2, 0.1}, {0.1, 2, 0.2}, {0.2, 2, 0.4}, {0.3, 2, 0.6}, {0.5, 2, 1}} {
		if got := s.Lift[i]; got.Share != want.Share || math.Abs(got.Lift-want.Lift) > 1e-12 || math.Abs(got.Found-want.Found) > 1e-12 {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
}
