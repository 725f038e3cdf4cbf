package table

import (
	"math"
	"slices"
)

// IsID reports whether a column of names that are not the target is left out as
// an id: more than half of its known cells are distinct.
func IsID(distinct, known int) bool { return known > 50 && 2*distinct > known }

// mayBeID reports whether a column is left out if it turns out to be an id.
func (a *assembly) mayBeID(f *field) bool {
	return !f.keepID && f.name != a.plan.options.Target && !a.plan.options.IDs && !a.plan.numeric[f.name]
}

// manyNames is how many names of a column are kept whatever it is. Ids of rows
// that are only passed over are not: there are as many of them as there are rows.
const manyNames = 1 << 18

// letGo has the names of a column only be counted from now on, if it has many and
// is an id so far.
func (a *assembly) letGo(col *column) {
	f, n := col.field, col.names.len()
	if n <= max(a.plan.options.tuning.names, col.looked) || f.whole || !f.judged() || !a.mayBeID(f) || !IsID(n, col.known) {
		return
	}
	if col.looked = 2 * n; len(lookAt(&col.names, f).odd) <= mostOdd {
		return // quantities in some style, as they are so far
	}
	col.tally = &tally{}
	col.tally.add(col.names.hashes)
	col.names, col.rows = dictionary{}, nil
}

// regrets reports whether a column of which the names were not kept may be no id
// after all: it is read again, with its names.
func (c *column) regrets() bool {
	if c.tally == nil || 2*c.tally.distinct() > 1.2*float64(c.known) {
		return false
	}
	c.field.whole = true
	return true
}

// tally tells about how many distinct hashes there were, from the lowest of them
// (Bar-Yossef et al. 2002): with a standard deviation of 1 in √lowest, which is
// 1.6 %, so that being off by 20 % takes more than 12 of them.
type tally struct {
	hashes []uint64
	below  uint64 // higher ones are passed over, 0 for none
}

const lowest = 1 << 12

func (t *tally) add(hashes []uint64) {
	for _, h := range hashes {
		if t.below > 0 && h >= t.below {
			continue
		}
		if t.hashes = append(t.hashes, h); len(t.hashes) == 2*lowest {
			t.settle()
		}
	}
}

func (t *tally) settle() {
	slices.Sort(t.hashes)
	if t.hashes = slices.Compact(t.hashes); len(t.hashes) > lowest {
		t.hashes = t.hashes[:lowest]
		t.below = t.hashes[lowest-1]
	}
}

func (t *tally) distinct() float64 {
	if t.settle(); len(t.hashes) < lowest {
		return float64(len(t.hashes))
	}
	return (lowest - 1) / (float64(t.hashes[lowest-1]) / math.MaxUint64)
}
