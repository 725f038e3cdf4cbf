package relation

import (
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/bits"
)

// mostMoves is at how many numbers a cut is tried between two.
const mostMoves = 48

// settle moves the cuts of a clause of tables to where it is worth most: the greedy search
// took each for what was there before the literals that came after it.
func (f *search) settle(c *found, active []int32) {
	if !f.db.linked || f.err != nil {
		return
	}
	all := f.tallyOf(active, nil)
	c.body = f.recut(c.body, active, func(n counts) float64 {
		worth, ok := f.worth(all, n, c.bits)
		if !ok {
			return math.Inf(-1)
		}
		return worth
	})
}

// recut moves the cuts of a body, one after another, to where the score of what it covers
// is greatest, and of equal ones the fewest negative examples are: first far apart, then
// between the neighbours of the best.
func (f *search) recut(body []literal, active []int32, score func(counts) float64) []literal {
	all := bits.New(len(active))
	for k := range active {
		all.Put(k)
	}
	best := f.among(active, all, body)
	worth := score(best.counts())
	for range 2 {
		for i := range body {
			if body[i].op == none || body[i].relation == nil {
				continue
			}
			from := f.among(active, all, opened(body, i))
			_, distinct := body[i].relation.ranked()
			for lo, hi := 0, len(distinct)-1; hi-lo > 1; {
				width := max((hi-lo)/mostMoves, 1)
				at := -1
				for k := lo; k < hi; k += width {
					moved := slices.Clone(body)
					moved[i].cut = distinct[k]
					y := f.among(active, from.covered, moved)
					if w := score(y.counts()); w > worth+tie || w > worth-tie && y.n < best.n-tie {
						body, best, worth, at = moved, y, w, k
					}
				}
				if at < 0 {
					at, _ = slices.BinarySearch(distinct, body[i].cut)
				}
				if lo, hi = max(at-width, 0), min(at+width, len(distinct)-1); width == 1 {
					break
				}
			}
		}
	}
	return body
}

// opened is a body with a cut that lets all numbers through.
func opened(body []literal, i int) []literal {
	open := slices.Clone(body)
	open[i].cut = math.Inf(1)
	if (open[i].op == above) != open[i].negated {
		open[i].cut = math.Inf(-1)
	}
	return open
}

func (b *between) counts() counts { return counts{ep: b.p, en: b.n} }

// longNumber is from how many characters on a cut is written shorter.
const longNumber = 7

// shortest writes long cuts with as few digits as divide the numbers in the same way.
func shortest(body []literal) []literal {
	body = slices.Clone(body)
	for i := range body {
		l := &body[i]
		if l.op == none || l.relation == nil || len(strconv.FormatFloat(l.cut, 'g', -1, 64)) < longNumber {
			continue
		}
		_, distinct := l.relation.ranked()
		if at, ok := slices.BinarySearch(distinct, l.cut); ok && at+1 < len(distinct) {
			l.cut = simplest(l.cut, distinct[at+1])
		}
	}
	return body
}

// simplest is the number of the fewest decimals from one on, and below another.
func simplest(from, below float64) float64 {
	for decimals := range 12 {
		scale := math.Pow10(decimals)
		x := math.Ceil(from*scale) / scale
		if x >= from && x < below && !math.IsInf(x, 0) {
			return x
		}
	}
	return from
}
