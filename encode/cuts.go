package encode

import (
	"fmt"
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/table"
)

// Cuts divides the numbers into intervals. Code i stands for
// At[i−1] < x <= At[i]; the first interval reaches down to −∞, the last one
// up to +∞, both included. The zero value has one interval.
type Cuts struct {
	At []float64 `cbor:"at"` // finite and ascending
}

// Intervals returns the number of intervals, one more than there are cuts.
func (c Cuts) Intervals() int { return len(c.At) + 1 }

// Code returns the interval of a number, or table.Missing.
func (c Cuts) Code(x float64) int32 {
	if table.IsMissing(x) {
		return table.Missing
	}
	lo, hi := 0, len(c.At)
	for lo < hi {
		if middle := int(uint(lo+hi) >> 1); x > c.At[middle] {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return int32(lo)
}

// Apply writes the codes of numbers; codes has room for them.
func (c Cuts) Apply(x []float64, codes []int32) {
	codes = codes[:len(x)]
	if len(c.At) > 16 {
		for i, v := range x {
			codes[i] = c.Code(v)
		}
		return
	}
	for i, v := range x { // counting is faster than searching among few
		code := int32(0)
		for _, cut := range c.At {
			if v > cut {
				code++
			}
		}
		if table.IsMissing(v) {
			code = table.Missing
		}
		codes[i] = code
	}
}

// Interval returns the ends of a code's interval: Low < x <= High. The first
// one's Low is −Inf, the last one's High is +Inf.
func (c Cuts) Interval(code int32) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if code > 0 && int(code) <= len(c.At) {
		low = c.At[code-1]
	}
	if code >= 0 && int(code) < len(c.At) {
		high = c.At[code]
	}
	return low, high
}

// Labels names the intervals, numbers written as the attribute writes them.
func (c Cuts) Labels(a *table.Attribute) []string {
	if len(c.At) == 0 {
		return []string{"any"}
	}
	labels := make([]string, 0, c.Intervals())
	labels = append(labels, "<= "+a.Format(c.At[0]))
	for i := 1; i < len(c.At); i++ {
		labels = append(labels, a.Format(c.At[i-1])+" < x <= "+a.Format(c.At[i]))
	}
	return append(labels, "> "+a.Format(c.At[len(c.At)-1]))
}

// Check reports what is wrong with cuts that were read from somewhere.
func (c Cuts) Check() error {
	for i, cut := range c.At {
		if math.IsNaN(cut) || math.IsInf(cut, 0) {
			return fmt.Errorf("encode: cut %d is %v, expected a finite number", i+1, cut)
		}
		if i > 0 && cut <= c.At[i-1] {
			return fmt.Errorf("encode: cut %d is %v after %v, expected ascending cuts", i+1, cut, c.At[i-1])
		}
	}
	return nil
}

// separable reports whether there is a finite cut c with a <= c < b, for
// a < b.
func separable(a, b float64) bool { return !math.IsInf(a, -1) || b > -math.MaxFloat64 }

// Between returns a cut c with a <= c < b between two separable numbers: the
// middle, without digits that only rounding put there. Beside an infinite
// number it stays within reach of the other one.
func Between(a, b float64) float64 {
	c := a/2 + b/2
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		c = 0
	case math.IsInf(a, -1):
		c = max(b-max(1, math.Abs(b)), -math.MaxFloat64)
	case math.IsInf(b, 1):
		c = min(a+max(1, math.Abs(a)), math.MaxFloat64)
	}
	if short, err := strconv.ParseFloat(strconv.FormatFloat(c, 'g', 12, 64), 64); err == nil && a <= short && short < b {
		return short
	}
	if a <= c && c < b {
		return c
	}
	return a // neighbours, between which halves round
}

// sample is the known numbers of a column in ascending order, with the class
// and weight of their rows. Classes is nil where no classes were asked for,
// Weights is nil where every row counts once.
type sample struct {
	x       []float64
	class   []int32
	weights []float64
}

// sorted returns the rows that count: x and class known, weight above 0.
func sorted(x []float64, class []int32, weights []float64) sample {
	keys := make([]uint64, 0, len(x))
	rows := make([]int32, 0, len(x))
	for r, v := range x {
		if table.IsMissing(v) || class != nil && class[r] < 0 || weights != nil && weights[r] == 0 {
			continue
		}
		keys = append(keys, radix.Key(v))
		rows = append(rows, int32(r))
	}
	radix.Sort(keys, rows)
	s := sample{x: make([]float64, len(rows))}
	for i, r := range rows {
		s.x[i] = x[r]
	}
	if class != nil {
		s.class = make([]int32, len(rows))
		for i, r := range rows {
			s.class[i] = class[r]
		}
	}
	if weights != nil {
		s.weights = make([]float64, len(rows))
		for i, r := range rows {
			s.weights[i] = weights[r]
		}
	}
	return s
}

func (s *sample) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}
