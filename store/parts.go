package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// partKey is what makes two parts the same.
type partKey struct {
	name    string
	derived bool
	hash    [sha256.Size]byte // of its bytes
}

// sumKeys is a checksum of what a model is made of, derived parts left out. It
// ties a version to its parts more firmly than their numbers alone.
func sumKeys(keys []partKey) []byte {
	var b []byte
	for _, k := range keys {
		if !k.derived {
			b = binary.AppendUvarint(b, uint64(len(k.name)))
			b = append(b, k.name...)
			b = append(b, k.hash[:]...)
		}
	}
	sum := sha256.Sum256(b)
	return sum[:8]
}

// part is a part of a model, and where it is kept.
type part struct {
	id     uint64 // within the log
	key    partKey
	size   int64  // in bytes, before compression
	inFile bool   // in a file of its own
	frame  *frame // that tells of it
	offset int64  // in the frame's bytes, if it is there
	live   bool   // some version needs it (see mark)
}

// partEntry is a part as a frame tells of it.
type partEntry struct {
	_     struct{} `cbor:",toarray"`
	ID    uint64
	Flags uint8
	Size  int64
	Name  []byte
	Hash  []byte
}

// maxBytes is far more than there will be, and far from overflow.
const maxBytes = 1 << 50

const (
	derivedPart = 1 << iota
	filePart
)

func (p *part) entry() partEntry {
	e := partEntry{ID: p.id, Size: p.size, Name: []byte(p.key.name), Hash: p.key.hash[:]}
	if p.key.derived {
		e.Flags |= derivedPart
	}
	if p.inFile {
		e.Flags |= filePart
	}
	return e
}

// part returns the part that an entry of a frame tells of.
func (e *partEntry) part(f *frame) (*part, error) {
	if e.ID < 1 || e.ID > maxID || len(e.Hash) != sha256.Size || e.Size < 0 || e.Size > maxBytes {
		return nil, errors.New("a part out of range")
	}
	p := &part{
		id: e.ID, size: e.Size, frame: f, inFile: e.Flags&filePart != 0,
		key: partKey{string(e.Name), e.Flags&derivedPart != 0, [sha256.Size]byte(e.Hash)},
	}
	if !p.inFile {
		p.offset = f.raw
		if f.raw += p.size; f.raw > maxBytes {
			return nil, errors.New("parts out of range")
		}
	}
	return p, nil
}

const derivedName = "-derived"

// fileName tells derived parts from others of the same bytes, because they do
// not live as long.
func (p *part) fileName() string {
	name := hex.EncodeToString(p.key.hash[:])
	if p.key.derived {
		return name + derivedName
	}
	return name
}

func (l *log) partPath(p *part) string {
	return filepath.Join(filepath.Dir(l.path), "parts", p.fileName())
}

// data reads the bytes of a part and checks that they are what was saved.
func (l *log) data(p *part) ([]byte, error) {
	data, where, err := []byte(nil), l.path, error(nil)
	if p.inFile {
		where = l.partPath(p)
		data, err = l.store.readPartFile(where, &l.room)
	} else if !p.frame.packed {
		data = make([]byte, p.size)
		_, err = l.bytes.ReadAt(data, p.frame.blob+p.offset)
	} else {
		if l.cached != p.frame {
			l.cached = nil
			if l.blob, err = l.readBlob(p.frame); err == nil {
				l.cached = p.frame
			}
		}
		if err == nil {
			data = l.blob[p.offset : p.offset+p.size : p.offset+p.size]
		}
	}
	if err != nil {
		return nil, fmt.Errorf("its part %q in %s cannot be read (%w)", p.key.name, where, err)
	}
	if sha256.Sum256(data) != p.key.hash {
		return nil, fmt.Errorf("its part %q in %s is damaged", p.key.name, where)
	}
	if l.store != nil {
		l.store.unpacked.Add(p.size)
		l.store.hashes.put(data, p.key.hash)
	}
	return data, nil
}

// hashMemory remembers the hashes of large parts that were read, for as long as
// somebody has their bytes, which nobody changes: a model that is saved again
// gives most of them back as they came.
type hashMemory struct {
	sync.Mutex
	known map[weak.Pointer[byte]]hashed
}

type hashed struct {
	size int
	hash [sha256.Size]byte
}

const (
	leastHashed = 4 << 10 // bytes of a part that is worth it
	mostHashed  = 4096    // parts
)

func (m *hashMemory) put(data []byte, hash [sha256.Size]byte) {
	if len(data) < leastHashed {
		return
	}
	m.Lock()
	defer m.Unlock()
	if m.known == nil || len(m.known) >= mostHashed {
		m.known = map[weak.Pointer[byte]]hashed{}
	}
	m.known[weak.Make(&data[0])] = hashed{len(data), hash}
}

// of returns the hash of a part's bytes.
func (m *hashMemory) of(data []byte) [sha256.Size]byte {
	if len(data) >= leastHashed {
		m.Lock()
		known, ok := m.known[weak.Make(&data[0])]
		m.Unlock()
		if ok && known.size == len(data) {
			return known.hash
		}
	}
	return sha256.Sum256(data)
}

// readBlob is readBlob, of a compressed frame of the log.
func (l *log) readBlob(f *frame) ([]byte, error) {
	l.room = slices.Grow(l.room[:0], int(f.blobSize))[:f.blobSize]
	if _, err := l.bytes.ReadAt(l.room, f.blob); err != nil {
		return nil, err
	}
	return unpack(l.room, f.raw)
}

// readBlob reads the bytes of a frame's parts, decompressed.
func readBlob(r io.ReaderAt, f *frame) ([]byte, error) {
	blob := make([]byte, f.blobSize)
	if _, err := r.ReadAt(blob, f.blob); err != nil {
		return nil, err
	}
	if !f.packed {
		return blob, nil
	}
	return unpack(blob, f.raw)
}

// writePartFile keeps a large part as a file of its own. The folder has yet
// to be synced. A derived part is not synced at all: if a crash destroys it,
// it can be done without.
func (s *Store) writePartFile(dir string, p *part, data []byte) error {
	inside := *p
	inside.inFile = false
	path, kind := filepath.Join(dir, p.fileName()), partFile
	if p.key.derived {
		kind = derivedFile
	}
	return s.writeFile(path, kind, !p.key.derived, func(w *frameWriter) error {
		return w.parts([]*part{&inside}, data)
	})
}

// readPartFile reads a part that is a file of its own, the file into room.
func (s *Store) readPartFile(path string, room *[]byte) ([]byte, error) {
	f, err := s.disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	whole := sizedReader(f)
	if size <= trusted {
		*room = slices.Grow((*room)[:0], int(size))[:size]
		n, err := f.ReadAt(*room, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		whole = inMemory((*room)[:n])
	}
	kind := partFile
	if b := make([]byte, headSize); strings.HasSuffix(path, derivedName) {
		if _, err := whole.ReadAt(b, 0); err == nil && fileKind(b[len(magic)]) == derivedFile {
			kind = derivedFile // older ones are parts like others
		}
	}
	ix, err := readWhole(whole, kind, path, 0)
	if err != nil {
		return nil, err
	}
	if len(ix.frames) != 1 || len(ix.frames[0].parts) != 1 {
		return nil, errors.New("it does not hold one part")
	}
	if m, ok := whole.(inMemory); ok && ix.frames[0].packed {
		of := ix.frames[0]
		return unpack(m[of.blob:of.blob+of.blobSize], of.raw)
	}
	return readBlob(whole, ix.frames[0])
}

// inMemory is a file that was read.
type inMemory []byte

func (m inMemory) Size() (int64, error) { return int64(len(m)), nil }

func (m inMemory) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 || at >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// sizedReader is a file to read, or the bytes of one.
type sizedReader interface {
	io.ReaderAt
	Size() (int64, error)
}

// What an export unpacks to: 64 MiB, or 256 times its size. Models are made of
// counts and coded rows, which are far from that.
const (
	leastProportion = 64 << 20
	mostProportion  = 256
)

// readWhole reads the frames of a file that is never torn, except for a
// number of bytes at its end.
func readWhole(f sizedReader, kind fileKind, path string, trailer int64) (*index, error) {
	if err := checkHead(f, kind, path); err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	ix := newIndex()
	ix.strict = true
	if kind == exportFile { // which may come from anybody
		ix.limit = max(leastProportion, mostProportion*size)
	}
	if err := ix.scan(f, int64(headSize), size-trailer); err != nil {
		return nil, err
	}
	if len(ix.holes) > 0 || ix.end != size-trailer {
		return nil, damaged("%s is damaged or cut off at byte %d", path, ix.firstBad())
	}
	return ix, nil
}

func (ix *index) firstBad() int64 {
	if len(ix.holes) > 0 {
		return ix.holes[0].from
	}
	return ix.end
}

// packWindow is how far back what is packed is looked for again. Whoever packs keeps
// room for it: two at once may, and a server would hold 16 MB each by default.
const packWindow = 1 << 20

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false), zstd.WithWindowSize(packWindow)) // options are valid
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true)) // options are valid
	return d
})

// worthPacking is the size below which compression gains nothing.
const worthPacking = 128

// pack compresses, if that saves a sixteenth at least.
func pack(data []byte) ([]byte, bool) {
	if len(data) < worthPacking {
		return nil, false
	}
	packed := encoder().EncodeAll(data, nil)
	if len(packed) > len(data)-len(data)/16 {
		return nil, false
	}
	return packed, true
}

// trusted is how much memory a file's word alone is worth.
const trusted = 64 << 20

// unpack decompresses to a known size.
func unpack(data []byte, size int64) ([]byte, error) {
	if size <= trusted {
		raw, err := decoder().DecodeAll(data, make([]byte, 0, size))
		if err == nil && int64(len(raw)) != size {
			err = io.ErrUnexpectedEOF
		}
		return raw, err
	}
	d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var raw bytes.Buffer
	n, err := io.Copy(&raw, io.LimitReader(d, size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return raw.Bytes(), err
}
