// Package arrow reads and writes Arrow IPC: files (.arrow, .feather) and streams
// (.arrows), as Apache's columnar format has them (arrow.apache.org, Columnar.html,
// "Serialization and Interprocess Communication"), with flat columns. It is apart
// from package table as table/parquet is; a program that imports it, for its effect
// alone, reads and writes such files wherever it does tables. It does without
// Apache's own module, which would double the binary.
//
//	import _ "github.com/accrete-ml/accrete/table/arrow"
//
// Numbers, decimals, times of day (seconds) and durations (seconds) are numbers,
// dates and timestamps are dates, true and false are names, dictionaries of texts
// are names, and texts are cells as if they stood in a CSV file.
package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

func init() {
	table.RegisterFormat(table.Format{Name: "arrow", Extensions: []string{".arrow", ".feather", ".ipc", ".arrows"}, Magic: "ARROW1", Open: open, Write: write})
}

var errArrow = errors.New("is damaged or no Arrow file")

// mostMetadata bounds the metadata of a message.
const mostMetadata = 64 << 20

// file is an Arrow file or stream.
type file struct {
	r            io.ReaderAt
	size         int64
	fields       []field
	batches      []batch
	dictionaries map[int64][]dictionary
	rows         int64
	cursors      []cursor
}

// field is a column.
type field struct {
	name   string
	kind   int // of Arrow's types
	width  int // of numbers, in bits
	signed bool
	unit   int
	scale  int
	coded  bool // by a dictionary
	id     int64
	index  int // bits of codes
	signs  bool
	nested bool
}

// batch is where the buffers of some rows are.
type batch struct {
	rows       int64
	body       int64 // where it begins
	length     int64
	nodes      []int64 // rows and nulls of each column
	buffers    []int64 // where, and how long
	variadic   []int64
	compressed int // -1: not
}

// dictionary is the texts of a column, or more of them.
type dictionary struct {
	batch batch
	delta bool
}

// guard turns metadata that point nowhere into an error.
func guard(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w (%v); write it again", errArrow, cause)
	}
}

// open reads the metadata of all messages.
func open(r io.ReaderAt, size int64) (c table.Columnar, err error) {
	defer guard(&err)
	if size == 0 {
		return nil, errors.New("is empty; expected an Arrow file")
	}
	f := &file{r: r, size: size, dictionaries: map[int64][]dictionary{}}
	var head [8]byte
	if n, err := r.ReadAt(head[:], 0); err != nil && n < len(head) {
		return nil, fmt.Errorf("%w (too short); write it again", errArrow)
	}
	at := int64(0)
	if bytes.HasPrefix(head[:], []byte("ARROW1")) {
		at = 8
	}
	schema := false
	for at < size {
		meta, next, err := f.metadata(at)
		if err != nil {
			return nil, err
		}
		if meta == nil {
			break
		}
		m := root(meta)
		length := m.long(3)
		if length < 0 || length > size-next {
			return nil, fmt.Errorf("%w (a message goes beyond the end); write it again", errArrow)
		}
		of, ok := m.table(2)
		switch kind := m.byteAt(1, 0); {
		case !ok:
			return nil, fmt.Errorf("%w (a message without a head); write it again", errArrow)
		case kind == headSchema && !schema:
			schema = true
			err = f.schema(of)
		case kind == headBatch && schema:
			err = f.batch(of, next, length)
		case kind == headDictionary && schema:
			err = f.dictionary(of, next, length)
		default:
			err = fmt.Errorf("%w (messages out of order); write it again", errArrow)
		}
		if err != nil {
			return nil, err
		}
		at = next + length
	}
	if !schema {
		return nil, fmt.Errorf("%w (no columns); write it again", errArrow)
	}
	f.cursors = make([]cursor, len(f.fields))
	return f, nil
}

// metadata returns those of the message at a place, nil at the end, and where its
// body begins.
func (f *file) metadata(at int64) ([]byte, int64, error) {
	var head [8]byte
	n, err := f.r.ReadAt(head[:], at)
	if n < 4 {
		return nil, 0, nil // a stream may end without a word
	}
	length, start := int64(int32(binary.LittleEndian.Uint32(head[:]))), at+4
	if binary.LittleEndian.Uint32(head[:]) == math.MaxUint32 {
		if n < 8 {
			return nil, 0, fmt.Errorf("%w (cut off: %v); write it again", errArrow, err)
		}
		length, start = int64(int32(binary.LittleEndian.Uint32(head[4:]))), at+8
	}
	if length == 0 {
		return nil, 0, nil
	}
	if length < 0 || length > mostMetadata || length > f.size-start {
		return nil, 0, fmt.Errorf("%w (cut off); write it again", errArrow)
	}
	meta := make([]byte, length)
	if _, err := f.r.ReadAt(meta, start); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return meta, start + length, nil
}

func (f *file) schema(s flat) error {
	if s.short(0, 0) != 0 {
		return errors.New("is written with the high byte first, which is not read; write it with the low byte first")
	}
	at, n := s.vector(1, 4)
	for i := range n {
		of := flat{s.b, at + 4*i + s.i32(at+4*i)}
		c := field{name: of.text(0), kind: of.byteAt(2, 0)}
		_, children := of.vector(5, 4)
		c.nested = children > 0
		if t, ok := of.table(3); ok {
			c.describe(t)
		}
		if d, ok := of.table(4); ok {
			c.coded, c.id, c.index, c.signs = true, d.long(0), 32, true
			if t, ok := d.table(1); ok {
				c.index, c.signs = t.int(0, 0), t.byteAt(1, 0) != 0
			}
		}
		f.fields = append(f.fields, c)
	}
	return nil
}

// describe reads what a type says besides its name.
func (c *field) describe(t flat) {
	switch c.kind {
	case typeInt:
		c.width, c.signed = t.int(0, 0), t.byteAt(1, 0) != 0
	case typeFloat:
		c.width = 16 << t.short(0, 0)
	case typeDecimal:
		c.scale, c.width = t.int(1, 0), t.int(2, 128)
	case typeDate:
		c.unit, c.width, c.signed = t.short(0, 1), 64, true
		if c.unit == 0 {
			c.width = 32
		}
	case typeTime:
		c.unit, c.width, c.signed = t.short(0, 1), t.int(1, 32), true
	case typeTimestamp:
		c.unit, c.width, c.signed = t.short(0, 0), 64, true
	case typeDuration:
		c.unit, c.width, c.signed = t.short(0, 1), 64, true
	}
}

// record reads where the buffers of a batch are.
func (f *file) record(b flat, body, length int64) batch {
	to := batch{rows: b.long(0), body: body, length: length, compressed: -1}
	at, n := b.vector(1, 16)
	for i := range 2 * n {
		to.nodes = append(to.nodes, b.i64(at+8*i))
	}
	at, n = b.vector(2, 16)
	for i := range 2 * n {
		to.buffers = append(to.buffers, b.i64(at+8*i))
	}
	if c, ok := b.table(3); ok {
		to.compressed = c.byteAt(0, 0)
	}
	at, n = b.vector(4, 8)
	for i := range n {
		to.variadic = append(to.variadic, b.i64(at+8*i))
	}
	return to
}

func (f *file) batch(of flat, body, length int64) error {
	b := f.record(of, body, length)
	if b.rows < 0 || len(b.nodes) != 2*len(f.fields) && !f.nests() {
		return fmt.Errorf("%w (a batch of other columns); write it again", errArrow)
	}
	// A row of any column takes a bit at least, unless all are missing.
	if b.rows > 8*max(1, length)*64 && length > 0 || b.rows > 1<<40 {
		return fmt.Errorf("%w (a batch of %d rows in %d bytes); write it again", errArrow, b.rows, length)
	}
	f.rows += b.rows
	f.batches = append(f.batches, b)
	return nil
}

func (f *file) nests() bool {
	for _, c := range f.fields {
		if c.nested {
			return true
		}
	}
	return false
}

func (f *file) dictionary(of flat, body, length int64) error {
	data, ok := of.table(1)
	if !ok {
		return fmt.Errorf("%w (a dictionary of nothing); write it again", errArrow)
	}
	id := of.long(0)
	f.dictionaries[id] = append(f.dictionaries[id], dictionary{f.record(data, body, length), of.byteAt(2, 0) != 0})
	return nil
}

// Names returns the columns' names.
func (f *file) Names() []string {
	names := make([]string, len(f.fields))
	for i := range f.fields {
		names[i] = f.fields[i].name
	}
	return names
}

// Rows returns the rows of all batches.
func (f *file) Rows() int64 { return f.rows }

// Close gives back what is held.
func (f *file) Close() { f.cursors = nil }

// Want prepares a column to be read.
func (f *file) Want(i int) (table.Values, error) {
	if f.nests() {
		return 0, fmt.Errorf("has columns within columns (lists or structs), which are not read; flatten them first")
	}
	c := &f.fields[i]
	f.cursors[i] = cursor{file: f, column: i}
	switch {
	case c.coded && (c.kind == typeUtf8 || c.kind == typeLargeUtf8 || c.kind == typeUtf8View):
		return table.Names, f.cursors[i].loadNames()
	case c.coded:
	case c.kind == typeUtf8, c.kind == typeLargeUtf8, c.kind == typeUtf8View, c.kind == typeNull:
		return table.Texts, nil
	case c.kind == typeBool:
		return table.Names, nil
	case c.kind == typeDate, c.kind == typeTimestamp:
		return table.Dates, nil
	case c.kind == typeInt, c.kind == typeFloat, c.kind == typeTime, c.kind == typeDuration, c.kind == typeDecimal && c.width == 128:
		if c.width == 8 || c.width == 16 || c.width == 32 || c.width == 64 || c.width == 128 {
			return table.Numbers, nil
		}
	}
	return 0, remedy.New(remedy.Remedy{Kind: remedy.LeaveOut}, "column %q is of a type that is not read (number %d of Arrow's)", c.name, c.kind)
}

// place is where a column's first buffer and node are in a batch, and its views.
func (f *file) place(b *batch, column int) (buffer, variadic int) {
	views := 0
	for i := range column {
		c := &f.fields[i]
		switch {
		case c.coded:
			buffer += 2
		case c.kind == typeNull:
		case c.kind == typeUtf8 || c.kind == typeLargeUtf8:
			buffer += 3
		case c.kind == typeUtf8View:
			buffer += 2
			if views < len(b.variadic) {
				buffer += int(b.variadic[views])
			}
			views++
		default:
			buffer += 2
		}
	}
	return buffer, views
}

// buffer returns the bytes of a buffer, unpacked; most bounds them.
func (f *file) buffer(b *batch, n int, most int64) ([]byte, error) {
	if n < 0 || 2*n+1 >= len(b.buffers) {
		return nil, fmt.Errorf("%w (a buffer is missing); write it again", errArrow)
	}
	at, length := b.buffers[2*n], b.buffers[2*n+1]
	if at < 0 || length < 0 || at > b.length || length > b.length-at {
		return nil, fmt.Errorf("%w (a buffer goes beyond its batch); write it again", errArrow)
	}
	p := make([]byte, length)
	if _, err := f.r.ReadAt(p, b.body+at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if b.compressed < 0 || length == 0 {
		return p, nil
	}
	if length < 8 {
		return nil, fmt.Errorf("%w (a packed buffer is too short); write it again", errArrow)
	}
	size := int64(binary.LittleEndian.Uint64(p))
	if p = p[8:]; size == -1 {
		return p, nil
	}
	if size < 0 || size > most {
		return nil, fmt.Errorf("%w (a buffer unpacks to %d bytes); write it again", errArrow, size)
	}
	return unpack(p, size, b.compressed)
}

// unpack unpacks LZ4 frames (0) or zstd (1), to exactly so many bytes.
func unpack(p []byte, size int64, codec int) ([]byte, error) {
	var r io.Reader
	switch codec {
	case 0:
		r = lz4.NewReader(bytes.NewReader(p))
	case 1:
		d, err := zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<31))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		r = d
	default:
		return nil, fmt.Errorf("%w (packed in a way that is not known); write it again", errArrow)
	}
	var out bytes.Buffer
	if n, err := io.Copy(&out, io.LimitReader(r, size+1)); err != nil || n != size {
		return nil, fmt.Errorf("%w (a packed buffer has %d of %d bytes: %v); write it again", errArrow, n, size, err)
	}
	return out.Bytes(), nil
}

// decimal is a number of 128 bits with some digits behind the point.
func decimal(p []byte, scale int) float64 {
	reversed := make([]byte, 16)
	for i := range reversed {
		reversed[15-i] = p[i]
	}
	x := new(big.Int).SetBytes(reversed)
	if reversed[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	f, _ := new(big.Float).SetInt(x).Float64()
	if scale >= 0 && scale <= 308 {
		return f / math.Pow(10, float64(scale))
	}
	return f * math.Pow(10, -float64(scale))
}
