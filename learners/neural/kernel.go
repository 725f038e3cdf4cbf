package neural

import "math"

// Matrices are multiplied tile by tile: side rows of one operand by side
// columns of the other, whose products add up in registers. Matrices stand
// row by row; rows are padded with zeros to a stride that suits tiles and
// caches, and the number of rows that a tile reads to a multiple of side.
//
// An element's products are added in the order of the rows that are summed
// over, whatever tile or core it falls to: results are the same bits for any
// number of cores, any company of rows, with or without vector instructions.
const side = 8

// padded rounds a number of rows up to whole tiles.
func padded(n int) int { return (n + side - 1) / side * side }

// strideOf returns the room for a row of n floats: an odd number of tiles, so
// that the rows of a matrix do not all fall on the same few cache lines.
func strideOf(n int) int { return max(padded(n), side)/side/2*2*side + side }

// tile is side rows of side floats.
type tile [side * side]float32

// multiply sets c[i][j] to the sum over k < n of a[i·row + k·step]·b[k·stride + j].
// With row and step exchanged it multiplies the transpose of a.
func multiply(n int, a []float32, row, step int, b []float32, stride int, c *tile) {
	if n <= 0 {
		*c = tile{}
		return
	}
	// The last elements that are read: no kernel reads beyond them.
	_, _ = a[(side-1)*row+(n-1)*step], b[(n-1)*stride+side-1]
	if vectors {
		multiplyVector(n, &a[0], row, step, &b[0], stride, c)
		return
	}
	multiplyPlain(n, a, row, step, b, stride, c)
}

// multiplyPlain is multiply in plain Go: blocks of two rows by four columns,
// as many sums as registers hold. The conversions keep compilers from fusing
// a product with its sum, which would round differently on some machines.
func multiplyPlain(n int, a []float32, row, step int, b []float32, stride int, c *tile) {
	for i := 0; i < side; i += 2 {
		x, y := a[i*row:], a[(i+1)*row:]
		for j := 0; j < side; j += 4 {
			var s0, s1, s2, s3, t0, t1, t2, t3 float32
			for k := range n {
				w := b[k*stride+j:][:4:4]
				u, v := x[k*step], y[k*step]
				s0 += float32(u * w[0])
				s1 += float32(u * w[1])
				s2 += float32(u * w[2])
				s3 += float32(u * w[3])
				t0 += float32(v * w[0])
				t1 += float32(v * w[1])
				t2 += float32(v * w[2])
				t3 += float32(v * w[3])
			}
			s, t := c[i*side+j:][:4:4], c[(i+1)*side+j:][:4:4]
			s[0], s[1], s[2], s[3] = s0, s1, s2, s3
			t[0], t[1], t[2], t[3] = t0, t1, t2, t3
		}
	}
}

// multiplyDouble sets c[i][j] to the sum over k < n of a[i·row + k]·b[k·stride + j],
// the sums in double precision and each product added to its sum without being
// rounded first: what answers are computed with, from weights as they are kept.
func multiplyDouble(n int, a []float64, row int, b []float32, stride int, c *[side * side]float64) {
	_, _ = a[(side-1)*row+n-1], b[(n-1)*stride+side-1] // n is at least 1
	if fused {
		multiplyFused(n, &a[0], row, &b[0], stride, c)
		return
	}
	for i := range side {
		x := a[i*row:][:n]
		for j := 0; j < side; j += 4 {
			var s0, s1, s2, s3 float64
			for k, u := range x {
				w := b[k*stride+j:][:4:4]
				s0 = math.FMA(u, float64(w[0]), s0)
				s1 = math.FMA(u, float64(w[1]), s1)
				s2 = math.FMA(u, float64(w[2]), s2)
				s3 = math.FMA(u, float64(w[3]), s3)
			}
			s := c[i*side+j:][:4:4]
			s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		}
	}
}
