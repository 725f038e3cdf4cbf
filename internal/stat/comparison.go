package stat

import (
	"cmp"
	"math"
	"slices"
)

// PairedT returns the estimate of the mean of paired differences (Mitchell
// 1997, table 5.5 and equation 5.18): δ̄ with s = sqrt(Σ(δᵢ−δ̄)²/(k(k−1))) and
// k − 1 degrees of freedom. Its Statistic is t, its P the two-sided p-value.
func PairedT(differences []float64) Estimate { return Mean(differences) }

// CorrectedT is PairedT for resampled differences whose training sets
// overlap, as repeated hold-out and repeated cross-validation give: the
// variance of the mean is (1/k + test/train) times that of the differences
// instead of 1/k (Nadeau and Bengio 2003). Without the correction the
// interval could be shrunk at will by resampling again.
func CorrectedT(differences []float64, testShare float64) Estimate {
	e := Mean(differences)
	k := float64(len(differences))
	e.SD *= math.Sqrt(1 + k*testShare)
	return e
}

// McNemarTest is McNemar's test of two classifiers on one test set.
type McNemarTest struct {
	OnlyA, OnlyB float64 // cases that only a, only b gets wrong
	Statistic    float64 // χ² with the continuity correction, one degree of freedom
	P            float64 // two-sided
	Exact        bool    // P is of the binomial, not of χ²
}

// mcnemarExact is how many discordant cases the χ² approximation asks for.
const mcnemarExact = 25

// McNemar tests whether two classifiers that disagree on so many cases have
// the same error: each discordant case is then as likely to be one's error as
// the other's. With fewer than 25 discordant cases P is exact (binomial, ½),
// otherwise from χ² = (|a−b|−1)²/(a+b).
func McNemar(onlyA, onlyB float64) McNemarTest {
	t := McNemarTest{OnlyA: onlyA, OnlyB: onlyB}
	n := onlyA + onlyB
	if !(onlyA >= 0 && onlyB >= 0) || math.IsInf(n, 1) {
		t.Statistic, t.P = math.NaN(), math.NaN()
		return t
	}
	if n > 0 {
		t.Statistic = math.Pow(max(math.Abs(onlyA-onlyB)-1, 0), 2) / n
	}
	if t.Exact = n < mcnemarExact; t.Exact {
		t.P = min(1, 2*BinomialCDF(min(onlyA, onlyB), n, 0.5))
	} else {
		t.P = ChiSquareTail(t.Statistic, 1)
	}
	return t
}

// PairedRates returns the 95 % interval of the difference of two rates that were
// measured on the same cases, of which so many count for the first alone and so
// many for the second alone: Wald's, with half a case more of each kind (Agresti
// and Min 2005), which keeps its level where few cases differ.
func PairedRates(onlyFirst, onlySecond, cases float64) Interval {
	if !(cases > 0) {
		return Interval{math.NaN(), math.NaN()}
	}
	a, b, n := onlyFirst+.5, onlySecond+.5, cases+2
	e := Estimate{Value: (a - b) / n, SD: math.Sqrt(max(a+b-(a-b)*(a-b)/n, 0)) / n}
	i := e.Interval(0.95, TwoSided)
	return Interval{max(i.Low, -1), min(i.High, 1)}
}

// FiveByTwoT returns the t of Dietterich's 5×2cv paired test (1998): five
// random halvings, each half tested by what was learnt from the other. Only
// the first difference is in the numerator, so that it is independent of the
// deviation, which comes from all ten. Five degrees of freedom.
func FiveByTwoT(differences [5][2]float64) Estimate {
	sum := 0.0
	for _, d := range differences {
		mean := (d[0] + d[1]) / 2
		sum += (d[0]-mean)*(d[0]-mean) + (d[1]-mean)*(d[1]-mean)
	}
	return Estimate{Value: differences[0][0], SD: math.Sqrt(sum / 5), DF: 5}
}

// Holm returns the p-values adjusted for having looked at all of them (Holm
// 1979): the least is multiplied by their number, the next by one less, and
// so on. Those below a level are significant together at that level.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	// NaN is greatest here: it says nothing, and still counts as a look.
	slices.SortStableFunc(order, func(a, b int) int {
		if math.IsNaN(p[a]) || math.IsNaN(p[b]) {
			return cmp.Compare(p[b], p[a])
		}
		return cmp.Compare(p[a], p[b])
	})
	adjusted := make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		if math.IsNaN(p[i]) {
			adjusted[i] = p[i]
			continue
		}
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = least
	}
	return adjusted
}
