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

// Float is what scores are kept in.
type Float interface{ ~float32 | ~float64 }

// Softmax writes e^(x/t)/Σe^(x/t), t being a temperature.
func Softmax[F Float](x []F, temperature float64, p []float64) {
	most, total := x[0], 0.0
	for _, v := range x {
		most = max(most, v)
	}
	for i, v := range x {
		p[i] = math.Exp(float64(v-most) / temperature)
		total += p[i]
	}
	for i := range x {
		p[i] /= total
	}
}

// Surprise is −ln of the i-th share of a softmax.
func Surprise[F Float](x []F, i int, temperature float64) float64 {
	most, total := x[0], 0.0
	for _, v := range x {
		most = max(most, v)
	}
	for _, v := range x {
		total += math.Exp(float64(v-most) / temperature)
	}
	return math.Log(total) - float64(x[i]-most)/temperature
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
