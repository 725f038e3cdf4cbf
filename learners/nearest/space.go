package nearest

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
)

// space has the cases as points in short numbers, for vector instructions:
// numbers in the metric's units from their middle, a name as the point of its
// shares (or a corner of its own), so that no two points are farther from each
// other than the metric says, and complete ones exactly as far, but for rounding.
// What it rules out need not be looked at; what it does not is summed exactly.
type space struct {
	m      *metric
	from   int    // the first of its cases
	count  int    // of its cases
	root   *space // whose coordinates it has: its own, or another's
	dims   int    // in use
	stride int    // room for a row, whole lanes
	points []float32
	middle []float64   // of each number
	names  []spaceName // of each name column
	reach  float64     // the largest number of a point
	gaps   []bool      // cases that lack a number; nil: none does
	turn   []float64   // the axes of a space that was turned; nil: it was not
	heads  []float32   // the first dimensions of each point alone
}

// spaceName is where the values of a name column are.
type spaceName struct {
	at, width int       // dimensions; width 0: it has none
	points    []float32 // of each code, one behind the other
}

const (
	mostDims = 1024 // of a space; further names are left out
	mostNear = 1e18 // bounds coordinates, so that squares stay finite
)

func newSpace(m *metric) *space {
	s := spaceOf(m, 0, m.cases.count(), nil)
	if s.gaps == nil {
		if s.turn = s.axes(); s.turn != nil {
			s.turnAll()
		}
	}
	s.heads = headsOf(s.points, s.stride)
	return s
}

// turnAll turns all points.
func (s *space) turnAll() {
	_ = learn.Split(context.Background(), s.count, func(lo, hi int) {
		was, room := make([]float32, s.stride), make([]float64, wideOf(s.dims))
		for i := lo; i < hi; i++ {
			p := s.points[i*s.stride : (i+1)*s.stride]
			copy(was, p)
			s.turned(was, p, room)
		}
	})
}

// behind returns the space of a stretch of cases behind those of a space, in the
// same coordinates, so that a question need not be written twice; in its own
// where they lack numbers and those are turned.
func behind(base *space, m *metric, from, to int) *space {
	for i := from; i < to && base != nil; i++ {
		if base.turn != nil && !m.complete[i] {
			base = nil
		}
	}
	s := spaceOf(m, from, to, base)
	if base != nil && base.turn != nil {
		s.turn = base.turn
		s.turnAll()
	}
	s.heads = headsOf(s.points, s.stride)
	return s
}

// spaceOf returns the space of a stretch of cases, not turned and without heads, in
// the coordinates of another if one is given.
func spaceOf(m *metric, from, to int, like *space) *space {
	s := &space{m: m, from: from, count: to - from, dims: len(m.numbers)}
	if s.root = like; like != nil {
		s.middle, s.names, s.dims = like.middle, like.names, like.dims
	} else {
		s.root = s
		s.middle = make([]float64, len(m.numbers))
		for d := range m.numbers {
			s.middle[d] = middle(m, from, to, d)
		}
		for d := range m.names {
			s.names = append(s.names, s.place(&m.names[d]))
		}
	}
	s.stride = max(lanes, (s.dims+lanes-1)/lanes*lanes)
	s.points = make([]float32, s.count*s.stride)
	for at := range s.count {
		i := from + at
		p := s.points[at*s.stride : (at+1)*s.stride]
		s.put(m.points[i*len(m.numbers):(i+1)*len(m.numbers)], p)
		for d, code := range m.codes[i*len(m.names) : (i+1)*len(m.names)] {
			s.putName(d, int(code), p)
		}
		for _, x := range p {
			s.reach = max(s.reach, math.Abs(float64(x)))
		}
		if !m.complete[i] && s.gaps == nil {
			s.gaps = make([]bool, s.count)
		}
		if s.gaps != nil {
			s.gaps[at] = !m.complete[i]
		}
	}
	return s
}

// middle returns the middle of a number's range.
func middle(m *metric, from, to, d int) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i := from; i < to; i++ {
		if x := m.points[i*len(m.numbers)+d]; x == x {
			low, high = min(low, x), max(high, x)
		}
	}
	if low <= high {
		return low/2 + high/2
	}
	return 0
}

// headsOf returns the first dimensions of points, which are enough to tell most
// that are far; the points themselves if they have no more.
func headsOf(points []float32, stride int) []float32 {
	if stride <= head {
		return points
	}
	heads := make([]float32, len(points)/stride*head)
	for i := range len(points) / stride {
		copy(heads[i*head:(i+1)*head], points[i*stride:])
	}
	return heads
}

// first returns how many dimensions a head has.
func (s *space) first() int { return min(head, s.stride) }

// place finds room for a name column: a dimension for each share, or for each
// value. A missing cell is in the middle of all, an unseen one at the origin.
func (s *space) place(n *nameColumn) spaceName {
	width := n.width
	if n.shares == nil {
		width = n.values
	}
	if s.dims+width > mostDims {
		return spaceName{}
	}
	at := spaceName{at: s.dims, width: width, points: make([]float32, (n.values+2)*width)}
	scale := math.Sqrt(n.most)
	for v := range n.values {
		p := at.points[v*width : (v+1)*width]
		if n.shares == nil {
			p[v] = float32(scale * math.Sqrt(0.5))
		}
		for i := range n.width {
			share := n.shares[v*width+i]
			if math.Abs(share) > 1 {
				return spaceName{} // missing cells would be too far
			}
			p[i] = float32(scale * share)
		}
	}
	if n.shares == nil || n.width > 1 {
		for i := range width {
			at.points[n.values*width+i] = float32(scale / float64(width))
			if n.shares == nil {
				at.points[n.values*width+i] *= float32(math.Sqrt(0.5))
			}
		}
	}
	s.dims += width
	return at
}

// put writes numbers in the metric's units as a point; missing ones are in the
// middle.
func (s *space) put(numbers []float64, p []float32) {
	for d, x := range numbers {
		if p[d] = 0; x == x {
			p[d] = float32(min(max(x-s.middle[d], -mostNear), mostNear))
		}
	}
}

func (s *space) putName(d, code int, p []float32) {
	if n := &s.names[d]; n.width > 0 {
		copy(p[n.at:n.at+n.width], n.points[code*n.width:])
	}
}

// error returns by how much, at most, the distance to a question is wrong.
func (s *space) error(asked []float32) float64 {
	reach := s.reach
	for _, x := range asked {
		reach = max(reach, math.Abs(float64(x)))
	}
	wrong := math.Sqrt(float64(s.stride)) * reach * (1.0 / (1 << 21))
	if s.turn != nil { // points were rounded before and after
		wrong *= math.Sqrt(float64(s.stride))
	}
	return wrong
}

// room is what a search needs in a space.
type room struct {
	asked []float32
	plain []float32 // before it was turned
	wide  []float64 // likewise
	root  *space    // in whose coordinates
	which uint64    // of the search's questions
	wrong float64   // by how much distances are wrong
	limit float64   // of the search, for which
	most  float32   // squares above rule a case out
	out   []float32
	walk  walk
}

// ask writes a search's question as a point.
func (r *room) ask(s *search, in *space) {
	r.limit, r.most = math.Inf(1), float32(math.Inf(1))
	if r.root == in.root && r.which == s.which {
		r.wrong = in.error(r.asked)
		return
	}
	r.root, r.which = in.root, s.which
	if len(r.asked) != in.stride {
		r.asked, r.plain, r.wide = make([]float32, in.stride), make([]float32, in.stride), make([]float64, wideOf(in.dims))
	}
	p := r.asked
	if in.turn != nil {
		p = r.plain
	}
	in.put(s.point, p)
	for d := range in.names {
		in.putName(d, s.codes[d], p)
	}
	if in.turn != nil {
		in.turned(p, r.asked, r.wide)
	}
	r.wrong = in.error(r.asked)
}

// above returns the square that rules a case out.
func (r *room) above(s *search) float32 {
	if r.limit != s.limit {
		far := (math.Sqrt(s.limit) + r.wrong) * (1 + 1e-4)
		r.limit, r.most = s.limit, float32(min(far*far, math.MaxFloat32))
		if s.limit > 1e30 {
			r.most = float32(math.Inf(1))
		}
	}
	return r.most
}
