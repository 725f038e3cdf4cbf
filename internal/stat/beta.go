package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// betaQuantile returns the x below which the beta distribution with
// parameters a, b > 0 has mass p.
//
// The library's inverse can give up for very small a or b and answer an end
// of the range; bisection of the forward function, which is sound there, then
// finds the root.
func betaQuantile(p, a, b float64) float64 {
	x := mathext.InvRegIncBeta(a, b, p)
	if math.Abs(mathext.RegIncBeta(a, b, x)-p) < 1e-8 {
		return x
	}
	low, high := 0.0, 1.0
	for range 1100 { // down to the smallest float64
		x = low + (high-low)/2
		if x == low || x == high {
			break
		}
		if mathext.RegIncBeta(a, b, x) < p {
			low = x
		} else {
			high = x
		}
	}
	return x
}
