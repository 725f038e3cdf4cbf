package store

import (
	"io"
	"path/filepath"
	"strings"
)

func (s *Store) sourcesDir(name string) string { return filepath.Join(s.modelDir(name), "sources") }

// Keep keeps a copy of a source file of a model that has a version, by the
// hash of its bytes, so that it can be read again when the file is gone. The
// extension tells readers what kind of file it is.
func (s *Store) Keep(name, hash, extension string, r io.Reader) error {
	if err := s.keep(name, hash, extension, r); err != nil {
		return s.writeError(err)
	}
	return nil
}

func (s *Store) keep(name, hash, extension string, r io.Reader) (err error) {
	dir := s.sourcesDir(name)
	if err := s.makeDir(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, hash+extension)
	f, err := s.disk.Create(path+".new", 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			s.disk.Remove(path + ".new") // if this fails too, the next copy overwrites it
		}
	}()
	if _, err := io.Copy(io.NewOffsetWriter(f, 0), r); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.disk.Rename(path+".new", path); err != nil {
		return err
	}
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
