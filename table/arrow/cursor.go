package arrow

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/table"
)

// cursor is how far a column is read: the rows of a part of one batch or several.
type cursor struct {
	file   *file
	column int
	batch  int // that comes next
	row    int // of the batch that is loaded, that comes next
	now    *loaded
	spans  []span
	names  [][]byte // of a dictionary
	room   []float64
}

// loaded is the buffers of a column in one batch.
type loaded struct {
	rows  int
	valid []byte // nil: all are known
	data  []byte // numbers, codes, views or bits
	ends  []byte // of texts
	wide  bool   // ends are of 64 bits
	texts []byte
	views [][]byte // what views point into
}

// span is rows that Read went on to.
type span struct {
	in       *loaded
	from, to int
}

// load reads the buffers of the next batch.
func (c *cursor) load(b *batch) (l *loaded, err error) {
	defer guard(&err)
	f := &c.file.fields[c.column]
	l = &loaded{rows: int(b.rows)}
	if f.kind == typeNull && !f.coded {
		return l, nil
	}
	at, view := c.file.place(b, c.column)
	most := max(1<<20, 64*b.rows+1<<16)
	valid, err := c.file.buffer(b, at, most)
	if err != nil {
		return nil, err
	}
	if 2*c.column+1 < len(b.nodes) && b.nodes[2*c.column+1] != 0 && len(valid) > 0 {
		if l.valid = valid; int64(len(valid)) < (b.rows+7)/8 {
			return nil, fmt.Errorf("%w (column %q: too few bits); write it again", errArrow, f.name)
		}
	}
	return l, c.loadValues(l, b, f, at, view, most)
}

// loadValues reads what stands beside the bits that say which cells are known.
func (c *cursor) loadValues(l *loaded, b *batch, f *field, at, view int, most int64) (err error) {
	var need int64
	switch {
	case f.coded:
		need = b.rows * int64(f.index/8)
	case f.kind == typeUtf8, f.kind == typeLargeUtf8:
		l.wide = f.kind == typeLargeUtf8
		if l.ends, err = c.file.buffer(b, at+1, most); err != nil {
			return err
		}
		if l.texts, err = c.file.buffer(b, at+2, 1<<31); err != nil {
			return err
		}
		width := int64(4)
		if l.wide {
			width = 8
		}
		if b.rows > 0 && int64(len(l.ends)) < width*(b.rows+1) {
			return fmt.Errorf("%w (column %q: too few texts); write it again", errArrow, f.name)
		}
		return nil
	case f.kind == typeUtf8View:
		need = 16 * b.rows
		n := 0
		if view < len(b.variadic) {
			n = int(b.variadic[view])
		}
		if n < 0 || n > len(b.buffers) {
			return fmt.Errorf("%w (column %q: %d buffers); write it again", errArrow, f.name, n)
		}
		for i := range n {
			data, err := c.file.buffer(b, at+2+i, 1<<31)
			if err != nil {
				return err
			}
			l.views = append(l.views, data)
		}
	case f.kind == typeBool:
		need = (b.rows + 7) / 8
	default:
		need = b.rows * int64(f.width/8)
	}
	if l.data, err = c.file.buffer(b, at+1, most); err == nil && int64(len(l.data)) < need {
		err = fmt.Errorf("%w (column %q: %d bytes of %d); write it again", errArrow, f.name, len(l.data), need)
	}
	return err
}

// Read goes on to the next rows of a column.
func (f *file) Read(i, most int) (int, error) {
	c := &f.cursors[i]
	c.spans = c.spans[:0]
	n := 0
	for n < most {
		if c.now == nil {
			if c.batch == len(f.batches) {
				break
			}
			l, err := c.load(&f.batches[c.batch])
			if err != nil {
				return n, err
			}
			c.batch++
			c.now, c.row = l, 0
		}
		take := min(most-n, c.now.rows-c.row)
		if take > 0 {
			c.spans = append(c.spans, span{c.now, c.row, c.row + take})
		}
		c.row, n = c.row+take, n+take
		if c.row == c.now.rows {
			c.now = nil
		}
	}
	return n, nil
}

// Fill gives them to cells.
func (f *file) Fill(i int, to *table.Cells) {
	defer func() {
		if cause := recover(); cause != nil {
			to.Damaged(cause)
		}
	}()
	c := &f.cursors[i]
	of := &f.fields[i]
	for _, s := range c.spans {
		texts := of.coded || of.kind == typeUtf8 || of.kind == typeLargeUtf8 || of.kind == typeUtf8View || of.kind == typeBool || of.kind == typeNull
		if !texts {
			xs := c.numbers(of, s)
			if taken := to.AddFloats(xs, values(of)); taken < len(xs) {
				to.Refuse(fmt.Sprint(xs[taken]))
				return
			}
			continue
		}
		for r := s.from; r < s.to; r++ {
			text := c.text(of, s.in, r)
			if !to.Add(text) {
				to.Refuse(string(text))
				return
			}
		}
	}
}

func values(f *field) table.Values {
	if f.kind == typeDate || f.kind == typeTimestamp {
		return table.Dates
	}
	return table.Numbers
}

func (l *loaded) known(r int) bool { return l.valid == nil || l.valid[r/8]>>(r%8)&1 != 0 }

var truths = [2][]byte{[]byte("false"), []byte("true")}

// text returns the text of a row, nil if it is missing.
func (c *cursor) text(f *field, l *loaded, r int) []byte {
	switch {
	case f.kind == typeNull && !f.coded || !l.known(r):
		return nil
	case f.coded:
		at := integer(l.data, r, f.index, f.signs)
		if at < 0 || at >= int64(len(c.names)) {
			panic(fmt.Sprintf("code %d of %d names", at, len(c.names)))
		}
		return c.names[at]
	case f.kind == typeBool:
		return truths[l.data[r/8]>>(r%8)&1]
	case f.kind == typeUtf8View:
		v := l.data[16*r : 16*r+16]
		if n := binary.LittleEndian.Uint32(v); n > 12 {
			of, at := binary.LittleEndian.Uint32(v[8:]), int64(binary.LittleEndian.Uint32(v[12:]))
			return some(l.views[of][at : at+int64(n)])
		} else {
			return some(v[4 : 4+n])
		}
	case l.wide:
		return some(l.texts[binary.LittleEndian.Uint64(l.ends[8*r:]):binary.LittleEndian.Uint64(l.ends[8*r+8:])])
	}
	return some(l.texts[binary.LittleEndian.Uint32(l.ends[4*r:]):binary.LittleEndian.Uint32(l.ends[4*r+4:])])
}

// some is a text that is not missing.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// integer is the r-th whole number of some bits.
func integer(p []byte, r, bits int, signed bool) int64 {
	switch bits {
	case 8:
		if signed {
			return int64(int8(p[r]))
		}
		return int64(p[r])
	case 16:
		x := binary.LittleEndian.Uint16(p[2*r:])
		if signed {
			return int64(int16(x))
		}
		return int64(x)
	case 32:
		x := binary.LittleEndian.Uint32(p[4*r:])
		if signed {
			return int64(int32(x))
		}
		return int64(x)
	}
	return int64(binary.LittleEndian.Uint64(p[8*r:]))
}

// perSecond is how many of a unit are in a second: s, ms, µs, ns.
var perSecond = [4]float64{1, 1e3, 1e6, 1e9}

// numbers returns the numbers of a span, NaN for missing ones; dates in days.
func (c *cursor) numbers(f *field, s span) []float64 {
	xs := c.room[:0]
	for r := s.from; r < s.to; r++ {
		x := math.NaN()
		if s.in.known(r) {
			x = number(f, s.in.data, r)
		}
		xs = append(xs, x)
	}
	c.room = xs
	return xs
}

func number(f *field, p []byte, r int) float64 {
	switch f.kind {
	case typeFloat:
		switch f.width {
		case 16:
			return half(binary.LittleEndian.Uint16(p[2*r:]))
		case 32:
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(p[4*r:])))
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(p[8*r:]))
	case typeDecimal:
		return decimal(p[16*r:16*r+16], f.scale)
	case typeInt:
		x := integer(p, r, f.width, f.signed)
		if f.width == 64 && !f.signed {
			return float64(uint64(x))
		}
		return float64(x)
	}
	x := integer(p, r, f.width, true)
	switch f.kind {
	case typeDate:
		if f.unit == 0 {
			return float64(x)
		}
		return float64(x) / 86400e3
	case typeTimestamp:
		per := int64(86400 * perSecond[f.unit&3])
		return float64(x/per) + float64(x%per)/float64(per)
	}
	return float64(x) / perSecond[f.unit&3]
}

// half is a number of 16 bits (IEEE 754).
func half(h uint16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10)&31, float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
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

// loadNames reads the dictionary of a column: the last one that replaces others,
// and what was added to it.
func (c *cursor) loadNames() (err error) {
	defer guard(&err)
	f := c.file.fields[c.column]
	switch f.index {
	case 8, 16, 32, 64:
	default:
		return fmt.Errorf("%w (column %q: codes of %d bits); write it again", errArrow, f.name, f.index)
	}
	f.coded = false
	one := &file{r: c.file.r, size: c.file.size, fields: []field{f}}
	all := c.file.dictionaries[f.id]
	for i := range all {
		d := &all[i]
		if i > 0 && !d.delta && len(c.file.batches) > 0 && d.batch.body > c.file.batches[0].body {
			return fmt.Errorf("column %q has a dictionary that is replaced on the way, which is not read; write it again with one", f.name)
		}
		if !d.delta {
			c.names = nil
		}
		if d.batch.rows < 0 || d.batch.rows > 16*max(1, d.batch.length)*64 {
			return fmt.Errorf("%w (a dictionary of %d names); write it again", errArrow, d.batch.rows)
		}
		reader := cursor{file: one}
		l, err := reader.load(&d.batch)
		if err != nil {
			return err
		}
		for r := range l.rows {
			c.names = append(c.names, some(reader.text(&f, l, r)))
		}
	}
	return nil
}
