// Package moment sums up numbers as their weight, mean and sum of squared
// deviations, in a form that can be joined: the moments of two samples give
// those of both (Chan, Golub & LeVeque 1983), so that sources can be kept
// apart, added and dropped without ever subtracting.
//
// Squares of very large or very small float64s overflow or vanish. Moments
// are therefore kept in units of 2^600 per Level, the level being the least
// that holds the largest number seen. Between 1e-60 and 1e120 that is level
// 0, and nothing is scaled at all.
package moment

import "math"

// MaxWeight is the largest weight of rows whose moments cannot overflow.
const MaxWeight = 1e30

// Level says in which unit moments are kept: 2^(600·level).
type Level int8

// The levels.
const (
	Tiny Level = iota - 1 // numbers below 2^-200
	Plain
	Huge // numbers from 2^400
)

// Limit returns the least absolute value that is too large for the level.
func (l Level) Limit() float64 {
	switch l {
	case Tiny:
		return 0x1p-200
	case Plain:
		return 0x1p400
	}
	return math.Inf(1)
}

// Scale returns the factor that turns a number into the level's unit.
func (l Level) Scale() float64 {
	switch l {
	case Tiny:
		return 0x1p600
	case Plain:
		return 1
	}
	return 0x1p-600
}

// LevelOf returns the level that a finite number needs.
func LevelOf(x float64) Level {
	for l := Tiny; l < Huge; l++ {
		if math.Abs(x) < l.Limit() {
			return l
		}
	}
	return Huge
}

// Moment is what a weighted sample of numbers sums up to.
type Moment struct {
	N    float64 // weight
	Mean float64
	M2   float64 // weighted sum of squared deviations from the mean
}

// Add takes one number in (Welford 1962, West 1979).
func (m *Moment) Add(x, weight float64) {
	if weight == 0 {
		return
	}
	n := m.N + weight
	d := x - m.Mean
	share := weight / n
	m.Mean += d * share
	m.M2 += d * d * m.N * share
	m.N = n
}

// Join returns the moments of both samples together.
func Join(a, b Moment) Moment {
	switch {
	case a.N == 0:
		return b
	case b.N == 0:
		return a
	}
	n := a.N + b.N
	d := b.Mean - a.Mean
	share := b.N / n
	return Moment{N: n, Mean: a.Mean + d*share, M2: a.M2 + b.M2 + d*d*a.N*share}
}

// Variance returns the mean squared deviation, 0 for an empty sample.
func (m Moment) Variance() float64 {
	if m.N == 0 {
		return 0
	}
	return m.M2 / m.N
}

// Move returns the same moments in the unit of another level.
func (m Moment) Move(from, to Level) Moment {
	for ; from < to; from++ {
		m.Mean *= 0x1p-600
		m.M2 = m.M2 * 0x1p-600 * 0x1p-600
	}
	return m
}

// Valid reports whether the moments can be those of a sample.
func (m Moment) Valid() bool {
	return m.N >= 0 && m.N <= MaxWeight && m.M2 >= 0 && !math.IsInf(m.M2, 0) && math.Abs(m.Mean) < 0x1p424 && (m.N > 0 || m == Moment{})
}
