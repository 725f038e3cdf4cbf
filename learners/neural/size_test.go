package neural

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Weights that go by their size are the smallest: none that is left is smaller
// than one that was dropped.
func TestPruneBySize(t *testing.T) {
	net := newDense(4, []int{6}, 3, activations["relu"], rand.New(rand.NewPCG(1, 2)))
	mask, before := net.mask(), net.sizes()
	net.drop(mask, net.sizes(), .5)
	left, gone, dropped := math.Inf(1), 0.0, 0
	for i := range net.layers {
		for k, size := range before[i] {
			switch {
			case size == 0:
			case mask[i][k] > 0:
				left = min(left, size)
			default:
				gone = max(gone, size)
				dropped++
			}
		}
	}
	if dropped != (4*6+6*3)/2 || gone > left {
		t.Errorf("%d weights dropped, the largest of %v; the smallest that is left is %v", dropped, gone, left)
	}
}
