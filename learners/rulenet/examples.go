package rulenet

import (
	"cmp"
	"context"
	"slices"
	"sync"

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

// laneWords is the number of words that the counting loop takes at a time. Classes
// begin at multiples of it, so that no lane holds rows of two classes.
const laneWords = 4

// examples is the rows laid out for counting: equal rows put together, sorted by
// class, one bitmap for each value of each column. For an ordered column the
// bitmap of code v is that of all rows up to v, so that any interval is one
// bitmap less another.
type examples struct {
	coding
	codes     [][]int32 // of each column and distinct row; nil for the target
	class     []int32   // of each distinct row
	weights   []float64
	plain     bool    // every distinct row weighs one
	bit       []int32 // the bit of each distinct row
	distinct  []int32 // the distinct row of each row of the table
	firstWord []int   // the first word of each class, and the end
	valid     bits.Set
	bitmaps   [][]bits.Set // of each column and code
	ranking   sync.Once
	rank      []int32 // of each column by name, so that no tie depends on the columns' order
}

// newExamples lays out the rows of a table whose targets are all known.
func newExamples(ctx context.Context, c coding, t *table.Table) (*examples, error) {
	s := &examples{coding: c}
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
	for r, i := range s.distinct {
		s.weights[i] += t.Weight(r)
	}
	s.plain = !slices.ContainsFunc(s.weights, func(w float64) bool { return w != 1 })
	s.assignBits()
	s.codes = make([][]int32, len(codes))
	s.bitmaps = make([][]bits.Set, len(codes))
	err = learn.Each(ctx, len(codes), func(col int) {
		if col == c.target {
			return
		}
		s.codes[col] = make([]int32, len(kept))
		for i, r := range kept {
			s.codes[col][i] = codes[col][r]
		}
		s.makeBitmaps(col)
	})
	return s, err
}

// collapse finds the distinct rows. It returns one row of each kind, sorted by
// class, and fills s.of.
func (s *examples) collapse(codes [][]int32, class []int32, rows int) []int32 {
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
	s.distinct = make([]int32, rows)
	for lo := 0; lo < rows; {
		begin := len(kept)
		hi := lo
		for ; hi < rows && keys[hi] == keys[lo]; hi++ {
			found := false
			for k := begin; k < len(kept) && !found; k++ {
				if same(kept[k], order[hi]) {
					s.distinct[order[hi]], found = int32(k), true
				}
			}
			if !found {
				s.distinct[order[hi]] = int32(len(kept))
				kept = append(kept, order[hi])
			}
		}
		lo = hi
	}
	return kept
}

// heavyFirst returns the rows, those of greater weight first: where they have
// their bits in that order, most lanes of a counter have few planes.
func heavyFirst(weights []float64) []int32 {
	order := make([]int32, len(weights))
	for row := range order {
		order[row] = int32(row)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(weights[b], weights[a]) })
	return order
}

// assignBits gives each distinct row its bit.
func (s *examples) assignBits() {
	s.firstWord = make([]int, s.classes()+1)
	s.bit = make([]int32, len(s.class))
	word, row := 0, 0
	for c := range s.classes() {
		s.firstWord[c] = word
		begin := row
		for row < len(s.class) && int(s.class[row]) == c {
			row++
		}
		for i, r := range heavyFirst(s.weights[begin:row]) {
			s.bit[begin+int(r)] = int32(word*64 + i)
		}
		word += (bits.Words(row-begin) + laneWords - 1) / laneWords * laneWords
	}
	s.firstWord[s.classes()] = word
	s.valid = make(bits.Set, word)
	for _, at := range s.bit {
		s.valid.Put(int(at))
	}
}

// makeBitmaps makes the bitmaps of a column.
func (s *examples) makeBitmaps(col int) {
	words := len(s.valid)
	sets := make([]bits.Set, s.levels(col))
	room := make(bits.Set, words*len(sets))
	for v := range sets {
		sets[v] = room[v*words : (v+1)*words : (v+1)*words]
	}
	for i, code := range s.codes[col] {
		if code >= 0 {
			sets[code].Put(int(s.bit[i]))
		}
	}
	if s.ordered(col) {
		for v := 1; v < len(sets); v++ {
			bits.Or(sets[v], sets[v], sets[v-1])
		}
	}
	s.bitmaps[col] = sets
}

// test is a condition on the code of a column: lo <= code <= hi. On a nominal
// column lo is hi. The J climb makes no others; those of a teacher may have a
// form. No code is between 0 and -1.
type test struct {
	col, lo, hi int32
	form        form
}

// form is what makes a test another than that of an interval.
type form uint8

const (
	negated   form = 1 << iota // of a nominal column: it holds for the other known values
	orMissing                  // it holds for missing cells too
)

// holds reports whether a code satisfies the test. A value that is not among
// the codes is another than any of them.
func (t test) holds(code int32) bool {
	if code == table.Missing {
		return t.form&orMissing != 0
	}
	return (t.lo <= code && code <= t.hi) != (t.form&negated != 0)
}

// bitmapsOf returns the bitmaps that make up a test: the rows of the first that
// are not in the second, which is nil if there is none.
func (s *examples) bitmapsOf(t test) (in, not bits.Set) {
	sets := s.bitmaps[t.col]
	if s.ordered(int(t.col)) && t.lo > 0 {
		not = sets[t.lo-1]
	}
	return sets[t.hi], not
}

// match fills into with the rows that satisfy all tests.
func (s *examples) match(tests []test, into bits.Set) {
	copy(into, s.valid)
	for _, t := range tests {
		if t.form != 0 || t.hi < t.lo {
			for i, code := range s.codes[t.col] {
				if !t.holds(code) {
					into[s.bit[i]/64] &^= 1 << (s.bit[i] % 64)
				}
			}
			continue
		}
		in, not := s.bitmapsOf(t)
		bits.And(into, into, in)
		if not != nil {
			bits.AndNot(into, into, not)
		}
	}
}
