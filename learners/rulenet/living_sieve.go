package rulenet

import (
	"cmp"
	"math"
	mathbits "math/bits"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

// sieve finds the rows that each of many conjunctions covers, a chunk of rows at a
// time. Cells are looked up once, whatever the number of tests: of each cut of a
// column the chunk's rows up to it are a bitmap, and those of each name. A test is
// then at most three bitmaps, and a conjunction the meet of its tests. It does not
// change once it is made.
type sieve struct {
	columns []sifted
	tests   []bitmapTest
	ends    []int32 // of each conjunction's tests
	bitmaps int32
	laying  sync.Once // of the columns' masks, for rows that come one by one
}

// sifted is a column that is tested. Its bitmaps are those of the rows where it is
// missing, where it is known, and of each cut or name.
type sifted struct {
	col   int32
	first int32
	cuts  []float64
	place []int32  // of each name: its bitmap; 0: it is not tested
	masks []uint64 // of each place that a cell may have: the conjunctions that it does not contradict
}

// bitmapTest holds for the rows of one bitmap that are not in another, and for
// those of a third. The bitmap 0 is empty.
type bitmapTest struct{ in, out, or int32 }

// sieveRows are the rows of a chunk, where there are many.
const sieveRows = 512

// sifting is the bitmaps of a chunk.
type sifting struct {
	words int
	sets  []uint64
	one   []uint64
}

// newSieve lays out the tests of conjunctions.
func newSieve(conjunctions [][]atom) *sieve {
	s := &sieve{bitmaps: 1}
	at := map[int32]int{}
	for _, tests := range conjunctions {
		for i := range tests {
			a := &tests[i]
			if _, ok := at[a.col]; !ok {
				at[a.col] = -1
			}
		}
	}
	for col := range at {
		s.columns = append(s.columns, sifted{col: col})
	}
	slices.SortFunc(s.columns, func(a, b sifted) int { return cmp.Compare(a.col, b.col) })
	for i := range s.columns {
		at[s.columns[i].col] = i
	}
	for _, tests := range conjunctions {
		for i := range tests {
			s.columns[at[tests[i].col]].want(&tests[i])
		}
	}
	for i := range s.columns {
		s.bitmaps = s.columns[i].lay(s.bitmaps)
	}
	for _, tests := range conjunctions {
		for i := range tests {
			c := at[tests[i].col]
			s.tests = s.columns[c].write(&tests[i], s.tests)
		}
		s.ends = append(s.ends, int32(len(s.tests)))
	}
	return s
}

// firstNotBelow returns the place of the first cut that a number does not exceed. How
// many steps that takes depends on the number of cuts alone, and which half it goes on
// with is reckoned: nothing is left for the processor to guess.
func firstNotBelow(cuts []float64, x float64) int {
	at := 0
	for n := len(cuts); n > 0; {
		half, above := (n+1)/2, 0
		if cuts[at+half-1] < x {
			above = 1
		}
		at += half & -above
		n -= half
	}
	return at
}

// fired returns the conjunctions that cover a row, as a bitmap: those that no cell
// contradicts. What each cell contradicts was written down by its place.
func (s *sieve) fired(g *grid, row int32, to []uint64) []uint64 {
	s.laying.Do(s.layMasks)
	words := s.maskWords()
	to = to[:0]
	for range words {
		to = append(to, ^uint64(0))
	}
	if spare := 64*words - len(s.ends); spare > 0 {
		to[words-1] >>= spare
	}
	for i := range s.columns {
		c := &s.columns[i]
		mask := c.masks[c.placeOf(g, row)*words:][:words]
		for w := range to {
			to[w] &= mask[w]
		}
	}
	return to
}

func (s *sieve) maskWords() int { return (len(s.ends) + 63) / 64 }

// placeOf returns the place of a row's cell: 0 where it is missing, 1 beyond all cuts
// and for names that are not tested, else 2 and on: the first cut that the number does
// not exceed, or the name.
func (c *sifted) placeOf(g *grid, row int32) int {
	if numbers := g.floats[c.col]; numbers != nil {
		x := numbers[row]
		if x != x {
			return 0
		}
		if at := firstNotBelow(c.cuts, x); at < len(c.cuts) {
			return 2 + at
		}
		return 1
	}
	codes := g.codes[c.col]
	if codes == nil || codes[row] == table.Missing {
		return 0
	}
	if code := codes[row]; code >= 0 && int(code) < len(c.place) && c.place[code] != 0 {
		return int(c.place[code] - c.first)
	}
	return 1
}

// in reports whether cells of a place are in a bitmap of the column.
func (c *sifted) in(bitmap int32, place int) bool {
	at := int(bitmap - c.first)
	switch {
	case bitmap == 0:
		return false
	case at == 0:
		return place == 0
	case at == 1:
		return place != 0
	case at < 2+len(c.cuts): // of the numbers up to a cut
		return place >= 2 && place <= at
	}
	return place == at
}

// layMasks writes down which conjunctions a cell of each place does not contradict.
func (s *sieve) layMasks() {
	words := s.maskWords()
	column := make([]int, s.bitmaps) // of each bitmap
	for i := range s.columns {
		c := &s.columns[i]
		to := s.bitmaps
		if i+1 < len(s.columns) {
			to = s.columns[i+1].first
		}
		for b := c.first; b < to; b++ {
			column[b] = i
		}
		c.masks = slices.Repeat([]uint64{^uint64(0)}, int(to-c.first)*words)
	}
	from := int32(0)
	for i, to := range s.ends {
		for _, t := range s.tests[from:to] {
			c := &s.columns[column[max(t.in, t.out, t.or)]]
			for place := range len(c.masks) / words {
				if !(c.in(t.in, place) && !c.in(t.out, place) || c.in(t.or, place)) {
					c.masks[place*words+i/64] &^= 1 << (i % 64)
				}
			}
		}
		from = to
	}
}

// want notes what a test needs.
func (c *sifted) want(a *atom) {
	if a.kind == between {
		for _, x := range []float64{a.low, a.high} {
			if !math.IsNaN(x) && !math.IsInf(x, 1) {
				c.cuts = append(c.cuts, x)
			}
		}
	}
	for _, v := range a.values {
		if int(v) >= len(c.place) {
			c.place = append(c.place, make([]int32, int(v)+1-len(c.place))...)
		}
		c.place[v] = 1
	}
}

// lay gives a column its bitmaps, and returns the next that is free.
func (c *sifted) lay(free int32) int32 {
	c.first = free
	free += 2
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)
	free += int32(len(c.cuts))
	for v := range c.place {
		if c.place[v] != 0 {
			c.place[v] = free
			free++
		}
	}
	return free
}

func (c *sifted) missing() int32 { return c.first }
func (c *sifted) known() int32   { return c.first + 1 }

// upTo returns the bitmap of the numbers up to one.
func (c *sifted) upTo(x float64) int32 {
	switch {
	case math.IsNaN(x):
		return 0
	case math.IsInf(x, 1):
		return c.known()
	}
	at, _ := slices.BinarySearch(c.cuts, x)
	return c.first + 2 + int32(at)
}

// write appends a test on cells as tests on bitmaps.
func (c *sifted) write(a *atom, tests []bitmapTest) []bitmapTest {
	or := int32(0)
	if a.orMissing {
		or = c.missing()
	}
	switch a.kind {
	case between:
		return append(tests, bitmapTest{c.upTo(a.high), c.upTo(a.low), or})
	case isMissing:
		return append(tests, bitmapTest{c.missing(), 0, 0})
	case isOne:
		return append(tests, bitmapTest{c.place[a.values[0]], 0, or})
	}
	for _, v := range a.values {
		tests = append(tests, bitmapTest{c.known(), c.place[v], or})
	}
	if len(a.values) == 0 {
		tests = append(tests, bitmapTest{c.known(), 0, or})
	}
	return tests
}

// sift makes the bitmaps of a chunk of rows.
func (s *sieve) sift(g *grid, rows []int32, into *sifting) {
	into.words = (len(rows) + 63) / 64
	n := int(s.bitmaps) * into.words
	if cap(into.sets) < n {
		into.sets = make([]uint64, n)
	}
	into.sets = into.sets[:n]
	clear(into.sets)
	for i := range s.columns {
		c := &s.columns[i]
		if numbers := g.floats[c.col]; numbers != nil {
			c.siftNumbers(numbers, rows, into)
		} else {
			c.siftNames(g.codes[c.col], rows, into)
		}
	}
}

// siftNumbers puts each row at the first cut that its number does not exceed, and
// adds up.
func (c *sifted) siftNumbers(numbers []float64, rows []int32, into *sifting) {
	words, first := into.words, int(c.first)
	sets := into.sets
	for at, r := range rows {
		x := numbers[r]
		place := 0 // missing
		if x == x {
			at := firstNotBelow(c.cuts, x)
			if place = 2 + at; at == len(c.cuts) {
				place = 1
			}
		}
		sets[(first+place)*words+at/64] |= 1 << (at % 64)
	}
	if words == 1 {
		so := uint64(0)
		for i, x := range sets[first+2 : first+2+len(c.cuts)] {
			so |= x
			sets[first+2+i] = so
		}
		sets[first+1] |= so
		return
	}
	last := sets[(first+1)*words : (first+2)*words] // beyond all cuts
	for i := range len(c.cuts) {
		to := sets[(first+2+i)*words : (first+3+i)*words]
		if i > 0 {
			before := sets[(first+1+i)*words : (first+2+i)*words]
			for w := range to {
				to[w] |= before[w]
			}
		}
		if i == len(c.cuts)-1 {
			for w := range last {
				last[w] |= to[w]
			}
		}
	}
}

// siftNames puts each row to its name.
func (c *sifted) siftNames(codes []int32, rows []int32, into *sifting) {
	words, first := into.words, int(c.first)
	sets := into.sets
	for at, r := range rows {
		code, bit := codes[r], uint64(1)<<(at%64)
		if code == table.Missing {
			sets[first*words+at/64] |= bit
			continue
		}
		sets[(first+1)*words+at/64] |= bit
		if code >= 0 && int(code) < len(c.place) {
			if to := int(c.place[code]); to != 0 {
				sets[to*words+at/64] |= bit
			}
		}
	}
}

// coverWord is cover for a chunk of at most 64 rows.
func (s *sieve) coverWord(i int, of *sifting) uint64 {
	from, x := int32(0), ^uint64(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	for _, t := range s.tests[from:s.ends[i]] {
		if x &= of.sets[t.in]&^of.sets[t.out] | of.sets[t.or]; x == 0 {
			break
		}
	}
	return x
}

// cover returns the rows of the chunk that a conjunction covers, until the next is
// asked for.
func (s *sieve) cover(i int, of *sifting) []uint64 {
	words := of.words
	if cap(of.one) < words {
		of.one = make([]uint64, words)
	}
	to := of.one[:words]
	if words == 1 {
		to[0] = s.coverWord(i, of)
		return to
	}
	from := int32(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	for n, t := range s.tests[from:s.ends[i]] {
		in, out, or := of.sets[int(t.in)*words:][:words], of.sets[int(t.out)*words:][:words], of.sets[int(t.or)*words:][:words]
		for w := range to {
			x := in[w]&^out[w] | or[w]
			if n > 0 {
				x &= to[w]
			}
			to[w] = x
		}
	}
	return to
}

// places appends the rows of a bitmap to a list, the first row being a number.
func places(set []uint64, first int32, to []int32) []int32 {
	for w, x := range set {
		for base := first + int32(64*w); x != 0; x &= x - 1 {
			to = append(to, base+int32(mathbits.TrailingZeros64(x)))
		}
	}
	return to
}

// sets returns of each conjunction the bitmap of the rows that it covers.
func (s *sieve) sets(g *grid, rows []int32) []bits.Set {
	all := make([]bits.Set, len(s.ends))
	for i := range all {
		all[i] = bits.New(len(rows))
	}
	var of sifting
	for lo := 0; lo < len(rows); lo += sieveRows {
		s.sift(g, rows[lo:min(lo+sieveRows, len(rows))], &of)
		for i := range all {
			copy(all[i][lo/64:], s.cover(i, &of))
		}
	}
	return all
}

// covers returns of each conjunction the rows that it covers: places in the list of
// rows.
func (s *sieve) covers(g *grid, rows []int32) [][]int32 {
	all := make([][]int32, len(s.ends))
	var of sifting
	for lo := 0; lo < len(rows); lo += sieveRows {
		s.sift(g, rows[lo:min(lo+sieveRows, len(rows))], &of)
		for i := range all {
			all[i] = places(s.cover(i, &of), int32(lo), all[i])
		}
	}
	return all
}
