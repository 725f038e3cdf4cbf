package pac

import "math"

// A box around the positive rows is the classical consistent learner of
// infinitely many hypotheses (exercises 7.4 and 7.6). Its error lies in 2r
// strips, one at each side, and so can be bounded directly, with no dimension:
// more than ε is left only if no row fell into some strip of probability ε/2r.

// BoxFails bounds the probability that the tightest box in r columns has an
// error above epsilon after m rows: 2r (1 − ε/2r)^m.
func BoxFails(r int, epsilon, m float64) float64 {
	sides := float64(2 * r)
	return sides * math.Pow(1-epsilon/sides, m)
}

// BoxRows is how many rows are enough for the tightest box in r columns.
func (d Demand) BoxRows(r int) float64 {
	sides := float64(2 * r)
	return math.Log(sides/d.delta()) / -math.Log1p(-d.Error/sides)
}

// BoxError is the error that m rows promise the tightest box in r columns.
func BoxError(r int, confidence, m float64) float64 {
	sides := float64(2 * r)
	return min(1, sides*(1-math.Pow(Demand{Confidence: confidence}.delta()/sides, 1/m)))
}

// FailsByVC is what eq. 7.7 bounds the probability of a failure by, after m
// rows; above 1 it says nothing.
func FailsByVC(vc, epsilon, m float64) float64 {
	return 2 * math.Exp2(-(m*epsilon-8*vc*math.Log2(13/epsilon))/4)
}

// ErrorByVC is the error that m rows promise by eq. 7.7, at most 1.
func ErrorByVC(vc, confidence, m float64) float64 {
	low, high := 0.0, 1.0
	if (Demand{1, confidence}).RowsByVC(vc) > m {
		return 1
	}
	for range 60 {
		if middle := (low + high) / 2; (Demand{middle, confidence}).RowsByVC(vc) > m {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
