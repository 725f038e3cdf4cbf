package units

import "math"

// Function is what a unit makes of its biased sum of inputs.
type Function uint8

// The functions. Softmax units share a normaliser: the values of a network's
// softmax units, which are its last ones, add up to 1.
const (
	Sigmoid   Function = iota // 1/(1+e^−x)
	Tanh                      // the hyperbolic tangent
	Linear                    // x itself
	Rectifier                 // x where positive, else 0
	Softmax                   // e^x over the sum of all softmax units'
	Sign                      // 1 where positive, else −1: a threshold unit, which has no slope
)

// At returns the function's value; of a single softmax unit, e^x before it is
// normalised.
func (f Function) At(x float64) float64 {
	switch f {
	case Sigmoid:
		return 1 / (1 + math.Exp(-x))
	case Tanh:
		return math.Tanh(x)
	case Rectifier:
		return max(x, 0)
	case Softmax:
		return math.Exp(x)
	case Sign:
		if x > 0 {
			return 1
		}
		return -1
	}
	return x
}

// Slope returns the derivative, given the function's value: o(1−o) for a
// sigmoid, 1−o² for the hyperbolic tangent. A softmax unit's is that by its
// own sum.
func (f Function) Slope(value float64) float64 {
	switch f {
	case Sigmoid, Softmax:
		return value * (1 - value)
	case Tanh:
		return 1 - value*value
	case Rectifier:
		if value <= 0 {
			return 0
		}
	case Sign:
		return 0
	}
	return 1
}
