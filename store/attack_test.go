//go:build unix

package store

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A symbolic link within a store leads nowhere: nothing that it points to is
// read, written or removed.
func TestLinksInAStoreAreRefused(t *testing.T) {
	for _, what := range []string{"lock", "log", "parts", "sources", "newest", "queue", "damaged"} {
		t.Run(what, func(t *testing.T) {
			s := openTemp(t)
			s.largePart = 100
			h := (&heap{derived: 1000}).with("x", noise(500, 1))
			mustSave(t, s, "m", h)
			mustSave(t, s, "m", h.with("y", noise(500, 2)))
			victim := t.TempDir()
			inside := filepath.Join(victim, "file")
			if err := os.WriteFile(inside, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			target := victim
			if what == "lock" || what == "log" || what == "newest" {
				target = inside
			}
			path := filepath.Join(s.modelDir("m"), what)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			if health, err := s.Check(ctx); what != "queue" && what != "lock" && what != "damaged" && (err != nil || len(health) != 1 || len(health[0].Damaged) == 0) {
				t.Errorf("check says %+v, %v", health, err)
			}
			s.Save(ctx, "m", h, Version{Kind: Update})
			s.Write(ctx, "m", func(tx *Tx) error {
				tx.Keep(strings.Repeat("0", 64), ".csv", strings.NewReader("x"))
				_, err := tx.Erase(h, Version{Source: Source{Name: "y"}}, "y")
				return err
			})
			s.Delete(ctx, "m@1")
			s.Delete(ctx, "m")
			if text, err := os.ReadFile(inside); string(text) != "mine" {
				t.Fatalf("the file of another folder is %q, %v", text, err)
			}
			if names, _ := os.ReadDir(victim); len(names) != 1 {
				t.Errorf("the other folder has %v", names)
			}
		})
	}
}

// What belongs to others is not used, and a pipe does not make readers wait.
func TestFilesOfOthersAreRefused(t *testing.T) {
	s := openTemp(t)
	mustSave(t, s, "m", &heap{})
	if err := os.Remove(s.logPath("m")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.logPath("m"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Load("m")
	wantError(t, err, fs.ErrPermission, s.logPath("m"), "neither a file nor a folder")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Import(ctx, pipe, "", time.Time{})
	wantError(t, err, nil, "not a regular file")

	if os.Geteuid() != 0 {
		t.Skip("only the system's owner can give files away")
	}
	theirs := openTemp(t)
	mustSave(t, theirs, "m", &heap{})
	for _, path := range []string{theirs.logPath("m"), theirs.Dir()} {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		_, _, err = theirs.Load("m")
		wantError(t, err, fs.ErrPermission, path, "belongs to")
		_, err = theirs.Save(ctx, "m", &heap{}, Version{Kind: Update})
		wantError(t, err, fs.ErrPermission, path, "belongs to")
		if err := os.Chown(path, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// A change of a store that is removed or replaced meanwhile is not
// acknowledged.
func TestStoreThatIsRemovedMeanwhile(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		for _, known := range []bool{false, true} {
			s := openTemp(t)
			if known {
				mustSave(t, s, "m", &heap{})
			}
			err := s.Write(ctx, "m", func(tx *Tx) error {
				if err := os.Rename(s.Dir(), s.Dir()+".old"); err != nil {
					t.Fatal(err)
				}
				if replaced {
					other, err := Open(s.Dir(), Options{})
					if err != nil {
						t.Fatal(err)
					}
					mustSave(t, other, "m", (&heap{}).with("other", nil))
				}
				_, err := tx.Save((&heap{}).with("x", []byte("y")), Version{Kind: Update})
				return err
			})
			wantError(t, err, fs.ErrNotExist)
			if replaced {
				mustLoad(t, s, "m", (&heap{}).with("other", nil))
			}
		}
	}
}

// Writers get their turn in the order in which they came, also when one of
// them gives up or dies.
func TestWritersComeInOrder(t *testing.T) {
	s := openTemp(t)
	s.opts.LockTimeout = time.Minute
	inside, leave := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		s.Write(ctx, "m", func(*Tx) error { close(inside); <-leave; return nil })
	})
	<-inside
	// The ticket of somebody who died, and one who gives up.
	if err := os.WriteFile(s.ticketPath("m", 2), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waiting := func(n int) {
		for {
			if last, err := s.ticketBefore("m", maxNumber); err != nil {
				t.Fatal(err)
			} else if last >= n {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	var mu sync.Mutex
	var order []int
	impatient, giveUp := context.WithCancel(ctx)
	gone := make(chan struct{})
	for i := range 6 {
		patience := ctx
		if i == 2 {
			patience = impatient
		}
		group.Go(func() {
			err := s.Write(patience, "m", func(*Tx) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				return nil
			})
			if (err != nil) != (i == 2) {
				t.Errorf("writer %d: %v", i, err)
			}
			if i == 2 {
				close(gone)
			}
		})
		waiting(i + 3)
	}
	giveUp()
	<-gone
	close(leave)
	group.Wait()
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] || len(order) != 5 {
			t.Fatalf("the order was %v", order)
		}
	}
	if _, err := os.Stat(s.modelDir("m")); err == nil {
		t.Error("the folder of a model that never came to be is left")
	}
}
