package rule

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// cuts is what the spans of one column share. A cell is placed among the
// column's cuts once, whatever the number of tests: of each cut, the rows up to
// it are then a bitmap, and a span is the rows up to its upper end that are not
// up to its lower one.
type cuts struct {
	column int
	at     []float64 // ascending
	first  int       // the bitmap of the first cut; that of the known cells stands behind the last
}

// between is a span as two bitmaps of a column's: the rows of one that are not
// in the other, which is -1 where the span is open below.
type between struct {
	of          int // index into the predictor's cuts; -1: the test is no such span
	upTo, above int
}

// fewSpans are no reason to look a column's cells up in one go.
const fewSpans = 3

// shareCuts lays out the bitmaps of columns with more than a few spans.
func (p *Predictor) shareCuts() {
	ends := map[int][]float64{}
	spans := map[int]int{}
	for i := range p.tests {
		if c := &p.tests[i]; c.form == spanForm {
			spans[c.column]++
			ends[c.column] = append(ends[c.column], c.ends()...)
		}
	}
	place := map[int]int{}
	for column := range p.schema.Attributes {
		if spans[column] <= fewSpans {
			continue
		}
		at := ends[column]
		slices.Sort(at)
		place[column] = len(p.cuts)
		p.cuts = append(p.cuts, cuts{column: column, at: slices.Compact(at), first: p.bitmaps})
		p.bitmaps += len(p.cuts[len(p.cuts)-1].at) + 1
	}
	p.spans = make([]between, len(p.tests))
	for i := range p.tests {
		c := &p.tests[i]
		k, shared := place[c.column]
		if c.form != spanForm || !shared {
			p.spans[i].of = -1
			continue
		}
		of := &p.cuts[k]
		s := between{of: k, upTo: of.first + len(of.at), above: -1}
		if !math.IsInf(c.high, 1) {
			s.upTo = of.bitmap(c.high)
		}
		if !math.IsInf(c.low, -1) {
			s.above = of.bitmap(below(c.low))
		}
		p.spans[i] = s
	}
}

// below returns the greatest number under another: what is at least one number
// is not up to the other.
func below(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// ends returns the cuts of a span.
func (c *condition) ends() (ends []float64) {
	if !math.IsInf(c.high, 1) {
		ends = append(ends, c.high)
	}
	if !math.IsInf(c.low, -1) {
		ends = append(ends, below(c.low))
	}
	return ends
}

// bitmap returns the bitmap of the rows up to a cut.
func (c *cuts) bitmap(cut float64) int {
	at, _ := slices.BinarySearch(c.at, cut)
	return c.first + at
}

// place fills the column's bitmaps for a block of rows.
func (c *cuts) place(t *table.Table, lo, hi int, bitmaps []uint64) {
	own := bitmaps[c.first*blockWords : (c.first+len(c.at)+1)*blockWords]
	clear(own)
	for i, x := range t.Columns[c.column].Floats[lo:hi] {
		if x != x {
			continue
		}
		// The number of cuts below x, in steps that need no guess.
		at, n := 0, len(c.at)
		for n > 1 {
			half := n >> 1
			if c.at[at+half-1] < x {
				at += half
			}
			n -= half
		}
		if n == 1 && c.at[at] < x {
			at++
		}
		own[at*blockWords+i>>6] |= 1 << (i & 63)
	}
	for i := blockWords; i < len(own); i++ {
		own[i] |= own[i-blockWords]
	}
}

// match sets the words of a span of a block that was placed.
func (s *between) match(bitmaps, words []uint64) {
	in := bitmaps[s.upTo*blockWords:][:len(words)]
	if s.above < 0 {
		copy(words, in)
		return
	}
	out := bitmaps[s.above*blockWords:][:len(words)]
	for w := range words {
		words[w] = in[w] &^ out[w]
	}
}
