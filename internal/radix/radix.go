// Package radix sorts rows by 64-bit keys in linear time: least
// significant digit first (Hollerith 1889; Knuth, The Art of Computer
// Programming, volume 3, 5.2.5). The sort is stable, so rows with equal keys
// keep their order.
//
// Package encode and learn/kept sort with it.
package radix

import "math"

// digits is the number of eight-bit digits of a key.
const digits = 8

// Room is what sorting needs besides what is sorted. It can be used again.
type Room[T any] struct {
	keys []uint64
	rows []T
}

// Keys lends the room for keys, for the time between two sorts.
func (room *Room[T]) Keys(n int) []uint64 {
	if cap(room.keys) < n {
		room.keys = make([]uint64, n)
	}
	return room.keys[:n]
}

// Sort sorts keys ascending and moves rows along. Digits in which all keys
// agree cost one look, not a pass: small integers sort in two or three.
func Sort[T any](keys []uint64, rows []T) { new(Room[T]).Sort(keys, rows) }

// Sort is Sort in room that is there already. Keys that spread evenly, as hashes
// do, are all but sorted by their first digits; the rest is a few steps of
// insertion. Where it would be more, all digits are sorted by.
func (room *Room[T]) Sort(keys []uint64, rows []T) {
	if first := firstDigits(len(keys)); first > 0 {
		room.sortFrom(keys, rows, first)
		if insert(keys, rows, len(keys)/4) {
			return
		}
	}
	room.sortFrom(keys, rows, 0)
}

// firstDigits returns the digit from which on evenly spread keys are all but
// sorted: one in some 64 values is taken.
func firstDigits(n int) int {
	d := digits
	for room := 1; room < 64*n && d > 0; d-- {
		room <<= 8
	}
	return d
}

// insert sorts by insertion, and says whether that many steps were enough. Equal
// keys keep their order either way.
func insert[T any](keys []uint64, rows []T, steps int) bool {
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		if keys[i-1] <= k {
			continue
		}
		row, at := rows[i], i
		for ; at > 0 && keys[at-1] > k; at-- {
			keys[at], rows[at] = keys[at-1], rows[at-1]
		}
		keys[at], rows[at] = k, row
		if steps -= i - at; steps < 0 {
			return false
		}
	}
	return true
}

// sortFrom sorts by the digits from one on.
func (room *Room[T]) sortFrom(keys []uint64, rows []T, first int) {
	n := len(keys)
	var count [digits][256]int
	sorted := true
	for i, k := range keys {
		if i > 0 && k < keys[i-1] {
			sorted = false
		}
		for d := first; d < digits; d++ {
			count[d][byte(k>>(8*d))]++
		}
	}
	if sorted {
		return
	}
	if cap(room.rows) < n {
		room.rows = make([]T, n)
	}
	fromKeys, toKeys := keys, room.Keys(n)
	fromRows, toRows := rows, room.rows[:n]
	for d := first; d < digits; d++ {
		if count[d][byte(keys[0]>>(8*d))] == n {
			continue
		}
		var at [256]int
		sum := 0
		for b, c := range count[d] {
			at[b] = sum
			sum += c
		}
		for i, k := range fromKeys {
			b := byte(k >> (8 * d))
			toKeys[at[b]] = k
			toRows[at[b]] = fromRows[i]
			at[b]++
		}
		fromKeys, toKeys = toKeys, fromKeys
		fromRows, toRows = toRows, fromRows
	}
	if &fromKeys[0] != &keys[0] {
		copy(keys, fromKeys)
		copy(rows, fromRows)
	}
}

// Key returns a key that orders as the number does: -Inf first, +Inf last,
// and the two zeros as one. NaN has no place in the order.
func Key(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 + 0 = 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}
