package radix

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleSort() {
	heights := []float64{1.5, -2, 0, 1.5}
	keys := make([]uint64, len(heights))
	rows := make([]int32, len(heights))
	for i, x := range heights {
		keys[i], rows[i] = Key(x), int32(i)
	}
	Sort(keys, rows)
	fmt.Println(rows)
	// Output: [1 2 0 3]
}

// The sort agrees with a stable comparison sort, whatever the keys.
func TestSortIsStable(t *testing.T) {
	var room Room[int32]
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 9), rapid.Uint64Range(0, 1<<20))).Draw(t, "keys")
		rows := make([]int32, len(keys))
		want := make([]int32, len(keys))
		for i := range rows {
			rows[i], want[i] = int32(i), int32(i)
		}
		sorted := slices.Clone(keys)
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
		room.Sort(sorted, rows)
		if !slices.Equal(rows, want) || !slices.IsSorted(sorted) {
			t.Fatalf("keys %v: rows %v, want %v", keys, rows, want)
		}
	})
}

func TestKeyOrdersAsNumbersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}))
		x, y := number.Draw(t, "x"), number.Draw(t, "y")
		if got, want := cmp.Compare(Key(x), Key(y)), cmp.Compare(x, y); got != want {
			t.Fatalf("%v against %v: keys say %d, numbers %d", x, y, got, want)
		}
	})
}

func BenchmarkSort(b *testing.B) {
	const n = 1 << 20
	random := rand.New(rand.NewPCG(1, 2))
	keys, rows, work := make([]uint64, n), make([]int32, n), make([]uint64, n)
	for i := range keys {
		keys[i] = Key(random.NormFloat64())
	}
	var room Room[int32]
	b.ReportAllocs()
	b.SetBytes(8 * n)
	for b.Loop() {
		copy(work, keys)
		room.Sort(work, rows)
	}
}
