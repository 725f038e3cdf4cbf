package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// mostWords is how many bytes of words a model may have.
const mostWords = 16 << 20

func (s *Store) wordsPath(name string) string { return filepath.Join(s.modelDir(name), "words") }

// Words returns the names that people gave to what a model speaks of, as they
// were set; nil if there are none. They belong to the model, not to a version:
// old versions are read in the same words.
func (s *Store) Words(ref string) ([]byte, error) {
	name, _, err := ParseRef(ref)
	if err != nil {
		return nil, err
	}
	return s.readBeside(s.wordsPath(name))
}

// readBeside reads a small file beside the log of a model; nil if it is not there.
func (s *Store) readBeside(path string) ([]byte, error) {
	f, err := s.disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.readError(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, mostWords))
	if err != nil {
		return nil, s.readError(err)
	}
	return text, nil
}

// SetWords keeps names for what a model speaks of; nil takes them away.
func (s *Store) SetWords(ctx context.Context, name string, text []byte) error {
	if len(text) > mostWords {
		return fmt.Errorf("%d bytes of words: expected at most %d", len(text), mostWords)
	}
	if _, err := s.openModel(name); err != nil {
		return err
	}
	return s.Write(ctx, name, func(*Tx) error { return s.writeBeside(name, s.wordsPath(name), text) })
}

// writeBeside replaces a small file beside the log of a model; nil takes it away.
func (s *Store) writeBeside(name, path string, text []byte) error {
	var err error
	if text == nil {
		if err = s.disk.Remove(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	} else {
		err = s.replaceFile(path, true, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err == nil {
		err = s.disk.SyncDir(s.modelDir(name))
	}
	if err != nil {
		return s.writeError(err)
	}
	return nil
}
