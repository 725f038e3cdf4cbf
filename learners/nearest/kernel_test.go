package nearest

import (
	"math/rand/v2"
	"testing"
)

// Vector instructions and plain Go give the same bits.
func TestKernels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for stride := lanes; stride <= 9*lanes; stride += lanes {
		const rows = 13
		cells := make([]float32, (rows+3)*stride)
		for i := range cells {
			cells[i] = float32(random.NormFloat64())
		}
		asked, box, points := cells[:stride], cells[stride:3*stride], cells[3*stride:]
		at := []int32{3, 0, 12, 3}
		out, some := make([]float32, rows), make([]float32, len(at))
		squares(asked, points, out)
		squaresAt(asked, points, at, some)
		for i := range out {
			if want := squarePlain(asked, points[i*stride:(i+1)*stride]); out[i] != want || square(asked, points[i*stride:(i+1)*stride]) != want {
				t.Fatalf("stride %d, row %d: %v, want %v", stride, i, out[i], want)
			}
		}
		for i, r := range at {
			if some[i] != out[r] {
				t.Fatalf("stride %d, row %d at %d: %v, want %v", stride, r, i, some[i], out[r])
			}
		}
		axes, p := make([]float64, 5*stride), make([]float64, stride)
		for i := range axes {
			axes[i], p[i%stride] = random.NormFloat64(), random.NormFloat64()
		}
		turn(axes, p, out[:5])
		for d := range 5 {
			if want := turnPlain(axes[d*stride:(d+1)*stride], p); out[d] != want {
				t.Fatalf("stride %d, axis %d: %v, want %v", stride, d, out[d], want)
			}
		}
		var sums [lanes]float32
		for d, q := range asked {
			e := max(box[d]-q, q-box[stride+d], 0)
			sums[d%lanes] += float32(e * e)
		}
		if got := outside(asked, box); got != added(&sums) {
			t.Fatalf("stride %d: outside %v, want %v", stride, got, added(&sums))
		}
	}
}
