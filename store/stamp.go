package store

import (
	"errors"
	"io/fs"
	"time"
)

// Stamp tells whether a model may have changed: it is another one after each
// version that is saved, deleted or erased.
type Stamp struct {
	size int64
	at   time.Time
}

// Stamp returns that of a model, without reading it.
func (s *Store) Stamp(name string) (Stamp, error) {
	if err := CheckName(name); err != nil {
		return Stamp{}, err
	}
	info, err := s.disk.Stat(s.logPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, s.unknown(name)
	}
	if err != nil {
		return Stamp{}, s.readError(err)
	}
	return Stamp{info.Size(), info.ModTime()}, nil
}
