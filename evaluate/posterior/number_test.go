package posterior

import (
	"math"
	"testing"
)

// The steps around all numbers that there may be have the probabilities of a
// distribution; fine steps cost what the density says; and nothing is beyond bits.
func TestNumber(t *testing.T) {
	sum := 0.0
	for i := -40; i <= 40; i++ {
		sum += math.Exp2(-Number(0.3+0.5*float64(i), 2, 0.5))
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("all steps have the probability %v", sum)
	}
	fine := -math.Log2(1e-4 / math.Sqrt(2*math.Pi) * math.Exp(-1.5*1.5/2))
	if got := Number(1.5, 1, 1e-4); math.Abs(got-fine) > 1e-6 {
		t.Errorf("%v bits, want %v", got, fine)
	}
	if got, near := Number(60, 1, 1), Number(36, 1, 1); math.IsInf(got, 0) || got < near {
		t.Errorf("far out: %v bits, nearer %v", got, near)
	}
	if Number(0, 0, 1) != 0 || !math.IsInf(Number(1, 0, 1), 1) {
		t.Error("without a deviation there are no errors")
	}
}
