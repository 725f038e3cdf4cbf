package pac

// Small classes, written out.

// written returns the class of the concepts 0 to n−1, of which has says which
// points they have.
func written(points, n int, has func(concept, point int) bool) *Concepts {
	sets := make([]uint64, n)
	for h := range sets {
		for p := range points {
			if has(h, p) {
				sets[h] |= 1 << p
			}
		}
	}
	c, err := NewConcepts(points, sets)
	if err != nil { // the callers' sizes are small
		return &Concepts{points: 0, sets: []uint64{0}}
	}
	return c
}

// PowerSet is every set of some points, at most 12 of them.
func PowerSet(points int) *Concepts {
	points = min(points, 12)
	return written(points, 1<<points, func(h, p int) bool { return h>>p&1 == 1 })
}

// Thresholds are the points from one on, or none.
func Thresholds(points int) *Concepts {
	return written(points, points+1, func(h, p int) bool { return p >= h })
}

// Singletons are single points.
func Singletons(points int) *Concepts {
	return written(points, points, func(h, p int) bool { return h == p })
}

// IntervalsOn are runs of points on a line, the empty one included.
func IntervalsOn(points int) *Concepts {
	ends := points + 1
	return written(points, ends*ends, func(h, p int) bool { return h/ends <= p && p < h%ends })
}

// RectanglesOn are the rectangles on a square grid of at most 8 by 8 points,
// the empty one included.
func RectanglesOn(side int) *Concepts {
	side = min(side, 8)
	return written(side*side, side*side*side*side, func(h, p int) bool {
		x, y := p%side, p/side
		left, right, bottom, top := h%side, h/side%side, h/side/side%side, h/side/side/side
		return left <= x && x <= right && bottom <= y && y <= top
	})
}

// ConjunctionsOf are the conjunctions of literals over at most 6 Boolean
// columns, the points being all rows. Each asks of a column that it is 0, that
// it is 1, or nothing.
func ConjunctionsOf(columns int) *Concepts {
	columns = min(columns, 6)
	n := 1
	for range columns {
		n *= 3
	}
	return written(1<<columns, n, func(h, p int) bool {
		for i := range columns {
			if want := h % 3; want != 2 && want != p>>i&1 {
				return false
			}
			h /= 3
		}
		return true
	})
}
