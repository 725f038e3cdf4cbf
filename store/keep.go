package store

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"
)

func (s *Store) sourcesDir(name string) string { return filepath.Join(s.modelDir(name), "sources") }

// Keep keeps a copy of a source file, by the hash of its bytes, so that it can
// be read again when the file is gone. The extension tells readers what kind
// of file it is. It is kept for the version that is saved next, which must
// tell of the hash: a copy that no version tells of is swept away.
func (tx *Tx) Keep(hash, extension string, r io.Reader) error {
	if err := tx.keep(hash, extension, r); err != nil {
		return tx.store.writeError(err)
	}
	return nil
}

func (tx *Tx) keep(hash, extension string, r io.Reader) error {
	s := tx.store
	dir := s.sourcesDir(tx.name)
	if err := s.makeDir(dir); err != nil {
		return err
	}
	name := hash + extension
	path := filepath.Join(dir, name)
	err := s.replaceFile(path, true, func(w io.Writer) error {
		sum := sha256.New()
		if _, err := io.Copy(io.MultiWriter(w, sum), r); err != nil {
			return err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != hash {
			return fail(ErrConflict, "the source changed while it was read: its hash was %.12s and is now %.12s; learn it again", hash, got)
		}
		return nil
	})
	if err != nil {
		return err
	}
	tx.kept[name] = true
	return s.disk.SyncDir(dir)
}

// KeptSource returns the path of the copy that was kept of a source, or "".
func (s *Store) KeptSource(name, hash string) string {
	names, _ := s.disk.Names(s.sourcesDir(name)) // no folder, no copy
	for _, n := range names {
		if hash != "" && strings.HasPrefix(n, hash) && !strings.HasSuffix(n, ".new") {
			return filepath.Join(s.sourcesDir(name), n)
		}
	}
	return ""
}

// CheckKept reads the copy that was kept of a source and returns an error if
// its bytes are not those that were learnt.
func (s *Store) CheckKept(name, hash string) error {
	return s.checkHash(s.KeptSource(name, hash), hash)
}
