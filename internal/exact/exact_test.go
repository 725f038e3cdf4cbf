package exact

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	var s Sum
	for _, x := range []float64{1e100, 0.1, -1e100, 0.2} {
		s = s.Add(x)
	}
	fmt.Println(s.Float64())
	// Output: 0.30000000000000004
}

// Numbers come in any order, some are taken out again, and the sum is the one
// number that is nearest to what is left.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e3, 1e3), rapid.Float64Range(-1e200, 1e200), rapid.Float64Range(-1e-200, 1e-200), rapid.Map(rapid.IntRange(-9, 9), func(i int) float64 { return float64(i) }))
		stay, go_ := rapid.SliceOfN(number, 0, 20).Draw(t, "stay"), rapid.SliceOfN(number, 0, 5).Draw(t, "go")
		var all []float64
		for _, x := range go_ {
			all = append(all, x, -x)
		}
		all = append(all, stay...)
		random := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "order")))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var s Sum
		for _, x := range all {
			s = s.Add(x)
		}
		want := new(big.Rat)
		for _, x := range stay {
			want.Add(want, new(big.Rat).SetFloat64(x))
		}
		if nearest, _ := want.Float64(); s.Float64() != nearest {
			t.Fatalf("%v is %v, expected %v", s, s.Float64(), nearest)
		}
		if got, _ := s.Big().Rat(nil); got.Cmp(want) != 0 {
			t.Fatalf("%v is %v, expected %v", s, got, want)
		}
		back, rest, ok := Cut(s.Flat(nil))
		if got, _ := back.Big().Rat(nil); !ok || len(rest) != 0 || got.Cmp(want) != 0 {
			t.Fatalf("%v came back as %v", s, back)
		}
	})
}

func TestProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64Range(-1e50, 1e50).Draw(t, "x"), rapid.Float64Range(-1e3, 1e3).Draw(t, "y")
		if p := x * y; x != 0 && y != 0 && p < 1e-250 && p > -1e-250 {
			return // its last digits cannot be written
		}
		got, _ := Sum(nil).AddProduct(x, y).Big().Rat(nil)
		want := new(big.Rat).Mul(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
		if got.Cmp(want) != 0 {
			t.Fatalf("%v · %v is %v", x, y, got)
		}
	})
}

func TestCutRefuses(t *testing.T) {
	for _, list := range [][]float64{nil, {-1}, {1}, {2, 1}, {1, 0}, {1e300}, {0.5, 0}} {
		if s, _, ok := Cut(list); ok {
			t.Errorf("%v is read as %v", list, s)
		}
	}
}
