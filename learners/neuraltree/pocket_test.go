package neuraltree

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// truthTable returns the problem of a Boolean function of some bits.
func truthTable(bits int, f func(pattern int) bool) *problem {
	width := bits + 1
	var x, weight []float64
	var positive, negative []int32
	for pattern := range 1 << bits {
		for j := range bits {
			x = append(x, float64(2*(pattern>>j&1)-1))
		}
		x = append(x, 1)
		weight = append(weight, 1)
		if f(pattern) {
			positive = append(positive, int32(pattern))
		} else {
			negative = append(negative, int32(pattern))
		}
	}
	return newProblem(width, x, positive, negative, weight)
}

func TestPocketSeparates(t *testing.T) {
	for name, p := range map[string]*problem{
		"and":      truthTable(4, func(x int) bool { return x == 15 }),
		"or":       truthTable(4, func(x int) bool { return x != 0 }),
		"majority": truthTable(3, func(x int) bool { return x == 3 || x > 4 }),
	} {
		w, value := pocket(p, criteria["error"], 2000, rand.New(rand.NewPCG(1, 2)))
		if value != 0 || w == nil {
			t.Errorf("%s: value %v", name, value)
		}
	}
	// No plane gets more than three of xor's four patterns right.
	_, value := pocket(truthTable(2, func(x int) bool { return x == 1 || x == 2 }), criteria["error"], 2000, rand.New(rand.NewPCG(1, 2)))
	if value != 0.5 {
		t.Errorf("xor: value %v, expected ½", value)
	}
}

// The pocket holds weights that are worth what it says, rows of greater weight
// are drawn more often, and a vertex cut makes progress on any function.
func TestPocketIsTrue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bits := rapid.IntRange(2, 5).Draw(r, "bits")
		f := rapid.Uint32Range(1, 1<<(1<<bits)-2).Draw(r, "function")
		p := truthTable(bits, func(x int) bool { return f>>x&1 == 1 })
		name := rapid.SampledFrom([]string{"error", "entropy", "cluster"}).Draw(r, "criterion")
		c := criteria[name]
		if w, value := pocket(p, c, 300, rand.New(rand.NewPCG(uint64(f), 1))); w != nil {
			if again, _ := p.judge(w, c, math.Inf(1)); again != value {
				r.Fatalf("value %v, but %v", value, again)
			}
		}
		w := p.vertex()
		// The vertex alone lies farther out than all bits but one reach.
		best := math.Inf(1)
		for _, bias := range []float64{1 - float64(bits), float64(bits) - 1} {
			w[bits] = bias
			value, _ := p.judge(w, criteria["error"], math.Inf(1))
			best = min(best, value)
		}
		if !(best < 1) {
			r.Fatalf("a vertex cut is worth %v", best)
		}
	})
}

func TestDrawByWeight(t *testing.T) {
	p := newProblem(1, []float64{1, 1, 1}, []int32{0, 1}, []int32{2}, []float64{1, 3, 5})
	random := rand.New(rand.NewPCG(1, 2))
	var count [3]int
	for range 4000 {
		count[p.draw(random, true)]++
	}
	// 1000 expected; the deviation is √(4000·¼·¾) = 27.
	if count[2] != 0 || math.Abs(float64(count[0])-1000) > 5*27 {
		t.Errorf("drawn %v times", count)
	}
	if p.draw(random, false) != 2 {
		t.Error("the negative row is not drawn")
	}
}

func TestBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][2]float64{{1, 2}, {-inf, 3}, {3, inf}, {-inf, inf}, {1, math.Nextafter(1, 2)}, {-1e300, 1e308}, {0, 5e-324}, {-0.3, 0.4}} {
		m, ok := between(c[0], c[1])
		if !ok || !(m >= c[0] && m < c[1]) || math.IsInf(m, 0) {
			t.Errorf("between %v and %v: %v, %v", c[0], c[1], m, ok)
		}
	}
	for _, c := range []struct{ a, b, want float64 }{{1.23456, 1.34567, 1.29}, {1, 3, 2}, {-1, 2, 0}} {
		if m, _ := between(c.a, c.b); m != c.want {
			t.Errorf("between %v and %v: %v, expected %v", c.a, c.b, m, c.want)
		}
	}
}
