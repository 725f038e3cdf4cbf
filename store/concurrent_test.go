package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// grow saves one more version: the newest with one more source, which says
// what number it is.
func grow(ctx context.Context, s *Store, name string) (v Version, err error) {
	err = s.Write(ctx, name, func(tx *Tx) error {
		h := &heap{derived: 3000}
		if tx.Exists() {
			m, _, err := tx.Load()
			if err != nil {
				return err
			}
			h = m.(*heap)
		}
		number := tx.Latest().Number + 1
		v, err = tx.Save(h.with(strconv.Itoa(number), grown(number)), Version{Kind: Update})
		return err
	})
	return v, err
}

// grown is what the source of a number brings; some of it is large.
func grown(number int) []byte { return noise(50+200*(number%10), uint64(number)) }

// checkGrown says what is wrong with a version that grow saved.
func checkGrown(s *Store, ref string) (Version, error) {
	m, v, err := s.Load(ref)
	if err != nil {
		return v, err
	}
	h := m.(*heap)
	if len(h.sources) != v.Number {
		return v, fmt.Errorf("%v has %d sources", v, len(h.sources))
	}
	for i, p := range h.sources {
		if p.ID != strconv.Itoa(i+1) || string(p.Data) != string(grown(i+1)) {
			return v, fmt.Errorf("%v: source %s is wrong", v, p.ID)
		}
	}
	return v, nil
}

func TestReadersDoNotWait(t *testing.T) {
	s := openTemp(t)
	s.disk = unsynced{s.disk}
	s.largePart, s.minWaste = 1500, 2000 // many files, many compactions
	if _, err := grow(ctx, s, "m"); err != nil {
		t.Fatal(err)
	}
	const versions = 80
	done := make(chan struct{})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			last := 0
			for {
				v, err := checkGrown(s, "m")
				if err != nil || v.Number < last {
					t.Errorf("read %v after %d: %v", v, last, err)
					return
				}
				last = v.Number
				if _, err := checkGrown(s, fmt.Sprintf("m@%d", 1+last/2)); err != nil {
					t.Error(err)
					return
				}
				if log, err := s.Log("m"); err != nil || len(log) < last {
					t.Errorf("a log of %d after %d: %v", len(log), last, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range versions {
		if _, err := grow(ctx, s, "m"); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	group.Wait()
}

// Readers that meet the deletion of what they read get the model or are told
// that it is not there.
func TestReadersOfDeletedVersions(t *testing.T) {
	s := openTemp(t)
	s.disk = unsynced{s.disk}
	s.largePart = 100
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := checkGrown(s, "m"); err != nil && !errors.Is(err, ErrUnknown) {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		for range 5 {
			if _, err := grow(ctx, s, "m"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Delete(ctx, "m@4"); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(ctx, "m"); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	group.Wait()
}

// Writers queue: of their versions none is lost.
func TestWritersQueue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".accrete")
	const writers, each = 4, 10
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			s, err := Open(dir, Options{LockTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				if _, err := grow(ctx, s, "m"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	s, _ := Open(dir, Options{})
	if v, err := checkGrown(s, "m"); err != nil || v.Number != writers*each {
		t.Errorf("%v, %v", v, err)
	}
}

func TestWriterGivesUp(t *testing.T) {
	s := openTemp(t)
	s.opts.LockTimeout = 30 * time.Millisecond
	inside, leave := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		err := s.Write(ctx, "m", func(tx *Tx) error {
			close(inside)
			<-leave
			_, err := tx.Save(&heap{}, Version{Kind: Learn})
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	_, err := s.Save(ctx, "m", &heap{}, Version{Kind: Learn})
	wantError(t, err, ErrLocked, `"m"`, fmt.Sprintf("process %d", os.Getpid()), "waited 30ms", "try again")
	s.opts.LockTimeout = time.Minute // a slow disk is no other writer
	if _, err := s.Save(ctx, "another", &heap{}, Version{Kind: Learn}); err != nil {
		t.Errorf("writers of different models disturb each other: %v", err)
	}
	_, _, err = s.Load("m")
	wantError(t, err, ErrUnknown)
	cancelled, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err = s.Save(cancelled, "m", &heap{}, Version{Kind: Learn})
	wantError(t, err, context.DeadlineExceeded)
	close(leave)
	group.Wait()
	if v := mustSave(t, s, "m", &heap{}); v.Number != 2 {
		t.Errorf("%v", v)
	}
}

// Deleting and making a model by several writers at once loses no version
// that was not deleted.
func TestDeleteWhileOthersWrite(t *testing.T) {
	s := openTemp(t)
	s.disk = unsynced{s.disk}
	s.opts.LockTimeout, s.largePart = time.Minute, 100
	var newest atomic.Int64 // changed only by who has the model's lock
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 25 {
				err := s.Write(ctx, "m", func(tx *Tx) error {
					if n, want := tx.Latest().Number, newest.Load(); n != int(want) {
						return fmt.Errorf("found version %d, want %d", n, want)
					}
					if i == 0 && tx.Exists() {
						newest.Store(0)
						return tx.deleteModel()
					}
					v, err := tx.Save((&heap{}).with("x", noise(500, uint64(newest.Load()))), Version{Kind: Learn})
					newest.Store(int64(v.Number))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// The test binary, started again with this variable set, saves versions to
// the store that it names until it is killed, telling of each.
const victim = "ACCRETE_STORE_VICTIM"

func TestMain(m *testing.M) {
	dir := os.Getenv(victim)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(dir, Options{})
	if err == nil {
		s.largePart, s.minWaste = 1500, 2000
		for err == nil {
			var v Version
			if v, err = grow(ctx, s, "m"); err == nil {
				fmt.Println(v.Number)
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A process that is killed while it writes, again and again, loses no version
// that it said it had saved. 1000 rounds with ACCRETE_LONG=1.
func TestKill(t *testing.T) {
	rounds := rounds(60, 1000)
	dir := filepath.Join(t.TempDir(), ".accrete")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	acknowledged := 0
	for round := range rounds {
		if round%20 == 19 { // or the log would grow beyond what tests should
			if err := s.Delete(ctx, "m"); err != nil && !(acknowledged == 0 && errors.Is(err, ErrUnknown)) {
				t.Fatal(err)
			}
			acknowledged = 0
		}
		acknowledged = max(acknowledged, runVictim(t, dir, time.Duration(rng.IntN(60))*time.Millisecond, round%4 == 3))
		log, err := s.Log("m")
		if acknowledged == 0 && errors.Is(err, ErrUnknown) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(log) < acknowledged {
			t.Fatalf("%d versions, %d were acknowledged", len(log), acknowledged)
		}
		for i := range log {
			if v, err := checkGrown(s, fmt.Sprintf("m@%d", i+1)); err != nil || v.Number != i+1 {
				t.Fatalf("round %d: %v, %v", round, v, err)
			}
		}
	}
	t.Logf("%d versions at the end", acknowledged)
}

// rounds is how often to try: seldom, or often with ACCRETE_LONG=1.
func rounds(seldom, often int) int {
	if os.Getenv("ACCRETE_LONG") != "" {
		return often
	}
	return seldom
}

// runVictim lets a process write until some time after its first words, or
// after its start if it is to die early, kills it, and returns the last version
// that it acknowledged.
func runVictim(t *testing.T, dir string, life time.Duration, early bool) (acknowledged int) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), victim+"="+dir)
	var complaint strings.Builder
	c.Stderr = &complaint
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	life += 10 * time.Millisecond
	if !early {
		life += 30 * time.Second // until it speaks
	}
	timer := time.AfterFunc(life, func() { c.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !early && acknowledged == 0 {
			timer.Reset(life - 30*time.Second)
		}
		if acknowledged, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
	}
	c.Wait()
	if complaint.Len() > 0 {
		t.Fatalf("the process failed: %s", complaint.String())
	}
	return acknowledged
}

// A lock whose file was removed while we waited for it counts for nothing.
func TestLockThatIsRemoved(t *testing.T) {
	dir := t.TempDir()
	d, path := osDisk{dir}, filepath.Join(dir, "lock")
	l, err := d.Lock(ctx, path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Check(), os.ErrNotExist)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Check(), os.ErrNotExist)
	if _, err := d.Lock(ctx, filepath.Join(dir, "none"), false); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// meddler is a disk on which others act as soon as a file is removed.
type meddler struct {
	disk
	removed func(path string)
}

func (m meddler) Remove(path string) error {
	err := m.disk.Remove(path)
	m.removed(path)
	return err
}

func (m meddler) RemoveAll(path string) error {
	names, _ := m.disk.Names(path) // none for a file
	for _, name := range names {
		if err := m.RemoveAll(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return m.Remove(path)
}

// A model that is made anew while the old one's folder goes is not hurt.
func TestSaveDuringDelete(t *testing.T) {
	others := openTemp(t)
	others.largePart = 100
	s := *others
	h := (&heap{derived: 1000}).with("x", noise(500, 1))
	mustSave(t, others, "m", h)
	saved := false
	s.disk = meddler{s.disk, func(path string) {
		if path == s.gatePath("m") {
			saved = true
			mustSave(t, others, "m", h)
		}
	}}
	if err := s.Delete(ctx, "m"); err != nil {
		t.Fatal(err)
	}
	if !saved {
		t.Fatal("the gate was not removed")
	}
	mustLoad(t, others, "m", h)
}
