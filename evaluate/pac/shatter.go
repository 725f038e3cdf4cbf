package pac

import (
	"math"
	"slices"
)

// What classes of infinitely many concepts shatter is shown by looking at
// every way of dividing some points into two (section 7.4).

// Shattered reports whether a class can divide points in every way. Can says
// whether some concept has exactly the points whose bit is set.
func Shattered(points int, can func(positive uint64) bool) bool {
	for labels := range uint64(1) << points {
		if !can(labels) {
			return false
		}
	}
	return true
}

// ByInterval reports whether an interval has the positive ones of some numbers
// and no other.
func ByInterval(numbers []float64, positive uint64) bool {
	points := make([][]float64, len(numbers))
	for i, x := range numbers {
		points[i] = []float64{x}
	}
	return ByBox(points, positive)
}

// ByBox does so for boxes with sides along the axes: the tightest one around
// the positive points is the one to try.
func ByBox(points [][]float64, positive uint64) bool {
	var low, high []float64
	for i, p := range points {
		if positive>>i&1 == 0 {
			continue
		}
		if low == nil {
			low, high = slices.Clone(p), slices.Clone(p)
		}
		for j, x := range p {
			low[j], high[j] = min(low[j], x), max(high[j], x)
		}
	}
	for i, p := range points {
		inside := low != nil
		for j, x := range p {
			inside = inside && low[j] <= x && x <= high[j]
		}
		if inside && positive>>i&1 == 0 {
			return false
		}
	}
	return true
}

// ByHalfSpace does so for the half-spaces of a perceptron.
func ByHalfSpace(points [][]float64, positive uint64) bool {
	var constraints [][]float64
	for i, p := range points {
		c := append(slices.Clone(p), 1, -1) // w·p + w₀ ≥ 1
		if positive>>i&1 == 0 {
			for j := range len(p) + 1 {
				c[j] = -c[j]
			}
		}
		constraints = append(constraints, c)
	}
	return feasible(constraints)
}

// ByDisc does so for discs: x² + y² + ax + by + c is at most 0 inside.
func ByDisc(points [][]float64, positive uint64) bool {
	const margin = 1e-9
	var constraints [][]float64
	for i, p := range points {
		square := p[0]*p[0] + p[1]*p[1]
		if positive>>i&1 == 1 {
			constraints = append(constraints, []float64{-p[0], -p[1], -1, -square})
		} else {
			constraints = append(constraints, []float64{p[0], p[1], 1, square - margin})
		}
	}
	return feasible(constraints)
}

// ByTriangle does so for triangles and points on a circle, in order: each run
// of negative ones is cut off by a side, and three sides are all there are.
func ByTriangle(points [][]float64, positive uint64) bool {
	n := len(points)
	is := func(i int) bool { return positive>>((i+n)%n)&1 == 1 }
	if positive == 0 {
		return true // a triangle elsewhere
	}
	var normals [][]float64
	for i := range n {
		if is(i) || !is(i-1) {
			continue
		}
		last := i // of the run
		for !is(last + 1) {
			last++
		}
		// A line between the run and its neighbours, parallel to the chord
		// of the run's ends, keeps them apart.
		var run uint64
		for j := i; j <= last; j++ {
			run |= 1 << (j % n)
		}
		if !ByHalfSpace(points, run) {
			return false
		}
		middle := math.Atan2(points[i][1]+points[last%n][1], points[i][0]+points[last%n][0])
		normals = append(normals, []float64{math.Cos(middle), math.Sin(middle)})
	}
	return len(normals) <= 3 && (len(normals) < 3 || bounded(normals))
}

// bounded reports whether three sides with these normals close: no half-plane
// holds all normals.
func bounded(normals [][]float64) bool {
	angles := make([]float64, len(normals))
	for i, v := range normals {
		angles[i] = math.Atan2(v[1], v[0])
	}
	slices.Sort(angles)
	widest := angles[0] + 2*math.Pi - angles[len(angles)-1]
	for i := 1; i < len(angles); i++ {
		widest = max(widest, angles[i]-angles[i-1])
	}
	return widest < math.Pi
}

// OnCircle returns n points evenly spread on a circle, none at a round angle.
func OnCircle(n int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		angle := 0.1 + 2*math.Pi*float64(i)/float64(n)
		points[i] = []float64{math.Cos(angle), math.Sin(angle)}
	}
	return points
}

// feasible reports whether numbers x exist with a·x + b ≥ 0 for every
// constraint (a, b), by eliminating one of them after the other (Fourier 1826,
// Motzkin 1936).
func feasible(constraints [][]float64) bool {
	if len(constraints) == 0 {
		return true
	}
	const zero = 1e-12
	for variables := len(constraints[0]) - 1; variables > 0; variables-- {
		var next, above, below [][]float64
		for _, c := range constraints {
			switch rest := slices.Concat(c[1:]); {
			case c[0] > zero:
				above = append(above, scaled(rest, 1/c[0]))
			case c[0] < -zero:
				below = append(below, scaled(rest, -1/c[0]))
			default:
				next = append(next, rest)
			}
		}
		for _, a := range above {
			for _, b := range below {
				sum := slices.Clone(a)
				for i := range sum {
					sum[i] += b[i]
				}
				next = append(next, sum)
			}
		}
		constraints = next
	}
	return !slices.ContainsFunc(constraints, func(c []float64) bool { return c[0] < -zero })
}

func scaled(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}
