package rulenet

import (
	"cmp"
	"context"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// coding says how cells become codes: names are coded already, numbers by
// their interval between cuts.
type coding struct {
	schema *table.Schema
	target int
	cuts   []*encode.Cuts // of each column; nil for nominal ones and the target
}

// levels returns the number of codes of a column, 0 for the target.
func (c *coding) levels(col int) int {
	switch {
	case col == c.target:
		return 0
	case c.cuts[col] != nil:
		return c.cuts[col].Intervals()
	}
	return len(c.schema.Attributes[col].Values)
}

// ordered reports whether the codes of a column are intervals in order.
func (c *coding) ordered(col int) bool { return c.cuts[col] != nil }

func (c *coding) classes() int { return len(c.schema.Attributes[c.target].Values) }

// lane is the number of words that the counting loop takes at a time. Classes
// begin at multiples of it, so that no lane holds rows of two classes.
const lane = 4

// sheet is the rows laid out for counting: equal rows put together, sorted by
// class, one bitmap for each value of each column. For an ordered column the
// bitmap of code v is that of all rows up to v, so that any interval is one
// bitmap less another.
type sheet struct {
	coding
	codes   [][]int32 // of each column and distinct row; nil for the target
	class   []int32   // of each distinct row
	weights []float64
	plain   bool    // every distinct row weighs one
	at      []int32 // the bit of each distinct row
	of      []int32 // the distinct row of each row of the table
	first   []int   // the first word of each class, and the end
	valid   bits.Set
	sets    [][]bits.Set // of each column and code
}

// newSheet lays out the rows of a table whose targets are all known.
func newSheet(ctx context.Context, c coding, t *table.Table) (*sheet, error) {
	s := &sheet{coding: c}
	rows := t.Rows()
	codes := make([][]int32, len(t.Columns))
	err := learn.Each(ctx, len(t.Columns), func(col int) {
		switch {
		case col == c.target:
		case c.cuts[col] != nil:
			codes[col] = make([]int32, rows)
			c.cuts[col].Apply(t.Columns[col].Floats, codes[col])
		default:
			codes[col] = t.Columns[col].Codes
		}
	})
	if err != nil {
		return nil, err
	}
	class := t.Columns[c.target].Codes
	kept := s.collapse(codes, class, rows)
	s.class = make([]int32, len(kept))
	s.weights = make([]float64, len(kept))
	for i, r := range kept {
		s.class[i] = class[r]
	}
	for r, i := range s.of {
		s.weights[i] += t.Weight(r)
	}
	s.plain = !slices.ContainsFunc(s.weights, func(w float64) bool { return w != 1 })
	s.place()
	s.codes = make([][]int32, len(codes))
	s.sets = make([][]bits.Set, len(codes))
	err = learn.Each(ctx, len(codes), func(col int) {
		if col == c.target {
			return
		}
		s.codes[col] = make([]int32, len(kept))
		for i, r := range kept {
			s.codes[col][i] = codes[col][r]
		}
		s.mark(col)
	})
	return s, err
}

// collapse finds the distinct rows. It returns one row of each kind, sorted by
// class, and fills s.of.
func (s *sheet) collapse(codes [][]int32, class []int32, rows int) []int32 {
	keys := make([]uint64, rows)
	for _, column := range codes {
		for r, code := range column {
			keys[r] = (keys[r] ^ uint64(code+1)) * 0x9e3779b97f4a7c15
			keys[r] ^= keys[r] >> 29
		}
	}
	order := make([]int32, rows)
	for r := range order {
		order[r] = int32(r)
		// The class on top puts rows of one class together.
		keys[r] = keys[r]>>16 | uint64(class[r])<<48
	}
	radix.Sort(keys, order)
	same := func(a, b int32) bool {
		for _, column := range codes {
			if column != nil && column[a] != column[b] {
				return false
			}
		}
		return class[a] == class[b]
	}
	var kept []int32
	s.of = make([]int32, rows)
	for lo := 0; lo < rows; {
		begin := len(kept)
		hi := lo
		for ; hi < rows && keys[hi] == keys[lo]; hi++ {
			found := false
			for k := begin; k < len(kept) && !found; k++ {
				if same(kept[k], order[hi]) {
					s.of[order[hi]], found = int32(k), true
				}
			}
			if !found {
				s.of[order[hi]] = int32(len(kept))
				kept = append(kept, order[hi])
			}
		}
		lo = hi
	}
	return kept
}

// heavyFirst returns the rows, those of greater weight first: where they have
// their bits in that order, most lanes of a ledger have few planes.
func heavyFirst(weights []float64) []int32 {
	order := make([]int32, len(weights))
	for row := range order {
		order[row] = int32(row)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(weights[b], weights[a]) })
	return order
}

// place gives each distinct row its bit.
func (s *sheet) place() {
	s.first = make([]int, s.classes()+1)
	s.at = make([]int32, len(s.class))
	word, row := 0, 0
	for c := range s.classes() {
		s.first[c] = word
		begin := row
		for row < len(s.class) && int(s.class[row]) == c {
			row++
		}
		for i, r := range heavyFirst(s.weights[begin:row]) {
			s.at[begin+int(r)] = int32(word*64 + i)
		}
		word += (bits.Words(row-begin) + lane - 1) / lane * lane
	}
	s.first[s.classes()] = word
	s.valid = make(bits.Set, word)
	for _, at := range s.at {
		s.valid.Put(int(at))
	}
}

// mark makes the bitmaps of a column.
func (s *sheet) mark(col int) {
	words := len(s.valid)
	sets := make([]bits.Set, s.levels(col))
	room := make(bits.Set, words*len(sets))
	for v := range sets {
		sets[v] = room[v*words : (v+1)*words : (v+1)*words]
	}
	for i, code := range s.codes[col] {
		if code >= 0 {
			sets[code].Put(int(s.at[i]))
		}
	}
	if s.ordered(col) {
		for v := 1; v < len(sets); v++ {
			bits.Or(sets[v], sets[v], sets[v-1])
		}
	}
	s.sets[col] = sets
}

// test is a condition on the code of a column: lo <= code <= hi. On a nominal
// column lo is hi.
type test struct {
	col, lo, hi int32
}

// holds reports whether a code satisfies the test. Missing cells never do.
func (t test) holds(code int32) bool { return t.lo <= code && code <= t.hi }

// within returns the bitmaps that make up a test: the rows of the first that
// are not in the second, which is nil if there is none.
func (s *sheet) within(t test) (in, not bits.Set) {
	sets := s.sets[t.col]
	if s.ordered(int(t.col)) && t.lo > 0 {
		not = sets[t.lo-1]
	}
	return sets[t.hi], not
}

// match fills into with the rows that satisfy all tests.
func (s *sheet) match(tests []test, into bits.Set) {
	copy(into, s.valid)
	for _, t := range tests {
		in, not := s.within(t)
		bits.And(into, into, in)
		if not != nil {
			bits.AndNot(into, into, not)
		}
	}
}

// ledger is the weights of rows as bit planes, so that adding up the weights
// of a set is a few population counts: row r weighs Σ 2^b over the planes b
// that hold it, in units. Whole weights are kept exactly; others are rounded
// to planes enough for the search, which compares sums.
type ledger struct {
	planes []bits.Set // nil: every row weighs one
	depth  []uint8    // of each lane: the planes that hold rows of it are among so many
	unit   float64
	class  []int64 // of each class
	total  int64
	census [][]int64 // of each column: the weight of each code in each class, at code*classes+class
}

// newLedger returns the weights of a sheet's rows in so many planes at most.
func newLedger(s *sheet, weights []float64, most int) *ledger {
	l := &ledger{unit: 1, class: make([]int64, s.classes())}
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
		l.survey(s)
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
				l.planes[b].Put(int(s.at[i]))
			}
		}
	}
	if l.planes == nil {
		l.planes = []bits.Set{make(bits.Set, len(s.valid))} // nothing weighs anything
	}
	l.sound()
	l.survey(s)
	return l
}

// sound finds the depth of each lane.
func (l *ledger) sound() {
	l.depth = make([]uint8, len(l.planes[0])/lane)
	for b, plane := range l.planes {
		for word, x := range plane {
			if x != 0 {
				l.depth[word/lane] = uint8(b + 1)
			}
		}
	}
}

// survey takes the census of a sheet.
func (l *ledger) survey(s *sheet) {
	classes := len(l.class)
	l.census = make([][]int64, len(s.sets))
	for col, sets := range s.sets {
		count := make([]int64, len(sets)*classes)
		for v, set := range sets {
			for c := range classes {
				lo, hi := s.first[c], s.first[c+1]
				count[v*classes+c] = l.weigh(set[lo:hi], lo)
			}
		}
		if s.ordered(col) { // the bitmaps are of all rows up to a code
			for i := len(count) - 1; i >= classes; i-- {
				count[i] -= count[i-classes]
			}
		}
		l.census[col] = count
	}
}

// weigh returns the units of the rows of some words that begin at a word.
func (l *ledger) weigh(words []uint64, at int) int64 {
	if l.planes == nil {
		return int64(bits.Set(words).Count())
	}
	sum := int64(0)
	for b, plane := range l.planes {
		sum += int64(bits.AndCount(words, plane[at:at+len(words)])) << b
	}
	return sum
}

// lane returns the units of the rows of one lane.
func (l *ledger) lane(x *[lane]uint64, at int) int64 {
	if l.planes == nil {
		return int64(mathbits.OnesCount64(x[0]) + mathbits.OnesCount64(x[1]) + mathbits.OnesCount64(x[2]) + mathbits.OnesCount64(x[3]))
	}
	sum := int64(0)
	for b, plane := range l.planes[:l.depth[at/lane]] {
		p := plane[at : at+lane : at+lane]
		sum += int64(mathbits.OnesCount64(x[0]&p[0])+mathbits.OnesCount64(x[1]&p[1])+mathbits.OnesCount64(x[2]&p[2])+mathbits.OnesCount64(x[3]&p[3])) << b
	}
	return sum
}
