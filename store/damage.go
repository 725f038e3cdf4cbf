package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
)

// A log cannot tell by itself that its end is missing: a change that was not
// finished looks the same. So the number of the newest version is noted in a
// file of its own, after the version is on the disk. The note is never ahead
// of the log, unless the log has lost something; it may lag behind after a
// crash of the machine, because nobody waits for it.

// noteSize is the size of a note: a number and a checksum.
const noteSize = 12

func notePath(logPath string) string { return filepath.Join(filepath.Dir(logPath), "newest") }

// noted returns the number of the newest version that was acknowledged, 0 if
// that is not known.
func (s *Store) noted(logPath string) int {
	f, err := s.disk.Open(notePath(logPath))
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [noteSize]byte
	if n, err := f.ReadAt(b[:], 0); n < noteSize || err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	number := binary.LittleEndian.Uint64(b[:])
	if crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:]) || number > maxNumber {
		return 0
	}
	return int(number)
}

// note writes down which version is the newest.
func (tx *Tx) note() {
	s := tx.store
	b := binary.LittleEndian.AppendUint64(nil, uint64(tx.log.next-1))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	path := notePath(tx.log.path)
	f, err := s.disk.Append(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = s.disk.Create(path, 0o600)
	}
	if err == nil {
		_, err = f.WriteAt(b, 0)
		f.Close()
	}
	if err != nil {
		s.warnf("%v is saved, but %s could not be written: %v", tx.Latest(), path, err)
	}
}

func (s *Store) damagedDir(name string) string { return filepath.Join(s.modelDir(name), "damaged") }

// setAside keeps a stretch of the log that cannot be read before it is cut
// off, for somebody who may make sense of it. Of changes that were not
// finished only the last is kept.
func (tx *Tx) setAside(from, to int64) error {
	s, l := tx.store, tx.log
	dir := s.damagedDir(tx.name)
	if err := s.makeDir(dir); err != nil {
		return err
	}
	name := "unfinished"
	if from < l.end || l.lost != nil {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(l.bytes, from, to-from)); err != nil {
			return err
		}
		name = fmt.Sprintf("log-%d-%x", from, sum.Sum(nil)[:4])
		s.warnf("the damaged bytes %d to %d of %s are kept in %s", from, to, l.path, filepath.Join(dir, name))
	}
	err := s.replaceFile(filepath.Join(dir, name), true, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(l.bytes, from, to-from))
		return err
	})
	if err != nil {
		return err
	}
	return s.disk.SyncDir(dir)
}

// tell lets readers know of damage that does not keep them from reading.
func (l *log) tell() {
	s := l.store
	if err := l.damage(); err != nil {
		s.warnOnce("%v", err)
		return
	}
	if l.size <= l.end || s.disk.Locked(filepath.Join(filepath.Dir(l.path), "lock")) {
		return // somebody is writing
	}
	if size, err := l.file.Size(); err == nil && size == l.size {
		s.warnOnce("the last change of the model %q was not finished, or is damaged: %d bytes after version %d of %s are left out", l.name, l.size-l.end, l.latest().Number, l.path)
	}
}
