package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// corruption does something bad to a file.
func corruption(t *testing.T, rng *rand.Rand, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := func() int { return rng.IntN(max(1, len(b))) }
	what := ""
	switch kind := rng.IntN(7); {
	case kind == 6:
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return "removed " + path
	case len(b) == 0:
		b, what = []byte("garbage"), "filled"
	case kind == 0:
		i := at()
		b[i] ^= 1 << rng.IntN(8)
		what = fmt.Sprintf("bit %d flipped", i)
	case kind == 1: // near the end, where the newest is
		i := len(b) - 1 - rng.IntN(min(len(b), 100))
		b[i] ^= 1 << rng.IntN(8)
		what = fmt.Sprintf("bit %d flipped", i)
	case kind == 2:
		n := at()
		b, what = b[:n], fmt.Sprintf("cut at %d", n)
	case kind == 3:
		from := at()
		to := from + 1 + rng.IntN(len(b)-from)
		clear(b[from:to])
		what = fmt.Sprintf("zeros from %d to %d", from, to)
	case kind == 4:
		from, to := at(), at()
		n := copy(b[to:], b[from:])
		what = fmt.Sprintf("%d bytes moved from %d to %d", n, from, to)
	case kind == 5:
		b, what = append(b, noise(1+rng.IntN(500), rng.Uint64())...), "noise at the end"
	}
	if was, _ := os.ReadFile(path); bytes.Equal(was, b) {
		return corruption(t, rng, path)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return what + " in " + path
}

// Whatever happens to a file of the store, what is read is what was saved, and
// what cannot be read any more is told: by an error of whoever asks for it, and
// by Check. 1000 corruptions with ACCRETE_LONG=1.
func TestCorruptions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range rounds(60, 1000) {
		s := openTemp(t)
		var warned []string
		s.opts.Warn = func(text string) { warned = append(warned, text) }
		s.disk = unsynced{s.disk}
		s.largePart, s.minWaste = 1000, 1500
		versions := 1 + rng.IntN(12)
		source := []byte("a,b\n1,2\n")
		sum := sha256.Sum256(source)
		hash := hex.EncodeToString(sum[:])
		for range versions {
			if _, err := grow(ctx, s, "m"); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Write(ctx, "m", func(tx *Tx) error {
			m, v, err := tx.Load()
			if err != nil {
				return err
			}
			h := m.(*heap).with(fmt.Sprint(v.Number+1), grown(v.Number+1))
			return first(tx.Keep(hash, ".csv", strings.NewReader(string(source))), second(tx.Save(h, Version{Kind: Update, Source: Source{Hash: hash}})))
		})
		if err != nil {
			t.Fatal(err)
		}
		versions++
		var files []string
		filepath.WalkDir(s.modelDir("m"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(path, "queue") && filepath.Base(path) != "lock" {
				files = append(files, path)
			}
			return err
		})
		hurt := s.logPath("m")
		if rng.IntN(3) == 0 {
			hurt = files[rng.IntN(len(files))]
		}
		what := fmt.Sprintf("round %d: %s", round, corruption(t, rng, hurt))
		told := func(err error) bool { return errors.Is(err, learn.ErrDamaged) || len(warned) > 0 }

		if v, err := checkGrown(s, "m"); err == nil && v.Number != versions {
			t.Fatalf("%s: the newest is %v of %d, without an error", what, v, versions)
		} else if err != nil && !told(err) {
			t.Fatalf("%s: %v", what, err)
		}
		lost := 0
		for n := 1; n <= versions; n++ {
			v, err := checkGrown(s, fmt.Sprintf("m@%d", n))
			if err == nil && v.Number != n {
				t.Fatalf("%s: %v instead of %d", what, v, n)
			}
			if err != nil && !told(err) {
				t.Fatalf("%s: version %d: %v", what, n, err)
			}
			if err != nil {
				lost++
			}
		}
		health, err := s.Check(ctx)
		if err != nil || len(health) != 1 {
			t.Fatalf("%s: %v, %v", what, health, err)
		}
		if lost > 0 && len(health[0].Damaged) == 0 {
			t.Fatalf("%s: %d versions are lost, and nothing is said", what, lost)
		}
		if health[0].Versions != versions-lost {
			t.Fatalf("%s: %d of %d versions are left, check says %d", what, versions-lost, versions, health[0].Versions)
		}
		if copied := s.KeptSource("m", hash); copied != "" && (s.CheckKept("m", hash) != nil) != (hurt == copied) {
			t.Fatalf("%s: the copy: %v", what, s.CheckKept("m", hash))
		}
	}
}

// second returns the error of a call that returns a value too.
func second[T any](_ T, err error) error { return err }
