package linear

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The kernels give the same bits with vector instructions and without, and
// what their names say.
func TestKernels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	column := func(n int, scale float64) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = random.NormFloat64() * scale
		}
		return xs
	}
	for _, n := range []int{0, 1, 3, 4, 7, 64, 255, 256} {
		var x [lanes][]float64
		for k := range x {
			x[k] = column(n, 1)
		}
		y, is, a := column(n, 20), make([]float64, n), [lanes]float64{1, -2, 0.5, 3}
		for r := range is {
			is[r] = float64(random.IntN(2))
		}
		if n > 4 {
			y[1], y[2], y[3] = -2000, 0, math.Inf(1)
		}
		before := vectors
		run := func() (all []float64) {
			sum, dots, odds, bent := append([]float64(nil), y...), [lanes]float64{1, 2, 3, 4}, append([]float64(nil), y...), make([]float64, n)
			addFour(sum, &x, &a)
			dotFour(is, &x, &dots)
			loss := logistic(odds, is, bent)
			for r := range y {
				want := 1/(1+math.Exp(-y[r])) - is[r]
				if e := math.Exp(-math.Abs(y[r])); math.Abs(odds[r]-want) > 4e-16 || math.Abs(bent[r]-e/(1+e)/(1+e)) > 4e-16 {
					t.Fatalf("odds %g: slope %g, want %g; curvature %g", y[r], odds[r], want, bent[r])
				}
				if plain := y[r] + a[0]*x[0][r] + a[1]*x[1][r] + a[2]*x[2][r] + a[3]*x[3][r]; sum[r] != plain {
					t.Fatalf("sum %g, want %g", sum[r], plain)
				}
			}
			return append(append(append(append(sum, dots[:]...), odds...), bent...), loss)
		}
		with := run()
		setVectors(false)
		without := run()
		setVectors(before)
		for i := range with {
			if math.Float64bits(with[i]) != math.Float64bits(without[i]) {
				t.Fatalf("%d rows: number %d is %g with vectors, %g without", n, i, with[i], without[i])
			}
		}
	}
}
