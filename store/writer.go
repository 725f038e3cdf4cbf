package store

import (
	"crypto/sha256"
	"hash"
	"io"
	"path/filepath"
)

// frameWriter writes the frames of a new file.
type frameWriter struct {
	out io.Writer
	at  int64 // where the next frame goes
	buf []byte
	sum hash.Hash // of everything so far, for exports
}

const flushSize = 1 << 20

// frame writes one frame. Large ones go out at once, small ones together.
func (w *frameWriter) frame(c contents, blob []byte) error {
	before := len(w.buf)
	buf, err := appendFrame(w.buf, w.at, c, blob)
	if err != nil {
		return err
	}
	w.buf = buf
	w.at += int64(len(buf) - before)
	if len(w.buf) < flushSize {
		return nil
	}
	return w.flush()
}

// parts writes a frame of parts with their bytes, compressed if it helps.
func (w *frameWriter) parts(parts []*part, blob []byte) error {
	c := contents{Parts: entries(parts)}
	if packed, ok := pack(blob); ok {
		c.Packed, blob = true, packed
	}
	return w.frame(c, blob)
}

func entries(parts []*part) []partEntry {
	list := make([]partEntry, len(parts))
	for i, p := range parts {
		list[i] = p.entry()
	}
	return list
}

func (w *frameWriter) flush() error {
	if w.sum != nil {
		w.sum.Write(w.buf)
	}
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// writeFrames writes a file from its head to its end.
func writeFrames(out io.Writer, kind fileKind, fill func(*frameWriter) error) error {
	w := &frameWriter{out: out, buf: newHead(kind), at: int64(headSize)}
	if kind == exportFile {
		w.sum = sha256.New()
	}
	if err := fill(w); err != nil {
		return err
	}
	if err := w.flush(); err != nil || w.sum == nil {
		return err
	}
	_, err := out.Write(w.sum.Sum(nil))
	return err
}

// writeFile writes a whole new file of the store, as replaceFile does.
func (s *Store) writeFile(path string, kind fileKind, sync bool, fill func(*frameWriter) error) error {
	return s.replaceFile(path, sync, func(w io.Writer) error { return writeFrames(w, kind, fill) })
}

// replaceFile writes a file under another name first, then, once it is on the
// disk (if it is to be synced), under its own. The folder has yet to be synced.
func (s *Store) replaceFile(path string, sync bool, write func(io.Writer) error) (err error) {
	temporary := path + ".new"
	f, err := s.disk.Create(temporary, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			s.disk.Remove(temporary) // if this fails too, the next writer overwrites it
		}
	}()
	if err := write(io.NewOffsetWriter(f, 0)); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return s.disk.Rename(temporary, path)
}

// syncDirs makes a folder durable, and that it is there: its own entry in the
// one above, up to and including the store's in its own.
func (s *Store) syncDirs(dir string) error {
	for {
		if err := s.disk.SyncDir(dir); err != nil {
			return err
		}
		if dir == filepath.Dir(s.dir) || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}
