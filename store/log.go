package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
)

// frame is a frame that was read: where its parts' bytes are.
type frame struct {
	at, next   int64
	blob       int64 // where the parts' bytes begin
	blobSize   int64
	raw        int64 // their size before compression
	packed     bool
	hasVersion bool
	parts      []*part
}

// hole is a stretch of a file that cannot be read, with frames after it.
type hole struct{ from, to int64 }

// index is what the frames of a file hold.
type index struct {
	name     string    // of the model, as the file has it
	words    []byte    // of an export
	next     int       // number of the next version
	newest   int       // number of a version that was the newest at one time
	versions []*record // in the order in which they were saved
	parts    map[uint64]*part
	byKey    map[partKey]*part
	lastID   uint64 // the highest part number
	frames   []*frame
	holes    []hole
	end      int64 // of the last whole frame

	// Files that are never torn are read up to the first frame that is not
	// whole, and may not need more than so many bytes; 0 is no limit.
	strict bool
	limit  int64
	memory *contentsMemory // of frames that were read before, or nil
	raw    int64           // bytes of parts, before compression
}

func newIndex() *index {
	return &index{next: 1, parts: map[uint64]*part{}, byKey: map[partKey]*part{}}
}

// scan reads the frames from an offset to the end of a file. What follows the
// last whole frame is a write that did not finish, or still goes on.
func (ix *index) scan(r io.ReaderAt, from, size int64) error {
	w := &window{r: r, end: size}
	if room, ok := rooms.Get().(*[]byte); ok {
		w.buf = (*room)[:0]
	}
	defer func() {
		if cap(w.buf) <= mostWindow {
			rooms.Put(&w.buf)
		}
	}()
	ix.end = from
	for at := from; at < w.end; {
		payload, begin, next, err := w.frame(at)
		if err != nil {
			return err
		}
		if payload != nil && ix.add(payload, at, begin, next) == nil {
			if at > ix.end {
				ix.holes = append(ix.holes, hole{ix.end, at})
			}
			at, ix.end = next, next
			continue
		}
		if ix.strict || w.wasted > mostWasted*(1<<20+size) {
			return nil
		}
		if at, err = w.mark(at + 1); err != nil {
			return err
		}
	}
	return nil
}

// rooms are those of windows that are not used: a change reads its log
// twice.
var rooms sync.Pool

const mostWindow = 4 << 20

// add takes in a frame, or says what is wrong with it and takes in nothing.
func (ix *index) add(payload []byte, at, begin, next int64) error {
	c, blob, err := ix.memory.open(payload)
	if err != nil {
		return err
	}
	f := &frame{
		at: at, next: next, blob: begin + int64(blob), blobSize: int64(len(payload) - blob),
		packed: c.Packed, hasVersion: len(c.Versions) > 0,
	}
	for i := range c.Parts {
		p, err := c.Parts[i].part(f)
		if err != nil {
			return err
		}
		f.parts = append(f.parts, p)
	}
	if !f.packed && f.raw != f.blobSize {
		return errors.New("the parts' sizes do not add up")
	}
	if ix.raw += f.raw; ix.limit > 0 && ix.raw > ix.limit {
		return errors.New("parts out of proportion")
	}
	for _, p := range f.parts {
		ix.parts[p.id] = p
		ix.byKey[p.key] = p
		ix.lastID = max(ix.lastID, p.id)
	}
	ix.frames = append(ix.frames, f)
	if c.Words != nil {
		ix.words = c.Words
	}
	if c.Name != "" {
		ix.name = c.Name
	}
	ix.next = max(ix.next, c.Next)
	ix.newest = max(ix.newest, c.Newest)
	for i := range c.Versions {
		r := &c.Versions[i]
		ix.versions = append(ix.versions, r)
		ix.next = max(ix.next, r.Number+1)
		// Numbers of parts that are lost must not be given to others.
		previous := int64(0)
		for i := 0; i < len(r.Parts); i += 2 {
			first := previous + r.Parts[i]
			previous += r.Parts[i] * r.Parts[i+1]
			ix.lastID = max(ix.lastID, uint64(first), uint64(previous))
		}
	}
	return nil
}

// mostWasted is how many times over a damaged file is read in search of frames
// that are whole.
const mostWasted = 32

// perPart is what a part needs besides its bytes.
const perPart = 100

// log is a model's log, opened.
type log struct {
	*index
	store *Store
	name  string
	path  string
	bytes io.ReaderAt // of the file
	file  file        // nil if there is none
	size  int64       // of the file; more than index.end if its tail is torn
	lost  []int       // first and last number of the newest versions, if they are lost

	cached *frame // whose parts' bytes are
	blob   []byte
	room   []byte // for compressed bytes
}

// openLog reads a log. A log without versions is not an error here.
func (s *Store) openLog(path, name string) (*log, error) {
	noted := s.noted(path) // before the log, which may go on meanwhile
	f, err := s.disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) && noted > 0 {
		return nil, s.gone(path, name)
	}
	if err != nil {
		return nil, s.readError(err)
	}
	l, err := s.readLog(f, path, name, noted)
	if err != nil {
		f.Close()
	}
	return l, err
}

// gone is the error of a log that is not there, though versions were saved.
func (s *Store) gone(path, name string) error {
	if s.noted(path) == 0 { // the model was deleted meanwhile
		return s.readError(&fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist})
	}
	err := &failure{fmt.Sprintf("the model %q was saved, but its log %s is gone", name, path), []error{learn.ErrDamaged, fs.ErrNotExist}}
	return &remedy.Error{Err: err, Remedy: remedy.Remedy{Kind: remedy.StartOver, What: name}}
}

// readLog reads a log that is to hold the versions up to a number.
func (s *Store) readLog(f file, path, name string, noted int) (*log, error) {
	size, err := f.Size()
	if err != nil {
		return nil, s.readError(err)
	}
	l := &log{index: newIndex(), store: s, name: name, path: path, bytes: f, file: f, size: size}
	l.memory = s.memory
	headErr := checkHead(f, logFile, path)
	if errors.Is(headErr, ErrNewer) {
		return nil, headErr
	}
	if err := l.scan(f, int64(headSize), size); err != nil {
		return nil, s.readError(err)
	}
	if headErr != nil { // the frames after a damaged head may be sound
		l.holes = append([]hole{{0, int64(headSize)}}, l.holes...)
	}
	before := 0
	if r := l.latest(); r != nil {
		before = r.Number
	}
	if l.newest > before { // it was not deleted, but is not there
		l.lost = []int{before + 1, l.newest}
	}
	if noted >= l.next {
		l.lost = []int{max(before+1, min(l.next, noted)), noted}
		l.next = noted + 1 // numbers are not used twice
	}
	return l, nil
}

func (l *log) close() {
	if l.file != nil {
		l.file.Close()
	}
}

func (l *log) version(r *record) Version { return r.version(l.name) }

// latest returns the newest version's record, or nil.
func (l *log) latest() *record {
	if len(l.versions) == 0 {
		return nil
	}
	return l.versions[len(l.versions)-1]
}

// find returns a version's record; 0 is the newest.
func (l *log) find(number int) (*record, error) {
	if len(l.versions) == 0 {
		return nil, l.damage()
	}
	if number == 0 && l.lost != nil {
		return nil, l.damage()
	}
	if number == 0 {
		return l.latest(), nil
	}
	for i := len(l.versions) - 1; i >= 0; i-- {
		if l.versions[i].Number == number {
			return l.versions[i], l.gone(l.versions[i])
		}
	}
	if number < l.next && (len(l.holes) > 0 || l.lost != nil && number >= l.lost[0]) {
		return nil, l.out(nil, damaged("version %d of the model %q cannot be read: %s is damaged", number, l.name, l.path))
	}
	return nil, fail(ErrUnknown, "the model %q has no version %d: it has %s", l.name, number, l.numbers())
}

// gone is an error if a version was let go.
func (l *log) gone(r *record) error {
	if !r.LetGo {
		return nil
	}
	return &remedy.Error{
		Err:    fail(ErrUnknown, "%v was let go, as old versions took too much room: what can be loaded is %s", l.version(r), l.numbers()),
		Remedy: remedy.Remedy{Kind: remedy.SeeVersions, What: l.name},
	}
}

// upTo returns the versions up to one of them.
func (l *log) upTo(last *record) []Version {
	versions := make([]Version, 0, len(l.versions)+1) // an update adds one
	for _, r := range l.versions {
		versions = append(versions, l.version(r))
		if r == last {
			break
		}
	}
	return versions
}

// load reads a version and makes it a model.
func (l *log) load(number int) (learn.Model, Version, error) { return l.loadWith(number, (*log).read) }

// loadWith is load, which reads the parts in a way.
func (l *log) loadWith(number int, read func(l *log, r *record) ([]learn.Part, error)) (learn.Model, Version, error) {
	r, err := l.find(number)
	if err != nil {
		return nil, Version{}, err
	}
	parts, err := read(l, r)
	if err != nil {
		return nil, Version{}, err
	}
	m, err := l.decode(r, parts)
	return m, l.version(r), err
}

// decode makes a model of a version's parts.
func (l *log) decode(r *record, parts []learn.Part) (learn.Model, error) {
	m, err := learn.DecodeParts(r.Learner, parts)
	switch {
	case errors.Is(err, learn.ErrDamaged):
		return nil, l.out(r, damaged("%v cannot be read from %s: %v", l.version(r), l.path, err))
	case err != nil:
		return nil, fmt.Errorf("%v cannot be read: %w", l.version(r), err)
	}
	return m, nil
}

// read reads a version's parts, without derived ones that are no more.
func (l *log) read(r *record) ([]learn.Part, error) {
	return l.readParts(r, func(*part) bool { return false })
}

// outline reads the parts that the version's learner cannot wait for.
func (l *log) outline(r *record) ([]learn.Part, error) {
	info, err := learn.Lookup(r.Learner)
	return l.readParts(r, func(p *part) bool {
		return err == nil && info.Waits != "" && !p.key.derived && strings.HasPrefix(p.key.name, info.Waits)
	})
}

// readParts reads a version's parts but for those that wait, which are held.
func (l *log) readParts(r *record, waits func(*part) bool) ([]learn.Part, error) {
	if n := max(r.Parts.count(), r.Derived.count()); l.limit > 0 && n*perPart > l.limit {
		return nil, damaged("%v cannot be read: %d parts in %s are out of proportion to the file", l.version(r), n, l.path)
	}
	optional := map[uint64]bool{}
	for _, id := range r.Derived.unpack() {
		optional[id] = true
	}
	var parts []learn.Part
	var keys []partKey
	var total int64
	var later *shelf
	for _, id := range r.Parts.unpack() {
		p := l.parts[id]
		if p != nil && l.limit > 0 {
			if total += p.size + perPart; total > l.limit {
				return nil, damaged("%v cannot be read: its parts in %s are out of proportion to the file, over %d MiB", l.version(r), l.path, l.limit>>20)
			}
		}
		if p == nil && optional[id] {
			continue
		}
		if p == nil {
			return nil, l.out(r, damaged("%v cannot be read: a part of it is missing in %s, which is damaged", l.version(r), l.path))
		}
		if waits(p) {
			if later == nil {
				later = &shelf{log: l}
			}
			parts, keys = append(parts, learn.Part{Name: p.key.name, Held: &heldPart{later, p.key}}), append(keys, p.key)
			continue
		}
		data, err := l.data(p)
		if err != nil && optional[id] {
			continue
		}
		if err != nil {
			return nil, l.out(r, &failure{fmt.Sprintf("%v cannot be read: %v", l.version(r), err), []error{learn.ErrDamaged, err}})
		}
		parts = append(parts, learn.Part{Name: p.key.name, Derived: p.key.derived, Data: data})
		keys = append(keys, p.key)
	}
	if !bytes.Equal(sumKeys(keys), r.Sum) {
		return nil, l.out(r, damaged("%v cannot be read: its parts in %s are not those it was saved with", l.version(r), l.path))
	}
	return parts, nil
}

// damage is an error if part of the log cannot be read.
func (l *log) damage() error {
	if len(l.holes) == 0 && l.lost == nil && len(l.versions) > 0 {
		return nil
	}
	if len(l.versions) == 0 {
		return l.out(nil, damaged("%s holds no version that can be read", l.path))
	}
	if l.lost != nil {
		return l.out(nil, damaged("version %d of the model %q, the newest, was saved but cannot be read: %s is damaged; what can still be read is %s", l.lost[1], l.name, l.path, l.numbers()))
	}
	h := l.holes[0]
	return damaged("%s is damaged (bytes %d to %d); what can still be read of the model %q is %s", l.path, h.from, h.to, l.name, l.numbers())
}

// out says what to do when a version cannot be read.
func (l *log) out(broken *record, err error) error {
	if l.store == nil {
		return &remedy.Error{Err: err, Remedy: remedy.Remedy{Kind: remedy.GetAnother}}
	}
	for i := len(l.versions) - 1; i >= 0; i-- {
		if r := l.versions[i]; r != broken && l.whole(r) {
			return &remedy.Error{Err: err, Remedy: remedy.Remedy{Kind: remedy.RestoreVersion, What: l.version(r).String()}}
		}
	}
	return &remedy.Error{Err: err, Remedy: remedy.Remedy{Kind: remedy.StartOver, What: l.name}}
}

// whole reports whether a version has all the parts that it needs.
func (l *log) whole(r *record) bool {
	if r.LetGo {
		return false
	}
	missing := map[uint64]bool{}
	for _, id := range r.Parts.unpack() {
		if l.parts[id] == nil {
			missing[id] = true
		}
	}
	for _, id := range r.Derived.unpack() {
		delete(missing, id)
	}
	return len(missing) == 0
}

// numbers lists the versions that were not let go: "versions 1–4, 6".
func (l *log) numbers() string {
	versions := slices.DeleteFunc(slices.Clone(l.versions), func(r *record) bool { return r.LetGo })
	var b strings.Builder
	b.WriteString("version")
	if len(versions) > 1 {
		b.WriteByte('s')
	}
	for i := 0; i < len(versions); {
		j := i
		for j+1 < len(versions) && versions[j+1].Number == versions[j].Number+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + strconv.Itoa(versions[i].Number))
		if j > i {
			b.WriteString("–" + strconv.Itoa(versions[j].Number))
		}
		i = j + 1
	}
	return b.String()
}
