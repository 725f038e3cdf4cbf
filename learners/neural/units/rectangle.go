package units

// Rectangle is a hypothesis about points of a plane: inside or not. Its edges
// are soft, steeper for a greater Steepness, so that they can be moved by
// gradient descent (Mitchell 1997, exercise 4.12).
type Rectangle struct {
	Left, Low, Right, High float64
	Steepness              float64
}

// Inside returns how much a point lies inside, from 0 to 1: the product of a
// sigmoid for each edge.
func (r *Rectangle) Inside(x, y float64) float64 {
	s := r.sides(x, y)
	return s[0] * s[1] * s[2] * s[3]
}

// sides returns how much a point lies on the inner side of each edge.
func (r *Rectangle) sides(x, y float64) [4]float64 {
	k := r.Steepness
	return [4]float64{
		Sigmoid.At(k * (x - r.Left)), Sigmoid.At(k * (y - r.Low)),
		Sigmoid.At(k * (r.Right - x)), Sigmoid.At(k * (r.High - y)),
	}
}

// Gradient returns half the squared error over points, each with the target 1
// inside and 0 outside, and its derivatives by Left, Low, Right and High.
func (r *Rectangle) Gradient(points [][2]float64, targets []float64) (e float64, gradient [4]float64) {
	for i, p := range points {
		s := r.sides(p[0], p[1])
		o := s[0] * s[1] * s[2] * s[3]
		difference := o - targets[i]
		e += difference * difference / 2
		for edge, outward := range [4]float64{-1, -1, 1, 1} { // moved outwards, more is inside
			gradient[edge] += difference * outward * r.Steepness * (1 - s[edge]) * o
		}
	}
	return e, gradient
}

// Train moves the edges down the error for some steps, and returns the error
// before the last one.
func (r *Rectangle) Train(points [][2]float64, targets []float64, rate Schedule, steps int) float64 {
	last := 0.0
	for i := range steps {
		e, g := r.Gradient(points, targets)
		last = e
		for edge, at := range [4]*float64{&r.Left, &r.Low, &r.Right, &r.High} {
			*at -= rate(i+1) * g[edge]
		}
	}
	return last
}
