package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
)

// ledger is the store as a map: for each model the contents of its versions,
// and the number that the next one gets.
type ledger map[string]account

type account struct {
	next     int
	versions map[int]*heap
}

func (l ledger) clone() ledger {
	c := ledger{}
	for name, a := range l {
		versions := map[int]*heap{}
		for n, h := range a.versions {
			versions[n] = h
		}
		c[name] = account{a.next, versions}
	}
	return c
}

func (a account) latest() (int, *heap) {
	last := 0
	for n := range a.versions {
		last = max(last, n)
	}
	return last, a.versions[last]
}

func (l ledger) add(name string, h *heap) {
	a, ok := l[name]
	if !ok {
		a = account{next: 1, versions: map[int]*heap{}}
	}
	a.versions[a.next] = h
	a.next++
	l[name] = a
}

// differs says where a store does not hold what the ledger says.
func (l ledger) differs(s *Store) error {
	models, err := s.Models()
	if err != nil {
		return err
	}
	if len(models) != len(l) {
		return fmt.Errorf("%d models instead of %d", len(models), len(l))
	}
	for name, a := range l {
		log, err := s.Log(name)
		if err != nil {
			return err
		}
		if len(log) != len(a.versions) {
			return fmt.Errorf("%s: %d versions instead of %d", name, len(log), len(a.versions))
		}
		for _, v := range log {
			m, got, err := s.Load(v.String())
			if err != nil {
				return err
			}
			if got.Number != v.Number || a.versions[v.Number] == nil || !same(m, a.versions[v.Number]) {
				return fmt.Errorf("%v: not what was saved", v)
			}
		}
		newest, h := a.latest()
		if m, v, err := s.Load(name); err != nil || v.Number != newest || !same(m, h) {
			return fmt.Errorf("%s: newest is %v instead of %d (%v)", name, v, newest, err)
		}
	}
	return nil
}

func homeDisk() *memDisk {
	d := newMemDisk()
	d.Mkdir("home")
	d.SyncDir(".")
	return d
}

func smallStore(d disk) *Store {
	s, err := open("home/.accrete", Options{LockTimeout: time.Second}, d)
	if err != nil {
		panic(err)
	}
	s.largePart, s.largeDerived, s.minWaste = 300, 100, 600 // so that small models meet it all
	return s
}

// change is something to do to a store, and to its ledger.
type change struct {
	text  string
	store func(s *Store) error
	apply func(l ledger)
	half  func(l ledger) // for changes of two steps
}

// anyChange draws a change that is sound for the ledger.
func anyChange(t *rapid.T, l ledger, step int) change {
	ctx, at := context.Background(), time.Unix(int64(step), 5)
	name := rapid.SampledFrom([]string{"a", "B", "ünï-und.co"}).Draw(t, "name")
	a, known := l[name]
	newest, h := a.latest()
	if !known {
		h = &heap{derived: rapid.SampledFrom([]int{0, 50, 400}).Draw(t, "derived")}
	}
	what := rapid.SampledFrom([]string{"save", "save", "save", "two", "forget", "erase", "restore", "delete", "delete model", "move"}).Draw(t, "what")
	older := newest
	if len(a.versions) > 0 {
		older = rapid.SampledFrom(sortedKeys(a.versions)).Draw(t, "version")
	}
	switch {
	case what == "forget" && known && len(h.sources) > 0:
		h = h.without(rapid.SampledFrom(h.sources).Draw(t, "source").ID)
		return change{"forget in " + name,
			func(s *Store) error {
				return s.Write(ctx, name, func(tx *Tx) error {
					if _, _, err := tx.Load(); err != nil {
						return err
					}
					_, err := tx.Save(h, Version{Kind: Forget, At: at})
					return err
				})
			},
			func(l ledger) { l.add(name, h) }, nil}
	case what == "erase" && known && len(h.sources) > 0:
		id := rapid.SampledFrom(h.sources).Draw(t, "source").ID
		h = h.without(id)
		return change{fmt.Sprintf("erase %s in %s", id, name),
			func(s *Store) error {
				return s.Write(ctx, name, func(tx *Tx) error {
					_, err := tx.Erase(h, Version{Source: Source{Name: id}, At: at}, id)
					return err
				})
			},
			func(l ledger) {
				for number, old := range l[name].versions {
					if left := old.without(id); len(left.sources) > 0 || len(old.sources) == 0 {
						l[name].versions[number] = left
					} else {
						delete(l[name].versions, number)
					}
				}
				l.add(name, h)
			}, nil}
	case what == "restore" && known:
		return change{fmt.Sprintf("restore %s@%d", name, older),
			func(s *Store) error { _, err := s.Restore(ctx, fmt.Sprintf("%s@%d", name, older), at); return err },
			func(l ledger) { l.add(name, l[name].versions[older]) }, nil}
	case what == "delete" && len(a.versions) > 1:
		return change{fmt.Sprintf("delete %s@%d", name, older),
			func(s *Store) error { return s.Delete(ctx, fmt.Sprintf("%s@%d", name, older)) },
			func(l ledger) { delete(l[name].versions, older) }, nil}
	case what == "delete model" && known:
		return change{"delete " + name,
			func(s *Store) error { return s.Delete(ctx, name) },
			func(l ledger) { delete(l, name) }, nil}
	case what == "move" && known:
		return change{fmt.Sprintf("export %s@%d and import it as c", name, older),
			func(s *Store) error {
				if err := s.Export(fmt.Sprintf("%s@%d", name, older), "home/file"); err != nil {
					return err
				}
				_, err := s.Import(ctx, "home/file", "c", at)
				return err
			},
			func(l ledger) { l.add("c", l[name].versions[older]) }, nil}
	}
	if what == "two" {
		one := h.with(fmt.Sprint(step), noise(20, uint64(step)))
		two := one.with(fmt.Sprint(step, "b"), noise(1000, uint64(step)))
		return change{"save twice in " + name,
			func(s *Store) error {
				return s.Write(ctx, name, func(tx *Tx) error {
					for _, h := range []*heap{one, two} {
						if _, err := tx.Save(h, Version{Kind: Update, At: at}); err != nil {
							return err
						}
					}
					return nil
				})
			},
			func(l ledger) { l.add(name, one); l.add(name, two) },
			func(l ledger) { l.add(name, one) }}
	}
	size := rapid.SampledFrom([]int{0, 20, 200, 1000}).Draw(t, "size")
	h = h.with(fmt.Sprint(step), noise(size, uint64(step)))
	return change{fmt.Sprintf("save %d bytes in %s", size, name),
		func(s *Store) error { _, err := s.Save(ctx, name, h, Version{Kind: Update, At: at}); return err },
		func(l ledger) { l.add(name, h) }, nil}
}

func sortedKeys(m map[int]*heap) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A store that crashes at any moment, and a disk that then keeps any part of
// what was not synced, leave every version that was acknowledged. What was
// being done is done, or not.
func TestCrashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := homeDisk()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		l := ledger{}
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := smallStore(d)
			c := anyChange(t, l, step)
			after := l.clone()
			c.apply(after)
			if !rapid.Bool().Draw(t, "crash") {
				if err := c.store(s); err != nil {
					t.Fatalf("%s: %v", c.text, err)
				}
				if err := after.differs(s); err != nil {
					t.Fatalf("after %s: %v", c.text, err)
				}
				l = after
				continue
			}
			crashAt := d.step + rapid.IntRange(1, 25).Draw(t, "moment")
			d.before = func(step int, op, path string) error {
				if step >= crashAt {
					return errCrash
				}
				return nil
			}
			err := c.store(s)
			d = d.reboot(rng)
			s = smallStore(d)
			was, is := l.differs(s), after.differs(s)
			if c.half != nil && was != nil && is != nil {
				half := l.clone()
				c.half(half)
				if was = half.differs(s); was == nil {
					l = half
				}
			}
			switch {
			case err == nil && is != nil:
				t.Fatalf("%s was acknowledged before the crash, but: %v", c.text, is)
			case is == nil:
				l = after
			case was != nil:
				t.Fatalf("%s crashed (%v) and left neither the old state (%v) nor the new (%v)", c.text, err, was, is)
			}
		}
	})
}

// A disk that fails at any single step (full, broken) makes for an error or a
// warning; what was saved stays, and the store can be used on.
func TestFailingDisk(t *testing.T) {
	ctx := context.Background()
	changes := map[string]func(s *Store) error{
		"first save": func(s *Store) error {
			_, err := s.Save(ctx, "new", (&heap{derived: 400}).with("x", noise(1000, 1)), Version{Kind: Learn})
			return err
		},
		"save": func(s *Store) error {
			return s.Write(ctx, "old", func(tx *Tx) error {
				m, _, err := tx.Load()
				if err != nil {
					return err
				}
				_, err = tx.Save(m.(*heap).with("y", noise(1000, 2)), Version{Kind: Update})
				return err
			})
		},
		"restore":        func(s *Store) error { _, err := s.Restore(ctx, "old@1", time.Time{}); return err },
		"delete version": func(s *Store) error { return s.Delete(ctx, "old@2") },
		"delete model":   func(s *Store) error { return s.Delete(ctx, "old") },
		"export":         func(s *Store) error { return s.Export("old", "home/file") },
	}
	for name, do := range changes {
		t.Run(name, func(t *testing.T) {
			for failAt := 1; ; failAt++ {
				d := homeDisk()
				s := smallStore(d)
				h := &heap{derived: 400}
				l := ledger{}
				for i := range 4 {
					h = h.with(fmt.Sprint(i), noise(500*i, uint64(i)))
					if _, err := s.Save(ctx, "old", h, Version{Kind: Update}); err != nil {
						t.Fatal(err)
					}
					l.add("old", h)
				}
				var warned string
				s.opts.Warn = func(text string) { warned = text }
				var failed string
				first := d.step
				d.before = func(step int, op, path string) error {
					if step != first+failAt {
						return nil
					}
					failed = op + " " + path
					return syscall.ENOSPC
				}
				err := do(s)
				d.before = nil
				if failed == "" {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				done := err == nil
				if !done && strings.Contains(err.Error(), "\n") {
					t.Errorf("more than a line: %q", err)
				}
				if !done && !strings.Contains(err.Error(), "full") {
					t.Errorf("%s: %v does not say that the disk is full", failed, err)
				}
				if done && warned == "" && !strings.HasPrefix(failed, "remove") {
					t.Errorf("%s failed unheard", failed)
				}
				for _, reopened := range []*Store{s, smallStore(d.reboot(rand.New(rand.NewPCG(1, uint64(failAt)))))} {
					if !done && name != "delete model" && name != "delete version" {
						if m, v, err := reopened.Load("old"); err != nil || v.Number < 4 || v.Number == 4 && !same(m, h) {
							t.Fatalf("after %s: %v, %v", failed, v, err)
						}
					}
					if name == "delete model" {
						continue
					}
					for _, n := range []int{1, 3, 4} {
						m, _, err := reopened.Load(fmt.Sprintf("old@%d", n))
						if err != nil || !same(m, l["old"].versions[n]) {
							t.Fatalf("after %s: version %d: %v", failed, n, err)
						}
					}
					if _, err := reopened.Save(ctx, "old", h, Version{Kind: Update}); err != nil {
						t.Fatalf("after %s: %v", failed, err)
					}
				}
			}
		})
	}
}

var _ learn.Model = (*heap)(nil)
