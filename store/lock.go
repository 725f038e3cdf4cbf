package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Writers of a model stand in a queue, first come, first served (as in the
// queue lock of Craig 1993 and Magnusson, Landin and Hagersten 1994: each
// waits for the one before). A writer draws a ticket, which is a file that it
// keeps locked until it has done, and waits for the lock of the ticket before
// its own. The system drops the locks of a process that dies, so that nobody
// waits for the dead; nobody looks again and again either.
//
//	queue/gate       locked for a moment by those who come or clean up
//	queue/000000007  the ticket of somebody who writes or waits
//	lock             had by the one who writes

// maxVanished is how often the model's folder may be deleted under a writer's
// hands before it is taken for a folder that cannot be made.
const maxVanished = 20

func (s *Store) queueDir(name string) string { return filepath.Join(s.modelDir(name), "queue") }
func (s *Store) gatePath(name string) string { return filepath.Join(s.queueDir(name), "gate") }
func (s *Store) ticketPath(name string, number int) string {
	return filepath.Join(s.queueDir(name), fmt.Sprintf("%09d", number))
}

// turn is a writer's right to write.
type turn struct {
	ticket held
	number int
	lock   held
}

// lock waits until the caller is the only writer of a model.
func (s *Store) lock(ctx context.Context, name string) (t *turn, release func(), err error) {
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	_, err = s.disk.Stat(s.dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	for vanished := 0; ; vanished++ {
		t, err = s.queue(wait, name)
		switch {
		case err == nil:
			return t, func() {
				s.tidyAway(name, isNew, t.number)
				s.leave(name, t)
			}, nil
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case wait.Err() != nil:
			return nil, nil, fail(ErrLocked, "the model %q is being changed by %s (waited %v); wait longer, or try again when that has finished", name, s.lockOwner(name), s.opts.LockTimeout)
		case !errors.Is(err, fs.ErrNotExist) || vanished > maxVanished:
			return nil, nil, s.writeError(err)
		}
	}
}

// queue draws a ticket and waits for its turn.
func (s *Store) queue(ctx context.Context, name string) (_ *turn, err error) {
	if err := s.makeDir(s.queueDir(name)); err != nil {
		return nil, err
	}
	t, err := s.drawTicket(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.leave(name, t)
		}
	}()
	for last := t.number; ; { // those before one who gave up may be there still
		before, err := s.ticketBefore(name, last)
		if err != nil {
			return nil, err
		}
		if before == 0 {
			break
		}
		last = before
		other, err := s.disk.Lock(ctx, s.ticketPath(name, before), false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it left
		}
		if err != nil {
			return nil, err
		}
		s.disk.Remove(s.ticketPath(name, before)) // it died, or left just now
		other.Release()
	}
	if t.lock, err = s.disk.Lock(ctx, s.lockPath(name), true); err != nil {
		return nil, err
	}
	t.lock.Sign(fmt.Sprintf("process %d", os.Getpid()))
	return t, nil
}

func (s *Store) drawTicket(ctx context.Context, name string) (*turn, error) {
	gate, err := s.disk.Lock(ctx, s.gatePath(name), true)
	if err != nil {
		return nil, err
	}
	defer gate.Release()
	last, err := s.ticketBefore(name, maxNumber)
	if err != nil {
		return nil, err
	}
	t := &turn{number: last + 1}
	t.ticket, err = s.disk.Lock(ctx, s.ticketPath(name, t.number), true)
	return t, err
}

// ticketBefore returns the last ticket before a number, or 0.
func (s *Store) ticketBefore(name string, number int) (int, error) {
	names, err := s.disk.Names(s.queueDir(name))
	if err != nil {
		return 0, err
	}
	last := 0
	for _, n := range names {
		if ticket, err := strconv.Atoi(n); err == nil && ticket < number {
			last = max(last, ticket)
		}
	}
	return last, nil
}

// leave makes way for the next one.
func (s *Store) leave(name string, t *turn) {
	if t.lock != nil {
		t.lock.Release()
	}
	if t.ticket.Check() == nil { // by now another may have this number
		s.disk.Remove(s.ticketPath(name, t.number)) // or the next one does
	}
	t.ticket.Release()
}

// lockOwner says who is writing, as far as known.
func (s *Store) lockOwner(name string) string {
	f, err := s.disk.Open(s.lockPath(name))
	if err != nil {
		return "another process"
	}
	defer f.Close()
	var text [40]byte
	n, _ := f.ReadAt(text[:], 0)
	if who := strings.TrimSpace(string(text[:n])); strings.HasPrefix(who, "process ") {
		return who
	}
	return "another process"
}

// tidyAway removes the folder of a model that is no more, or never came to
// be, while nobody else queues; and a new store that stayed empty.
func (s *Store) tidyAway(name string, isNew bool, ours int) {
	if _, err := s.disk.Stat(s.logPath(name)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	gate, err := s.disk.Lock(ctx, s.gatePath(name), false)
	if err != nil {
		return
	}
	defer gate.Release()
	if last, err := s.ticketBefore(name, maxNumber); err != nil || last > ours {
		return // whoever comes last tidies up
	}
	dir := s.modelDir(name)
	names, err := s.disk.Names(dir)
	if err != nil {
		return
	}
	// The gate goes last: from then on the folder may be somebody else's.
	for _, entry := range names {
		if path := filepath.Join(dir, entry); path != s.queueDir(name) {
			if err := s.disk.RemoveAll(path); err != nil {
				s.warnf("the folder %s is of no more use, but cannot be removed: %v", dir, err)
				return
			}
		}
	}
	s.disk.Remove(s.ticketPath(name, ours))
	if s.disk.Remove(s.gatePath(name)) != nil || s.disk.Remove(s.queueDir(name)) != nil || s.disk.Remove(dir) != nil {
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
