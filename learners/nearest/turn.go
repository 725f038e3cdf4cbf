package nearest

import (
	"math"
	"slices"
)

// A space is turned so that its first dimensions have most of the spread: what
// is far is then far in those already. Turning leaves all distances as they are,
// so any turn is right; a good one is that of the principal axes (Hotelling
// 1933) of some of the cases.
const (
	mostTurned = 160  // dimensions; of more, turning takes too long
	turnSample = 1500 // cases
	head       = 2 * lanes
)

// wideOf returns how many numbers an axis has with the zeros behind it.
func wideOf(dims int) int { return (dims + 3) / 4 * 4 }

// axes returns the principal axes of a space, row by row, the widest first, with
// zeros behind each; nil if it is better left as it is.
func (s *space) axes() []float64 {
	n, count := s.dims, s.count
	if n <= head || n > mostTurned || count < 8*n {
		return nil
	}
	sample := min(count, turnSample)
	mean := make([]float64, n)
	at := func(i int) []float32 { return s.points[i*count/sample*s.stride:][:n] }
	for i := range sample {
		for d, x := range at(i) {
			mean[d] += float64(x) / float64(sample)
		}
	}
	a := make([]float64, n*n)
	e := make([]float64, n)
	for i := range sample {
		for d, x := range at(i) {
			e[d] = float64(x) - mean[d]
		}
		for d, x := range e {
			row := a[d*n : d*n+d+1]
			for j := range row {
				row[j] += float64(x * e[j])
			}
		}
	}
	for d := range n {
		for j := range d {
			a[j*n+d] = a[d*n+j]
		}
	}
	vectors := jacobi(a, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if a[i*n+i] > a[j*n+j] {
			return -1
		}
		return 1
	})
	wide := wideOf(n)
	sorted := make([]float64, n*wide)
	for to, from := range order {
		copy(sorted[to*wide:to*wide+n], vectors[from*n:(from+1)*n])
	}
	for _, x := range sorted {
		if x != x {
			return nil
		}
	}
	return sorted
}

// jacobi makes a symmetric matrix diagonal by rotations in the plane (Jacobi
// 1846), and returns the axes row by row.
func jacobi(a []float64, n int) []float64 {
	v := make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 12 {
		off, on := 0.0, 0.0
		for i := range n {
			for j := range i {
				off += a[i*n+j] * a[i*n+j]
			}
			on += a[i*n+i] * a[i*n+i]
		}
		if !(off > 1e-8*on) {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				theta := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
				c := 1 / math.Sqrt(float64(t*t)+1)
				rotate(a, v, n, p, q, c, t*c)
			}
		}
	}
	return v
}

func rotate(a, v []float64, n, p, q int, c, s float64) {
	for k := range n {
		x, y := a[k*n+p], a[k*n+q]
		a[k*n+p], a[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
	for k := range n {
		x, y := a[p*n+k], a[q*n+k]
		a[p*n+k], a[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
		x, y = v[p*n+k], v[q*n+k]
		v[p*n+k], v[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
}

// turned writes a point in the coordinates of the axes, with room for it in long
// numbers. The two do not overlap.
func (s *space) turned(p, out []float32, room []float64) {
	for i := range s.dims {
		room[i] = float64(p[i])
	}
	turn(s.turn, room[:wideOf(s.dims)], out[:s.dims])
}
