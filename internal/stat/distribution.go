// Package stat holds tests and intervals on plain numbers: how far a measured
// error can be from the true one, and whether two measured errors differ by
// more than chance explains.
//
// Every interval here comes from one recipe (Mitchell 1997, §5.4): name the
// parameter, choose an estimator that is right on average, find how the
// estimator is distributed, and take the range that holds N % of that
// distribution. What is found is an Estimate: a value, its standard deviation,
// and the shape of its distribution (normal, or Student's t when the deviation
// itself was estimated from few values).
//
// Levels are fractions: 0.95, not 95. Counts may be fractions too: a row of
// weight 2 counts as two cases. Arguments that make no sense (a negative
// count, a level outside ]0,1[) give NaN, as in package math; nothing panics.
//
// Package evaluate applies them to models, learn/expert to what experts said.
package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// NormalCDF returns Φ(x), the mass of the standard normal below x.
func NormalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// NormalQuantile returns the x below which the standard normal has mass p.
func NormalQuantile(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	return distuv.UnitNormal.Quantile(p)
}

// manyDegrees is where Student's t is so near the normal that expansions in
// 1/ν are exact to the last digits, while the incomplete beta function begins
// to lose some.
const manyDegrees = 1e4

// TCDF returns the mass of Student's t with df degrees of freedom below t,
// through the regularised incomplete beta function. Infinite degrees of
// freedom are the normal distribution.
func TCDF(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return NormalCDF(t)
	case math.IsInf(t, 1):
		return 1
	case math.IsInf(t, -1):
		return 0
	case df > manyDegrees*100:
		// Wallace's first approximation, good to 1/ν².
		return NormalCDF(t * (1 - 1/(4*df)) / math.Sqrt(1+t*t/(2*df)))
	}
	tail := 0.5 * mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// TQuantile returns the t below which Student's t with df degrees of freedom
// has mass p.
func TQuantile(p, df float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(df > 0):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case df > manyDegrees:
		// Fisher and Cornish's expansion; the next term is of order 1/ν⁴.
		z := NormalQuantile(p)
		if math.IsInf(df, 1) {
			return z
		}
		z2 := z * z
		return z + z*(z2+1)/(4*df) + z*((5*z2+16)*z2+3)/(96*df*df) +
			z*(((3*z2+19)*z2+17)*z2-15)/(384*df*df*df)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

// ChiSquareTail returns the mass of the χ² distribution with df degrees of
// freedom above x.
func ChiSquareTail(x, df float64) float64 {
	switch {
	case math.IsNaN(x) || !(df > 0) || math.IsInf(df, 1):
		return math.NaN()
	case x <= 0:
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return mathext.GammaIncRegComp(df/2, x/2)
}

// Z returns z_N: the middle of the normal distribution that holds the given
// fraction of its mass is μ ± z_N σ.
func Z(level float64) float64 {
	if !isLevel(level) {
		return math.NaN()
	}
	return NormalQuantile((1 + level) / 2)
}

// T returns t_{N,ν}, as Z does for Student's t.
func T(level, df float64) float64 {
	if !isLevel(level) {
		return math.NaN()
	}
	return TQuantile((1+level)/2, df)
}

func isLevel(level float64) bool { return level > 0 && level < 1 }

// bookZ is Mitchell 1997, table 5.1. Its 68 % is rounded to 1.00 from 0.9945.
var bookZ = [...]struct{ level, z float64 }{
	{.50, 0.67}, {.68, 1.00}, {.80, 1.28}, {.90, 1.64}, {.95, 1.96}, {.98, 2.33}, {.99, 2.58},
}

// BookZ returns z_N as the textbook's table prints it, to two decimals, and
// whether the table has this level.
func BookZ(level float64) (z float64, ok bool) {
	for _, row := range bookZ {
		if math.Abs(row.level-level) < 1e-9 {
			return row.z, true
		}
	}
	return math.NaN(), false
}

// bookT is Mitchell 1997, table 5.6, with a column for each level of
// bookTLevels. Its 2.84 (ν = 20, 99 %) is cut off from 2.845.
var (
	bookTLevels = [...]float64{.90, .95, .98, .99}
	bookT       = [...]struct {
		df float64
		t  [4]float64
	}{
		{2, [4]float64{2.92, 4.30, 6.96, 9.92}},
		{5, [4]float64{2.02, 2.57, 3.36, 4.03}},
		{10, [4]float64{1.81, 2.23, 2.76, 3.17}},
		{20, [4]float64{1.72, 2.09, 2.53, 2.84}},
		{30, [4]float64{1.70, 2.04, 2.46, 2.75}},
		{120, [4]float64{1.66, 1.98, 2.36, 2.62}},
		{math.Inf(1), [4]float64{1.64, 1.96, 2.33, 2.58}},
	}
)

// BookT returns t_{N,ν} as the textbook's table prints it, and whether the
// table has this level and these degrees of freedom.
func BookT(level, df float64) (t float64, ok bool) {
	for _, row := range bookT {
		if row.df != df {
			continue
		}
		for i, l := range bookTLevels {
			if math.Abs(l-level) < 1e-9 {
				return row.t[i], true
			}
		}
	}
	return math.NaN(), false
}

// BinomialPMF returns the probability of r successes in n independent trials
// that each succeed with probability p. Fractional r and n are taken through
// the gamma function.
func BinomialPMF(r, n, p float64) float64 {
	switch {
	case !isCount(r, n) || !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return indicator(r == 0)
	case p == 1:
		return indicator(r == n)
	}
	return math.Exp(-math.Log(n+1) - mathext.Lbeta(r+1, n-r+1) + r*math.Log(p) + (n-r)*math.Log1p(-p))
}

// BinomialCDF returns the probability of at most r successes in n trials, by
// the incomplete beta function, which also gives fractional counts a meaning.
func BinomialCDF(r, n, p float64) float64 {
	switch {
	case !(n >= 0) || math.IsInf(n, 1) || math.IsNaN(r) || !(p >= 0 && p <= 1):
		return math.NaN()
	case r < 0:
		return 0
	case r >= n:
		return 1
	}
	return mathext.RegIncBeta(n-r, r+1, 1-p)
}

// BinomialSD returns the standard deviation of the number of successes.
func BinomialSD(n, p float64) float64 { return math.Sqrt(n * p * (1 - p)) }

// isCount reports whether r of n can be counts.
func isCount(r, n float64) bool { return r >= 0 && r <= n && !math.IsInf(n, 1) }

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
