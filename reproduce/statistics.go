package reproduce

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/stat"
)

// The statistics of Mitchell 1997, chapter 5, with the two-decimal quantiles
// of its tables where the text uses them.
func init() {
	const chapter = "Mitchell 1997, Machine Learning, "
	number := func(name, where, measure string, published float64, bound Bound, compute func() float64) {
		Register(Experiment{
			Name: "statistics-" + name, Source: chapter + where, Measure: measure, Published: published, Bound: bound, Seeds: 1,
			Run: Fixed(func(context.Context) (float64, error) { return compute(), nil }),
		})
	}

	twelve := stat.ErrorRate{Errors: 12, Cases: 40}
	number("12-of-40-sd", "section 5.3.4", "standard deviation of the error, 12 errors in 40 cases", .07, Digits(2), twelve.SD)
	number("12-of-40-95", "section 5.2.2", "half the 95 % interval, 12 errors in 40 cases", .14, Digits(2), func() float64 {
		return book(twelve.Estimate(), .95, stat.TwoSided).Width() / 2
	})
	number("12-of-40-68", "section 5.2.2", "half the 68 % interval, 12 errors in 40 cases", .07, Digits(2), func() float64 {
		return book(twelve.Estimate(), .68, stat.TwoSided).Width() / 2
	})
	number("12-of-40-upper", "section 5.3.6", "upper bound of the error at 97.5 %, 12 errors in 40 cases", .44, Digits(2), func() float64 {
		return book(twelve.Estimate(), .975, stat.Upper).High
	})
	number("12-of-40-exact", "section 5.3.5 (worked out, Clopper and Pearson 1934)", "upper end of the exact 95 % interval, 12 errors in 40 cases", .465316, Digits(6), func() float64 {
		return twelve.Exact(.95, stat.TwoSided).High
	})
	number("binomial-peak", "table 5.3", "probability of 12 errors in 40 cases at a true error of .3", .14, Digits(2), func() float64 {
		return stat.BinomialPMF(12, 40, .3)
	})

	number("z-table", "table 5.1", "entries within .006 of the exact quantile", 7, Bound{}, func() float64 {
		return agreeing([]float64{.50, .68, .80, .90, .95, .98, .99}, []float64{0}, func(level, _ float64) (float64, float64) {
			z, _ := stat.BookZ(level)
			return z, stat.Z(level)
		})
	})
	number("t-table", "table 5.6", "entries within .006 of the exact quantile", 28, Bound{}, func() float64 {
		return agreeing([]float64{.90, .95, .98, .99}, []float64{2, 5, 10, 20, 30, 120, math.Inf(1)}, func(level, df float64) (float64, float64) {
			t, _ := stat.BookT(level, df)
			return t, stat.T(level, df)
		})
	})

	difference := stat.Difference(stat.ErrorRate{Errors: 30, Cases: 100}, stat.ErrorRate{Errors: 20, Cases: 100})
	number("difference-sd", "section 5.5.1", "standard deviation of the difference, errors of .30 and .20 in 100 cases each", .061, Digits(3), func() float64 { return difference.SD })
	number("difference-z", "section 5.5.1", "the difference in standard deviations", 1.64, Digits(2), difference.Statistic)
	number("difference-confidence", "section 5.5.1", "confidence that the first error is the larger", .95, Digits(2), difference.Positive)

	folds := stat.PairedT([]float64{.05, .02, -.01, .04, .03, .06, .00, .02, .05, .04})
	number("paired-t", "table 5.5 (worked out)", "t of ten paired differences", 4.1962716, Digits(7), folds.Statistic)
	number("paired-p", "table 5.5 (worked out)", "two-sided p of ten paired differences", .00231946, Digits(8), folds.P)

	number("exercise-5.1", "exercise 5.1 (worked out)", "how many times the standard deviation of 12 of 40 is that of 300 of 1000", 5, Digits(9), func() float64 {
		return twelve.SD() / stat.ErrorRate{Errors: 300, Cases: 1000}.SD()
	})
	number("exercise-5.2", "exercise 5.2 (worked out)", "half the 95 % interval, 17 errors in 100 cases", .073624, Digits(6), func() float64 {
		return book(stat.ErrorRate{Errors: 17, Cases: 100}.Estimate(), .95, stat.TwoSided).Width() / 2
	})
	ten := stat.ErrorRate{Errors: 10, Cases: 65}.Estimate()
	number("exercise-5.3-95", "exercise 5.3 (worked out)", "upper bound at 95 %, 10 errors in 65 cases", .227239, Digits(6), func() float64 { return book(ten, .95, stat.Upper).High })
	number("exercise-5.3-90", "exercise 5.3 (worked out)", "upper bound at 90 %, 10 errors in 65 cases", .211129, Digits(6), func() float64 { return book(ten, .90, stat.Upper).High })
	number("exercise-5.4", "exercise 5.4 (worked out)", "fewest test cases for a 95 % interval narrower than .1, error between .2 and .6", 385, Bound{}, func() float64 {
		z, _ := stat.BookZ(.95)
		return stat.MinTestSize(.2, .6, .1, z)
	})

	// A seed's share of 2,000 draws has a deviation of sqrt(.95·.05/2000) =
	// .0049, the mean of ten seeds .0015. The interval over seeds reaches
	// 2.26 of these, .0035; .0042 more make it five.
	Register(Experiment{
		Name: "statistics-coverage-t", Source: chapter + "section 5.6.1",
		Measure:   "how often the 95 % paired t interval of five normal differences covers the truth, 2000 draws a seed",
		Published: .95, Bound: Within(.0042), Seeds: 10,
		Run: OverSeeds(func(_ context.Context, seed uint64) (float64, error) { return coverage(seed), nil }),
	})
}

// book returns an interval with the textbook's quantiles.
func book(e stat.Estimate, level float64, side stat.Side) stat.Interval {
	i, ok := e.BookInterval(level, side)
	if !ok {
		return stat.Interval{Low: math.NaN(), High: math.NaN()}
	}
	return i
}

// agreeing counts the cells of a table that are near exact values.
func agreeing(rows, columns []float64, cell func(row, column float64) (printed, exact float64)) float64 {
	n := 0.0
	for _, r := range rows {
		for _, c := range columns {
			if printed, exact := cell(r, c); math.Abs(printed-exact) <= .006 {
				n++
			}
		}
	}
	return n
}

// coverage draws normal differences around a true one and counts the
// intervals that hold it.
func coverage(seed uint64) float64 {
	const draws, truth = 2000, .1
	r := rand.New(rand.NewPCG(seed, 5))
	differences := make([]float64, 5)
	covered := 0.0
	for range draws {
		for i := range differences {
			differences[i] = truth + r.NormFloat64()
		}
		if stat.PairedT(differences).Interval(.95, stat.TwoSided).Contains(truth) {
			covered++
		}
	}
	return covered / draws
}
