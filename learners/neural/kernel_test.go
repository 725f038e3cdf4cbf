package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// The kernels give the same bits as the sums written out, whichever way the
// operands stand.
func TestMultiply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		stride := strideOf(rapid.IntRange(1, 40).Draw(t, "columns"))
		row, step := n+rapid.IntRange(0, 5).Draw(t, "gap"), 1
		size := side*row + 1
		if rapid.Bool().Draw(t, "transposed") {
			row, step = 1, strideOf(rapid.IntRange(1, 40).Draw(t, "rows"))
			size = n*step + side
		}
		a, b := make([]float32, size), make([]float32, (n+1)*stride)
		for i := range a {
			a[i] = float32(random.NormFloat64())
		}
		for i := range b {
			b[i] = float32(random.NormFloat64())
		}
		var c, plain tile
		multiply(n, a, row, step, b, stride, &c)
		if n > 0 {
			multiplyPlain(n, a, row, step, b, stride, &plain)
		}
		for i := range side {
			for j := range side {
				var want float32
				for k := range n {
					want += float32(a[i*row+k*step] * b[k*stride+j])
				}
				if got := c[i*side+j]; got != want || plain[i*side+j] != want {
					t.Fatalf("element %d,%d is %v (plain: %v), want %v", i, j, got, plain[i*side+j], want)
				}
			}
		}
	})
}

// Sums in double precision are the same bits with and without vector instructions.
func TestMultiplyDouble(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 2, 7, 65} {
		row, stride := n+n%3, strideOf(n)
		a, b := make([]float64, side*row), make([]float32, n*stride)
		for i := range a {
			a[i] = random.NormFloat64()
		}
		for i := range b {
			b[i] = float32(random.NormFloat64())
		}
		var c [side * side]float64
		multiplyDouble(n, a, row, b, stride, &c)
		for i := range c {
			want := 0.0
			for k := range n {
				want = math.FMA(a[i/side*row+k], float64(b[k*stride+i%side]), want)
			}
			if c[i] != want {
				t.Fatalf("element %d of sums of %d is %v, want %v", i, n, c[i], want)
			}
		}
	}
}

func TestStrides(t *testing.T) {
	for n := range 200 {
		if s := strideOf(n); s < n || s%side != 0 || s/side%2 == 0 || s > n+2*side {
			t.Errorf("stride of %d floats is %d", n, s)
		}
	}
}

// BenchmarkMultiply is the first layer of 784 inputs and 100 units on a batch
// of 128, next to the library's single precision product on one core.
func BenchmarkMultiply(b *testing.B) {
	const rows, inputs, units = 128, 784, 100
	random := rand.New(rand.NewPCG(1, 1))
	layer := newLayer(inputs, units, random, 1)
	ld := strideOf(inputs)
	x := make([]float32, rows*ld)
	for i := range x {
		x[i] = random.Float32()
	}
	out := make([]float32, rows*layer.stride)
	rate := func(b *testing.B) {
		b.ReportMetric(2*rows*inputs*units*float64(b.N)/b.Elapsed().Seconds()/1e9, "gflops")
	}
	for _, v := range []bool{true, false} {
		b.Run(fmt.Sprintf("vectors=%v", v && vectors), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if v {
					layer.apply(x, ld, rows, out)
					continue
				}
				var c tile
				for i := 0; i < rows; i += side {
					for j := 0; j < units; j += side {
						multiplyPlain(inputs, x[i*ld:], ld, 1, layer.w[j:], layer.stride, &c)
					}
				}
			}
			rate(b)
		})
	}
	b.Run("gonum", func(b *testing.B) {
		m := blas32.General{Rows: rows, Cols: inputs, Stride: ld, Data: x}
		w := blas32.General{Rows: inputs, Cols: units, Stride: layer.stride, Data: layer.w}
		c := blas32.General{Rows: rows, Cols: units, Stride: layer.stride, Data: out}
		for range b.N {
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, m, w, 0, c)
		}
		rate(b)
	})
}
