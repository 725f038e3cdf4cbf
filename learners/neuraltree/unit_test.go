package neuraltree

import (
	"math"
	"testing"
)

func TestBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][2]float64{{1, 2}, {-inf, 3}, {3, inf}, {-inf, inf}, {1, math.Nextafter(1, 2)}, {-1e300, 1e308}, {0, 5e-324}, {-0.3, 0.4}} {
		m, ok := between(c[0], c[1])
		if !ok || !(m >= c[0] && m < c[1]) || math.IsInf(m, 0) {
			t.Errorf("between %v and %v: %v, %v", c[0], c[1], m, ok)
		}
	}
	for _, c := range []struct{ a, b, want float64 }{{1.23456, 1.34567, 1.29}, {1, 3, 2}, {-1, 2, 0}} {
		if m, _ := between(c.a, c.b); m != c.want {
			t.Errorf("between %v and %v: %v, expected %v", c.a, c.b, m, c.want)
		}
	}
}
