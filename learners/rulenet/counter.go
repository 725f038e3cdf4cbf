package rulenet

import (
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
)

// counter is the weights of rows as bit planes, so that adding up the weights
// of a set is a few population counts: row r weighs Σ 2^b over the planes b
// that hold it, in units. Whole weights are kept exactly; others are rounded
// to planes enough for the search, which compares sums.
type counter struct {
	planes  []bits.Set // nil: every row weighs one
	depth   []uint8    // of each lane: the planes that hold rows of it are among so many
	unit    float64
	class   []int64 // of each class
	total   int64
	byValue [][]int64 // of each column: the weight of each code in each class, at code*classes+class
}

// newCounter returns the weights of rows in so many planes at most.
func newCounter(s *examples, weights []float64, most int) *counter {
	l := &counter{unit: 1, class: make([]int64, s.classes())}
	greatest, whole, plain := 0.0, true, true
	for _, w := range weights {
		greatest = max(greatest, w)
		whole = whole && w == math.Trunc(w)
		plain = plain && w == 1
	}
	if plain {
		for i := range weights {
			l.class[s.class[i]]++
		}
		l.total = int64(len(weights))
		l.countValues(s)
		return l
	}
	_, top := math.Frexp(greatest) // greatest < 2^top
	if whole && top <= 30 {
		most = max(most, top)
	}
	if !whole || top > most {
		l.unit = math.Ldexp(1, top-most)
	}
	for i, w := range weights {
		n := int64(math.Round(w / l.unit))
		l.class[s.class[i]] += n
		l.total += n
		for b := 0; n>>b > 0; b++ {
			for len(l.planes) <= b {
				l.planes = append(l.planes, make(bits.Set, len(s.valid)))
			}
			if n>>b&1 == 1 {
				l.planes[b].Put(int(s.bit[i]))
			}
		}
	}
	if l.planes == nil {
		l.planes = []bits.Set{make(bits.Set, len(s.valid))} // nothing weighs anything
	}
	l.findDepths()
	l.countValues(s)
	return l
}

// findDepths finds the depth of each lane.
func (l *counter) findDepths() {
	l.depth = make([]uint8, len(l.planes[0])/laneWords)
	for b, plane := range l.planes {
		for word, x := range plane {
			if x != 0 {
				l.depth[word/laneWords] = uint8(b + 1)
			}
		}
	}
}

// countValues counts the rows of each value and class.
func (l *counter) countValues(s *examples) {
	classes := len(l.class)
	l.byValue = make([][]int64, len(s.bitmaps))
	for col, sets := range s.bitmaps {
		count := make([]int64, len(sets)*classes)
		for v, set := range sets {
			for c := range classes {
				lo, hi := s.firstWord[c], s.firstWord[c+1]
				count[v*classes+c] = l.count(set[lo:hi], lo)
			}
		}
		if s.ordered(col) { // the bitmaps are of all rows up to a code
			for i := len(count) - 1; i >= classes; i-- {
				count[i] -= count[i-classes]
			}
		}
		l.byValue[col] = count
	}
}

// count returns the units of the rows of some words that begin at a word.
func (l *counter) count(words []uint64, at int) int64 {
	if l.planes == nil {
		return int64(bits.Set(words).Count())
	}
	sum := int64(0)
	for b, plane := range l.planes {
		sum += int64(bits.AndCount(words, plane[at:at+len(words)])) << b
	}
	return sum
}

// countLane returns the units of the rows of one lane.
func (l *counter) countLane(x *[laneWords]uint64, at int) int64 {
	if l.planes == nil {
		return int64(mathbits.OnesCount64(x[0]) + mathbits.OnesCount64(x[1]) + mathbits.OnesCount64(x[2]) + mathbits.OnesCount64(x[3]))
	}
	sum := int64(0)
	for b, plane := range l.planes[:l.depth[at/laneWords]] {
		p := plane[at : at+laneWords : at+laneWords]
		sum += int64(mathbits.OnesCount64(x[0]&p[0])+mathbits.OnesCount64(x[1]&p[1])+mathbits.OnesCount64(x[2]&p[2])+mathbits.OnesCount64(x[3]&p[3])) << b
	}
	return sum
}

// add adds to the weight of a bit, and returns how many units.
func (l *counter) add(at, class int, weight float64) int64 {
	units := int64(math.Round(weight / l.unit))
	l.class[class] += units
	l.total += units
	n := units
	word, bit := at/64, uint64(1)<<(at%64)
	for b := 0; n>>b > 0; b++ {
		for n>>b&1 == 1 {
			for len(l.planes) <= b {
				l.planes = append(l.planes, make(bits.Set, len(l.planes[0])))
			}
			l.planes[b][word] ^= bit
			l.depth[word/laneWords] = max(l.depth[word/laneWords], uint8(b+1))
			if l.planes[b][word]&bit != 0 {
				break
			}
			n += 1 << b // carry: the bit was set, and the next is added to
		}
	}
	return units
}

// rounds reports whether a weight is no multiple of the unit.
func (l *counter) rounds(weights []float64) bool {
	return slices.ContainsFunc(weights, func(w float64) bool { n := w / l.unit; return n != math.Trunc(n) && l.unit > 1e-6 })
}
