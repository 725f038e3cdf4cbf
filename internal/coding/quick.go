package coding

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Quick reads the part of CBOR that models and their records are written in, at
// a fraction of the cost of reading all of it. Who meets anything else starts
// again with Unmarshal.
type Quick struct {
	data    []byte
	text    string // data, for all strings to share; "" if each has its own
	at      int
	Strange bool // something else came, and what was read is of no use
}

// NewQuick reads data of many strings, which share a copy of it.
func NewQuick(data []byte) *Quick { return &Quick{data: data, text: string(data)} }

// NewQuickNumbers reads data of few strings, which are copied one by one.
func NewQuickNumbers(data []byte) *Quick { return &Quick{data: data} }

// Done reports whether everything was read, and nothing strange came.
func (q *Quick) Done() bool { return !q.Strange && q.at == len(q.data) }

// The major types of CBOR that are read.
const (
	majorUint  = 0
	majorMinus = 1
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorFloat = 7
)

const (
	isFalse = 0xf4
	isTrue  = 0xf5
	isNull  = 0xf6
)

// Head reads the type of an item and its number; of a float, the size.
func (q *Quick) Head() (major byte, n uint64) {
	if q.at >= len(q.data) {
		q.Strange = true
		return 0, 0
	}
	first := q.data[q.at]
	q.at++
	major, n = first>>5, uint64(first&31)
	if n < 24 {
		q.Strange = q.Strange || major == majorFloat
		return major, n
	}
	size := 1 << (n - 24)
	if n > 27 || q.at+size > len(q.data) {
		q.Strange = true
		return 0, 0
	}
	if major == majorFloat {
		return major, uint64(size)
	}
	n = 0
	for _, b := range q.data[q.at : q.at+size] {
		n = n<<8 | uint64(b)
	}
	q.at += size
	return major, n
}

// Uint reads a whole number.
func (q *Quick) Uint() uint64 {
	major, n := q.Head()
	q.Strange = q.Strange || major != majorUint
	return n
}

// Int reads a whole number that is not negative.
func (q *Quick) Int() int64 {
	n := q.Uint()
	q.Strange = q.Strange || n > math.MaxInt64
	return int64(n)
}

// span is where the bytes of a string lie.
func (q *Quick) span(kind byte) (from, to int) {
	major, n := q.Head()
	if q.Strange || major != kind || n > uint64(len(q.data)-q.at) {
		q.Strange = true
		return 0, 0
	}
	from = q.at
	q.at += int(n)
	return from, q.at
}

// Text reads a string.
func (q *Quick) Text() string {
	from, to := q.span(majorText)
	var s string
	if q.text != "" {
		s = q.text[from:to]
	} else {
		s = string(q.data[from:to])
	}
	q.Strange = q.Strange || !utf8.ValidString(s)
	return s
}

// Bytes reads bytes, a copy of them.
func (q *Quick) Bytes() []byte {
	from, to := q.span(majorBytes)
	return append(make([]byte, 0, to-from), q.data[from:to]...)
}

// Float reads a number.
func (q *Quick) Float() float64 {
	major, size := q.Head()
	if q.Strange || major != majorFloat {
		q.Strange = true
		return 0
	}
	b := q.data[q.at : q.at+int(size)]
	q.at += int(size)
	switch size {
	case 2:
		return half(binary.BigEndian.Uint16(b))
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	q.Strange = true
	return 0
}

// half is a number of 16 bits (IEEE 754).
func half(bits uint16) float64 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Ints reads a list of whole numbers.
func (q *Quick) Ints() []int64 {
	major, n := q.Head()
	if q.Strange || major != majorArray || n > uint64(len(q.data)-q.at) {
		q.Strange = true
		return nil
	}
	list := make([]int64, n)
	for i := range list {
		major, n := q.Head()
		q.Strange = q.Strange || major > majorMinus || n > math.MaxInt64
		list[i] = int64(n)
		if major == majorMinus {
			list[i] = -1 - list[i]
		}
	}
	return list
}

// Texts reads a map of strings.
func (q *Quick) Texts() map[string]string {
	major, n := q.Head()
	if q.Strange || major != majorMap || n > uint64(len(q.data)) {
		q.Strange = true
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		key := q.Text()
		m[key] = q.Text()
	}
	q.Strange = q.Strange || uint64(len(m)) != n
	return m
}

// Null passes over null, if it comes next: a list that is nil.
func (q *Quick) Null() bool { return q.next(isNull) }

// List reads the head of a list, of no more items than there are bytes.
func (q *Quick) List() int { return q.many(majorArray) }

// Map reads the head of a map, as List does.
func (q *Quick) Map() int { return q.many(majorMap) }

func (q *Quick) many(kind byte) int {
	major, n := q.Head()
	if q.Strange || major != kind || n > uint64(len(q.data)-q.at) {
		q.Strange = true
		return 0
	}
	return int(n)
}

// next passes over a byte, if it comes next.
func (q *Quick) next(b byte) bool {
	if q.at >= len(q.data) || q.data[q.at] != b {
		return false
	}
	q.at++
	return true
}

// Bool reads a truth value.
func (q *Quick) Bool() bool {
	is := q.next(isTrue)
	q.Strange = q.Strange || !is && !q.next(isFalse)
	return is
}

// Share reads bytes, which stay where they are in the data.
func (q *Quick) Share() []byte {
	from, to := q.span(majorBytes)
	return q.data[from:to:to]
}
