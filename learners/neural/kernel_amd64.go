package neural

import "golang.org/x/sys/cpu"

// vectors and fused say whether the processor has the instructions of the
// functions below.
var (
	vectors = cpu.X86.HasAVX
	fused   = cpu.X86.HasAVX && cpu.X86.HasFMA
)

// multiplyVector is multiply with a row of the tile in each register. It
// multiplies and adds in separate steps and so rounds as multiplyPlain does.
// n is at least 1.
//
//go:noescape
func multiplyVector(n int, a *float32, row, step int, b *float32, stride int, c *tile)

// moveVector is adamSizes.move, rounding as it does.
//
//go:noescape
func moveVector(w, gradient, first, second *[side]float32, s *adamSizes)

// multiplyFused is multiplyDouble with four columns of the tile in each register,
// the left half first. n is at least 1.
//
//go:noescape
func multiplyFused(n int, a *float64, row int, b *float32, stride int, c *[side * side]float64)
