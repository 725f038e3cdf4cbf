// Package bits holds sets of rows as dense bitmaps, 64 rows to a word.
//
// Counting the rows that satisfy a conjunction of tests is the inner loop of
// most learners of rules. With one bitmap a test, it is an AND and a
// population count for every 64 rows, with neither branches nor allocation.
// The loops are unrolled by eight words (a cache line), which lets the
// processor overlap them; the compiler does not unroll on its own.
//
// The operands of one call have the same length. Bits beyond the last row of
// a set are zero, and every function here keeps them so.
//
// Rule networks (learners/rulenet), package rule and evaluate count with it.
package bits

import "math/bits"

// Set is a set of rows: row i is bit i%64 of word i/64.
type Set []uint64

// Words returns the number of words that hold n rows.
func Words(n int) int { return (n + 63) / 64 }

// New returns the empty set over n rows.
func New(n int) Set { return make(Set, Words(n)) }

// Fill returns the set of all n rows.
func Fill(n int) Set {
	s := New(n)
	s.Fill(n)
	return s
}

// Fill makes s, which has room for them, the set of the first n rows.
func (s Set) Fill(n int) {
	full := n / 64
	for i := range s[:full] {
		s[i] = ^uint64(0)
	}
	clear(s[full:])
	if rest := n % 64; rest > 0 {
		s[full] = 1<<rest - 1
	}
}

// Get reports whether row i is in the set.
func (s Set) Get(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// Put puts row i into the set.
func (s Set) Put(i int) { s[i/64] |= 1 << (i % 64) }

// And makes dst the rows that are in a and in b. Any of the three may be one.
func And(dst, a, b Set) {
	for len(dst) >= 8 && len(a) >= 8 && len(b) >= 8 {
		dst[0] = a[0] & b[0]
		dst[1] = a[1] & b[1]
		dst[2] = a[2] & b[2]
		dst[3] = a[3] & b[3]
		dst[4] = a[4] & b[4]
		dst[5] = a[5] & b[5]
		dst[6] = a[6] & b[6]
		dst[7] = a[7] & b[7]
		dst, a, b = dst[8:], a[8:], b[8:]
	}
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
}

// Or makes dst the rows that are in a or in b. Any of the three may be one.
func Or(dst, a, b Set) {
	for len(dst) >= 8 && len(a) >= 8 && len(b) >= 8 {
		dst[0] = a[0] | b[0]
		dst[1] = a[1] | b[1]
		dst[2] = a[2] | b[2]
		dst[3] = a[3] | b[3]
		dst[4] = a[4] | b[4]
		dst[5] = a[5] | b[5]
		dst[6] = a[6] | b[6]
		dst[7] = a[7] | b[7]
		dst, a, b = dst[8:], a[8:], b[8:]
	}
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
}

// AndNot makes dst the rows that are in a and not in b. Any of the three may
// be one.
func AndNot(dst, a, b Set) {
	for len(dst) >= 8 && len(a) >= 8 && len(b) >= 8 {
		dst[0] = a[0] &^ b[0]
		dst[1] = a[1] &^ b[1]
		dst[2] = a[2] &^ b[2]
		dst[3] = a[3] &^ b[3]
		dst[4] = a[4] &^ b[4]
		dst[5] = a[5] &^ b[5]
		dst[6] = a[6] &^ b[6]
		dst[7] = a[7] &^ b[7]
		dst, a, b = dst[8:], a[8:], b[8:]
	}
	for i := range dst {
		dst[i] = a[i] &^ b[i]
	}
}

// Count returns the number of rows in the set.
func (s Set) Count() int {
	n := 0
	for len(s) >= 8 {
		n += bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) +
			bits.OnesCount64(s[2]) + bits.OnesCount64(s[3]) +
			bits.OnesCount64(s[4]) + bits.OnesCount64(s[5]) +
			bits.OnesCount64(s[6]) + bits.OnesCount64(s[7])
		s = s[8:]
	}
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// AndCount returns the number of rows that are in a and in b, without making
// that set.
func AndCount(a, b Set) int {
	n := 0
	for len(a) >= 8 && len(b) >= 8 {
		n += bits.OnesCount64(a[0]&b[0]) + bits.OnesCount64(a[1]&b[1]) +
			bits.OnesCount64(a[2]&b[2]) + bits.OnesCount64(a[3]&b[3]) +
			bits.OnesCount64(a[4]&b[4]) + bits.OnesCount64(a[5]&b[5]) +
			bits.OnesCount64(a[6]&b[6]) + bits.OnesCount64(a[7]&b[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		n += bits.OnesCount64(a[i] & b[i])
	}
	return n
}

// Any reports whether the set has a row.
func (s Set) Any() bool {
	for _, w := range s {
		if w != 0 {
			return true
		}
	}
	return false
}

// All calls yield for each row of the set, in order, until it returns false.
// It is an iterator: for row := range s.All.
func (s Set) All(yield func(row int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
