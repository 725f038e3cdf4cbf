package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// History is what an export tells besides the model.
type History struct {
	Model    string    // the name it had
	Versions []Version // oldest first; the last one is the model
	Words    []byte    // what people call what it speaks of, as Store.Words
}

// Export writes one version of a model, with the records of those before it,
// to a file that Import and ReadFile read, here or on another machine. The
// file is there whole or not at all.
func (s *Store) Export(ref, path string) error {
	_, err := s.ExportWith(context.Background(), ref, path, ExportOptions{})
	return err
}

// ExportOptions say what an export leaves out.
type ExportOptions struct {
	WithoutPaths bool // where sources were: only their base names are told
	WithoutRows  bool // rows that the model keeps
}

// Carried is what an export tells of its sources.
type Carried struct {
	Versions int  `json:"versions"`        // records of what was done
	Paths    int  `json:"paths"`           // places of files
	Rows     bool `json:"rows"`            // rows that the model learnt from
	Words    bool `json:"words,omitempty"` // what people call what it speaks of
}

// ExportWith exports as Export does, without some of it.
func (s *Store) ExportWith(ctx context.Context, ref, path string, o ExportOptions) (c Carried, err error) {
	name, number, err := ParseRef(ref)
	if err != nil {
		return c, err
	}
	err = s.reread(func() error {
		l, err := s.openModel(name)
		if err != nil {
			return err
		}
		defer l.close()
		c, err = l.export(ctx, number, path, o)
		return err
	})
	return c, err
}

func (l *log) export(ctx context.Context, number int, path string, o ExportOptions) (c Carried, err error) {
	s := l.store
	r, err := l.find(number)
	if err != nil {
		return c, err
	}
	parts, err := l.read(r)
	if err != nil {
		return c, err
	}
	m, err := l.decode(r, parts)
	if err != nil {
		return c, err
	}
	if info, err := learn.Lookup(r.Learner); err == nil && info.Waits != "" { // whoever reads it reads all of it
		parts = slices.DeleteFunc(parts, func(p learn.Part) bool { return p.Derived })
	}
	sum := r.Sum
	bare, held, err := kept.Shed(m)
	switch c.Rows = held; {
	case err != nil && (o.WithoutRows || !errors.Is(err, errors.ErrUnsupported)):
		if errors.Is(err, errors.ErrUnsupported) {
			err = fail(err, "%v keeps rows, which a %s model cannot do without; nothing was exported: export its rules instead", l.version(r), r.Learner)
		}
		return c, err
	case o.WithoutRows && held:
		if parts, err = bare.Parts(); err != nil {
			return c, err
		}
		sum, c.Rows = sumParts(parts), false
	}
	records, err := l.history(r, o.WithoutPaths)
	if err != nil {
		return c, err
	}
	c.Versions = len(records)
	for i := range records {
		if filepath.IsAbs(records[i].SourcePath) {
			c.Paths++
		}
	}
	words, err := s.Words(l.name)
	if err != nil {
		return c, err
	}
	c.Words = words != nil
	err = s.disk.Export(ctx, path, func(w io.Writer) error {
		return writeFrames(w, exportFile, func(w *frameWriter) error { return l.writeExport(w, records, parts, sum, words) })
	})
	if err != nil {
		return c, explain(err, fmt.Sprintf("%v cannot be exported", l.version(r)), remedy.Remedy{Kind: remedy.ChooseFile})
	}
	return c, nil
}

// sumParts is the checksum of a model's parts, as versions have it.
func sumParts(parts []learn.Part) []byte {
	keys := make([]partKey, len(parts))
	for i, p := range parts {
		keys[i] = partKey{p.Name, p.Derived, sha256.Sum256(p.Data)}
	}
	return sumKeys(keys)
}

// withoutPath is a record that does not tell where a source was.
func withoutPath(r record) record {
	if r.SourcePath != "" {
		r.SourcePath = filepath.Base(r.SourcePath)
	}
	r.SourceName = filepath.Base(r.SourceName)
	return r
}

// history returns the records up to a version, each once.
func (l *log) history(r *record, withoutPaths bool) ([]record, error) {
	var records []record
	seen := map[string]bool{} // a model may come back to where it came from
	for _, before := range l.versions {
		plain := *before
		plain.History, plain.Parts, plain.Derived, plain.Sum, plain.LetGo = nil, nil, nil, nil, false
		for _, h := range append(slices.Clip(before.History), plain) {
			if withoutPaths {
				h = withoutPath(h)
			}
			text, err := learn.Marshal(h)
			if err != nil {
				return nil, err
			}
			if !seen[string(text)] {
				records = append(records, h)
			}
			seen[string(text)] = true
		}
		if before == r {
			break
		}
	}
	return records, nil
}

// writeExport writes the records up to a version, then its parts.
func (l *log) writeExport(w *frameWriter, records []record, parts []learn.Part, sum, words []byte) error {
	c := contents{Name: l.name, Versions: records, Words: words}
	list := make([]*part, len(parts))
	ids := make([]uint64, len(parts))
	for i, given := range parts {
		key := partKey{given.Name, given.Derived, sha256.Sum256(given.Data)}
		list[i] = &part{id: uint64(i + 1), key: key, size: int64(len(given.Data))}
		ids[i] = list[i].id
	}
	last := &c.Versions[len(c.Versions)-1]
	last.Parts, last.Sum = packIDs(ids), sum
	if err := w.frame(c, nil); err != nil {
		return err
	}
	var group []*part
	var blob []byte
	for i, p := range list {
		group = append(group, p)
		blob = append(blob, parts[i].Data...)
		if len(blob) >= groupSize || i == len(parts)-1 {
			if err := w.parts(group, blob); err != nil {
				return err
			}
			group, blob = nil, nil
		}
	}
	return nil
}

// Import adds the model in an exported file to the store, as a new version of
// the given name, or of the name that it had if that is "". Where the model
// came from stays in the version's History, and its words come with it unless
// there are some already.
func (s *Store) Import(ctx context.Context, path, name string, at time.Time) (Version, error) {
	f, err := s.disk.Import(path)
	if err != nil {
		return Version{}, fmt.Errorf("the model cannot be imported: %w", err)
	}
	defer f.Close()
	m, history, sum, err := readExport(f, path)
	if err != nil {
		return Version{}, err
	}
	if name == "" {
		name = history.Model
	}
	last := history.Versions[len(history.Versions)-1]
	v, err := s.Save(ctx, name, m, Version{
		Kind:     Import,
		Source:   Source{Name: filepath.Base(path), Path: path, Hash: hex.EncodeToString(sum), Rows: last.Rows},
		At:       at,
		Seed:     last.Seed,
		Settings: last.Settings,
		History:  history.Versions,
	})
	if err != nil || history.Words == nil {
		return v, err
	}
	if own, err := s.Words(name); err != nil || own != nil {
		return v, err // a model that has words keeps them
	}
	return v, s.SetWords(ctx, name, history.Words)
}

// ReadFile reads an exported model. The package of its learner must have been
// imported (learners/all has them all).
func ReadFile(path string) (learn.Model, History, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, History{}, err
	}
	defer f.Close()
	m, history, _, err := readExport(f, path)
	return m, history, err
}

// Read reads an exported model as ReadFile does, for models that are embedded
// in a program or come over a network.
func Read(r io.Reader) (learn.Model, History, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, History{}, err
	}
	m, history, _, err := readExport(memory{bytes.NewReader(data)}, "the exported model")
	return m, history, err
}

// memory is an export that was read already.
type memory struct{ *bytes.Reader }

func (m memory) Size() (int64, error) { return m.Reader.Size(), nil }

// readExport reads a model and its history; sum is the SHA-256 of the file.
func readExport(f sizedReader, path string) (m learn.Model, h History, sum []byte, err error) {
	broken := func(err error) error {
		if errors.Is(err, learn.ErrDamaged) || errors.Is(err, ErrNewer) {
			return err
		}
		return damaged("%s cannot be read: %v", path, err)
	}
	if err := checkHead(f, exportFile, path); err != nil {
		return nil, h, nil, err
	}
	if sum, err = checkSum(f); err != nil {
		return nil, h, nil, damaged("%s is damaged or was cut off (%v); export or copy it again", path, err)
	}
	m, h, err = decodeExport(f, path)
	if err != nil {
		return nil, h, nil, broken(err)
	}
	return m, h, sum, nil
}

// checkSum compares the last bytes of an export with the SHA-256 of the rest.
// It returns the SHA-256 of the whole.
func checkSum(f sizedReader) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	rest := size - sha256.Size
	if rest < int64(headSize) {
		return nil, io.ErrUnexpectedEOF
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, rest)); err != nil {
		return nil, err
	}
	said := make([]byte, sha256.Size)
	if _, err := f.ReadAt(said, rest); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(said, h.Sum(nil)) {
		return nil, errors.New("its checksum is wrong")
	}
	h.Write(said)
	return h.Sum(nil), nil
}

// decodeExport reads the frames of an export whose checksum is right.
func decodeExport(f sizedReader, path string) (learn.Model, History, error) {
	var h History
	ix, err := readWhole(f, exportFile, path, sha256.Size)
	if err != nil {
		return nil, h, err
	}
	if len(ix.versions) == 0 {
		return nil, h, errors.New("it holds no version")
	}
	for _, p := range ix.parts {
		if p.inFile {
			return nil, h, errors.New("it names a file outside of itself")
		}
	}
	l := &log{index: ix, name: ix.name, path: path, bytes: f}
	m, _, err := l.load(0)
	if err != nil {
		return nil, h, err
	}
	h.Model, h.Words = ix.name, ix.words
	for _, r := range ix.versions {
		h.Versions = append(h.Versions, l.version(r))
	}
	return m, h, nil
}
