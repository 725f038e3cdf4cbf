package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/accrete-ml/accrete/learn"
)

// Health is what Check found out about a model.
type Health struct {
	Model    string   `json:"model"`
	Versions int      `json:"versions"` // that can be read
	Damaged  []Damage `json:"damaged"`
}

// Damage is something that is not as it was saved.
type Damage struct {
	Version int    `json:"version"` // 0 if no single version is meant
	What    string `json:"what"`
	// Recoverable says that nothing of worth is lost: it can be computed
	// again, or was never acknowledged.
	Recoverable bool `json:"recoverable"`
}

// Check reads everything that the store holds, and says what is whole and what
// is not. It changes nothing.
func (s *Store) Check(ctx context.Context) ([]Health, error) {
	folders, err := s.disk.Names(s.modelsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.readError(err)
	}
	var all []Health
	for _, folder := range folders {
		var h *Health
		for range 3 { // a writer may have been at work
			if h, err = s.checkModel(ctx, folder); err != nil {
				return nil, err
			}
			if h == nil || len(h.Damaged) == 0 {
				break
			}
		}
		if h != nil {
			all = append(all, *h)
		}
	}
	return all, nil
}

// checkModel checks the model of a folder; nil if there is none.
func (s *Store) checkModel(ctx context.Context, folder string) (*Health, error) {
	h := &Health{Model: unescape(folder), Damaged: []Damage{}}
	path := filepath.Join(s.modelsDir(), folder, "log")
	l, err := s.openLog(path, h.Model)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, learn.ErrDamaged) {
		return nil, nil // deleted, or about to be made
	}
	if err != nil {
		h.add(0, false, "%v", err)
		return h, nil
	}
	defer l.close()
	if escape(l.index.name) == folder {
		l.name, h.Model = l.index.name, l.index.name
	}
	for _, hole := range l.holes {
		h.add(0, false, "bytes %d to %d of %s cannot be read", hole.from, hole.to, path)
	}
	if l.lost != nil {
		for n := max(l.lost[0], l.lost[1]-99); n <= l.lost[1]; n++ {
			h.add(n, false, "it was saved, but %s does not hold it any more", path)
		}
	}
	if l.size > l.end && l.lost == nil && !s.disk.Locked(s.lockPath(l.name)) {
		h.add(0, true, "%d bytes at the end of %s are of a change that was not finished", l.size-l.end, path)
	}
	if err := s.checkNote(path); err != nil {
		h.add(0, true, "%s, which tells which version is the newest, cannot be read (%v); the next change writes it again", notePath(path), err)
	}
	derived := l.keptDerived(l.versions)
	for _, r := range l.versions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.LetGo {
			continue
		}
		if _, _, err := l.load(r.Number); err != nil {
			h.add(r.Number, false, "%v", err)
			continue
		}
		h.Versions++
		for _, id := range r.Derived.unpack() {
			if p := l.parts[id]; p != nil && derived[id] {
				if _, err := l.data(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
					h.add(r.Number, true, "%v; the model does without it", err)
				}
			}
		}
	}
	return h, s.checkSources(l, h)
}

// checkNote returns an error if the note of the newest version is there, but is
// none.
func (s *Store) checkNote(logPath string) error {
	f, err := s.disk.Open(notePath(logPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a store from before there were notes, or one that was restored without
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if s.noted(logPath) == 0 {
		return errors.New("it is damaged")
	}
	return nil
}

// checkSources reads the copies of sources that were kept.
func (s *Store) checkSources(l *log, h *Health) error {
	dir := filepath.Join(filepath.Dir(l.path), "sources")
	names, err := s.disk.Names(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.add(0, false, "%v", err)
	}
	for _, name := range names {
		hash, _, _ := strings.Cut(name, ".")
		if strings.HasSuffix(name, ".new") {
			continue
		}
		if err := s.checkHash(filepath.Join(dir, name), hash); err != nil {
			number := 0
			for _, r := range l.versions {
				if r.version("").Source.Hash == hash {
					number = r.Number
				}
			}
			h.add(number, false, "%v", err)
		}
	}
	return nil
}

func (h *Health) add(version int, recoverable bool, format string, a ...any) {
	h.Damaged = append(h.Damaged, Damage{version, fmt.Sprintf(format, a...), recoverable})
}

// checkHash returns an error unless a copy of a source is what was learnt.
func (s *Store) checkHash(path, hash string) error {
	f, err := s.disk.Open(path)
	if err != nil {
		return s.readError(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return s.readError(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return s.readError(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != hash {
		return damaged("the copy %s of a source is damaged: its bytes are not those that were learnt", path)
	}
	return nil
}
