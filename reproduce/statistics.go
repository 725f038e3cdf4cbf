package reproduce

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/stat"
)

// statistics are the figures of Mitchell 1997, chapter 5, with the two-decimal
// quantiles of its tables where the text uses them.
func statistics() []Experiment {
	twelve := stat.ErrorRate{Errors: 12, Cases: 40}
	ten := stat.ErrorRate{Errors: 10, Cases: 65}.Estimate()
	difference := stat.Difference(stat.ErrorRate{Errors: 30, Cases: 100}, stat.ErrorRate{Errors: 20, Cases: 100})
	folds := stat.PairedT([]float64{.05, .02, -.01, .04, .03, .06, .00, .02, .05, .04})
	experiments := []Experiment{{
		Name: "coverage-t", Source: "section 5.6.1 (what 95 % means)", Seeds: 10,
		Measure: "how often the 95 % paired t interval of five normal differences covers the truth, 2000 draws a seed",
		Figure:  reference(.95).fraction(),
		Run:     OverSeeds(func(_ context.Context, seed uint64) (float64, error) { return coverage(seed), nil }),
	}}
	for _, e := range []struct {
		name, where, measure string
		figure               Figure
		compute              func() float64
	}{
		{"12-of-40-sd", "section 5.3.4", "standard deviation of the error, 12 errors in 40 cases", printed(.07).digits(2), twelve.SD},
		{"12-of-40-95", "section 5.2.2", "half the 95 % interval, 12 errors in 40 cases", printed(.14).digits(2), func() float64 { return book(twelve.Estimate(), .95, stat.TwoSided).Width() / 2 }},
		{"12-of-40-68", "section 5.2.2", "half the 68 % interval, 12 errors in 40 cases", printed(.07).digits(2), func() float64 { return book(twelve.Estimate(), .68, stat.TwoSided).Width() / 2 }},
		{"12-of-40-upper", "section 5.3.6", "upper bound of the error at 97.5 %, 12 errors in 40 cases", printed(.44).digits(2), func() float64 { return book(twelve.Estimate(), .975, stat.Upper).High }},
		{"12-of-40-exact", "section 5.3.5 (Clopper and Pearson 1934)", "upper end of the exact 95 % interval, 12 errors in 40 cases", reference(.465316).digits(6), func() float64 { return twelve.Exact(.95, stat.TwoSided).High }},
		{"binomial-peak", "table 5.3", "probability of 12 errors in 40 cases at a true error of .3", printed(.14).digits(2), func() float64 { return stat.BinomialPMF(12, 40, .3) }},

		{"z-table", "table 5.1", "entries within .006 of the exact quantile", printed(7), zTable},
		{"t-table", "table 5.6", "entries within .006 of the exact quantile", printed(28), tTable},

		{"difference-sd", "section 5.5.1", "standard deviation of the difference, errors of .30 and .20 in 100 cases each", printed(.061).digits(3), func() float64 { return difference.SD }},
		{"difference-z", "section 5.5.1", "the difference in standard deviations", printed(1.64).digits(2), difference.Statistic},
		{"difference-confidence", "section 5.5.1", "confidence that the first error is the larger", printed(.95).digits(2), difference.Positive},

		{"paired-t", "table 5.5", "t of ten paired differences", reference(4.1962716).digits(7), folds.Statistic},
		{"paired-p", "table 5.5", "two-sided p of ten paired differences", reference(.00231946).digits(8), folds.P},

		{"exercise-5.1", "exercise 5.1", "how many times the standard deviation of 12 of 40 is that of 300 of 1000", reference(5).digits(9), func() float64 { return twelve.SD() / stat.ErrorRate{Errors: 300, Cases: 1000}.SD() }},
		{"exercise-5.2", "exercise 5.2", "half the 95 % interval, 17 errors in 100 cases", reference(.073624).digits(6), func() float64 {
			return book(stat.ErrorRate{Errors: 17, Cases: 100}.Estimate(), .95, stat.TwoSided).Width() / 2
		}},
		{"exercise-5.3-95", "exercise 5.3", "upper bound at 95 %, 10 errors in 65 cases", reference(.227239).digits(6), func() float64 { return book(ten, .95, stat.Upper).High }},
		{"exercise-5.3-90", "exercise 5.3", "upper bound at 90 %, 10 errors in 65 cases", reference(.211129).digits(6), func() float64 { return book(ten, .90, stat.Upper).High }},
		{"exercise-5.4", "exercise 5.4", "fewest test cases for a 95 % interval narrower than .1, error between .2 and .6", reference(385), func() float64 {
			z, _ := stat.BookZ(.95)
			return stat.MinTestSize(.2, .6, .1, z)
		}},
	} {
		experiments = append(experiments, Experiment{Name: e.name, Source: e.where, Measure: e.measure, Figure: e.figure, Seeds: 1, Run: Computed(e.compute)})
	}
	for i := range experiments {
		e := &experiments[i]
		e.Name, e.Source, e.Tags = "statistics-"+e.Name, mitchell(e.Source), chapter(5)
	}
	return experiments
}

// zTable and tTable count the printed quantiles that agree with exact ones.
func zTable() float64 {
	return agreeing([]float64{.50, .68, .80, .90, .95, .98, .99}, []float64{0}, func(level, _ float64) (float64, float64) {
		z, _ := stat.BookZ(level)
		return z, stat.Z(level)
	})
}

func tTable() float64 {
	return agreeing([]float64{.90, .95, .98, .99}, []float64{2, 5, 10, 20, 30, 120, math.Inf(1)}, func(level, df float64) (float64, float64) {
		t, _ := stat.BookT(level, df)
		return t, stat.T(level, df)
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
