package posterior

import (
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
)

// Number returns the bits that say a number which lies off from what is expected
// of it, where errors are normal (Mitchell 1997, sections 6.4 and 6.6) and the
// number is told to a step: −log₂ of the probability of the interval of one step
// around it. Without a deviation there are no errors, and nothing is to be said.
func Number(off, deviation, step float64) float64 {
	off = math.Abs(off)
	switch {
	case !(deviation > 0) && off == 0:
		return 0
	case !(deviation > 0):
		return math.Inf(1)
	}
	z, half := off/deviation, step/deviation/2
	if p := stat.NormalCDF(half-z) - stat.NormalCDF(-half-z); p > 1e-290 && half > 1e-6 {
		return -math.Log2(p)
	}
	// Far out, or of a step that is next to nothing: the density times the step.
	return -math.Log2(step/deviation) + math.Log2(2*math.Pi)/2 + z*z/2*math.Log2E
}
