package stat

import "math"

// The rules of thumb for the normal approximation of an error rate.
const (
	FewestCases    = 30 // n ≥ 30
	LeastCurvature = 5  // n·e(1−e) ≥ 5, the better rule
)

// Method names how an interval was found.
type Method string

// The methods for error rates.
const (
	Normal Method = "normal" // e ± z·sqrt(e(1−e)/n)
	Exact  Method = "exact"  // Clopper and Pearson 1934
	Score  Method = "wilson" // Wilson 1927
)

// ErrorRate is r errors in n cases. Both may be sums of weights.
type ErrorRate struct {
	Errors, Cases float64
}

// Rate returns e = r/n, the sample error.
func (e ErrorRate) Rate() float64 { return e.Errors / e.Cases }

// SD returns the standard deviation of the sample error, sqrt(e(1−e)/n).
func (e ErrorRate) SD() float64 { return e.Estimate().SD }

// Estimate returns the sample error with its normal approximation.
func (e ErrorRate) Estimate() Estimate {
	if !e.sound() {
		return Estimate{Value: math.NaN(), SD: math.NaN()}
	}
	p := e.Rate()
	return Estimate{Value: p, SD: math.Sqrt(p * (1 - p) / e.Cases)}
}

func (e ErrorRate) sound() bool { return isCount(e.Errors, e.Cases) && e.Cases > 0 }

// Many reports whether there are 30 cases or more.
func (e ErrorRate) Many() bool { return e.Cases >= FewestCases }

// Curvature returns n·e(1−e), which should be 5 or more for the normal
// approximation.
func (e ErrorRate) Curvature() float64 { return e.Cases * e.Rate() * (1 - e.Rate()) }

// Approximable reports whether the normal approximation may be used: n ≥ 30
// and n·e(1−e) ≥ 5.
func (e ErrorRate) Approximable() bool { return e.Many() && e.Curvature() >= LeastCurvature }

// Interval returns the interval for the true error: the normal approximation
// where it may be used, else the exact binomial one, and which it was.
func (e ErrorRate) Interval(level float64, side Side) (Interval, Method) {
	if e.Approximable() {
		return e.Normal(level, side), Normal
	}
	return e.Exact(level, side), Exact
}

// Normal returns the interval e ± z_N sqrt(e(1−e)/n), kept within [0,1]. It
// has no width at e = 0 and e = 1: see Approximable.
func (e ErrorRate) Normal(level float64, side Side) Interval {
	return within01(e.Estimate().Interval(level, side))
}

// within01 cuts an interval of a rate to the rates there are.
func within01(i Interval) Interval { return Interval{max(i.Low, 0), min(i.High, 1)} }

// Exact returns Clopper and Pearson's interval: the error rates under which
// neither so few nor so many errors are surprising. It covers the true error
// at least as often as it says.
func (e ErrorRate) Exact(level float64, side Side) Interval {
	if !e.sound() || !isLevel(level) {
		return Interval{math.NaN(), math.NaN()}
	}
	doubt := (1 - level) / 2
	if side != TwoSided {
		doubt = 1 - level
	}
	i := Interval{0, 1}
	if side != Upper && e.Errors > 0 {
		i.Low = betaQuantile(doubt, e.Errors, e.Cases-e.Errors+1)
	}
	if side != Lower && e.Errors < e.Cases {
		i.High = betaQuantile(1-doubt, e.Errors+1, e.Cases-e.Errors)
	}
	return i
}

// Wilson returns the interval of the rates p for which (e−p)/sqrt(p(1−p)/n)
// is within ±z. It is good for small n without being as wide as Exact.
func (e ErrorRate) Wilson(level float64, side Side) Interval {
	if !e.sound() || !isLevel(level) {
		return Interval{math.NaN(), math.NaN()}
	}
	z := Estimate{}.quantile(level, side)
	n, p := e.Cases, e.Rate()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	i := within01(Interval{middle - half, middle + half})
	switch side {
	case Lower:
		i.High = 1
	case Upper:
		i.Low = 0
	}
	return i
}

// Difference returns the estimate of error(a) − error(b) from independent
// samples: the variances add. Measured on the same sample it is right too,
// only wider than a paired analysis.
func Difference(a, b ErrorRate) Estimate {
	x, y := a.Estimate(), b.Estimate()
	return Estimate{Value: x.Value - y.Value, SD: math.Hypot(x.SD, y.SD)}
}

// MinTestSize returns the least number of test cases for which the two-sided
// interval of a true error somewhere in [low, high] is narrower than width,
// whatever the error turns out to be. Quantile is z_N, from Z or BookZ. It
// returns NaN if no number of cases can be named.
func MinTestSize(low, high, width, quantile float64) float64 {
	if !(low >= 0 && low <= high && high <= 1 && width > 0 && quantile > 0) {
		return math.NaN()
	}
	worst := min(max(low, 0.5), high) // the rate nearest ½ varies most
	n := math.Floor(worst*(1-worst)*math.Pow(2*quantile/width, 2)) + 1
	if math.IsInf(n, 1) {
		return math.NaN()
	}
	return n
}

// AUC returns an area under the ROC curve, measured on so many positive and
// negative cases, as an estimate (Hanley and McNeil 1982, with the approximation
// of their equation 2).
func AUC(area, positives, negatives float64) Estimate {
	q1, q2 := area/(2-area), 2*area*area/(1+area)
	v := (area*(1-area) + (positives-1)*(q1-area*area) + (negatives-1)*(q2-area*area)) / (positives * negatives)
	return Estimate{Value: area, SD: math.Sqrt(max(v, 0))}
}
