package posterior

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

// The cancer test of section 6.2.1, and exercise 6.1.
func TestCancer(t *testing.T) {
	prior, positive, negative := []float64{.008, .992}, []float64{math.Log(.98), math.Log(.03)}, []float64{math.Log(.02), math.Log(.97)}
	p, logData, err := Of(prior, positive)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "P(cancer|+)", p[0], .2085106, 5e-8)
	near(t, "P(+)", math.Exp(logData), .00784+.02976, 1e-15)
	if Best(p) != 1 || Best(positive) != 0 {
		t.Error("MAP is no cancer, ML is cancer")
	}
	q, _, _ := Of(prior, negative)
	near(t, "P(cancer|-)", q[0], .000166251, 5e-10)
	two, _, _ := Of(p, positive) // the posterior is the next prior
	near(t, "P(cancer|++)", two[0], .8958955, 5e-8)
	three, _, _ := Of(two, positive)
	near(t, "P(cancer|+++)", three[0], .9964554, 5e-8)
}

// The example of section 6.7: MAP says one thing, all hypotheses another.
func TestOptimal(t *testing.T) {
	p := Optimal([]float64{.4, .3, .3}, [][]float64{{1, 0}, {0, 1}, {0, 1}})
	near(t, "P(+)", p[0], .4, 1e-15)
	near(t, "P(-)", p[1], .6, 1e-15)
	for u, want := range map[float64]int{0: 0, .39: 0, .41: 1, .71: 2, 1: 0} {
		if got := Gibbs([]float64{.4, .3, .3}, u); got != want {
			t.Errorf("%v draws %d, want %d", u, got, want)
		}
	}
}

// The two means of section 6.12.1, step by step.
func TestMeans(t *testing.T) {
	xs := []float64{0, .5, 1, 4, 4.5, 5}
	for i, want := range []float64{.817574, .731059, .622459, .075858, .047426, .029312} {
		near(t, "E[z]", Expected(xs[i], []float64{1, 2}, 1)[0], want, 5e-7)
	}
	for steps, want := range map[int][3]float64{
		0: {1, 2, -18.7765348}, 1: {.7106799, 3.6309768, -11.3241977}, 2: {.5024654, 4.4516250, -10.1698193}, 3: {.5028895, 4.4963653, -10.1667747},
		1000: {.503024494213, 4.496975505787, -10.166774123311},
	} {
		means, l := Means(xs, []float64{1, 2}, 1, steps)
		near(t, "first mean", means[0], want[0], 5e-8)
		near(t, "second mean", means[1], want[1], 5e-8)
		near(t, "log likelihood", l, want[2], 5e-8)
	}
	means, l := Means(xs, []float64{2.5, 2.5}, 1, 10)
	near(t, "equal means stay", means[0], 2.5, 0)
	near(t, "equal means stay", l, -18.0136312, 5e-8)
}

// Posteriors are probabilities, and EM never loses likelihood.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		prior := rapid.SliceOfN(rapid.Float64Range(.01, 1), n, n).Draw(t, "prior")
		logs := rapid.SliceOfN(rapid.Float64Range(-50, 0), n, n).Draw(t, "logs")
		p, _, err := Of(prior, logs)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, q := range p {
			sum += q
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("posteriors sum to %v", sum)
		}
		xs := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 10).Draw(t, "xs")
		last := math.Inf(-1)
		for steps := range 5 {
			_, l := Means(xs, prior, 1, steps)
			if l < last-1e-9 {
				t.Fatalf("step %d loses likelihood: %v after %v", steps, l, last)
			}
			last = l
		}
	})
	for _, bad := range [][2][]float64{{{1}, {math.Inf(-1)}}, {{-1}, {0}}, {{1, 1}, {0}}, {nil, nil}} {
		if _, _, err := Of(bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	near(t, "consistent", Consistent(0, 4, 0), 0, 0)
	near(t, "noisy", Consistent(1, 4, .1), math.Log(.1)+3*math.Log(.9), 1e-15)
	near(t, "exceptions", Exceptions(5, 14, 2), 24.036775, 5e-7)
}
