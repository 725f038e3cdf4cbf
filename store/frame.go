package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
)

// Every file of the store, and every export, is a head and frames.
//
//	head   "accrete", kind, format (4 bytes), checksum (4 bytes)
//	frame  0xac 0xce, length of the payload (varint), payload, checksum (4 bytes)
//
// Checksums are CRC-32C; a frame's also covers the frame's place in the file,
// so that nothing is taken for a frame where none was written. Numbers are
// little-endian.
const (
	magic    = "accrete"
	format   = 1 // the newest format that is understood here, and the one written
	headSize = len(magic) + 1 + 4 + 4
)

type fileKind byte

const (
	logFile    fileKind = 'L'
	partFile   fileKind = 'P'
	exportFile fileKind = 'X'
	// derivedFile is a derived part. Programs from before there were such files
	// do without it, and so read models whose derived parts they do not know.
	derivedFile fileKind = 'D'
)

func (k fileKind) String() string {
	switch k {
	case logFile:
		return "the log of a model"
	case partFile:
		return "a part of a model"
	case exportFile:
		return "an exported model"
	case derivedFile:
		return "a derived part of a model"
	}
	return "something unknown"
}

var (
	frameMark  = []byte{0xac, 0xce}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func newHead(kind fileKind) []byte {
	b := append([]byte(magic), byte(kind))
	b = binary.LittleEndian.AppendUint32(b, format)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// checkHead says what is wrong with the first bytes of a file of a kind.
func checkHead(r io.ReaderAt, kind fileKind, path string) error {
	b := make([]byte, headSize)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return damaged("%s cannot be read: %v", path, err)
	}
	if n < len(magic) || string(b[:len(magic)]) != magic {
		return damaged("%s is not a file of accrete: expected %v", path, kind)
	}
	if n < headSize || crc32.Checksum(b[:headSize-4], castagnoli) != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return damaged("%s is damaged in its first bytes", path)
	}
	if f := binary.LittleEndian.Uint32(b[len(magic)+1:]); f > format {
		return fail(ErrNewer, "%s was written by a newer accrete (format %d); this one reads up to %d: use the newer one", path, f, format)
	}
	if found := fileKind(b[len(magic)]); found != kind {
		return damaged("%s is %v, expected %v", path, found, kind)
	}
	return nil
}

// contents is what a frame says; after it come the bytes of its parts.
type contents struct {
	Name     string      `cbor:"1,keyasint,omitempty"` // of the model
	Next     int         `cbor:"2,keyasint,omitempty"` // number of the next version, if not the one after the last
	Versions []record    `cbor:"3,keyasint,omitempty"`
	Parts    []partEntry `cbor:"4,keyasint,omitempty"`
	Packed   bool        `cbor:"5,keyasint,omitempty"` // the parts' bytes are compressed
	Newest   int         `cbor:"6,keyasint,omitempty"` // number of the newest version before this frame
	Words    []byte      `cbor:"7,keyasint,omitempty"` // of an export: what people call what the model speaks of
}

// appendFrame appends the frame that is to stand at an offset of the file. A
// frame that would not read back is an error.
func appendFrame(b []byte, at int64, c contents, blob []byte) ([]byte, error) {
	start := len(b)
	b, err := encodeFrame(b, at, c, blob)
	if err != nil {
		return nil, err
	}
	frame := b[start+len(frameMark):]
	_, n := binary.Uvarint(frame)
	if err := newIndex().add(frame[n:len(frame)-4], at, at, at); err != nil {
		return nil, fmt.Errorf("what is to be saved would not read back: %w", err)
	}
	return b, nil
}

// offsetReader is bytes as they stand at an offset of a file.
type offsetReader struct {
	r  io.ReaderAt
	at int64
}

func (o offsetReader) ReadAt(b []byte, at int64) (int, error) { return o.r.ReadAt(b, at-o.at) }

// encodeFrame appends a frame. Its payload is the length of the contents as
// written, their length before compression (0 if not compressed), the
// contents, and the parts' bytes.
func encodeFrame(b []byte, at int64, c contents, blob []byte) ([]byte, error) {
	meta, err := learn.Marshal(c)
	if err != nil {
		return nil, err
	}
	raw := 0
	if packed, ok := pack(meta); ok {
		raw, meta = len(meta), packed
	}
	var lengths []byte
	lengths = binary.AppendUvarint(lengths, uint64(len(meta)))
	lengths = binary.AppendUvarint(lengths, uint64(raw))

	start := len(b)
	b = slices.Grow(b, len(frameMark)+3*binary.MaxVarintLen64+len(meta)+len(blob)+4)
	b = append(b, frameMark...)
	b = binary.AppendUvarint(b, uint64(len(lengths)+len(meta)+len(blob)))
	b = append(b, lengths...)
	b = append(b, meta...)
	b = append(b, blob...)
	return binary.LittleEndian.AppendUint32(b, frameSum(at, b[start:])), nil
}

func frameSum(at int64, frame []byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint64(place[:], uint64(at))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, frame)
}

// contentsMemory remembers what the contents of frames are: a change reads its
// log twice, before it learns and when it is its turn to write, and contents
// take longer to decode than to compare. What was not read for long is forgotten,
// and all of it when a log is written anew: its old frames are never read again,
// and what is decoded takes ten times its bytes. Nil remembers nothing.
type contentsMemory struct {
	sync.Mutex
	known, before map[uint64]remembered // by a hash of the bytes, which are compared too
	seed          maphash.Seed
	size, most    int // of the bytes that are known; as many again may be known from before
}

type remembered struct {
	bytes string // of the contents, as they are in the file
	c     contents
}

// mostRemembered is how many bytes of contents are remembered: those of some
// thousand versions.
const mostRemembered = 1 << 20

// open is openContents.
func (m *contentsMemory) open(payload []byte) (c contents, blob int, err error) {
	size, n := binary.Uvarint(payload)
	_, k := binary.Uvarint(payload[max(n, 0):])
	if m == nil || n <= 0 || k <= 0 || size > uint64(len(payload)-n-k) {
		return openContents(payload)
	}
	blob = n + k + int(size)
	m.Lock()
	defer m.Unlock()
	if m.known == nil {
		m.known, m.seed = map[uint64]remembered{}, maphash.MakeSeed()
	}
	hash := maphash.Bytes(m.seed, payload[:blob])
	if r, ok := m.known[hash]; ok && r.bytes == string(payload[:blob]) {
		return r.c, blob, nil // who changes a record changes a copy
	}
	r, ok := m.before[hash]
	if !ok || r.bytes != string(payload[:blob]) {
		if c, blob, err = openContents(payload); err != nil || blob > m.most {
			return c, blob, err
		}
		r = remembered{string(payload[:blob]), c}
	}
	if m.size+blob > m.most {
		m.known, m.before, m.size = map[uint64]remembered{}, m.known, 0
	}
	m.size += blob
	m.known[hash] = r
	return r.c, blob, nil
}

// forget remembers nothing of what was read so far.
func (m *contentsMemory) forget() {
	m.Lock()
	defer m.Unlock()
	m.known, m.before, m.size = nil, nil, 0
}

// openContents takes a payload apart. blob is where the parts' bytes begin.
func openContents(payload []byte) (c contents, blob int, err error) {
	size, n := binary.Uvarint(payload)
	if n <= 0 {
		return c, 0, errors.New("no length")
	}
	raw, m := binary.Uvarint(payload[n:])
	if m <= 0 || size > uint64(len(payload)-n-m) || raw > 1<<31 {
		return c, 0, errors.New("a length out of range")
	}
	blob = n + m + int(size)
	meta := payload[n+m : blob]
	if raw > max(4<<20, 64*size) {
		return c, 0, errors.New("contents out of proportion")
	}
	if raw > 0 {
		if meta, err = unpack(meta, int64(raw)); err != nil {
			return c, 0, err
		}
	}
	if err := c.UnmarshalCBOR(meta); err != nil {
		return c, 0, err
	}
	if c.Next > maxNumber || c.Newest > maxNumber {
		return c, 0, errors.New("a version number out of range")
	}
	for i := range c.Versions {
		if err := c.Versions[i].check(); err != nil {
			return c, 0, err
		}
	}
	return c, blob, nil
}

// window reads a file in large pieces.
type window struct {
	r   io.ReaderAt
	end int64 // of the file
	at  int64
	buf []byte

	wasted int64 // bytes of what looked like frames and were none
}

const windowSize = 128 << 10

// bytes returns n bytes at an offset, fewer only at the end of the file. They
// are good until the next call.
func (w *window) bytes(at, n int64) ([]byte, error) {
	n = min(n, w.end-at)
	if m, ok := w.r.(inMemory); ok && w.end <= int64(len(m)) {
		return m[at:][:n], nil
	}
	if at < w.at || at+n > w.at+int64(len(w.buf)) {
		size := min(max(n, windowSize), w.end-at)
		if int64(cap(w.buf)) < size {
			w.buf = make([]byte, size+size/2)
		}
		got, err := w.r.ReadAt(w.buf[:size], at)
		w.at, w.buf = at, w.buf[:got]
		if errors.Is(err, io.EOF) { // cut by a writer since we asked for the size
			w.end = at + int64(got)
			n = min(n, int64(got))
		} else if err != nil {
			return nil, err
		}
	}
	return w.buf[at-w.at:][:n], nil
}

// frame returns the payload of the frame at an offset, where the payload
// begins, and where the next frame does. A frame that is not whole has none.
func (w *window) frame(at int64) (payload []byte, begin, next int64, err error) {
	lead, err := w.bytes(at, int64(len(frameMark)+binary.MaxVarintLen64))
	if err != nil || !bytes.HasPrefix(lead, frameMark) {
		return nil, 0, 0, err
	}
	size, n := binary.Uvarint(lead[len(frameMark):])
	if n <= 0 || size > uint64(w.end-at) {
		return nil, 0, 0, nil
	}
	headLen := len(frameMark) + n
	whole := int64(headLen) + int64(size) + 4
	b, err := w.bytes(at, whole)
	if err != nil || int64(len(b)) < whole {
		return nil, 0, 0, err
	}
	body, sum := b[:whole-4], b[whole-4:]
	if frameSum(at, body) != binary.LittleEndian.Uint32(sum) {
		w.wasted += whole
		return nil, 0, 0, nil
	}
	return body[headLen:], at + int64(headLen), at + whole, nil
}

// mark returns the first offset from at on where a frame might begin.
func (w *window) mark(at int64) (int64, error) {
	for at < w.end {
		b, err := w.bytes(at, windowSize)
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(b, frameMark); i >= 0 {
			return at + int64(i), nil
		}
		at += max(1, int64(len(b))-1) // a mark may lie across two pieces
	}
	return w.end, nil
}
