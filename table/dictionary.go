package table

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
)

// hashSeed is one for all dictionaries, so that a value is hashed once on its
// way from a block's dictionary to the table's.
var hashSeed = maphash.MakeSeed()

// dictionary gives distinct texts consecutive codes in order of appearance.
// It is a hash table with open addressing whose keys stand one after the
// other in a single slice of bytes: finding a text that is known allocates
// nothing, and emptying the dictionary keeps its memory.
type dictionary struct {
	slots  []slot   // len is a power of two
	hashes []uint64 // of each code
	ends   []int    // code c is text[ends[c-1]:ends[c]]
	text   []byte
	places []int // where each value was first met, for those who want to know
}

// slot is a place of the hash table: the upper half of a text's hash, so that
// others are passed over without looking at theirs, and its code + 1, or 0 if the
// slot is free.
type slot struct {
	hash uint32
	code int32
}

func (d *dictionary) len() int { return len(d.ends) }

// value returns the text of a code, valid until the dictionary is emptied.
func (d *dictionary) value(code int32) []byte {
	start := 0
	if code > 0 {
		start = d.ends[code-1]
	}
	return d.text[start:d.ends[code]]
}

// find returns the code of a text, or -1.
func (d *dictionary) find(text []byte, hash uint64) int32 {
	if len(d.slots) == 0 {
		return -1
	}
	mask := len(d.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		s := d.slots[i]
		if s.code == 0 {
			return -1
		}
		if s.hash == uint32(hash>>32) && bytes.Equal(d.value(s.code-1), text) {
			return s.code - 1
		}
	}
}

// add gives a text that find did not know the next code.
func (d *dictionary) add(text []byte, hash uint64) int32 {
	if 2*(len(d.ends)+1) > len(d.slots) {
		d.grow()
	}
	code := int32(len(d.ends))
	d.text = append(d.text, text...)
	d.ends = append(d.ends, len(d.text))
	d.hashes = append(d.hashes, hash)
	d.place(code, hash)
	return code
}

func (d *dictionary) place(code int32, hash uint64) {
	mask := len(d.slots) - 1
	i := int(hash) & mask
	for d.slots[i].code != 0 {
		i = (i + 1) & mask
	}
	d.slots[i] = slot{uint32(hash >> 32), code + 1}
}

func (d *dictionary) grow() {
	d.slots = make([]slot, max(8, 2*len(d.slots)))
	for code, hash := range d.hashes {
		d.place(int32(code), hash)
	}
}

// reset empties the dictionary. Room that only a few large texts needed is
// given back.
func (d *dictionary) reset() {
	if len(d.ends) == 0 {
		return
	}
	if cap(d.text) > 1<<20 || len(d.slots) > 1<<16 {
		*d = dictionary{}
		return
	}
	clear(d.slots)
	d.hashes, d.ends, d.text, d.places = d.hashes[:0], d.ends[:0], d.text[:0], d.places[:0]
}

// load fills an empty dictionary with given values, which are distinct.
func (d *dictionary) load(values []string) {
	for _, v := range values {
		d.add([]byte(v), maphash.String(hashSeed, v))
	}
}

// values returns the texts of the codes from a first one on. They share one
// string, which the collector sees as one object.
func (d *dictionary) values(from int) []string {
	start := 0
	if from > 0 {
		start = d.ends[from-1]
	}
	all := string(d.text[start:])
	values := make([]string, d.len()-from)
	for i := range values {
		end := d.ends[from+i]
		values[i] = all[:end-start]
		all, start = all[end-start:], end
	}
	return values
}

// sorted returns the values in an order that does not depend on the rows,
// numbers by value if all of them are numbers, else by bytes, and the new
// code of each old one.
func (d *dictionary) sorted() (values []string, recode []int32) {
	values = d.values(0)
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	numbers := numbersOf(values)
	slices.SortFunc(order, func(a, b int32) int {
		if numbers != nil && numbers[a] != numbers[b] {
			if numbers[a] < numbers[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(values[a], values[b])
	})
	recode = make([]int32, len(values))
	ordered := make([]string, len(values))
	for to, from := range order {
		recode[from] = int32(to)
		ordered[to] = values[from]
	}
	return ordered, recode
}

// numbersOf returns the numbers that the values are, or nil if any is none.
func numbersOf(values []string) []float64 {
	numbers := make([]float64, len(values))
	for i, v := range values {
		x, ok := parseNumber([]byte(v))
		if !ok {
			return nil
		}
		numbers[i] = x
	}
	return numbers
}
