package arrow

import (
	"encoding/binary"
	"errors"
	"math"
)

// FlatBuffers, as far as Arrow's metadata need them: tables that are read where
// they lie, every place checked; and a builder that writes from the end, as all do.

// errFlat is what panics where metadata point nowhere; open turns it into an error.
var errFlat = errors.New("metadata that point nowhere")

// flat is a table of a buffer.
type flat struct {
	b  []byte
	at int
}

func (f flat) u16(at int) int {
	if at < 0 || at+2 > len(f.b) {
		panic(errFlat)
	}
	return int(binary.LittleEndian.Uint16(f.b[at:]))
}

func (f flat) i32(at int) int {
	if at < 0 || at+4 > len(f.b) {
		panic(errFlat)
	}
	return int(int32(binary.LittleEndian.Uint32(f.b[at:])))
}

func (f flat) i64(at int) int64 {
	if at < 0 || at+8 > len(f.b) {
		panic(errFlat)
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:]))
}

// root is the table that a buffer begins with.
func root(b []byte) flat {
	f := flat{b: b}
	f.at = f.i32(0)
	return f
}

// field is where a field is, 0 if it has its default.
func (f flat) field(n int) int {
	vtable := f.at - f.i32(f.at)
	if size := f.u16(vtable); 4+2*n+2 > size {
		return 0
	}
	if off := f.u16(vtable + 4 + 2*n); off != 0 {
		return f.at + off
	}
	return 0
}

func (f flat) byteAt(n, otherwise int) int {
	at := f.field(n)
	if at == 0 {
		return otherwise
	}
	if at >= len(f.b) {
		panic(errFlat)
	}
	return int(f.b[at])
}

func (f flat) short(n, otherwise int) int {
	if at := f.field(n); at != 0 {
		return int(int16(f.u16(at)))
	}
	return otherwise
}

func (f flat) int(n, otherwise int) int {
	if at := f.field(n); at != 0 {
		return f.i32(at)
	}
	return otherwise
}

func (f flat) long(n int) int64 {
	if at := f.field(n); at != 0 {
		return f.i64(at)
	}
	return 0
}

// table is what a field points at.
func (f flat) table(n int) (flat, bool) {
	at := f.field(n)
	if at == 0 {
		return flat{}, false
	}
	return flat{f.b, at + f.i32(at)}, true
}

// vector is where the elements of a field are, and how many there are, of so
// many bytes each.
func (f flat) vector(n, width int) (at, length int) {
	at = f.field(n)
	if at == 0 {
		return 0, 0
	}
	at += f.i32(at)
	length = f.i32(at)
	if length < 0 || length > (len(f.b)-at-4)/width {
		panic(errFlat)
	}
	return at + 4, length
}

func (f flat) text(n int) string {
	at, length := f.vector(n, 1)
	return string(f.b[at : at+length])
}

// builder writes a buffer from its end. Places are counted from the end, too.
type builder struct {
	b      []byte // reversed in blocks: the newest first
	fields []int  // of the table that is being written
	start  int
}

func (w *builder) prepend(p []byte) {
	w.b = append(append(make([]byte, 0, len(p)+len(w.b)), p...), w.b...)
}

// align makes the place of what follows, of so many bytes, a multiple of size.
func (w *builder) align(size, following int) {
	if over := (len(w.b) + following) % size; over != 0 {
		w.prepend(make([]byte, size-over))
	}
}

func (w *builder) put(size int, x uint64) int {
	w.align(size, size)
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], x)
	w.prepend(p[:size])
	return len(w.b)
}

// offset writes where something is, which was written before.
func (w *builder) offset(to int) int {
	w.align(4, 4)
	return w.put(4, uint64(len(w.b)+4-to))
}

func (w *builder) text(s string) int {
	w.align(4, len(s)+1)
	w.prepend(append([]byte(s), 0))
	return w.put(4, uint64(len(s)))
}

// offsets writes a vector of places.
func (w *builder) offsets(to []int) int {
	w.align(4, 4*len(to))
	for i := len(to) - 1; i >= 0; i-- {
		w.offset(to[i])
	}
	return w.put(4, uint64(len(to)))
}

// structs writes a vector of structs of 8-byte numbers.
func (w *builder) structs(width int, numbers []int64) int {
	w.align(8, 8*len(numbers))
	p := make([]byte, 0, 8*len(numbers))
	for _, x := range numbers {
		p = binary.LittleEndian.AppendUint64(p, uint64(x))
	}
	w.prepend(p)
	return w.put(4, uint64(len(numbers)/width))
}

// begin begins a table of so many fields; what it points at was written before.
func (w *builder) begin(fields int) { w.fields, w.start = make([]int, fields), len(w.b) }

func (w *builder) set(n, size int, x uint64) { w.fields[n] = w.put(size, x) }

func (w *builder) point(n, to int) { w.fields[n] = w.offset(to) }

// end ends the table: its fields are there, and before them the table of fields.
func (w *builder) end() int {
	at := w.put(4, 0) // where the table of fields is, patched below
	size := at - w.start
	vtable := make([]byte, 0, 4+2*len(w.fields))
	vtable = binary.LittleEndian.AppendUint16(vtable, uint16(4+2*len(w.fields)))
	vtable = binary.LittleEndian.AppendUint16(vtable, uint16(size))
	for _, f := range w.fields {
		off := 0
		if f != 0 {
			off = at - f
		}
		vtable = binary.LittleEndian.AppendUint16(vtable, uint16(off))
	}
	w.prepend(vtable)
	binary.LittleEndian.PutUint32(w.b[len(vtable):], uint32(len(vtable)))
	return at
}

// finish returns the buffer of a table that was written last.
func (w *builder) finish(table int) []byte {
	w.align(8, 4)
	w.offset(table)
	return w.b
}

func bitsOf(x float64) uint64 { return math.Float64bits(x) }
