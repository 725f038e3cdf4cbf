package store

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/learn"
)

// plain is a record that is read field by field, whatever is in it.
type plain record

// UnmarshalCBOR reads a record. Every change reads all records of its log, so
// what newRecord writes is read here, at a fraction of the cost; anything else
// is left to those who know all of CBOR.
func (r *record) UnmarshalCBOR(data []byte) error {
	q := quick{data: data, text: string(data)}
	if q.record(r); !q.strange && q.at == len(data) {
		return nil
	}
	*r = record{}
	return learn.Unmarshal(data, (*plain)(r))
}

// plainEntry is an entry that is read as plain records are.
type plainEntry partEntry

// UnmarshalCBOR reads an entry, as records are read.
func (e *partEntry) UnmarshalCBOR(data []byte) error {
	q := quick{data: data}
	major, n := q.head()
	e.ID = q.uint()
	flags := q.uint()
	e.Flags, e.Size = uint8(flags), q.int()
	e.Name, e.Hash = q.bytes(), q.bytes()
	if !q.strange && major == cborArray && n == 5 && flags <= math.MaxUint8 && q.at == len(data) {
		return nil
	}
	*e = partEntry{}
	return learn.Unmarshal(data, (*plainEntry)(e))
}

// quick reads the part of CBOR (RFC 8949) that records are written in.
type quick struct {
	data    []byte
	text    string // data, for all strings to share
	at      int
	strange bool // something else came, and what was read is of no use
}

// The major types of CBOR that are read.
const (
	cborUint  = 0
	cborMinus = 1
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
	cborFloat = 7
)

// head reads the type of an item and its number; of a float, the size.
func (q *quick) head() (major byte, n uint64) {
	if q.at >= len(q.data) {
		q.strange = true
		return 0, 0
	}
	first := q.data[q.at]
	q.at++
	major, n = first>>5, uint64(first&31)
	if n < 24 {
		q.strange = q.strange || major == cborFloat
		return major, n
	}
	size := 1 << (n - 24)
	if n > 27 || q.at+size > len(q.data) {
		q.strange = true
		return 0, 0
	}
	if major == cborFloat {
		return major, uint64(size)
	}
	n = 0
	for _, b := range q.data[q.at : q.at+size] {
		n = n<<8 | uint64(b)
	}
	q.at += size
	return major, n
}

func (q *quick) uint() uint64 {
	major, n := q.head()
	q.strange = q.strange || major != cborUint
	return n
}

func (q *quick) int() int64 {
	n := q.uint()
	q.strange = q.strange || n > math.MaxInt64
	return int64(n)
}

// span is where the bytes of a string lie.
func (q *quick) span(kind byte) (from, to int) {
	major, n := q.head()
	if q.strange || major != kind || n > uint64(len(q.data)-q.at) {
		q.strange = true
		return 0, 0
	}
	from = q.at
	q.at += int(n)
	return from, q.at
}

func (q *quick) string() string {
	from, to := q.span(cborText)
	s := q.text[from:to]
	q.strange = q.strange || !utf8.ValidString(s)
	return s
}

func (q *quick) bytes() []byte {
	from, to := q.span(cborBytes)
	return append(make([]byte, 0, to-from), q.data[from:to]...)
}

func (q *quick) float() float64 {
	major, size := q.head()
	if q.strange || major != cborFloat {
		q.strange = true
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
	q.strange = true
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

func (q *quick) ints() []int64 {
	major, n := q.head()
	if q.strange || major != cborArray || n > uint64(len(q.data)-q.at) {
		q.strange = true
		return nil
	}
	list := make([]int64, n)
	for i := range list {
		major, n := q.head()
		q.strange = q.strange || major > cborMinus || n > math.MaxInt64
		list[i] = int64(n)
		if major == cborMinus {
			list[i] = -1 - list[i]
		}
	}
	return list
}

func (q *quick) texts() map[string]string {
	major, n := q.head()
	if q.strange || major != cborMap || n > uint64(len(q.data)) {
		q.strange = true
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		key := q.string()
		m[key] = q.string()
	}
	q.strange = q.strange || uint64(len(m)) != n
	return m
}

func (q *quick) record(r *record) {
	major, n := q.head()
	q.strange = q.strange || major != cborMap
	before := -1
	for ; n > 0 && !q.strange; n-- {
		key := int(q.uint())
		q.strange = q.strange || key <= before // keys are sorted
		before = key
		q.field(r, key)
	}
}

func (q *quick) field(r *record, key int) {
	switch key {
	case 1:
		r.Number = int(q.int())
	case 2:
		r.Kind = q.string()
	case 3:
		r.SourceID = q.string()
	case 4:
		r.SourceName = q.string()
	case 5:
		r.SourcePath = q.string()
	case 6:
		r.Hash = q.bytes()
	case 7:
		r.HashText = q.string()
	case 8:
		r.SourceRows = q.float()
	case 9:
		r.Seconds = q.int()
	case 10:
		r.Nanos = q.int()
	case 11:
		r.Seed = q.uint()
	case 12:
		r.Learner = q.string()
	case 13:
		r.Target = q.string()
	case 14:
		r.Rows = q.float()
	case 15:
		r.Rules = int(q.int())
	case 16:
		r.Units = int(q.int())
	case 17:
		r.Settings = q.texts()
	case 18:
		r.Parent = int(q.int())
	case 20:
		r.Parts = q.ints()
	case 21:
		r.Derived = q.ints()
	case 22:
		r.Sum = q.bytes()
	default:
		q.strange = true
	}
}
