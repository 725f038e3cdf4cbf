package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// journalled is a store with a folder for the model m, as if it had versions.
func journalled(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.modelDir("m"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.logPath("m"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func openJournal(t *testing.T, s *Store, want ...string) *Journal {
	t.Helper()
	j, records, err := s.OpenJournal("m")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(bytes.Join(records, []byte(" "))); got != string(bytes.Join(bytesOf(want), []byte(" "))) {
		t.Errorf("records %q, expected %q", got, want)
	}
	return j
}

func bytesOf(texts []string) [][]byte {
	var all [][]byte
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

func TestJournal(t *testing.T) {
	s := journalled(t)
	if s.HasJournal("m") {
		t.Error("there is one before there is one")
	}
	j := openJournal(t, s)
	for _, step := range []error{j.Append([]byte("a"), []byte("b")), j.Append([]byte("c")), j.Replace([]byte("d")), j.Append([]byte("e"))} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if _, _, err := s.OpenJournal("m"); !errors.Is(err, ErrLocked) {
		t.Errorf("two have the journal: %v", err)
	}
	if err := j.Close(); err != nil || !s.HasJournal("m") {
		t.Error(err)
	}
	openJournal(t, s, "d", "e").Close()
	if _, _, err := s.OpenJournal("none"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a journal without a model: %v", err)
	}
}

// Whatever a crash leaves of the last write, the records before it are there.
func TestJournalIsTorn(t *testing.T) {
	s := journalled(t)
	j := openJournal(t, s)
	if err := errors.Join(j.Append([]byte("first")), j.Append([]byte("second"), []byte("third")), j.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.journalPath("m"))
	if err != nil {
		t.Fatal(err)
	}
	ends := []int{18, 18 + 13, 18 + 13 + 14, len(whole)}
	texts := []string{"first", "second", "third"}
	for n := range len(whole) + 1 {
		torn := append(bytes.Clone(whole[:n]), bytes.Repeat([]byte{0xff}, n%5)...)
		records, end := ReadJournal(torn)
		want := 0
		for i, e := range ends {
			if n >= e {
				want = i
			}
		}
		if len(records) != want || n >= 18 && end != ends[want] {
			t.Fatalf("%d bytes: %d records up to %d", n, len(records), end)
		}
		if n%7 != 0 {
			continue
		}
		if err := os.WriteFile(s.journalPath("m"), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		j := openJournal(t, s, texts[:want]...)
		if err := errors.Join(j.Append([]byte("more")), j.Close()); err != nil {
			t.Fatal(err)
		}
		openJournal(t, s, append(texts[:want:want], "more")...).Close()
	}
}

// What is appended to the journal of a model that was deleted is not
// acknowledged.
func TestJournalOfADeletedModel(t *testing.T) {
	s := journalled(t)
	j := openJournal(t, s)
	defer j.Close()
	if err := os.RemoveAll(s.modelDir("m")); err != nil {
		t.Fatal(err)
	}
	if err := j.Append([]byte("a")); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if err := j.Replace(); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// A disk that is full takes nothing in half.
func TestJournalOnAFullDisk(t *testing.T) {
	s := journalled(t)
	j := openJournal(t, s)
	if err := j.Append([]byte("a")); err != nil {
		t.Fatal(err)
	}
	j.file.Close()
	j.file, _ = os.Open(filepath.Join(s.modelDir("m"), "journal")) // that cannot be written
	if err := j.Append([]byte("b")); err == nil {
		t.Fatal("acknowledged")
	}
	j.Close()
	openJournal(t, s, "a").Close()
}

func FuzzReadJournal(f *testing.F) {
	b, _ := framed(bytesOf([]string{"a", "", "ccc"}))
	f.Add(append([]byte(journalHead), b...))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		records, end := ReadJournal(text)
		if again, same := ReadJournal(text[:end]); end > len(text) || same != end || len(again) != len(records) {
			t.Errorf("%d records up to %d of %d", len(records), end, len(text))
		}
	})
}

// store.ReadJournal reads in time that grows as its input.
func TestJournalGrowth(t *testing.T) {
	bounded.Worst(t, func(size int) []byte {
		records := bytesOf(make([]string, size/8))
		b, err := framed(records)
		if err != nil {
			panic(fmt.Sprint(err))
		}
		return append([]byte(journalHead), b...)
	}, func(b []byte) { ReadJournal(b) })
}
