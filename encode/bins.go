package encode

import "math"

// EqualFrequency returns at most bins−1 cuts between which about the same
// weight of rows lies. Equal numbers are never parted, so that a frequent one
// can make intervals unequal, and fewer.
func EqualFrequency(x []float64, weights []float64, bins int) Cuts {
	s := sorted(x, nil, weights)
	// below[j] is the weight of the rows up to the j-th distinct value.
	var values, below []float64
	sum := 0.0
	for i, v := range s.x {
		if i == 0 || v != s.x[i-1] {
			values, below = append(values, v), append(below, 0)
		}
		sum += s.weight(i)
		below[len(below)-1] = sum
	}
	// Each share of the total takes the boundary that comes nearest to it.
	var cuts Cuts
	boundaries := len(values) - 1
	for share, j, last := 1, 0, -1; share < bins && boundaries > 0 && last < boundaries-1; share++ {
		want := sum * (float64(share) / float64(bins))
		for j+1 < boundaries && math.Abs(below[j+1]-want) < math.Abs(below[j]-want) {
			j++
		}
		if j == last {
			continue
		}
		last = j
		if separable(values[j], values[j+1]) {
			cuts.At = append(cuts.At, Between(values[j], values[j+1]))
		}
	}
	return cuts
}

// EqualWidth returns cuts that divide the range of the finite numbers into
// bins of the same width; none if there are not two different numbers.
// Numbers of weight 0 are left out.
func EqualWidth(x []float64, weights []float64, bins int) Cuts {
	low, high := math.Inf(1), math.Inf(-1)
	for i, v := range x {
		if finite(v) && (weights == nil || weights[i] > 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	var cuts Cuts
	for i := 1; i < bins && low < high; i++ {
		share := float64(i) / float64(bins)
		cut := low*(1-share) + high*share // the difference could overflow
		if cut < high && cut >= low && (len(cuts.At) == 0 || cut > cuts.At[len(cuts.At)-1]) {
			cuts.At = append(cuts.At, cut)
		}
	}
	return cuts
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
