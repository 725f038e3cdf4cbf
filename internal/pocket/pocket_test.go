package pocket

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// imbalance is E = m⁺/N⁺ + m⁻/N⁻.
var imbalance = Criterion{func(missedPos, pos, missedNeg, neg float64) float64 { return missedPos/pos + missedNeg/neg }, true}

// errors counts the rows that are wrong, and has no pace.
var errors = Criterion{func(missedPos, _, missedNeg, _ float64) float64 { return missedPos + missedNeg }, false}

// truthTable returns the problem of a Boolean function of some bits.
func truthTable(bits int, f func(pattern int) bool) *Problem {
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
	return New(width, x, positive, negative, weight)
}

func TestPocketSeparates(t *testing.T) {
	for name, p := range map[string]*Problem{
		"and":      truthTable(4, func(x int) bool { return x == 15 }),
		"or":       truthTable(4, func(x int) bool { return x != 0 }),
		"majority": truthTable(3, func(x int) bool { return x == 3 || x > 4 }),
	} {
		w, value := Train(p, imbalance, 2000, rand.New(rand.NewPCG(1, 2)))
		if value != 0 || w == nil {
			t.Errorf("%s: value %v", name, value)
		}
	}
	// No plane gets more than three of xor's four patterns right.
	_, value := Train(truthTable(2, func(x int) bool { return x == 1 || x == 2 }), imbalance, 2000, rand.New(rand.NewPCG(1, 2)))
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
		c := rapid.SampledFrom([]Criterion{imbalance, errors}).Draw(r, "criterion")
		if w, value := Train(p, c, 300, rand.New(rand.NewPCG(uint64(f), 1))); w != nil {
			if again, _ := p.judge(w, c, math.Inf(1)); again != value {
				r.Fatalf("value %v, but %v", value, again)
			}
		}
		w := p.Vertex()
		// The vertex alone lies farther out than all bits but one reach.
		best := math.Inf(1)
		for _, bias := range []float64{1 - float64(bits), float64(bits) - 1} {
			w[bits] = bias
			value, _ := p.judge(w, imbalance, math.Inf(1))
			best = min(best, value)
		}
		if !(best < 1) {
			r.Fatalf("a vertex cut is worth %v", best)
		}
	})
}

func TestDrawByWeight(t *testing.T) {
	p := New(1, []float64{1, 1, 1}, []int32{0, 1}, []int32{2}, []float64{1, 3, 5})
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
