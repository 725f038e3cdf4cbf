package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accrete-ml/accrete/learn"
)

var ctx = context.Background()

func openTemp(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), ".accrete"), Options{Now: time.Now, Warn: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSave(t testing.TB, s *Store, name string, h *heap) Version {
	t.Helper()
	v, err := s.Save(ctx, name, h, Version{Kind: Update, At: time.Unix(100, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustLoad(t testing.TB, s *Store, ref string, want *heap) Version {
	t.Helper()
	m, v, err := s.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	if !same(m, want) {
		t.Fatalf("%s is not what was saved", ref)
	}
	return v
}

func TestVersionKeepsWhatItIsTold(t *testing.T) {
	s := openTemp(t)
	given := Version{
		Kind:     Learn,
		Source:   Source{ID: "7", Name: "votes.csv", Path: "/data/votes.csv", Hash: "00ffab", Rows: 435.5},
		At:       time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600)),
		Seed:     1 << 63,
		Settings: map[string]string{"m": "2", "bad \xff": "x"},
	}
	saved, err := s.Save(ctx, "votes", (&heap{}).with("7", []byte("x")), given)
	if err != nil {
		t.Fatal(err)
	}
	want := given
	want.Model, want.Number, want.Learner, want.Target, want.Rows, want.Rules = "votes", 1, heapName, "class", 100, 2
	want.At = given.At.UTC()
	want.Settings = map[string]string{"m": "2", "bad \uFFFD": "x"}
	if d := cmp.Diff(want, saved); d != "" {
		t.Error(d)
	}
	log, err := s.Log("votes")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Version{want}, log); d != "" {
		t.Error(d)
	}
	text, err := json.Marshal(log[0])
	if err != nil {
		t.Fatal(err)
	}
	wantText := `{"version":1,"kind":"learn","source":"/data/votes.csv","hash":"00ffab","rows":435.5,"at":"2024-05-06T06:08:09.123456789Z","seed":9223372036854775808,"learner":"heap","target":"class","model_rows":100,"rules":2,"settings":{"bad �":"x","m":"2"}}`
	if string(text) != wantText {
		t.Errorf("got  %s\nwant %s", text, wantText)
	}
	if text, _ := json.Marshal(Version{Source: Source{Name: "votes"}}); !strings.Contains(string(text), `"source":"votes"`) || !strings.Contains(string(text), `"target":null`) {
		t.Errorf("got %s", text)
	}
	if a, b := SourceID("a", "b", given.At), SourceID("a", "c", given.At); a == b || a != SourceID("a", "b", given.At) || len(a) != 16 {
		t.Errorf("source ids %s and %s", a, b)
	}
}

func TestHashInAnyForm(t *testing.T) {
	s := openTemp(t)
	for i, hash := range []string{"", "0a1b", "0A1B", "abc", "sha256:00"} {
		if _, err := s.Save(ctx, "m", &heap{}, Version{Kind: Learn, Source: Source{Hash: hash}}); err != nil {
			t.Fatal(err)
		}
		_, v, err := s.Load("m")
		if err != nil || v.Source.Hash != hash || v.Number != i+1 {
			t.Errorf("%v with hash %q, %v, want %q", v, v.Source.Hash, err, hash)
		}
		if v.At.IsZero() || v.At.Location() != time.UTC {
			t.Errorf("saved at %v", v.At)
		}
	}
}

func TestModels(t *testing.T) {
	s := openTemp(t)
	if models, err := s.Models(); err != nil || len(models) != 0 {
		t.Fatalf("an empty store has %v, %v", models, err)
	}
	long := strings.Repeat("Ä", maxName/2)
	names := []string{"a.b", "b-1", "Votes", "votes", "votes_2.20", long}
	for i, name := range names {
		for range i + 1 {
			mustSave(t, s, name, (&heap{}).with(name, []byte(name)))
		}
	}
	models, err := s.Models()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range models {
		if m.Name != names[i] || m.Versions != i+1 || m.Latest.Number != i+1 || m.Latest.Model != names[i] {
			t.Errorf("model %d is %+v, want %s", i, m, names[i])
		}
		mustLoad(t, s, m.Name, (&heap{}).with(m.Name, []byte(m.Name)))
	}
	if len(models) != len(names) {
		t.Errorf("%d models, want %d", len(models), len(names))
	}
	info, err := os.Stat(s.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store's mode is %v, %v", info.Mode(), err)
	}
}

// Errors are one line that names what was asked for and says what to do.
func TestErrors(t *testing.T) {
	s := openTemp(t)
	_, _, err := s.Load("votes")
	wantError(t, err, ErrUnknown, `no model "votes"`, "no models yet", "learn one")
	if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading made the store's folder")
	}
	err = s.Delete(ctx, "votes")
	wantError(t, err, ErrUnknown, `no model "votes"`)
	if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a failed delete made the store's folder")
	}
	h := (&heap{}).with("x", nil)
	mustSave(t, s, "votes", h)
	mustSave(t, s, "votes", h)
	mustSave(t, s, "votes", h)
	if err := s.Delete(ctx, "votes@2"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Restore(ctx, "vots@1", time.Time{})
	wantError(t, err, ErrUnknown, `did you mean "votes"?`)
	if names, _ := os.ReadDir(s.modelsDir()); len(names) != 1 {
		t.Errorf("a failed restore left %v", names)
	}
	_, _, err = s.Load("votes@2")
	wantError(t, err, ErrUnknown, `"votes" has no version 2`, "versions 1, 3")
	_, err = s.Log("votes@7")
	wantError(t, err, ErrUnknown, `"votes" has no version 7`)
	_, err = s.Restore(ctx, "votes", time.Time{})
	wantError(t, err, nil, "which version", "votes@1", "log of votes")
	if err := s.Delete(ctx, "votes@1"); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Delete(ctx, "votes@3"), nil, "only version", "delete the model votes")
	wantError(t, s.Delete(ctx, "votes@9"), ErrUnknown, "has no version 9", "version 3")
	wantError(t, s.Export("votes@9", filepath.Join(t.TempDir(), "x")), ErrUnknown, "has no version 9")

	_, err = s.Save(ctx, "votes", h, Version{Kind: Update, Parent: 2})
	wantError(t, err, ErrConflict, "from version 2 to 3", "load it again")
	_, err = s.Save(ctx, "votes", h, Version{})
	wantError(t, err, nil, "needs a kind")
	_, err = s.Save(ctx, "votes", h.with("unsavable", nil), Version{Kind: Update})
	wantError(t, err, nil, `"votes" cannot be saved`, "written down")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = s.Save(cancelled, "votes", h, Version{Kind: Update})
	wantError(t, err, context.Canceled)
	if v, err := s.Save(ctx, "votes", h, Version{Kind: Update, Parent: 3}); err != nil || v.Number != 4 || v.Parent != 3 {
		t.Errorf("%v, %v", v, err)
	}

	for _, bad := range []string{"", "a/b", `a\b`, "a@b", "a@0", "a@-1", "a@", "a@1@2", "@1", "a\nb", "a\xff", strings.Repeat("x", maxName+1)} {
		_, _, err := s.Load(bad)
		wantError(t, err, nil)
		_, err = s.Log(bad)
		wantError(t, err, nil)
		_, err = s.Restore(ctx, bad, time.Time{})
		wantError(t, err, nil)
		wantError(t, s.Delete(ctx, bad), nil)
		wantError(t, s.Export(bad, "x"), nil)
		if !strings.Contains(bad, "@") {
			_, err = s.Save(ctx, bad, h, Version{Kind: Learn})
			wantError(t, err, nil, "name")
		}
	}

	_, err = Open("", Options{})
	wantError(t, err, nil, "no name")
	_, err = Open(s.logPath("votes"), Options{})
	wantError(t, err, nil, "is a file", "another folder")
	below, err := Open(filepath.Join(s.logPath("votes"), "x"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = below.Save(ctx, "votes", h, Version{Kind: Learn})
	wantError(t, err, nil, "cannot be written", "another folder")
	readOnly, err := Open(s.Dir(), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	mustLoad(t, readOnly, "votes", h)
	_, err = readOnly.Save(ctx, "votes", h, Version{Kind: Learn})
	wantError(t, err, fs.ErrPermission, "reading only")
}

func wantError(t *testing.T, err, about error, words ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	if about != nil && !errors.Is(err, about) {
		t.Errorf("%v is not %v", err, about)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// A store on a disk that may only be read refuses in words.
func TestUnwritableStore(t *testing.T) {
	d := homeDisk()
	d.before = func(int, string, string) error { return &fs.PathError{Op: "mkdir", Path: "x", Err: fs.ErrPermission} }
	_, err := smallStore(d).Save(ctx, "votes", &heap{}, Version{Kind: Learn})
	wantError(t, err, fs.ErrPermission, "home/.accrete cannot be written", "permission denied", "ask the owner", "another folder")
}

func TestRestoreAndDelete(t *testing.T) {
	s := openTemp(t)
	s.largePart = 1000
	big := noise(5000, 1)
	one := (&heap{derived: 2000}).with("a", big)
	two := one.with("b", noise(6000, 2))
	mustSave(t, s, "m", one)
	mustSave(t, s, "m", two)
	v, err := s.Restore(ctx, "m@1", time.Unix(5, 0))
	if err != nil || v.Number != 3 || v.Kind != Restore || v.Source.Name != "m@1" || v.Parent != 2 || v.Rows != 100 {
		t.Fatalf("%+v, %v", v, err)
	}
	mustLoad(t, s, "m", one)
	if err := s.Delete(ctx, "m@2"); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(s.partsDir("m"))
	if err != nil || len(files) != 2 { // big, and the newest derived one
		t.Errorf("%v, %v", files, err)
	}
	if err := s.Delete(ctx, "m@3"); err != nil {
		t.Fatal(err)
	}
	if v := mustSave(t, s, "m", two); v.Number != 4 {
		t.Errorf("%v after deleting @3", v)
	}
	mustLoad(t, s, "m@1", one)
	if err := s.Delete(ctx, "m"); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(s.modelsDir()); len(left) != 0 {
		t.Errorf("left after delete: %v", left)
	}
	if v := mustSave(t, s, "m", two); v.Number != 1 {
		t.Errorf("%v in a new model", v)
	}
}

// Versions load without derived parts, and large parts are shared.
func TestDerivedPartsOfOldVersionsGo(t *testing.T) {
	for _, large := range []int{1 << 20, 1000} {
		s := openTemp(t)
		s.largePart = large
		h := &heap{derived: 20000}
		var all []*heap
		for i := range 10 {
			h = h.with(fmt.Sprint(i), noise(3000, uint64(i)))
			all = append(all, h)
			mustSave(t, s, "m", h)
		}
		for i, h := range all {
			mustLoad(t, s, fmt.Sprintf("m@%d", i+1), h)
		}
		// 10 sources of 3000, the derived parts of two versions, and what waits to be
		// compacted: a quarter of that, or minWaste.
		if size, limit := folderSize(t, s.Dir()), int64(1.25*(30000+2*20000))+16<<10+4096; size > limit {
			t.Errorf("%d bytes, want at most %d", size, limit)
		}
	}
}

func folderSize(t testing.TB, dir string) (total int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		total += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// After 1,000 updates of 100 rows the store takes less than three times one
// snapshot (the model's parts) plus the rows that the model keeps.
func TestSizeAfterThousandUpdates(t *testing.T) {
	cases := []struct {
		name                  string
		source, derived, rows int // bytes
		largePart             int
		long                  bool
	}{
		{name: "small statistics", source: 60},
		{name: "statistics", source: 350, derived: 2000},
		{name: "kept rows", source: 350, derived: 20_000, rows: 100 * 20},
		{name: "small derived part", source: 50, derived: 1000, long: true},
		{name: "large derived part", source: 50, derived: 200_000, long: true},
		{name: "everything in files", source: 350, derived: 2000, largePart: 10, long: true},
	}
	for _, c := range cases {
		if c.long && os.Getenv("ACCRETE_LONG") == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := openTemp(t)
			s.disk = unsynced{s.disk} // this is about room, not safety
			if c.largePart > 0 {
				s.largePart = c.largePart
			}
			h := &heap{derived: c.derived}
			for len(h.sources) < 1001 {
				err := s.Write(ctx, "m", func(tx *Tx) error {
					for range min(100, 1001-len(h.sources)) { // at a time, for speed
						i := len(h.sources)
						id := SourceID("", "", time.Unix(int64(i), 0))
						path := fmt.Sprintf("/home/somebody/data/batch-%04d.csv", i)
						h = h.with(id, noise(c.source+c.rows, uint64(i)))
						_, err := tx.Save(h, Version{
							Kind: Update, At: time.Unix(int64(1e9+i), 0), Seed: 1, Settings: map[string]string{"m": "2"},
							Source: Source{ID: id, Name: path, Path: path, Hash: fmt.Sprintf("%x", noise(32, uint64(i))), Rows: 100},
						})
						if err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, n := range []int{1, 2, 500, 1001} {
				mustLoad(t, s, fmt.Sprintf("m@%d", n), &heap{h.sources[:n], h.derived})
			}
			parts, _ := h.Parts()
			var snapshot int64
			for _, p := range parts {
				snapshot += int64(len(p.Data) + len(p.Name))
			}
			rows := int64(1001 * c.rows)
			snapshot -= rows
			size := folderSize(t, s.Dir())
			t.Logf("%d bytes, %.2f snapshots of %d plus %d of rows", size, float64(size-rows)/float64(snapshot), snapshot, rows)
			if size >= 3*snapshot+rows {
				t.Errorf("%d bytes, want less than %d", size, 3*snapshot+rows)
			}
		})
	}
}

// unsynced is a disk that does not wait.
type unsynced struct{ disk }

type unsyncedFile struct{ file }

func (unsyncedFile) Sync() error { return nil }

func (u unsynced) Create(path string, perm fs.FileMode) (file, error) {
	f, err := u.disk.Create(path, perm)
	return unsyncedFile{f}, err
}

func (u unsynced) Append(path string) (file, error) {
	f, err := u.disk.Append(path)
	return unsyncedFile{f}, err
}

func (u unsynced) SyncDir(string) error { return nil }

func TestNewerFormatIsRefused(t *testing.T) {
	s := openTemp(t)
	mustSave(t, s, "m", &heap{})
	export := filepath.Join(t.TempDir(), "m.accrete")
	if err := s.Export("m", export); err != nil {
		t.Fatal(err)
	}
	newer := func(kind fileKind, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copy(b, headOf(kind, 3))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newer(logFile, s.logPath("m"))
	newer(exportFile, export)
	_, _, err := s.Load("m")
	wantError(t, err, ErrNewer, "written by a newer accrete (format 3); this one reads up to 1", s.logPath("m"))
	_, err = s.Save(ctx, "m", &heap{}, Version{Kind: Learn})
	wantError(t, err, ErrNewer)
	_, err = s.Models()
	wantError(t, err, ErrNewer)
	_, err = s.Import(ctx, export, "", time.Time{})
	wantError(t, err, ErrNewer, "newer accrete (format 3)", export)
}

func TestUnknownLearner(t *testing.T) {
	s := openTemp(t)
	if _, err := s.Save(ctx, "m", stranger{&heap{}}, Version{Kind: Learn}); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Load("m")
	wantError(t, err, nil, "m@1 cannot be read", `unknown learner "heep"; did you mean "heap"?`)
	wantError(t, s.Export("m", filepath.Join(t.TempDir(), "x")), nil, "heep")
}

type stranger struct{ learn.Model }

func (stranger) Learner() string { return "heep" }

func TestDensityHasNoTarget(t *testing.T) {
	s := openTemp(t)
	v, err := s.Save(ctx, "m", density{&heap{}}, Version{Kind: Learn, Target: "wrong"})
	if err != nil || v.Target != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

type density struct{ learn.Model }

func (density) Target() int { return learn.NoTarget }

// A store that is written to for long remembers what it reads now, not all that it
// ever read.
func TestContentsAreForgotten(t *testing.T) {
	s := openTemp(t)
	s.disk = unsynced{s.disk} // this is about memory, not safety
	s.memory.most = 4 << 10
	h := &heap{}
	for i := range 120 {
		h.sources = append(h.sources, pile{fmt.Sprint(i), make([]byte, 60)})
		mustSave(t, s, "m", h)
	}
	remembers := func() (bytes int) {
		for _, known := range []map[uint64]remembered{s.memory.known, s.memory.before} {
			for _, r := range known {
				bytes += len(r.bytes)
			}
		}
		return bytes
	}
	if bytes := remembers(); bytes == 0 || bytes > 2*s.memory.most {
		t.Errorf("%d bytes of contents are remembered, at most %d should be", bytes, 2*s.memory.most)
	}
	mustLoad(t, s, "m", h)
	// Nor what stood in a log before it was written anew, while there is room.
	s.memory.most = mostRemembered
	for i := range 400 {
		h.sources = append(h.sources[:i%50], pile{fmt.Sprint(i), make([]byte, 600)})
		mustSave(t, s, "m", h)
	}
	info, err := s.disk.Stat(s.logPath("m"))
	if bytes := remembers(); err != nil || bytes == 0 || int64(bytes) > info.Size() {
		t.Errorf("%d bytes of contents are remembered of a log of %d, %v", bytes, info.Size(), err)
	}
}
