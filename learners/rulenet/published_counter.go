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
// to a unit that is small against a typical row's weight, however heavy single
// rows are: those have more planes, the others' lanes need not look at them.
type counter struct {
	planes  []bits.Set // nil: every row weighs one
	depth   []uint8    // of each lane: the planes that hold rows of it are among so many
	unit    float64
	least   int64   // units of a row that weighs something
	class   []int64 // of each class
	total   int64
	byValue [][]int64 // of each column: the weight of each code in each class, at code*classes+class
}

const (
	searchBits = 16               // of a typical row's weight, in the search
	growthBits = 8                // of a typical row's residual, in growth
	mostUnits  = float64(1 << 60) // of all rows together
)

// newCounter returns the weights of rows for the search.
func newCounter(x *examples, weights []float64) *counter {
	l := &counter{unit: unitOf(weights), least: 1}
	if !slices.ContainsFunc(weights, func(w float64) bool { return w != 1 }) {
		l.class = make([]int64, x.classes())
		for i := range weights {
			l.class[x.class[i]]++
		}
		l.total = int64(len(weights))
		l.countValues(x)
		return l
	}
	l.fill(x, weights)
	return l
}

// newResidualCounter returns residuals of rows of some typical weight; rows
// that the network is right on weigh nothing.
func newResidualCounter(x *examples, residuals []float64, typical float64) *counter {
	l := &counter{unit: fraction(typical, growthBits, sum(residuals))}
	l.fill(x, residuals)
	return l
}

// unitOf returns the unit to weigh rows in: one if all weights are whole, else
// a small part of a typical row's.
func unitOf(weights []float64) float64 {
	total, whole := 0.0, true
	for _, w := range weights {
		total += w
		whole = whole && w == math.Trunc(w)
	}
	if whole && total < mostUnits {
		return 1
	}
	return fraction(typical(weights), searchBits, total)
}

// typical returns the median of the weights above 0, the lower of two.
func typical(weights []float64) float64 {
	some := make([]float64, 0, len(weights))
	for _, w := range weights {
		if w > 0 {
			some = append(some, w)
		}
	}
	if len(some) == 0 {
		return 1
	}
	slices.Sort(some)
	return some[(len(some)-1)/2]
}

// fraction returns a power of two that goes about 2^bits times into a weight,
// and not too often into the total.
func fraction(weight float64, bits int, total float64) float64 {
	_, top := math.Frexp(weight) // weight < 2^top
	unit := math.Ldexp(1, max(top-bits, -1000))
	if total/unit > mostUnits {
		_, top = math.Frexp(total / mostUnits)
		unit = math.Ldexp(1, top)
	}
	return unit
}

// units returns a weight in units.
func (l *counter) units(weight float64) int64 {
	if weight == 0 {
		return 0
	}
	return max(l.least, int64(math.Round(weight/l.unit)))
}

// fill makes the planes of rows' weights, and counts.
func (l *counter) fill(x *examples, weights []float64) {
	l.class = make([]int64, x.classes())
	for i, w := range weights {
		n := l.units(w)
		l.class[x.class[i]] += n
		l.total += n
		for b := 0; n>>b > 0; b++ {
			for len(l.planes) <= b {
				l.planes = append(l.planes, make(bits.Set, len(x.valid)))
			}
			if n>>b&1 == 1 {
				l.planes[b].Put(int(x.bit[i]))
			}
		}
	}
	if l.planes == nil {
		l.planes = []bits.Set{make(bits.Set, len(x.valid))} // nothing weighs anything
	}
	l.findDepths()
	l.countValues(x)
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

// add adds units to the weight of a bit.
func (l *counter) add(at, class int, units int64) {
	l.class[class] += units
	l.total += units
	word, bit := at/64, uint64(1)<<(at%64)
	for b := 0; units>>b > 0; b++ {
		for units>>b&1 == 1 {
			for len(l.planes) <= b {
				l.planes = append(l.planes, make(bits.Set, len(l.planes[0])))
			}
			l.planes[b][word] ^= bit
			l.depth[word/laneWords] = max(l.depth[word/laneWords], uint8(b+1))
			if l.planes[b][word]&bit != 0 {
				break
			}
			units += 1 << b // carry: the bit was set, and the next is added to
		}
	}
}
