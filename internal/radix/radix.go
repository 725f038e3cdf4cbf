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

// Sort is Sort in room that is there already.
func (room *Room[T]) Sort(keys []uint64, rows []T) {
	n := len(keys)
	var count [digits][256]int
	sorted := true
	for i, k := range keys {
		if i > 0 && k < keys[i-1] {
			sorted = false
		}
		for d := range digits {
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
	for d := range digits {
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
