package kept

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// Numbers have the same hashes with vector instructions and without: what is
// kept stands in the same order everywhere.
func TestHashNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 31))
	for _, n := range []int{0, 1, 3, 4, 7, 64, 1001} {
		xs, got, want := make([]float64, n), make([]uint64, n), make([]uint64, n)
		for i := range xs {
			switch i % 7 {
			case 0:
				xs[i] = math.Copysign(0, -1)
			case 3:
				xs[i] = table.NA
			case 5:
				xs[i] = math.Float64frombits(random.Uint64())
			default:
				xs[i] = random.NormFloat64()
			}
			got[i] = random.Uint64()
		}
		copy(want, got)
		salt := random.Uint64()
		hashNumbers(got, xs, salt)
		for i, x := range xs {
			if !table.IsMissing(x) {
				want[i] += scramble(salt ^ math.Float64bits(x+0))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d numbers: %x, want %x", n, got, want)
		}
	}
}

func BenchmarkHashNumbers(b *testing.B) {
	hashes, xs := make([]uint64, 4096), make([]float64, 4096)
	for i := range xs {
		xs[i] = float64(i)
	}
	b.SetBytes(int64(8 * len(xs)))
	b.ReportAllocs()
	for b.Loop() {
		hashNumbers(hashes, xs, 7)
	}
}
