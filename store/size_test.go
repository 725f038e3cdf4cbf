package store_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// However many updates there were, a store stays below three times the export
// of its newest version, and for learners that count another update costs at
// most three times what the tenth did: what a program needs to start, to queue
// and to write is the same, and what it reads again, the log of all versions, may
// be twice as much by then. Small here; ACCRETE_LONG=1 has 2000. What learns
// its rows again costs what learning costs: of those, the size alone counts. A
// network that lives replaces some of its parts by each update: its old versions stay
// while they take less than what versions may always take (TestManyLivingVersions).
func TestManyUpdates(t *testing.T) {
	long := os.Getenv("ACCRETE_LONG") != ""
	for _, of := range []struct {
		learner     string
		short, long int
		counts      bool
	}{
		{"prior", 200, 2000, true}, {"bayes", 200, 2000, true}, {"gaussian", 60, 2000, true},
		{"tree", 20, 300, false}, {"rulenet", 20, 300, false}, {"learnpp", 0, 60, false},
	} {
		updates := of.short
		if long {
			updates = of.long
		}
		if updates == 0 {
			continue // an update trains networks for half a second
		}
		t.Run(of.learner, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			if of.learner == "rulenet" {
				g.settings = map[string]string{"update": "exact"}
			}
			for i := range 10 {
				g.update(t, i, of.learner)
			}
			tenth := g.cost(t)
			for i := 10; i < updates; i++ {
				g.update(t, i, of.learner)
			}
			last := g.cost(t)
			t.Logf("the tenth update took %v, after %d it is %v", tenth, updates, last)
			if of.counts && last > 3*tenth {
				t.Errorf("the tenth update took %v, after %d it is %v", tenth, updates, last)
			}
			g.checkSize(t, 0)
		})
	}
}

// The versions of a network that lives take no more than versions may always take,
// or three times the export.
func TestManyLivingVersions(t *testing.T) {
	g := newGrowing(t)
	for i := range 150 {
		g.update(t, i, "rulenet")
	}
	g.checkSize(t, 256<<10)
}

// growing is a model that learns a hundred rows at a time.
type growing struct {
	dir      string
	home     *life.Home
	settings map[string]string // of the learner
}

func newGrowing(t *testing.T) *growing {
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "s"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &growing{dir: dir, home: &life.Home{Store: s, Now: time.Now, Seed: 1}}
}

// update learns, or learns more.
func (g *growing) update(t *testing.T, i int, learner string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,c,y\n")
	r := rand.New(rand.NewPCG(uint64(i), 1))
	for range 100 {
		x, n, k := r.IntN(1000), r.IntN(5), r.IntN(9)
		fmt.Fprintf(&b, "%d,%c,%d,%c\n", x, 'p'+rune(n), k, 'x'+rune((x/250+n+r.IntN(10)/9)%2))
	}
	path := filepath.Join(g.dir, "d.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := g.home.Find(path, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if i == 0 {
		_, err = g.home.Learn(t.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: learner, Settings: g.settings}, Name: "m"})
	} else {
		_, err = g.home.Update(t.Context(), "m", d, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cost is the time that a program of its own needs on a processor, from its
// start to its end, for one update: the least of some, as others use the
// processor too.
func (g *growing) cost(t *testing.T) time.Duration {
	t.Helper()
	least := time.Hour
	for range 8 {
		update := exec.Command(os.Args[0], "-test.run=^TestUpdateInAChild$")
		update.Env = append(os.Environ(), "ACCRETE_UPDATE="+g.dir, "GOMAXPROCS=1")
		if out, err := update.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		least = min(least, update.ProcessState.UserTime()+update.ProcessState.SystemTime())
	}
	return least
}

// TestUpdateInAChild is the program of growing.cost.
func TestUpdateInAChild(t *testing.T) {
	dir := os.Getenv("ACCRETE_UPDATE")
	if dir == "" {
		t.Skip("run by TestManyUpdates")
	}
	s, err := store.Open(filepath.Join(dir, "s"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &life.Home{Store: s, Now: time.Now, Seed: 1}
	d, err := h.Find(filepath.Join(dir, "d.csv"), life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Update(t.Context(), "m", d, false); err != nil {
		t.Fatal(err)
	}
}

// checkSize compares the store with its export, and with what versions may always take.
func (g *growing) checkSize(t *testing.T, free int64) {
	t.Helper()
	s, size := g.home.Store, int64(0)
	err := filepath.WalkDir(s.Dir(), func(path string, d fs.DirEntry, err error) error {
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
	exported := filepath.Join(g.dir, "m.accrete")
	if err := s.Export("m", exported); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(exported)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the store has %d bytes, its export %d", size, info.Size())
	// An eighth of a file may be waste, and less than minWaste is left where it is.
	if most := max(3*info.Size(), free*8/7) + 16<<10; size > most {
		t.Errorf("the store has %d bytes, its export %d", size, info.Size())
	}
}
