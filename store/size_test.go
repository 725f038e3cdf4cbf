package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/accrete-ml/accrete/learners/bayes"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// A store stays below three times the export of its newest version, however
// many updates there were.
func TestStoreStaysNearItsExport(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "s"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &life.Home{Store: s, Now: time.Now, Seed: 1}
	var b strings.Builder
	b.WriteString("a,b,c,y\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%d,%c,%d,%c\n", i*7%31, 'p'+rune(i%5), i%9, 'x'+rune(i*i%2))
	}
	path := filepath.Join(dir, "d.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		d, err := h.Find(path, life.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			_, err = h.Learn(t.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: "bayes"}, Name: "m"})
		} else {
			_, err = h.Update(t.Context(), "m", d, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	size := int64(0)
	err = filepath.WalkDir(s.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	exported := filepath.Join(dir, "m.accrete")
	if err := s.Export("m", exported); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(exported)
	if err != nil {
		t.Fatal(err)
	}
	// Less than minWaste is left where it is.
	if most := 3*info.Size() + 16<<10; size > most {
		t.Errorf("the store has %d bytes, its export %d", size, info.Size())
	}
}
