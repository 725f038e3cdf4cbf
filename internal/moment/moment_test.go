package moment

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	var a, b Moment
	for _, x := range []float64{1, 2, 3} {
		a.Add(x, 1)
	}
	b.Add(6, 2)
	both := Join(a, b)
	fmt.Println(both.N, both.Mean, both.Variance())
	// Output: 5 3.6 4.24
}

// exactly returns the moments of a weighted sample from exact arithmetic.
func exactly(xs, ws []float64) (n, mean, m2 float64) {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	total, sum := new(big.Rat), new(big.Rat)
	for i, x := range xs {
		total.Add(total, rat(ws[i]))
		sum.Add(sum, new(big.Rat).Mul(rat(ws[i]), rat(x)))
	}
	if total.Sign() == 0 {
		return 0, 0, 0
	}
	m := new(big.Rat).Quo(sum, total)
	squares := new(big.Rat)
	for i, x := range xs {
		d := new(big.Rat).Sub(rat(x), m)
		squares.Add(squares, d.Mul(d, d).Mul(d, rat(ws[i])))
	}
	n, _ = total.Float64()
	mean, _ = m.Float64()
	m2, _ = squares.Float64()
	return n, mean, m2
}

// However a sample is split, joining the parts gives the moments of the whole.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		offset := rapid.SampledFrom([]float64{0, 1e6, -1e9}).Draw(t, "offset")
		xs, ws := make([]float64, n), make([]float64, n)
		parts := make([]Moment, rapid.IntRange(1, 5).Draw(t, "parts"))
		for i := range xs {
			xs[i] = offset + rapid.Float64Range(-100, 100).Draw(t, "x")
			ws[i] = rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "w")
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")].Add(xs[i], ws[i])
		}
		var all Moment
		for _, p := range parts {
			all = Join(all, p)
		}
		weight, mean, m2 := exactly(xs, ws)
		// Rounding moves a mean by parts in 2^-53 of the numbers' size, and
		// with it each of n deviations.
		size := math.Abs(offset) + 100
		if math.Abs(all.N-weight) > 1e-12*weight || math.Abs(all.Mean-mean) > 1e-14*size || math.Abs(all.M2-m2) > 1e-9*m2+1e-13*weight*size*1000 {
			t.Fatalf("%+v, want %v %v %v", all, weight, mean, m2)
		}
		if !all.Valid() {
			t.Fatalf("%+v is not valid", all)
		}
	})
}

// Equal numbers deviate by nothing at all.
func TestConstant(t *testing.T) {
	var a, b Moment
	for range 1000 {
		a.Add(0.1, 0.3)
		b.Add(0.1, 1)
	}
	if all := Join(a, b); all.M2 != 0 || all.Mean != 0.1 {
		t.Errorf("%+v, want mean 0.1 and no deviation", all)
	}
}

func TestLevels(t *testing.T) {
	for x, want := range map[float64]Level{
		0: Tiny, 1e-300: Tiny, -1e-61: Tiny, 1e-60: Plain, -1: Plain, 1e120: Plain, 1e121: Huge, -math.MaxFloat64: Huge,
	} {
		if got := LevelOf(x); got != want {
			t.Errorf("LevelOf(%v) = %v, want %v", x, got, want)
		}
		if got := LevelOf(x); math.Abs(x)*got.Scale() >= 0x1p424 {
			t.Errorf("%v is %v in its level's unit", x, x*got.Scale())
		}
	}
	if !math.IsInf(Huge.Limit(), 1) {
		t.Error("there is a number above the highest level")
	}

	// The squares of these overflow, and those of tiny numbers vanish.
	var huge, tiny Moment
	for _, x := range []float64{1e300, -1e300, 3e300} {
		huge.Add(x*Huge.Scale(), 1)
		tiny.Add(x*1e-200*1e-200*1e-200*Tiny.Scale(), 1)
	}
	for what, deviation := range map[string]float64{
		"huge": math.Sqrt(huge.Variance()) / Huge.Scale() / 1e300,
		"tiny": math.Sqrt(tiny.Variance()) / Tiny.Scale() / 1e-300,
	} {
		if math.Abs(deviation-math.Sqrt(8.0/3)) > 1e-12 {
			t.Errorf("%s: deviation %v, want √(8/3)", what, deviation)
		}
	}
	moved := Moment{N: 2, Mean: 0x1p100, M2: 0x1p700}.Move(Tiny, Plain)
	if want := (Moment{N: 2, Mean: 0x1p-500, M2: 0x1p-500}); moved != want {
		t.Errorf("moved to %+v, want %+v", moved, want)
	}
	if twice := moved.Move(Plain, Plain); twice != moved {
		t.Error("moving to the same level changes moments")
	}
}

func TestValid(t *testing.T) {
	for _, m := range []Moment{
		{N: -1}, {N: math.NaN()}, {N: 1e31}, {N: 1, M2: -1}, {N: 1, M2: math.NaN()}, {N: 1, M2: math.Inf(1)},
		{N: 1, Mean: math.NaN()}, {N: 1, Mean: math.Inf(-1)}, {Mean: 1}, {M2: 1},
	} {
		if m.Valid() {
			t.Errorf("%+v is valid", m)
		}
	}
	if !(Moment{}).Valid() || (Moment{}).Variance() != 0 {
		t.Error("the empty sample is not valid, or varies")
	}
}
