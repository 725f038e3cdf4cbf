package moment

import (
	"math"
	"math/big"

	"github.com/accrete-ml/accrete/internal/exact"
)

// Total is moments added up without rounding: the same in whichever order they
// come, and moments that are taken out leave nothing behind. The zero value is
// that of no sample. Moments of different levels stand apart until they are
// asked for, as moving them may round.
type Total struct {
	levels [Huge - Tiny + 1]sums
}

// sums are Σn, Σn·mean and Σ(M2 + n·mean²).
type sums struct{ n, first, second exact.Sum }

// Add takes in moments of a level, or, if sign is −1, takes them out.
func (t *Total) Add(m Moment, level Level, sign float64) {
	if m.N == 0 {
		return
	}
	s := &t.levels[level-Tiny]
	s.n = s.n.Add(sign * m.N)
	s.first = s.first.AddProduct(sign*m.N, m.Mean)
	square := m.Mean * m.Mean
	s.second = s.second.Add(sign*min(m.M2, mostSquares)).AddProduct(sign*m.N, square).AddProduct(sign*m.N, math.FMA(m.Mean, m.Mean, -square))
}

// mostSquares is more than numbers of MaxWeight can deviate by, and far from
// overflow.
const mostSquares = 0x1p960

// Clone returns a copy that shares nothing that can be changed.
func (t *Total) Clone() Total {
	var to Total
	for i, s := range t.levels {
		to.levels[i] = sums{append(exact.Sum(nil), s.n...), append(exact.Sum(nil), s.first...), append(exact.Sum(nil), s.second...)}
	}
	return to
}

// Join takes in another total.
func (t *Total) Join(o *Total) {
	each := func(to, from exact.Sum) exact.Sum {
		for _, x := range from {
			to = to.Add(x)
		}
		return to
	}
	for i := range t.levels {
		s, other := &t.levels[i], &o.levels[i]
		s.n, s.first, s.second = each(s.n, other.n), each(s.first, other.first), each(s.second, other.second)
	}
}

// Level returns the level that the total needs.
func (t *Total) Level() Level {
	for l := Huge; l > Tiny; l-- {
		if len(t.levels[l-Tiny].n) > 0 {
			return l
		}
	}
	return Tiny
}

// Moment returns the total at a level, which is no less than the one it needs.
func (t *Total) Moment(level Level) Moment {
	var all Moment
	for l := Tiny; l <= level; l++ {
		all = Join(all, t.levels[l-Tiny].moment().Move(l, level))
	}
	return all
}

func (s *sums) moment() Moment {
	n := s.n.Float64()
	if !(n > 0) {
		return Moment{}
	}
	weight, first := s.n.Big(), s.first.Big()
	quotient := func(x *big.Float) float64 {
		q, _ := new(big.Float).SetPrec(128).Quo(x, weight).Float64()
		return q
	}
	squares := s.second.Big() // n·Σ(M2 + n·mean²) − (Σn·mean)²: no digit is lost
	squares.Mul(squares, weight).Sub(squares, new(big.Float).Mul(first, first))
	return Moment{N: n, Mean: quotient(first), M2: min(max(0, quotient(squares)), math.MaxFloat64)}
}

// Flat appends a total to a list of numbers that CutTotal takes it from again.
func (t *Total) Flat(to []float64) []float64 {
	for i := range t.levels {
		s := &t.levels[i]
		if len(s.n) == 0 {
			to = append(to, 0)
			continue
		}
		to = s.second.Flat(s.first.Flat(s.n.Flat(to)))
	}
	return to
}

// CutTotal takes a total from the front of a list of numbers, and says whether
// it can be one of moments.
func CutTotal(from []float64) (t Total, rest []float64, ok bool) {
	rest = from
	for i := range t.levels {
		s := &t.levels[i]
		for _, to := range []*exact.Sum{&s.n, &s.first, &s.second} {
			if *to, rest, ok = exact.Cut(rest); !ok {
				return Total{}, nil, false
			}
			if len(s.n) == 0 {
				break
			}
		}
		if m := s.moment(); len(s.n) > 0 && (!m.Valid() || m.N == 0) {
			return Total{}, nil, false
		}
	}
	return t, rest, true
}
