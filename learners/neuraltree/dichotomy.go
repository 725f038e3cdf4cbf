package neuraltree

import "github.com/accrete-ml/accrete/internal/pocket"

// axisSteps is how often power iteration is repeated: the axis is a guide, not
// a result, and far fewer settle it.
const axisSteps = 30

// dichotomy parts the classes of some patterns in two: positive[c] says that
// class c is on the positive side. Two classes stand against each other, the
// later one being positive. More are parted along the principal axis of their
// means, at the mean of all patterns (Sirat and Nadal 1990).
func (s *sample) dichotomy(l *labels, patterns []int32, present []int32) (positive []bool) {
	positive = make([]bool, len(s.classes))
	if len(present) == 2 {
		positive[present[1]] = true
		return positive
	}
	inputs := s.width - 1
	at := make([]int, len(s.classes)) // place of a class among those present
	for i, c := range present {
		at[c] = i
	}
	means := make([]float64, len(present)*inputs)
	weights := make([]float64, len(present))
	for _, p := range patterns {
		if l.lead[p] <= 0 {
			continue
		}
		i := at[l.class[p]]
		weights[i] += l.lead[p]
		addScaled(means[i*inputs:(i+1)*inputs], l.lead[p], s.x[int(p)*s.width:])
	}
	mean := make([]float64, inputs)
	for i := range present {
		addScaled(mean, 1, means[i*inputs:])
	}
	total := sum(weights)
	for j := range mean {
		mean[j] /= total
	}
	axis := make([]float64, inputs)
	farthest := -1.0
	for i := range present {
		own := means[i*inputs : (i+1)*inputs]
		for j := range own {
			own[j] = own[j]/weights[i] - mean[j]
		}
		if d := pocket.Dot(own, own) * weights[i]; d > farthest {
			farthest = d
			copy(axis, own)
		}
	}
	next := make([]float64, inputs)
	for range axisSteps {
		clear(next)
		for i := range present {
			own := means[i*inputs : (i+1)*inputs]
			addScaled(next, weights[i]/total*pocket.Dot(own, axis), own)
		}
		norm := pocket.Dot(next, next)
		if !(norm > 1e-200 && norm < 1e200) {
			break
		}
		copy(axis, next)
	}
	sides := 0
	for i, c := range present {
		if pocket.Dot(means[i*inputs:(i+1)*inputs], axis) > 0 {
			positive[c] = true
			sides++
		}
	}
	if sides == 0 || sides == len(present) { // the means are the same
		for _, c := range present {
			positive[c] = c != present[0]
		}
	}
	return positive
}

func addScaled(to []float64, factor float64, x []float64) {
	x = x[:len(to)]
	for j, v := range x {
		to[j] += factor * v
	}
}
