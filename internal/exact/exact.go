// Package exact adds numbers without rounding. A sum is kept as a few numbers
// that do not overlap and together are exactly what was added (Shewchuk 1997,
// "Adaptive precision floating-point arithmetic", and the fsum of Python), so
// that it does not depend on the order in which they came, and what is taken
// out again is as if it had never been there.
//
// Models that are the sum of their sources lean on it (package moment, learners
// bayes and prior): another source is added to the sum, whatever came before.
// It knows nothing of models, and imports nothing of ours.
package exact

import (
	"math"
	"math/big"
)

// Sum is a sum: numbers that do not overlap, in increasing magnitude. The zero
// value is 0. Numbers and sums are finite and far from overflow.
type Sum []float64

// Add returns the sum with a number added, in the room of s.
func (s Sum) Add(x float64) Sum {
	if x == 0 {
		return s
	}
	n := 0
	for _, y := range s {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s[n] = low
			n++
		}
		x = high
	}
	if s = s[:n]; x != 0 {
		s = append(s, x)
	}
	return s
}

// AddProduct returns the sum with a product added, exactly unless it is so
// small that its last digits cannot be written.
func (s Sum) AddProduct(x, y float64) Sum {
	p := x * y
	return s.Add(p).Add(math.FMA(x, y, -p))
}

// Float64 returns the number that is nearest to the sum.
func (s Sum) Float64() float64 {
	n := len(s) - 1
	if n < 0 {
		return 0
	}
	high, low := s[n], 0.0
	for n > 0 && low == 0 {
		n--
		x, y := high, s[n]
		high = x + y
		low = y - (high - x)
	}
	// Half way between two numbers, what follows decides.
	if n > 0 && low != 0 && (low < 0) == (s[n-1] < 0) {
		if x := high + 2*low; x-high == 2*low {
			high = x
		}
	}
	return high
}

// precision holds every sum of float64s, and products of two of them.
const precision = 4500

// Big returns the sum as a number to go on calculating with.
func (s Sum) Big() *big.Float {
	to, part := new(big.Float).SetPrec(precision), new(big.Float)
	for _, x := range s {
		to.Add(to, part.SetFloat64(x))
	}
	return to
}

// Flat appends a sum to a list of numbers that Cut takes it from again: one
// list for one sum, in whichever way it came about.
func (s Sum) Flat(to []float64) []float64 {
	at := len(to)
	to = append(to, 0)
	if len(s) == 1 {
		to[at]++
		return append(to, s[0])
	}
	for rest := append(Sum(nil), s...); len(rest) > 0; to[at]++ {
		x := rest.Float64()
		to, rest = append(to, x), rest.Add(-x)
	}
	return to
}

// A sum that is read has numbers far from overflow, and few: those of float64s
// that do not overlap.
const (
	largest = 0x1p1000
	most    = 64
)

// Cut takes a sum from the front of a list of numbers; ok is false if there is
// none.
func Cut(from []float64) (s Sum, rest []float64, ok bool) {
	if len(from) == 0 || !(from[0] >= 0 && from[0] < float64(len(from))) {
		return nil, nil, false
	}
	n := int(from[0])
	if float64(n) != from[0] {
		return nil, nil, false
	}
	for _, x := range from[1 : 1+n] {
		if !(math.Abs(x) <= largest) || x == 0 {
			return nil, nil, false
		}
		if s = s.Add(x); len(s) > most {
			return nil, nil, false
		}
	}
	return s, from[1+n:], true
}
