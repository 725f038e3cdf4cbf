package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

// sqlType is how values of a type are asked for (%s is the column), what they
// are to us, and how they are decoded.
type sqlType struct {
	read   string
	values table.Values
	decode decoder
}

// decoder hands over a cell; it reports whether it has the size that its type has.
type decoder func(to *database.Rows, column int, cell []byte) bool

// typeOf knows types by their number in pg_type. What is not here is its text.
func typeOf(oid uint32) sqlType {
	switch oid {
	case 16: // boolean
		return sqlType{"%s", table.Names, truth}
	case 21:
		return sqlType{"%s", table.Numbers, int2}
	case 23:
		return sqlType{"%s", table.Numbers, int4}
	case 20:
		return sqlType{"%s", table.Numbers, int8}
	case 700:
		return sqlType{"%s", table.Numbers, float4}
	case 701:
		return sqlType{"%s", table.Numbers, float8}
	case 1700: // numeric
		return sqlType{"%s::float8", table.Numbers, float8}
	case 790: // money
		return sqlType{"%s::numeric::float8", table.Numbers, float8}
	case 1186: // interval, in seconds
		return sqlType{"extract(epoch from %s)::float8", table.Numbers, float8}
	case 1083: // time of day, in seconds
		return sqlType{"%s", table.Numbers, clock}
	case 1082:
		return sqlType{"%s", table.Dates, date}
	case 1114, 1184: // with a time zone it is UTC
		return sqlType{"%s", table.Dates, timestamp}
	case 25, 1043: // text, varchar
		return sqlType{"%s", table.Names, text}
	}
	return sqlType{"%s::text", table.Names, text}
}

var truths = [2][]byte{[]byte("false"), []byte("true")}

func truth(to *database.Rows, c int, b []byte) bool {
	if len(b) != 1 {
		return false
	}
	to.Text(c, truths[b[0]&1])
	return true
}

func int2(to *database.Rows, c int, b []byte) bool {
	if len(b) != 2 {
		return false
	}
	to.Number(c, float64(int16(binary.BigEndian.Uint16(b))))
	return true
}

func int4(to *database.Rows, c int, b []byte) bool {
	if len(b) != 4 {
		return false
	}
	to.Number(c, float64(int32(binary.BigEndian.Uint32(b))))
	return true
}

func int8(to *database.Rows, c int, b []byte) bool {
	if len(b) != 8 {
		return false
	}
	to.Number(c, float64(int64(binary.BigEndian.Uint64(b))))
	return true
}

func float4(to *database.Rows, c int, b []byte) bool {
	if len(b) != 4 {
		return false
	}
	to.Number(c, float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	return true
}

func float8(to *database.Rows, c int, b []byte) bool {
	if len(b) != 8 {
		return false
	}
	to.Number(c, math.Float64frombits(binary.BigEndian.Uint64(b)))
	return true
}

func clock(to *database.Rows, c int, b []byte) bool {
	if len(b) != 8 {
		return false
	}
	to.Number(c, float64(int64(binary.BigEndian.Uint64(b)))/1e6)
	return true
}

// epoch is the day from which PostgreSQL counts, in days since 1970.
const epoch = 10957

// date hands over a day; those at infinity are missing.
func date(to *database.Rows, c int, b []byte) bool {
	if len(b) != 4 {
		return false
	}
	day := int32(binary.BigEndian.Uint32(b))
	if day == math.MaxInt32 || day == math.MinInt32 {
		to.Null(c)
	} else {
		to.Number(c, float64(day)+epoch)
	}
	return true
}

func timestamp(to *database.Rows, c int, b []byte) bool {
	if len(b) != 8 {
		return false
	}
	const day = 86400e6 // microseconds
	at := int64(binary.BigEndian.Uint64(b))
	if at == math.MaxInt64 || at == math.MinInt64 {
		to.Null(c)
		return true
	}
	whole := at / day
	if at%day < 0 {
		whole--
	}
	to.Number(c, float64(whole)+epoch+float64(at-whole*day)/day)
	return true
}

func text(to *database.Rows, c int, b []byte) bool {
	to.Text(c, b)
	return true
}

// copying decodes what COPY sends (postgresql.org, COPY, binary format): a
// header, tuples of cells with their lengths, and an end.
type copying struct {
	to       *database.Rows
	decoders []decoder
	begun    bool
	ended    bool
	carry    []byte // of a tuple that goes on
	err      error
}

var signature = []byte("PGCOPY\n\xff\r\n\x00")

// mostTuple bounds what a tuple may have.
const mostTuple = 1 << 30

// Write takes the next bytes. Usually they are one tuple.
func (c *copying) Write(b []byte) (int, error) {
	n := len(b)
	if len(c.carry) > 0 {
		c.carry = append(c.carry, b...)
		b = c.carry
	}
	for len(b) > 0 && c.err == nil {
		used, err := c.next(b)
		if err != nil {
			c.err = err
		}
		if used == 0 {
			break
		}
		b = b[used:]
	}
	if c.err == nil && len(b) > mostTuple {
		c.err = errors.New("a row has more than a gigabyte; leave out its column")
	}
	c.carry = append(c.carry[:0], b...)
	return n, c.err
}

var errMangled = errors.New("the server sent something else than rows; try again")

// next takes the header or a tuple, and returns its length, 0 if it goes on.
func (c *copying) next(b []byte) (int, error) {
	if !c.begun {
		return c.head(b)
	}
	if len(b) < 2 {
		return 0, nil
	}
	cells := int(int16(binary.BigEndian.Uint16(b)))
	if c.ended || cells != len(c.decoders) {
		if !c.ended && cells == -1 && len(b) == 2 {
			c.ended = true
			return 2, nil
		}
		return 0, errMangled
	}
	// Nothing is handed over before the tuple is whole.
	end := 2
	for range cells {
		if len(b) < end+4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(b[end:])))
		if size < -1 {
			return 0, errMangled
		}
		end += 4 + max(0, size)
	}
	if len(b) < end {
		return 0, nil
	}
	at := 2
	for i, decode := range c.decoders {
		size := int(int32(binary.BigEndian.Uint32(b[at:])))
		at += 4
		if size < 0 {
			c.to.Null(i)
			continue
		}
		if !decode(c.to, i, b[at:at+size]) {
			return 0, fmt.Errorf("column %d: a value of %d bytes, which its type does not have; try again", i+1, size)
		}
		at += size
	}
	return end, c.to.End(b[:end])
}

func (c *copying) head(b []byte) (int, error) {
	const fixed = 11 + 4 + 4
	if len(b) < fixed {
		return 0, nil
	}
	if !bytes.HasPrefix(b, signature) {
		return 0, errMangled
	}
	extra := int(binary.BigEndian.Uint32(b[15:]))
	if extra > mostTuple {
		return 0, errMangled
	}
	if len(b) < fixed+extra {
		return 0, nil
	}
	c.begun = true
	return fixed + extra, nil
}
