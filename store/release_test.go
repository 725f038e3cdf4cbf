package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A model that replaces its parts lets its oldest versions go: the store stays
// below three times the model, the records of all versions stay, and whoever
// asks for one that went is told.
func TestOldVersionsAreLetGo(t *testing.T) {
	for _, large := range []int{1 << 20, 1000} { // parts in the log, and parts in files
		s := openTemp(t)
		s.largePart, s.freeRoom = large, 10_000
		h := &heap{}
		var all []*heap
		for i := range 60 { // twenty sources at most: each that comes replaces one
			if i >= 20 {
				h = h.without(fmt.Sprint(i - 20))
			}
			h = h.with(fmt.Sprint(i), noise(3000, uint64(i)))
			all = append(all, h)
			mustSave(t, s, "m", h)
		}
		versions, err := s.Log("m")
		if err != nil || len(versions) != 60 {
			t.Fatal(len(versions), err)
		}
		first := slices.IndexFunc(versions, func(v Version) bool { return !v.LetGo })
		if first < 20 || first > 50 || slices.ContainsFunc(versions[first:], func(v Version) bool { return v.LetGo }) {
			t.Errorf("the first %d of 60 versions were let go", first)
		}
		if size := folderSize(t, s.Dir()); size > 3*20*3000 {
			t.Errorf("%d bytes, the model has 60,000", size)
		}
		for i, h := range all {
			ref := fmt.Sprintf("m@%d", i+1)
			if i >= first {
				mustLoad(t, s, ref, h)
				continue
			}
			if _, _, err := s.Load(ref); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), fmt.Sprintf("%s was let go, as old versions took too much room: what can be loaded is versions %d–60", ref, first+1)) {
				t.Fatal(err)
			}
		}
		health, err := s.Check(ctx)
		if err != nil || len(health) != 1 || len(health[0].Damaged) > 0 || health[0].Versions != 60-first {
			t.Errorf("%+v, %v", health, err)
		}
		if v := mustSave(t, s, "m", h); v.Number != 61 {
			t.Errorf("the next version is %v", v)
		}
		err = s.Write(ctx, "m", func(tx *Tx) error {
			_, err := tx.Erase(h.without("50"), Version{Source: Source{Name: "50"}}, "50")
			return err
		})
		if versions, also := s.Log("m"); err != nil || also != nil || len(versions) != 62 || !versions[first-1].LetGo {
			t.Errorf("%d versions, %v, %v", len(versions), err, also)
		}
	}
}

// A model that is another each time keeps the version before the newest: what
// was done last can be undone.
func TestTheVersionBeforeIsKept(t *testing.T) {
	s := openTemp(t)
	s.freeRoom = 10_000
	var last *heap
	for i := range 12 {
		h := (&heap{}).with(fmt.Sprint(i), noise(30_000, uint64(i)))
		mustSave(t, s, "m", h)
		if last != nil {
			mustLoad(t, s, fmt.Sprintf("m@%d", i), last)
		}
		last = h
	}
	if size := folderSize(t, s.Dir()); size > 3*30_000 {
		t.Errorf("%d bytes, the model has 30,000", size)
	}
}

// A model that shrinks loses nothing: what it was is one of the newest versions.
func TestAVersionThatShrinksLetsNoneGo(t *testing.T) {
	s := openTemp(t)
	s.freeRoom = 10_000
	h := &heap{}
	for i := range 9 {
		h = h.with(fmt.Sprint(i), noise(30_000, uint64(i)))
		mustSave(t, s, "m", h)
	}
	mustSave(t, s, "m", (&heap{}).with("small", []byte("x")))
	mustSave(t, s, "m", (&heap{}).with("small", []byte("y")))
	mustLoad(t, s, "m@9", h)
}
