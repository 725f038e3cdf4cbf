package moment

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Samples of any size come in any order, some are taken out again: the total is
// the same to the bit, and that of all numbers that are left.
func TestTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 1e6, -1e9}).Draw(t, "offset")
		sample := rapid.Custom(func(t *rapid.T) Moment {
			var m Moment
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				m.Add(offset+rapid.Float64Range(-100, 100).Draw(t, "x"), rapid.SampledFrom([]float64{0, 0.1, 1, 3}).Draw(t, "w"))
			}
			return m
		})
		type step struct {
			m    Moment
			sign float64
		}
		var steps []step
		var sequential Moment
		for _, m := range rapid.SliceOfN(sample, 1, 6).Draw(t, "stay") {
			steps = append(steps, step{m, 1})
			sequential = Join(sequential, m)
		}
		var inOrder Total
		for _, s := range steps {
			inOrder.Add(s.m, Plain, 1)
		}
		for _, m := range rapid.SliceOfN(sample, 0, 3).Draw(t, "go") {
			steps = append(steps, step{m, 1}, step{m, -1})
		}
		random := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "order")))
		random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		var total Total
		for _, s := range steps {
			total.Add(s.m, Plain, s.sign)
		}
		got := total.Moment(Plain)
		if want := inOrder.Moment(Plain); got != want {
			t.Fatalf("%+v, in another order %+v", got, want)
		}
		size := math.Abs(offset) + 100
		if math.Abs(got.N-sequential.N) > 1e-12*got.N || math.Abs(got.Mean-sequential.Mean) > 1e-13*size || math.Abs(got.M2-sequential.M2) > 1e-9*got.M2+1e-12*got.N*size*1000 {
			t.Fatalf("%+v, one after the other %+v", got, sequential)
		}
		back, rest, ok := CutTotal(total.Flat(nil))
		if !ok || len(rest) > 0 || back.Moment(Plain) != got {
			t.Fatalf("%+v came back as %+v", got, back.Moment(Plain))
		}
	})
}

// One sample is what it is, and equal numbers deviate by nothing at all.
func TestTotalOfOne(t *testing.T) {
	m := Moment{N: 7, Mean: 0.1, M2: 0.3}
	var total Total
	total.Add(m, Plain, 1)
	if got := total.Moment(Plain); got != m {
		t.Errorf("%+v, expected %+v", got, m)
	}
	var equal Total
	for _, n := range []float64{1, 0.3, 1e9, 7} {
		equal.Add(Moment{N: n, Mean: 0.1}, Plain, 1)
	}
	if got := equal.Moment(Plain); got.M2 != 0 || got.Mean != 0.1 {
		t.Errorf("%+v, expected mean 0.1 and no deviation", got)
	}
	if none := new(Total).Moment(Huge); none != (Moment{}) {
		t.Errorf("nothing is %+v", none)
	}
}

// Numbers of very different sizes do not depend on their order either.
func TestTotalOfLevels(t *testing.T) {
	all := []struct {
		m Moment
		l Level
	}{{Moment{3, 0x1p300, 5}, Tiny}, {Moment{2, 1, 0.5}, Plain}, {Moment{1, 0x1p-100, 0}, Huge}}
	var a, b, c Total
	for i := range all {
		a.Add(all[i].m, all[i].l, 1)
		b.Add(all[2-i].m, all[2-i].l, 1)
		var one Total
		one.Add(all[(i+1)%3].m, all[(i+1)%3].l, 1)
		c.Join(&one)
	}
	if a.Level() != Huge || a.Moment(Huge) != b.Moment(Huge) || c.Moment(Huge) != b.Moment(Huge) {
		t.Errorf("%+v, %+v, %+v", a.Moment(Huge), b.Moment(Huge), c.Moment(Huge))
	}
}

// Moments that no sample has, as a damaged file may claim, do not overflow.
func TestTotalOfImpossible(t *testing.T) {
	var total Total
	for range 3 {
		total.Add(Moment{MaxWeight, 0x1p423, math.MaxFloat64}, Plain, 1)
		total.Add(Moment{MaxWeight, -0x1p423, math.MaxFloat64}, Huge, 1)
	}
	if m := total.Moment(Huge); math.IsNaN(m.Mean) || math.IsInf(m.M2, 0) || math.IsNaN(m.M2) {
		t.Errorf("%+v", m)
	}
	if _, _, ok := CutTotal([]float64{0, 1, 1, 1, 1, 2, 0x1p1023, 0x1p1023, 0}); ok {
		t.Error("a sum that overflows is read")
	}
}
