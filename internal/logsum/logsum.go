// Package logsum adds up and normalises what is given by its logarithms, without
// leaving the range of numbers: the largest is taken out first.
//
// Learners, learn/expert and package rule turn scores into probabilities with it.
package logsum

import "math"

// Of returns ln Σ eˣ, −∞ of no numbers.
func Of(x []float64) float64 {
	most := Most(x)
	if math.IsInf(most, 0) {
		return most
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}

// Normalise turns logarithms of anything proportional into probabilities, which
// is a softmax. What they added up to is total·e^most. If all are −∞, each is
// as probable as any other.
func Normalise(x []float64) (most, total float64) {
	most = Most(x)
	for i, v := range x {
		e := 1.0
		if v != most { // also keeps −∞ from being subtracted from itself
			e = math.Exp(v - most)
		}
		x[i] = e
		total += e
	}
	for i := range x {
		x[i] /= total
	}
	return most, total
}

// Most returns the largest of numbers, −∞ of none.
func Most(x []float64) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	return most
}
