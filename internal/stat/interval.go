package stat

import (
	"math"

	"github.com/accrete-ml/accrete/internal/moment"
)

// Side says which ends an interval has.
type Side uint8

// The sides of an interval.
const (
	TwoSided Side = iota
	Lower         // from Low up: "at least Low"
	Upper         // up to High: "at most High"
)

// Interval is a range that holds a parameter with some confidence.
type Interval struct{ Low, High float64 }

// Contains reports whether x lies in the interval, ends included.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Width returns High − Low.
func (i Interval) Width() float64 { return i.High - i.Low }

// Estimate is an estimator's value with how far it may be off: its standard
// deviation and its distribution, which is Student's t with DF degrees of
// freedom, or the normal if DF is 0.
type Estimate struct {
	Value float64
	SD    float64
	DF    float64
}

// Interval returns the range that holds the estimated parameter with the
// given confidence. A one-sided bound leaves the whole doubt on its one side:
// a 95 % bound is an end of the 90 % interval.
func (e Estimate) Interval(level float64, side Side) Interval {
	return e.around(e.quantile(level, side), side)
}

func (e Estimate) quantile(level float64, side Side) float64 {
	if !isLevel(level) {
		return math.NaN()
	}
	p := (1 + level) / 2
	if side != TwoSided {
		p = level
	}
	if e.DF == 0 {
		return NormalQuantile(p)
	}
	return TQuantile(p, e.DF)
}

// around returns Value ± q·SD on the given side.
func (e Estimate) around(q float64, side Side) Interval {
	half := q * e.SD
	if e.SD == 0 && !math.IsNaN(q) {
		half = 0 // also where q is infinite
	}
	i := Interval{e.Value - half, e.Value + half}
	switch side {
	case Lower:
		i.High = math.Inf(1)
	case Upper:
		i.Low = math.Inf(-1)
	}
	return i
}

// BookInterval is Interval with the textbook's two-decimal tables in place of
// exact quantiles, and whether those tables have the level. One-sided bounds
// look up the two-sided level 2N − 1.
func (e Estimate) BookInterval(level float64, side Side) (Interval, bool) {
	if side != TwoSided {
		level = 2*level - 1
	}
	q, ok := BookZ(level)
	if e.DF != 0 {
		q, ok = BookT(level, e.DF)
	}
	return e.around(q, side), ok
}

// Statistic returns how many standard deviations the value is from zero. A
// value that does not vary is infinitely many from zero, unless it is zero.
func (e Estimate) Statistic() float64 {
	if e.SD == 0 && e.Value == 0 {
		return 0
	}
	return e.Value / e.SD
}

// P returns the two-sided p-value of the hypothesis that the parameter is
// zero: how often an estimate this far from zero would come by chance.
func (e Estimate) P() float64 {
	t := -math.Abs(e.Statistic())
	if e.DF == 0 {
		return 2 * NormalCDF(t)
	}
	return 2 * TCDF(t, e.DF)
}

// Positive returns the confidence that the parameter is above zero; one minus
// it is the significance level of the one-sided test.
func (e Estimate) Positive() float64 {
	if e.DF == 0 {
		return NormalCDF(e.Statistic())
	}
	return TCDF(e.Statistic(), e.DF)
}

// Moments gathers the mean and the variance of weighted values in one pass, as
// package moment does. A value of weight 2 counts as two values. The zero
// Moments is empty.
type Moments struct{ moment.Moment }

// Merge takes in the values of another.
func (m *Moments) Merge(o Moments) { m.Moment = moment.Join(m.Moment, o.Moment) }

// Variance returns the unbiased variance of the values, NaN for fewer than
// two.
func (m *Moments) Variance() float64 {
	if !(m.N > 1) {
		return math.NaN()
	}
	return m.M2 / (m.N - 1)
}

// Estimate returns the mean of the values as an estimate of the mean that
// they were drawn from: Student's t with n − 1 degrees of freedom, which is
// exact for normal values and good for any loss of 30 values or more by the
// central limit theorem.
func (m *Moments) Estimate() Estimate {
	return Estimate{Value: m.Mean, SD: math.Sqrt(m.Variance() / m.N), DF: m.N - 1}
}

// Mean returns the estimate of the mean that the values were drawn from. It
// is NaN for no values, and so is its SD for fewer than two.
func Mean(values []float64) Estimate {
	if len(values) == 0 {
		return Estimate{Value: math.NaN(), SD: math.NaN(), DF: math.NaN()}
	}
	var m Moments
	for _, x := range values {
		m.Add(x, 1)
	}
	return m.Estimate()
}
