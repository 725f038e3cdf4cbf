package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// near fails unless got agrees with the figure to the digits it is given in.
func near(t *testing.T, what string, got, want float64, digits int) {
	t.Helper()
	if !(math.Abs(got-want) <= 0.5000001*math.Pow(10, -float64(digits))) {
		t.Errorf("%s = %.*f, published %.*f", what, digits+2, got, digits, want)
	}
}

func nearInterval(t *testing.T, what string, got Interval, low, high float64, digits int) {
	t.Helper()
	near(t, what+" low", got.Low, low, digits)
	near(t, what+" high", got.High, high, digits)
}

// Mitchell 1997, table 5.1, next to exact quantiles.
func TestZTable(t *testing.T) {
	for _, row := range []struct{ level, book, exact float64 }{
		{.50, 0.67, 0.674490}, {.68, 1.00, 0.994458}, {.80, 1.28, 1.281552}, {.90, 1.64, 1.644854},
		{.95, 1.96, 1.959964}, {.98, 2.33, 2.326348}, {.99, 2.58, 2.575829},
	} {
		book, ok := BookZ(row.level)
		if !ok || book != row.book {
			t.Errorf("book z at %v = %v", row.level, book)
		}
		near(t, fmt.Sprintf("z at %v", row.level), Z(row.level), row.exact, 6)
	}
	if _, ok := BookZ(.97); ok {
		t.Error("the table has no 97 %")
	}
}

// Mitchell 1997, table 5.6, next to exact quantiles.
func TestTTable(t *testing.T) {
	book := map[float64][4]float64{
		2: {2.92, 4.30, 6.96, 9.92}, 5: {2.02, 2.57, 3.36, 4.03}, 10: {1.81, 2.23, 2.76, 3.17},
		20: {1.72, 2.09, 2.53, 2.84}, 30: {1.70, 2.04, 2.46, 2.75}, 120: {1.66, 1.98, 2.36, 2.62},
		math.Inf(1): {1.64, 1.96, 2.33, 2.58},
	}
	exact := map[float64][4]float64{
		1: {6.3138, 12.7062, 31.8205, 63.6567}, 2: {2.9200, 4.3027, 6.9646, 9.9248}, 4: {2.1318, 2.7764, 3.7469, 4.6041},
		5: {2.0150, 2.5706, 3.3649, 4.0321}, 9: {1.8331, 2.2622, 2.8214, 3.2498}, 10: {1.8125, 2.2281, 2.7638, 3.1693},
		19: {1.7291, 2.0930, 2.5395, 2.8609}, 20: {1.7247, 2.0860, 2.5280, 2.8453}, 29: {1.6991, 2.0452, 2.4620, 2.7564},
		30: {1.6973, 2.0423, 2.4573, 2.7500}, 120: {1.6577, 1.9799, 2.3578, 2.6174},
	}
	for i, level := range []float64{.90, .95, .98, .99} {
		for df, row := range exact {
			near(t, fmt.Sprintf("t at %v, ν=%v", level, df), T(level, df), row[i], 4)
		}
		for df, row := range book {
			got, ok := BookT(level, df)
			if !ok || got != row[i] {
				t.Errorf("book t at %v, ν=%v: %v, %v", level, df, got, ok)
			}
			// The book rounds, except that it cuts 2.845 to 2.84.
			if math.Abs(T(level, df)-got) > 0.0055 {
				t.Errorf("book t at %v, ν=%v is %v, exact %v", level, df, got, T(level, df))
			}
		}
	}
	if _, ok := BookT(.95, 3); ok {
		t.Error("the table has no ν = 3")
	}
	if _, ok := BookT(.5, 2); ok {
		t.Error("the table has no 50 %")
	}
}

// Mitchell 1997, §5.2.2 and §5.3: 12 errors in 40 cases.
func TestTwelveOfForty(t *testing.T) {
	e := ErrorRate{12, 40}
	near(t, "e", e.Rate(), .30, 15)
	near(t, "σ", e.SD(), .07, 2)
	near(t, "σ", e.SD(), 0.0724569, 7)
	near(t, "sd of r", BinomialSD(40, .3), 2.898275, 6)
	near(t, "sd of r", BinomialSD(40, .3), 2.9, 1)
	near(t, "variance of r", math.Pow(BinomialSD(40, .3), 2), 8.4, 12)
	near(t, "n e (1-e)", e.Curvature(), 8.4, 12)
	if !e.Approximable() || !e.Many() {
		t.Error("12 of 40 may be approximated")
	}
	for _, row := range []struct{ level, half, low, high float64 }{
		{.50, .048546, .251454, .348546}, {.68, .072457, .227543, .372457}, {.80, .092745, .207255, .392745},
		{.90, .118829, .181171, .418829}, {.95, .142015, .157985, .442015}, {.98, .168825, .131175, .468825},
		{.99, .186939, .113061, .486939},
	} {
		got, ok := e.Estimate().BookInterval(row.level, TwoSided)
		if !ok {
			t.Errorf("no book interval at %v", row.level)
		}
		near(t, "half width", got.Width()/2, row.half, 6)
		nearInterval(t, fmt.Sprintf("12/40 at %v", row.level), got, row.low, row.high, 6)
	}
	ninetyFive, _ := e.Estimate().BookInterval(.95, TwoSided)
	nearInterval(t, "12/40", ninetyFive, .16, .44, 2)
	// A 97.5 % bound is an end of the 95 % interval.
	bound := e.Estimate().Interval(.975, Upper)
	near(t, "upper", bound.High, .44, 2)
	if !math.IsInf(bound.Low, -1) || !math.IsInf(e.Estimate().Interval(.975, Lower).High, 1) {
		t.Error("a one-sided bound has one end")
	}
	if i, m := e.Interval(.95, TwoSided); m != Normal || i != e.Normal(.95, TwoSided) {
		t.Errorf("automatic choice: %v %v", i, m)
	}
}

func TestExactIntervals(t *testing.T) {
	for _, c := range []struct{ r, n, low, high float64 }{
		{12, 40, 0.165627, 0.465316}, {2, 10, 0.025211, 0.556095}, {0, 20, 0, 0.168433}, {17, 100, 0.102265, 0.258175},
	} {
		nearInterval(t, fmt.Sprintf("%v/%v", c.r, c.n), ErrorRate{c.r, c.n}.Exact(.95, TwoSided), c.low, c.high, 6)
	}
	nearInterval(t, "20/20", ErrorRate{20, 20}.Exact(.95, TwoSided), 1-0.168433, 1, 6)
	nearInterval(t, "Wilson 12/40", ErrorRate{12, 40}.Wilson(.95, TwoSided), 0.180748, 0.454300, 6)
	if _, m := (ErrorRate{2, 10}).Interval(.95, TwoSided); m != Exact {
		t.Error("2 of 10 needs the exact interval")
	}
	if _, m := (ErrorRate{1, 1000}).Interval(.95, TwoSided); m != Exact {
		t.Error("1 of 1000: n·e(1−e) < 5")
	}
	// A one-sided exact bound at 97.5 % is an end of the 95 % interval.
	e := ErrorRate{12, 40}
	two, low, high := e.Exact(.95, TwoSided), e.Exact(.975, Lower), e.Exact(.975, Upper)
	near(t, "lower", low.Low, two.Low, 12)
	near(t, "upper", high.High, two.High, 12)
	if low.High != 1 || high.Low != 0 || e.Wilson(.975, Lower).High != 1 || e.Wilson(.975, Upper).Low != 0 {
		t.Error("the free end of a rate's bound is 0 or 1")
	}
	// Where the library's inverse gives up.
	x := betaQuantile(.5, .0001, 10)
	if !(x >= 0 && x < 1e-300) {
		t.Errorf("beta quantile of a tiny parameter: %v", x)
	}
}

// Mitchell 1997, table 5.3.
func TestBinomial(t *testing.T) {
	for r, want := range map[float64]float64{5: .006057, 8: .055726, 10: .112817, 11: .131864, 12: .136574, 13: .126068, 14: .104199, 15: .077405, 20: .003835} {
		near(t, fmt.Sprintf("P(%v)", r), BinomialPMF(r, 40, .3), want, 6)
	}
	near(t, "P(R≤12)", BinomialCDF(12, 40, .3), .577181, 6)
	near(t, "P(7≤R≤17)", BinomialCDF(17, 40, .3)-BinomialCDF(6, 40, .3), .944288, 6)
	near(t, ".92⁵", BinomialPMF(0, 5, .08), .659082, 6)
	sum := 0.0
	for r := range 41 {
		sum += BinomialPMF(float64(r), 40, .3)
		near(t, "CDF", BinomialCDF(float64(r), 40, .3), sum, 12)
	}
	for _, c := range []struct{ got, want float64 }{
		{BinomialPMF(0, 3, 0), 1}, {BinomialPMF(1, 3, 0), 0}, {BinomialPMF(3, 3, 1), 1}, {BinomialPMF(2, 3, 1), 0},
		{BinomialCDF(-1, 3, .5), 0}, {BinomialCDF(3, 3, .5), 1}, {BinomialPMF(0, 0, .5), 1},
	} {
		near(t, "degenerate binomial", c.got, c.want, 12)
	}
}

// Mitchell 1997, §5.3.3: Y = 1 with probability .7, 2 with .3.
func TestMoments(t *testing.T) {
	var m Moments
	m.Add(1, .7)
	m.Add(2, .3)
	m.Add(99, 0)
	near(t, "E", m.Mean, 1.3, 12)
	near(t, "Var", m.M2/m.N, .21, 12)
	near(t, "σ", math.Sqrt(m.M2/m.N), .458258, 6)
	if !math.IsNaN(m.Variance()) {
		t.Error("one case has no variance")
	}
	if e := Mean(nil); !math.IsNaN(e.Value) {
		t.Error("nothing has no mean")
	}
}

// Mitchell 1997, §5.3.6 and figure 5.1.
func TestOneSided(t *testing.T) {
	near(t, "z80", Z(.80), 1.28, 2)
	near(t, "10 % in each tail", NormalCDF(-1.28), .10, 3)
	near(t, "90 % below", NormalCDF(1.28), .90, 2)
	unit := Estimate{SD: 1}
	near(t, "one-sided 95 %", unit.Interval(.95, Upper).High, Z(.90), 12)
	near(t, "one-sided 90 %", unit.Interval(.90, Lower).Low, -Z(.80), 12)
	if i, ok := unit.BookInterval(.95, Upper); !ok || i.High != 1.64 {
		t.Errorf("book bound %v", i)
	}
}

// Mitchell 1997, §5.5.1: .30 and .20 of 100 each.
func TestDifference(t *testing.T) {
	d := Difference(ErrorRate{30, 100}, ErrorRate{20, 100})
	near(t, "d", d.Value, .10, 12)
	near(t, "σ", d.SD, .061, 3)
	near(t, "σ", d.SD, 0.06082763, 8)
	near(t, "z", d.Statistic(), 1.64, 2)
	near(t, "z", d.Statistic(), 1.6439899, 7)
	near(t, "Φ(z)", d.Positive(), .95, 2)
	near(t, "Φ(z)", d.Positive(), 0.9499109, 7)
	near(t, "p", d.P(), 2*(1-0.9499109), 6)
	book, _ := d.BookInterval(.95, TwoSided)
	nearInterval(t, "95 %, book z", book, -0.019222, 0.219222, 6)
	book, _ = d.BookInterval(.90, TwoSided)
	nearInterval(t, "90 %, book z", book, 0.000243, 0.199757, 6)
}

func TestPairedT(t *testing.T) {
	e := PairedT([]float64{.05, .02, -.01, .04, .03, .06, .00, .02, .05, .04})
	near(t, "δ̄", e.Value, .03, 12)
	near(t, "s", e.SD, .00714920, 8)
	near(t, "t", e.Statistic(), 4.1962716, 7)
	near(t, "t95", T(.95, 9), 2.2621572, 7)
	nearInterval(t, "95 %", e.Interval(.95, TwoSided), .0138274, .0461726, 7)
	nearInterval(t, "90 %", e.Interval(.90, TwoSided), .0168947, .0431053, 7)
	near(t, "p", e.P(), .00231946, 8)
	if p := e.Positive(); math.Abs(p-(1-e.P()/2)) > 1e-15 {
		t.Errorf("one-sided %v, two-sided %v", p, e.P())
	}

	e = PairedT([]float64{.02, .04, .03})
	near(t, "s", e.SD, .00577350, 8)
	book, ok := e.BookInterval(.95, TwoSided)
	if !ok {
		t.Error("ν = 2 is in the table")
	}
	nearInterval(t, "k=3", book, .00517394, .05482606, 8)

	same := PairedT([]float64{.1, .1, .1})
	if same.P() != 0 || same.Interval(.95, TwoSided) != (Interval{.1, .1}) {
		t.Errorf("differences that never vary: %v", same)
	}
	if none := PairedT([]float64{0, 0, 0}); none.P() != 1 {
		t.Errorf("no difference: p = %v", none.P())
	}
	c := CorrectedT([]float64{.02, .04, .03}, .5)
	near(t, "corrected s", c.SD, .00577350*math.Sqrt(2.5), 7)
}

// Mitchell 1997, exercises 5.1 to 5.4.
func TestExercises(t *testing.T) {
	near(t, "5.1", ErrorRate{300, 1000}.SD(), .0144914, 7)
	near(t, "5.1", ErrorRate{12, 40}.SD()/ErrorRate{300, 1000}.SD(), 5, 12)

	e := ErrorRate{17, 100}
	near(t, "5.2 sd", e.SD(), .0375633, 7)
	i, _ := e.Estimate().BookInterval(.95, TwoSided)
	near(t, "5.2 half", i.Width()/2, .073624, 6)
	nearInterval(t, "5.2", i, .096376, .243624, 6)

	e = ErrorRate{10, 65}
	near(t, "5.3 e", e.Rate(), .1538462, 7)
	near(t, "5.3 sd", e.SD(), .0447519, 7)
	near(t, "5.3 n e(1-e)", e.Curvature(), 8.4615, 4)
	i, _ = e.Estimate().BookInterval(.90, TwoSided)
	nearInterval(t, "5.3 90 %", i, .080453, .227239, 6)
	i, _ = e.Estimate().BookInterval(.95, Upper)
	near(t, "5.3 95 % bound", i.High, .227239, 6)
	near(t, "5.3 95 % bound", e.Normal(.95, Upper).High, .227456, 6)
	i, _ = e.Estimate().BookInterval(.90, Upper)
	near(t, "5.3 90 % bound", i.High, .211129, 6)
	near(t, "5.3 90 % bound", e.Normal(.90, Upper).High, .211198, 6)

	z, _ := BookZ(.95)
	if n := MinTestSize(.2, .6, .1, z); n != 385 {
		t.Errorf("5.4: %v", n)
	}
	near(t, "5.4 width at 384", 2*z*math.Sqrt(.25/384), .100021, 6)
	near(t, "5.4 width at 385", 2*z*math.Sqrt(.25/385), .099891, 6)
	if n := MinTestSize(.6, .9, .1, 2); n != 385 { // 1600·.24 = 384 is not narrower
		t.Errorf("error from .6: %v", n)
	}
	if n := MinTestSize(0, .1, .1, 2); n != 145 {
		t.Errorf("error up to .1: %v", n)
	}
}

func TestMcNemar(t *testing.T) {
	m := McNemar(10, 30)
	near(t, "χ²", m.Statistic, 19.0*19/40, 12)
	if m.Exact || m.P > .05 {
		t.Errorf("10 against 30: %+v", m)
	}
	near(t, "χ² at .05", ChiSquareTail(3.841, 1), .05, 4)
	// 2·(1 + 10 + 45)/1024
	m = McNemar(8, 2)
	if !m.Exact {
		t.Error("10 discordant cases are few")
	}
	near(t, "exact p", m.P, 112.0/1024, 12)
	for _, c := range [][2]float64{{0, 0}, {5, 5}, {12, 12}, {20, 20}} {
		if m := McNemar(c[0], c[1]); m.P != 1 || m.Statistic != 0 {
			t.Errorf("no difference: %+v", m)
		}
	}
	if !McNemar(12, 12).Exact || McNemar(12, 13).Exact {
		t.Error("exact below 25")
	}
}

func TestFiveByTwo(t *testing.T) {
	// s² = .02, .005, 0, .005, .02; mean .01.
	e := FiveByTwoT([5][2]float64{{.2, .0}, {.1, .0}, {.1, .1}, {.0, .1}, {.0, .2}})
	near(t, "t", e.Statistic(), .2/.1, 12)
	near(t, "p", e.P(), 2*(1-TCDF(2, 5)), 12)
	if e.DF != 5 {
		t.Error("five degrees of freedom")
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{.01, .04, .03, .005})
	for i, want := range []float64{.03, .06, .06, .02} {
		near(t, "Holm", got[i], want, 12)
	}
	got = Holm([]float64{math.NaN(), .02, math.NaN(), .9})
	if !math.IsNaN(got[0]) || !math.IsNaN(got[2]) || math.Abs(got[1]-.08) > 1e-12 || got[3] != 1 {
		t.Errorf("with NaN: %v", got)
	}
}

func TestSenselessArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for what, x := range map[string]float64{
		"Z": Z(1), "T": T(0, 3), "T df": T(.5, -1), "quantile": NormalQuantile(-1), "t quantile": TQuantile(2, 3),
		"t cdf": TCDF(nan, 3), "t cdf df": TCDF(1, 0), "chi": ChiSquareTail(nan, 1), "chi df": ChiSquareTail(1, -1),
		"pmf": BinomialPMF(5, 3, .5), "pmf p": BinomialPMF(1, 3, nan), "cdf": BinomialCDF(1, inf, .5),
		"exact": ErrorRate{3, 2}.Exact(.95, TwoSided).Low, "exact level": ErrorRate{1, 2}.Exact(nan, TwoSided).Low,
		"none": ErrorRate{0, 0}.SD(), "wilson": ErrorRate{-1, 2}.Wilson(.95, TwoSided).Low,
		"estimate": Estimate{SD: 1}.Interval(1.5, TwoSided).Low, "mcnemar": McNemar(-1, 3).P, "mcnemar inf": McNemar(inf, 3).P,
		"size": MinTestSize(.5, .2, .1, 2), "size inf": MinTestSize(.2, .5, 1e-300, 2), "one": Mean([]float64{1}).P(),
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s: %v, expected NaN", what, x)
		}
	}
	for _, c := range []struct{ got, want float64 }{
		{TCDF(inf, 3), 1}, {TCDF(-inf, 3), 0}, {TQuantile(0, 3), -inf}, {TQuantile(1, 3), inf},
		{ChiSquareTail(-1, 1), 1}, {ChiSquareTail(inf, 1), 0},
	} {
		if c.got != c.want {
			t.Errorf("limit: %v, expected %v", c.got, c.want)
		}
	}
}

// The expansions for many degrees of freedom meet the exact functions.
func TestManyDegrees(t *testing.T) {
	for _, p := range []float64{1e-7, .025, .3, .975, .9999} {
		below, above := TQuantile(p, manyDegrees), TQuantile(p, manyDegrees+1)
		if math.Abs(below-above) > 1e-4*math.Abs(below)*0.01 {
			t.Errorf("quantile %v jumps from %v to %v", p, below, above)
		}
		near(t, "CDF of quantile", TCDF(TQuantile(p, 1e7), 1e7), p, 12)
		near(t, "CDF of quantile", TCDF(TQuantile(p, 1e5), 1e5), p, 10)
	}
	if TQuantile(.975, math.Inf(1)) != Z(.95) || TCDF(1, math.Inf(1)) != NormalCDF(1) {
		t.Error("infinite degrees of freedom are the normal")
	}
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := float64(rapid.IntRange(1, 2000).Draw(t, "n"))
		r := math.Floor(rapid.Float64Range(0, 1).Draw(t, "share") * n)
		level := rapid.Float64Range(.01, .999).Draw(t, "level")
		e := ErrorRate{r, n}
		for what, i := range map[string]Interval{
			"exact": e.Exact(level, TwoSided), "normal": e.Normal(level, TwoSided), "wilson": e.Wilson(level, TwoSided),
		} {
			if !(i.Low >= 0 && i.High <= 1 && i.Low <= e.Rate()+1e-12 && i.High >= e.Rate()-1e-12) {
				t.Fatalf("%s interval %v of %v/%v", what, i, r, n)
			}
			// Errors and successes are mirror images.
			mirror := map[string]func(float64, Side) Interval{"exact": ErrorRate{n - r, n}.Exact, "normal": ErrorRate{n - r, n}.Normal, "wilson": ErrorRate{n - r, n}.Wilson}[what](level, TwoSided)
			if math.Abs(mirror.Low-(1-i.High)) > 1e-9 || math.Abs(mirror.High-(1-i.Low)) > 1e-9 {
				t.Fatalf("%s interval %v, mirrored %v", what, i, mirror)
			}
			wider := map[string]func(float64, Side) Interval{"exact": e.Exact, "normal": e.Normal, "wilson": e.Wilson}[what]((1+level)/2, TwoSided)
			if wider.Low > i.Low+1e-12 || wider.High < i.High-1e-12 {
				t.Fatalf("%s: more confidence, narrower interval", what)
			}
		}
		// The ends of the exact interval are where the data become surprising.
		i := e.Exact(level, TwoSided)
		if r < n {
			if p := BinomialCDF(r, n, i.High); math.Abs(p-(1-level)/2) > 1e-8 {
				t.Fatalf("P(R ≤ %v) at the upper end is %v", r, p)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		df := rapid.Float64Range(.5, 1e6).Draw(t, "df")
		p := rapid.Float64Range(1e-4, 1-1e-4).Draw(t, "p")
		if back := TCDF(TQuantile(p, df), df); math.Abs(back-p) > 1e-8 {
			t.Fatalf("CDF of the %v quantile is %v", p, back)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 2, 40).Draw(t, "xs")
		cut := rapid.IntRange(0, len(xs)).Draw(t, "cut")
		var a, b, all Moments
		for i, x := range xs {
			w := float64(1 + i%3)
			all.Add(x, w)
			if i < cut {
				a.Add(x, w)
			} else {
				b.Add(x, w)
			}
		}
		a.Merge(b)
		if math.Abs(a.Mean-all.Mean) > 1e-9 || math.Abs(a.M2-all.M2) > 1e-6*(1+all.M2) || a.N != all.N {
			t.Fatalf("merged %+v, at once %+v", a, all)
		}
	})
}

// coverage counts how often an interval holds the true value. With R runs and
// true coverage c the count is binomial; the bounds below are five of its
// standard deviations, sqrt(c(1−c)/R), which a right interval leaves once in
// 1.7 million, and the seed is fixed besides.
func coverage(runs int, covers func(r *rand.Rand) bool) float64 {
	r := rand.New(rand.NewPCG(5, 1997))
	hits := 0
	for range runs {
		if covers(r) {
			hits++
		}
	}
	return float64(hits) / float64(runs)
}

func TestCoverage(t *testing.T) {
	const runs = 20000
	slack := 5 * math.Sqrt(.95*.05/runs)
	draw := func(r *rand.Rand, n int, p float64) ErrorRate {
		e := ErrorRate{Cases: float64(n)}
		for range n {
			if r.Float64() < p {
				e.Errors++
			}
		}
		return e
	}
	for _, c := range []struct {
		n int
		p float64
	}{{10, .2}, {40, .3}, {40, .05}} {
		got := coverage(runs, func(r *rand.Rand) bool { return draw(r, c.n, c.p).Exact(.95, TwoSided).Contains(c.p) })
		if got < .95-slack {
			t.Errorf("exact interval, n=%d p=%v: covers %.4f", c.n, c.p, got)
		}
	}
	// The normal approximation of 40 cases is known to be a little narrow:
	// exact enumeration gives the coverage that the simulation must meet.
	want := 0.0
	for r := range 41 {
		if (ErrorRate{float64(r), 40}).Normal(.95, TwoSided).Contains(.3) {
			want += BinomialPMF(float64(r), 40, .3)
		}
	}
	got := coverage(runs, func(r *rand.Rand) bool { return draw(r, 40, .3).Normal(.95, TwoSided).Contains(.3) })
	if math.Abs(got-want) > slack || want < .92 {
		t.Errorf("normal interval covers %.4f, by enumeration %.4f", got, want)
	}
	// Fresh samples every round: the differences are independent and
	// normal, and the t interval covers exactly as it says (§5.6.1).
	got = coverage(runs, func(r *rand.Rand) bool {
		d := make([]float64, 5)
		for i := range d {
			d[i] = .1 + r.NormFloat64()
		}
		return PairedT(d).Interval(.95, TwoSided).Contains(.1)
	})
	if math.Abs(got-.95) > slack {
		t.Errorf("t interval covers %.4f", got)
	}
	// The central limit theorem (theorem 5.1) for a skewed loss: means of
	// 400 exponentials. The Edgeworth correction to two-sided coverage is
	// of order 1/n, below .005 here, and is added to the bound.
	got = coverage(4000, func(r *rand.Rand) bool {
		d := make([]float64, 400)
		for i := range d {
			d[i] = r.ExpFloat64()
		}
		return Mean(d).Interval(.95, TwoSided).Contains(1)
	})
	if math.Abs(got-.95) > 5*math.Sqrt(.95*.05/4000)+.005 {
		t.Errorf("interval of an exponential's mean covers %.4f", got)
	}
}

func TestAgainstLibrary(t *testing.T) {
	for _, df := range []float64{1, 3, 17, 200} {
		for _, x := range []float64{-40, -2, -.1, 0, .1, 2, 40} {
			near(t, "t CDF", TCDF(x, df), distuv.StudentsT{Sigma: 1, Nu: df}.CDF(x), 12)
		}
		near(t, "χ²", ChiSquareTail(df, df), 1-distuv.ChiSquared{K: df}.CDF(df), 10)
	}
}

func ExampleErrorRate_Interval() {
	e := ErrorRate{Errors: 12, Cases: 40}
	i, method := e.Interval(0.95, TwoSided)
	fmt.Printf("%.2f, between %.2f and %.2f (%s)\n", e.Rate(), i.Low, i.High, method)

	e = ErrorRate{Errors: 0, Cases: 20}
	i, method = e.Interval(0.95, TwoSided)
	fmt.Printf("%.2f, between %.2f and %.2f (%s)\n", e.Rate(), i.Low, i.High, method)
	// Output:
	// 0.30, between 0.16 and 0.44 (normal)
	// 0.00, between 0.00 and 0.17 (exact)
}

func BenchmarkExactInterval(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ErrorRate{12, 40}.Exact(.95, TwoSided)
	}
}
