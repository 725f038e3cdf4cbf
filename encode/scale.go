package encode

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/table"
)

// Scaling is how numbers are brought to a common size.
type Scaling uint8

// The scalings.
const (
	ZScore Scaling = iota // mean 0, deviation 1 over the training rows
	MinMax                // from 0 to 1 over the training rows
	Raw                   // as they are
)

// Limit is the greatest scaled number. A cell a million deviations away, or
// an infinite one, says "very far" and no more, and cannot drown the others.
const Limit = 1e6

// Scale turns a number x into (x − Offset)·Factor, within ±Most, and a
// missing cell into Fill, where the training rows' mean goes.
type Scale struct {
	Offset float64 `cbor:"offset"`
	Factor float64 `cbor:"factor"` // 0 for a column without differences
	Fill   float64 `cbor:"fill"`
	Most   float64 `cbor:"most"`
	// Indicator adds a float that is 1 where the cell is missing.
	Indicator bool `cbor:"indicator,omitempty"`
}

// FitScale fits a numeric column. Missing and infinite cells, and rows of
// weight 0, tell nothing about its size. With indicator, a column in which
// cells are missing gives one more float.
func FitScale(x []float64, weights []float64, scaling Scaling, indicator bool) Scale {
	s := Scale{Most: Limit}
	// In units of the greatest number and weight no sum can overflow.
	unit, heaviest, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for i, v := range x {
		if table.IsMissing(v) {
			s.Indicator = s.Indicator || indicator
		}
		if counts(x, weights, i) {
			unit, low, high = max(unit, math.Abs(v)), min(low, v), max(high, v)
			heaviest = max(heaviest, weightOf(weights, i))
		}
	}
	var sum, mean, squares float64
	if unit > 0 {
		for i, v := range x {
			if counts(x, weights, i) {
				w := weightOf(weights, i) / heaviest
				sum += w
				mean += w * (v / unit)
			}
		}
		mean /= sum
		for i, v := range x {
			if counts(x, weights, i) {
				d := v/unit - mean
				squares += weightOf(weights, i) / heaviest * d * d
			}
		}
	}
	switch {
	case scaling == Raw:
		s.Factor, s.Fill, s.Most = 1, mean*unit, math.MaxFloat64
	case !(low < high):
		s.Offset = mean * unit // all the same: nothing to tell apart
	case scaling == MinMax:
		s.Offset, s.Factor = low, 1/(high/2-low/2)/2
	default:
		s.Offset, s.Factor = mean*unit, 1/math.Sqrt(squares/sum)/unit
	}
	if !finite(s.Factor) { // differences too small to be scaled
		s.Factor = 0
	}
	if scaling == MinMax {
		s.Fill = s.at(mean * unit)
	}
	return s
}

// counts reports whether a cell tells something about its column's size.
func counts(x, weights []float64, i int) bool {
	return finite(x[i]) && (weights == nil || weights[i] > 0)
}

func weightOf(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// at scales one number.
func (s *Scale) at(x float64) float64 {
	y := (x - s.Offset) * s.Factor
	if y >= -s.Most && y <= s.Most {
		return y
	}
	return s.beyond(x)
}

// beyond scales what is missing or very far.
func (s *Scale) beyond(x float64) float64 {
	switch {
	case table.IsMissing(x):
		return s.Fill
	case s.Factor == 0:
		return 0
	}
	y := (x/2 - s.Offset/2) * s.Factor * 2 // halves, lest the difference overflow
	return min(max(y, -s.Most), s.Most)
}

// Apply writes the scaled numbers; out has room for them. The indicator is
// not written.
func (s *Scale) Apply(x, out []float64) {
	for i, v := range x {
		out[i] = s.at(v)
	}
}

// Width returns the number of floats for a cell.
func (s *Scale) Width() int {
	if s.Indicator {
		return 2
	}
	return 1
}

// Names returns what each float says.
func (s *Scale) Names(column string) []string {
	if s.Indicator {
		return []string{column, column + " IS MISSING"}
	}
	return []string{column}
}

// Check reports what is wrong with a transform that was read from somewhere.
func (s *Scale) Check() error {
	for _, v := range []float64{s.Offset, s.Factor, s.Fill, s.Most} {
		if !finite(v) {
			return fmt.Errorf("encode: scale has a %v, expected finite numbers", v)
		}
	}
	if s.Factor < 0 || s.Most <= 0 {
		return fmt.Errorf("encode: scale has the factor %v and the limit %v, expected them not to be negative", s.Factor, s.Most)
	}
	return nil
}

// scale writes the floats of cells to every stride-th place of out, which
// holds zeros.
func scale[F float32 | float64](s *Scale, x []float64, out []F, stride int) {
	for i, v := range x {
		out[i*stride] = narrow[F](s.at(v))
		if s.Indicator && table.IsMissing(v) {
			out[i*stride+1] = 1
		}
	}
}

// narrow keeps numbers finite in a type that has less room.
func narrow[F float32 | float64](x float64) F {
	if _, small := any(F(0)).(float32); small {
		x = min(max(x, -math.MaxFloat32), math.MaxFloat32)
	}
	return F(x)
}
