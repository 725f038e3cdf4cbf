package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	_ "github.com/accrete-ml/accrete/learners/bayes"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// townTable is a table in which one value of the town occurs.
func townTable(t testing.TB, town string, n int) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "town", Values: []string{"aberdeen", town}},
		{Name: "age", Kind: table.Numeric},
		{Name: "ill", Values: []string{"no", "yes"}},
	}}
	columns := make([]table.Column, 3)
	for i := range n {
		columns[0].Codes = append(columns[0].Codes, int32(i%2))
		columns[1].Floats = append(columns[1].Floats, float64(i%50))
		columns[2].Codes = append(columns[2].Codes, int32(i/3%2))
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestErase plants a value, a path and a copy in a model's life, erases the
// source that brought them, and searches all that is left, decompressed.
func TestErase(t *testing.T) {
	const secret, path = "llanfairpwllgwyngyll", "/home/mary/clinic.csv"
	for _, learner := range []string{"bayes", "tree"} {
		for _, large := range []int{1 << 20, 200} { // parts in the log, or in files
			t.Run(fmt.Sprintf("%s/%d", learner, large), func(t *testing.T) {
				ctx := context.Background()
				s, err := Open(filepath.Join(t.TempDir(), "store"), Options{Warn: func(m string) { t.Log(m) }})
				if err != nil {
					t.Fatal(err)
				}
				s.largePart = large
				at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
				hash := strings.Repeat("ab", 32)
				clinic := Source{ID: "clinic", Name: "clinic.csv", Path: path, Hash: hash, Rows: 100}
				save := func(m learn.Model, kind string, source Source) {
					t.Helper()
					if _, err := s.Save(ctx, "towns", m, Version{Kind: kind, Source: source, At: at}); err != nil {
						t.Fatal(err)
					}
				}
				l, err := learn.New(learner, nil)
				if err != nil {
					t.Fatal(err)
				}
				learnt := func(tab *table.Table, id string) learn.Model {
					t.Helper()
					m, err := l.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: id, Name: id + ".csv"}}.At(2))
					if err != nil {
						t.Fatal(err)
					}
					return m
				}
				// 1: the clinic alone; 2: without it; 3: with it again; 4: told
				// rules; 5: the clinic's rows forgotten; 6: version 4 restored.
				save(learnt(townTable(t, secret, 100), "clinic"), Learn, clinic)
				save(learnt(townTable(t, "york", 80), "town"), Learn, Source{ID: "town", Name: "town.csv", Path: "/town.csv", Hash: "cd"})
				m, _, err := s.Load("towns")
				if err != nil {
					t.Fatal(err)
				}
				u, err := m.(learn.Updater).Begin(learn.Source{ID: "clinic", Name: "clinic.csv"})
				if err != nil {
					t.Fatal(err)
				}
				more, _, err := table.Conform(townTable(t, secret, 100), m.Schema(), true)
				if err != nil {
					t.Fatal(err)
				}
				if err := u.Add(ctx, more); err != nil {
					t.Fatal(err)
				}
				both, err := u.Freeze(ctx)
				if err != nil {
					t.Fatal(err)
				}
				save(both, Update, clinic)
				rules, err := rule.Parse("expert", []byte("IF age > 40 THEN ill = yes WITH 0.9 WORTH 10"))
				if err != nil {
					t.Fatal(err)
				}
				town, _, err := table.Conform(townTable(t, "york", 80), both.Schema(), false)
				if err != nil {
					t.Fatal(err)
				}
				fitted, _, err := table.Conform(more, both.Schema(), false)
				if err != nil {
					t.Fatal(err)
				}
				told, err := expert.Tell(ctx, both, learn.Advice{Rules: rules, Expert: learn.Source{ID: "expert"}}, learn.Learnt{Source: learn.Source{ID: "clinic"}, Table: fitted}, learn.Learnt{Source: learn.Source{ID: "town"}, Table: town})
				if err != nil {
					t.Fatal(err)
				}
				save(told, Tell, Source{ID: "expert", Name: "expert.rules"})
				without, err := told.(learn.Forgetter).Forget(ctx, "clinic")
				if err != nil {
					t.Fatal(err)
				}
				save(without, Forget, clinic)
				if _, err := s.Restore(ctx, "towns@4", at); err != nil {
					t.Fatal(err)
				}
				copied := filepath.Join(s.sourcesDir("towns"), hash+".csv")
				for _, path := range []string{copied, copied + ".new", filepath.Join(s.damagedDir("towns"), "unfinished")} {
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte("town,age\n"+secret+",3\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if found := search(t, s.Dir(), secret, path); len(found) == 0 {
					t.Fatal("the search does not find what is there")
				}

				var v Version
				err = s.Write(ctx, "towns", func(tx *Tx) error {
					v, err = tx.Erase(without, Version{Kind: Forget, Source: clinic, At: at.AddDate(0, 0, 1)}, "clinic")
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if found := search(t, s.Dir(), secret, path, "mary"); len(found) > 0 {
					t.Errorf("still there: %v", found)
				}
				if v.Kind != Erase || v.Source.Name != "clinic.csv" || v.Source.Hash != hash || v.Source.Path != "" || v.Number != 7 || !v.At.Equal(at.AddDate(0, 0, 1)) {
					t.Errorf("the tombstone is %+v", v)
				}
				if copied := s.KeptSource("towns", hash); copied != "" {
					t.Error("the copy is still there:", copied)
				}
				versions, err := s.Log("towns")
				if err != nil {
					t.Fatal(err)
				}
				var numbers []int
				for _, v := range versions {
					numbers = append(numbers, v.Number)
					if _, _, err := s.Load(v.String()); err != nil {
						t.Errorf("%v: %v", v, err)
					}
				}
				if !slices.Equal(numbers, []int{2, 3, 4, 5, 6, 7}) {
					t.Errorf("versions %v", numbers)
				}
				three, _, err := s.Load("towns@3")
				if err != nil {
					t.Fatal(err)
				}
				if sources := three.(learn.Forgetter).Sources(); len(sources) != 1 || sources[0].ID != "town" {
					t.Errorf("version 3 knows %v", sources)
				}
				// Life goes on.
				save(without, Update, Source{ID: "x", Name: "x.csv"})
			})
		}
	}
}

// search looks for texts in all files of a folder, also in what is compressed
// in them.
func search(t *testing.T, dir string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, stretch := range append(unzipped(data), data, []byte(path)) {
			for _, text := range texts {
				if bytes.Contains(stretch, []byte(text)) {
					found = append(found, text+" in "+path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unzipped returns what every zstd frame in the data holds.
func unzipped(data []byte) (all [][]byte) {
	magic, _ := hex.DecodeString("28b52ffd")
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], magic)
		if i < 0 {
			return all
		}
		at += i
		if d, err := zstd.NewReader(bytes.NewReader(data[at:])); err == nil {
			raw, _ := io.ReadAll(d) // what follows the frame is none
			all = append(all, raw)
			d.Close()
		}
	}
}

// stone is a model that cannot forget.
type stone struct{}

func init() {
	learn.Register(learn.Info{
		Name: "stone", New: func() learn.Learner { return heapLearner{} },
		Decode: func([]learn.Part) (learn.Model, error) { return stone{}, nil },
	})
}

func (stone) Learner() string                                                 { return "stone" }
func (stone) Schema() *table.Schema                                           { return heapSchema }
func (stone) Target() int                                                     { return 1 }
func (stone) Size() learn.Size                                                { return learn.Size{} }
func (stone) Parts() ([]learn.Part, error)                                    { return nil, nil }
func (stone) Predict(context.Context, *table.Table, *learn.Predictions) error { return nil }

// TestEraseRefuses: a version that cannot forget stands in the way, unless it
// never knew.
func TestEraseRefuses(t *testing.T) {
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := (&heap{}).with("b", []byte("bbb"))
	for _, v := range []struct {
		m    learn.Model
		id   string
		kind string
	}{{stone{}, "a", Learn}, {stone{}, "x", Learn}, {h, "b", Learn}} {
		if _, err := s.Save(ctx, "heap", v.m, Version{Kind: v.kind, Source: Source{ID: v.id, Name: v.id}}); err != nil {
			t.Fatal(err)
		}
	}
	erase := func() error {
		return s.Write(ctx, "heap", func(tx *Tx) error {
			_, err := tx.Erase(h, Version{Source: Source{Name: "a"}}, "a")
			return err
		})
	}
	if err := erase(); err == nil || !strings.Contains(err.Error(), "delete heap@1 first") {
		t.Error(err)
	}
	if versions, err := s.Log("heap"); err != nil || len(versions) != 3 {
		t.Errorf("%d versions are left: %v", len(versions), err)
	}
	if err := s.Delete(ctx, "heap@1"); err != nil {
		t.Fatal(err)
	}
	if err := erase(); err != nil {
		t.Error(err)
	}
}
