package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// lockPoll is how often a waiting writer looks whether it is its turn.
const lockPoll = 5 * time.Millisecond

// maxVanished is how often the model's folder may be deleted under a writer's
// hands before it is taken for a folder that cannot be made.
const maxVanished = 20

// lock waits until the caller is the only writer of a model.
func (s *Store) lock(ctx context.Context, name string) (release func(), err error) {
	deadline := time.NewTimer(s.opts.LockTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	_, err = s.disk.Stat(s.dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	vanished := 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var unlock func()
		var owner string
		if err = s.makeDir(s.modelDir(name)); err == nil {
			unlock, owner, err = s.disk.TryLock(s.lockPath(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			vanished++
		}
		switch {
		case err == nil && unlock != nil:
			return func() { s.tidyAway(name, isNew); unlock() }, nil
		case err != nil && (!errors.Is(err, fs.ErrNotExist) || vanished > maxVanished):
			return nil, s.writeError(err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			if owner == "" {
				owner = "another process"
			}
			return nil, fail(ErrLocked, "the model %q is being changed by %s (waited %v); try again when that has finished", name, owner, s.opts.LockTimeout)
		case <-tick.C:
		}
	}
}

// tidyAway removes the folder of a model that is no more, or never came to
// be, while we still hold its lock; and a new store that stayed empty.
func (s *Store) tidyAway(name string, isNew bool) {
	if _, err := s.disk.Stat(s.logPath(name)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	dir := s.modelDir(name)
	names, err := s.disk.Names(dir)
	if err != nil {
		return
	}
	// The lock goes last: from then on the folder may be somebody else's.
	for _, entry := range names {
		if entry == filepath.Base(s.lockPath(name)) {
			continue
		}
		if err := s.disk.RemoveAll(filepath.Join(dir, entry)); err != nil {
			s.warnf("the folder %s is of no more use, but cannot be removed: %v", dir, err)
			return
		}
	}
	if s.disk.Remove(s.lockPath(name)) != nil || s.disk.Remove(dir) != nil {
		return // the next writer makes use of what is left
	}
	if isNew && s.disk.Remove(s.modelsDir()) == nil {
		s.disk.Remove(s.dir) // refused if somebody uses it by now
	}
}

// makeDir makes a folder and those above it, private to their owner.
func (s *Store) makeDir(path string) error {
	err := s.disk.Mkdir(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := s.makeDir(filepath.Dir(path)); err != nil {
			return err
		}
		err = s.disk.Mkdir(path)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
