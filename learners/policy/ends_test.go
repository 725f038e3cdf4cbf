package policy

import "testing"

// Ends that come equally often whatever is done are told from those that are reached,
// and from those of which too little is known.
func TestEnds(t *testing.T) {
	for _, x := range []struct {
		what        string
		steps, ends []float64
		share       float64
		same        bool
	}{
		{"a shop that closes", []float64{300, 250, 320, 40, 90}, []float64{6, 4, 8, 1, 1}, 0.02, true},
		{"nobody knows", []float64{3, 2, 4}, []float64{0, 1, 0}, 1. / 9, false},
		{"a goal", []float64{20, 20, 20, 5}, []float64{0, 0, 0, 5}, 5. / 65, false},
		{"a hole that one slips into", []float64{200, 200, 200}, []float64{0, 66, 70}, 136. / 600, false},
		{"none", []float64{20, 20}, []float64{0, 0}, 0, false},
		{"only ends", []float64{20, 0, 20}, []float64{20, 0, 20}, 0, false},
	} {
		if share, same := oneEnding(x.steps, x.ends); share != x.share || same != x.same {
			t.Errorf("%s: %v, %v, expected %v, %v", x.what, share, same, x.share, x.same)
		}
	}
}
