package life

import (
	"testing"

	"github.com/accrete-ml/accrete/rule"
)

// TestRoundedMeansStayBesideTheirDeviation: the mean of dates within a week is
// not rounded to ten days.
func TestRoundedMeansStayBesideTheirDeviation(t *testing.T) {
	for _, c := range []struct{ mean, deviation, want float64 }{
		{19732.66666, 4.741234, 19732.67}, {19732.66666, 474.1234, 19730}, {0.123456, 0.5, 0.1235}, {123456, 0, 123500},
		{-19732.66666, 4.741234, -19732.67}, {5, 1e-300, 5}, {1e300, 1, 1e300},
	} {
		u := rule.Unit{Expect: []rule.Expectation{{Mean: c.mean, Deviation: c.deviation}}}
		if RoundUnit(&u); u.Expect[0].Mean != c.want {
			t.Errorf("%v ± %v is shown as %v, expected %v", c.mean, c.deviation, u.Expect[0].Mean, c.want)
		}
	}
}
