package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/bayes"
	_ "github.com/accrete-ml/accrete/learners/gaussian"
	_ "github.com/accrete-ml/accrete/learners/prior"
	"github.com/accrete-ml/accrete/table"
)

// someRows returns a hundred rows of a source: numbers, names and a class.
func someRows(t *testing.T, source int) *table.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(source), 7))
	schema, columns := &table.Schema{}, []table.Column{}
	for j := range 20 {
		a, c := table.Attribute{Name: fmt.Sprint("c", j), Kind: table.Numeric}, table.Column{}
		if j%2 == 0 || j == 19 {
			a.Kind, a.Values = table.Nominal, []string{"a", "b", "c"}
		}
		for range 100 {
			if a.Kind == table.Numeric {
				c.Floats = append(c.Floats, r.NormFloat64())
			} else {
				c.Codes = append(c.Codes, int32(r.IntN(3)))
			}
		}
		schema.Attributes, columns = append(schema.Attributes, a), append(columns, c)
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// learnMore adds a source, as an update does, and returns how many bytes of
// parts were read for it.
func learnMore(t *testing.T, s *Store, learner string, source int) int64 {
	t.Helper()
	before := s.unpacked.Load()
	rows, by := someRows(t, source), learn.Source{ID: fmt.Sprint("source ", source), Name: "rows"}
	var m learn.Model
	if source == 0 {
		l, err := learn.New(learner, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = l.Learn(ctx, learn.Task{Table: rows, Target: "c19", Source: by}); err != nil {
			t.Fatal(err)
		}
	} else {
		of, _, err := s.LoadToUpdate("m")
		if err != nil {
			t.Fatal(err)
		}
		u, err := of.(learn.Updater).Begin(by)
		if err == nil {
			err = u.Add(ctx, rows)
		}
		if err == nil {
			m, err = u.Freeze(ctx)
		}
		if err == nil { // as the score of the rows does
			err = of.Predict(ctx, rows, learn.NewPredictions(of, rows.Rows()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Save(ctx, "m", m, Version{Kind: Update, Source: Source{ID: by.ID}}); err != nil {
		t.Fatal(err)
	}
	return s.unpacked.Load() - before
}

// An update reads what it needs: the sum of the sources before it, not each of
// them, whatever their number. What it did not read is there all the same: the
// model forgets a source as one that was read whole, and says if it cannot.
func TestUpdatesReadWhatTheyNeed(t *testing.T) {
	for _, learner := range []string{"prior", "bayes", "gaussian"} {
		t.Run(learner, func(t *testing.T) {
			s := openTemp(t)
			s.disk = unsynced{s.disk}
			s.largePart = 1000
			var few, many int64
			for i := range 80 {
				switch n := learnMore(t, s, learner, i); i {
				case 40:
					few = n
				case 79:
					many = n
				}
			}
			before := s.unpacked.Load()
			whole, _, err := s.Load("m")
			if err != nil {
				t.Fatal(err)
			}
			all := s.unpacked.Load() - before
			t.Logf("the 40th update read %d bytes of parts, the 79th %d of %d", few, many, all)
			// A source more is its name in the sum.
			if many > few+80*32 || many > all/3 {
				t.Errorf("the 40th update read %d bytes of parts, the 79th %d of %d", few, many, all)
			}
			outline, _, err := s.LoadToUpdate("m")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Delete(ctx, "m@3"); err != nil { // the log is another one now
				t.Fatal(err)
			}
			if a, b := left(t, outline, "source 5", "source 70"), left(t, whole, "source 5", "source 70"); a != b {
				t.Error("a model whose parts waited forgets otherwise")
			}
			if a, b := encoded(t, outline), encoded(t, whole); a != b {
				t.Error("a model whose parts waited is written otherwise")
			}
			olderPrograms(t, s)
			damageWaiting(t, s)
		})
	}
}

// left returns a model without sources, as it is saved.
func left(t *testing.T, m learn.Model, ids ...string) string {
	t.Helper()
	m, err := m.(learn.Forgetter).Forget(ctx, ids...)
	if err != nil {
		t.Fatal(err)
	}
	return encoded(t, m)
}

func encoded(t *testing.T, m learn.Model) string {
	t.Helper()
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// olderPrograms take derived parts for files of another kind, and do without:
// they would not know what the sum is. Nor is it in exports.
func olderPrograms(t *testing.T, s *Store) {
	t.Helper()
	derived, err := filepath.Glob(filepath.Join(s.partsDir("m"), "*"+derivedName))
	if err != nil || len(derived) == 0 {
		t.Fatalf("no derived parts: %v", err)
	}
	for _, path := range derived {
		if b, err := os.ReadFile(path); err != nil || fileKind(b[len(magic)]) != derivedFile {
			t.Errorf("%s is of kind %v, %v", path, fileKind(b[len(magic)]), err)
		}
	}
	export := filepath.Join(t.TempDir(), "m.accrete")
	if err := s.Export("m", export); err != nil {
		t.Fatal(err)
	}
	f, err := openRegular(export)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ix, err := readWhole(f, exportFile, export, 32)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ix.parts {
		if p.key.derived {
			t.Errorf("the export has the derived part %s", p.key.name)
		}
	}
}

// damageWaiting flips a bit in a file of many sources: who reads it is told, and
// so is who asks a model that had not read it yet.
func damageWaiting(t *testing.T, s *Store) {
	t.Helper()
	outline, _, err := s.LoadToUpdate("m")
	if err != nil {
		t.Fatal(err)
	}
	var largest string
	var size int64
	filepath.WalkDir(s.partsDir("m"), func(path string, d fs.DirEntry, err error) error {
		if info, e := d.Info(); e == nil && !d.IsDir() && info.Size() > size && !strings.HasSuffix(path, "-derived") {
			largest, size = path, info.Size()
		}
		return err
	})
	b, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := os.WriteFile(largest, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Load("m"); !errors.Is(err, learn.ErrDamaged) {
		t.Errorf("a model with a damaged part is read: %v", err)
	}
	if _, err := outline.(learn.Forgetter).Forget(ctx, "source 5"); !errors.Is(err, learn.ErrDamaged) {
		t.Errorf("a model with a damaged part forgets: %v", err)
	}
	health, err := s.Check(ctx)
	if err != nil || len(health) != 1 || len(health[0].Damaged) == 0 {
		t.Errorf("check says %+v, %v", health, err)
	}
}
