package bayes

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// numbers returns a table of one numeric column and a class.
func numbers(t testing.TB, xs []float64, classes []int32, values ...string) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "class", Values: values}}}
	tab, err := table.New(schema, []table.Column{{Floats: xs}, {Codes: classes}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// at returns the probabilities for one number.
func at(t testing.TB, m *Model, x float64) []float64 {
	t.Helper()
	tab, err := table.New(m.Schema(), []table.Column{{Floats: []float64{x}}, {Codes: []int32{table.Missing}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(context.Background(), tab, out); err != nil {
		t.Fatal(err)
	}
	return out.P
}

func density(x, mean, variance float64) float64 {
	return math.Exp(-(x-mean)*(x-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
}

// Temperatures of the weather data (Witten & Frank) by hand: with m = 0 the
// densities have the mean and the mean squared deviation of each class.
func TestNormalDensities(t *testing.T) {
	yes := []float64{83, 70, 68, 64, 69, 75, 75, 72, 81}
	no := []float64{85, 80, 65, 72, 71}
	tab := numbers(t, append(append([]float64{}, yes...), no...), []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, "yes", "no")
	variance := func(mean float64, xs []float64) float64 {
		s := 0.0
		for _, x := range xs {
			s += (x - mean) * (x - mean)
		}
		return s / float64(len(xs))
	}
	near(t, "mean of yes", fit(t, tab, 0).columns[0].normals[0].mean, 73, 1e-12)
	near(t, "mean of no", fit(t, tab, 0).columns[0].normals[1].mean, 74.6, 1e-12)
	p := 9. / 14 * density(66, 73, variance(73, yes))
	q := 5. / 14 * density(66, 74.6, variance(74.6, no))
	near(t, "P(yes | 66)", at(t, fit(t, tab, 0), 66)[0], p/(p+q), 1e-12)

	// With m = 2, two rows' worth of the overall variance are added.
	all := variance((9*73+5*74.6)/14, tab.Columns[0].Floats)
	p = 9. / 14 * density(66, 73, (9*variance(73, yes)+2*all)/11)
	q = 5. / 14 * density(66, 74.6, (5*variance(74.6, no)+2*all)/7)
	near(t, "P(yes | 66), m=2", at(t, fit(t, tab, 2), 66)[0], p/(p+q), 1e-12)
}

// Scaling a column changes nothing, at either end of the numbers' range.
func TestScale(t *testing.T) {
	xs := []float64{1, 2, 3, 2.5, 4, 5, 4.5, 7}
	classes := []int32{0, 0, 0, 0, 1, 1, 1, 1}
	for _, m := range []float64{0, 1} {
		plain := fit(t, numbers(t, xs, classes, "a", "b"), m)
		for _, power := range []int{900, 1019, -900, -1000} {
			scaled := make([]float64, len(xs))
			for i, x := range xs {
				scaled[i] = math.Ldexp(x, power)
			}
			model := fit(t, numbers(t, scaled, classes, "a", "b"), m)
			for _, x := range []float64{0, 1, 3, 3.5, 4, 6, 7.9} {
				near(t, "scaled", at(t, model, math.Ldexp(x, power))[0], at(t, plain, x)[0], 1e-12)
			}
		}
	}
}

// A huge number after plain ones changes the unit of the moments in the
// middle of a source.
func TestLevelsRise(t *testing.T) {
	xs := []float64{1e-100, 1, 2, 1e200, -1e200, 3e200}
	tab := numbers(t, xs, []int32{0, 0, 1, 0, 1, 1}, "a", "b")
	batch := fit(t, tab, 1)
	first := fit(t, tab.Slice(0, 1), 1)
	u, err := first.Begin(learn.Source{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for r := 1; r < tab.Rows(); r++ {
		if err := u.Add(context.Background(), tab.Slice(r, r+1)); err != nil {
			t.Fatal(err)
		}
	}
	frozen, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-1e200, 0, 1e200, 2e200, math.MaxFloat64} {
		near(t, "row by row", at(t, frozen.(*Model), x)[0], at(t, batch, x)[0], 1e-12)
	}
}

// What says nothing leaves the prior as it is.
func TestSilentCells(t *testing.T) {
	m := fit(t, numbers(t, []float64{1, 2, 3, 4, 9}, []int32{0, 0, 0, 1, 1}, "a", "b"), 1)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		near(t, "prior", at(t, m, x)[0], 0.6, 1e-15)
	}
	constant := fit(t, numbers(t, []float64{0.1, 0.1, 0.1}, []int32{0, 0, 1}, "a", "b"), 1)
	for _, x := range []float64{0.1, 5} {
		near(t, "constant column", at(t, constant, x)[0], 2./3, 1e-15)
	}
	infinite := fit(t, numbers(t, []float64{math.Inf(1), 1, 2, math.Inf(-1)}, []int32{0, 0, 1, 1}, "a", "b"), 0)
	if got := infinite.total.columns[0].moments[0]; got.N != 1 || got.Mean != 1 {
		t.Errorf("infinite cells were counted: %+v", got)
	}
}

// A class of which the column is never known takes the column's density, and
// a class of equal numbers is not infinitely sure.
func TestClassesWithoutDeviation(t *testing.T) {
	m := fit(t, numbers(t, []float64{5, 5, 5, 1, 9, math.NaN()}, []int32{0, 0, 0, 1, 1, 2}, "same", "spread", "unknown"), 0)
	if p := at(t, m, 5); !(p[0] > 0.99) {
		t.Errorf("P at 5 is %v", p)
	}
	if p := at(t, m, 8); !(p[1] > p[2] && p[0] < 1e-10) {
		t.Errorf("P at 8 is %v", p)
	}
	if n := m.columns[0].normals[2]; math.Abs(n.mean-5) > 1e-12 {
		t.Errorf("the class without numbers has %+v", n)
	}
}

// Far from everything the widest class answers, without overflow.
func TestFarAway(t *testing.T) {
	m := fit(t, numbers(t, []float64{0, 1, 0, 4}, []int32{0, 0, 1, 1}, "narrow", "wide"), 0)
	for _, x := range []float64{1e3, -1e3, 1e100, 1e300, -math.MaxFloat64} {
		if p := at(t, m, x); p[1] != 1 || p[0] != 0 {
			t.Errorf("P at %v is %v", x, p)
		}
	}
}
