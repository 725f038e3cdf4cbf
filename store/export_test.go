package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accrete-ml/accrete/learn"
)

func TestExportAndImport(t *testing.T) {
	s := openTemp(t)
	s.largePart = 1000
	h := &heap{derived: 50}
	for i := range 5 {
		h = h.with(fmt.Sprint(i), noise(700*i, uint64(i)))
		mustSave(t, s, "votes", h)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "votes.accrete")
	if err := s.Export("votes@4", path); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("export left %v", names)
	}
	want := &heap{h.sources[:4], h.derived}
	m, history, err := ReadFile(path)
	if err != nil || !same(m, want) {
		t.Fatal(err)
	}
	log, err := s.Log("votes@4")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(History{Model: "votes", Versions: log}, history); d != "" {
		t.Error(d)
	}
	b, _ := os.ReadFile(path)
	if m, _, err := Read(bytes.NewReader(b)); err != nil || !same(m, want) {
		t.Error(err)
	}

	other := openTemp(t)
	v, err := other.Import(ctx, path, "", time.Unix(9, 0))
	if err != nil || v.Model != "votes" || v.Number != 1 || v.Kind != Import || v.Source.Name != "votes.accrete" || len(v.Source.Hash) != 64 || v.Source.Rows != 400 {
		t.Fatalf("%+v, %v", v, err)
	}
	if d := cmp.Diff(log, v.History); d != "" {
		t.Error(d)
	}
	mustLoad(t, other, "votes", want)

	// Imports of exports of imports keep one flat history, told once.
	for i := range 40 {
		if err := other.Export("votes", path); err != nil {
			t.Fatal(err)
		}
		v, err := other.Import(ctx, path, "votes", time.Unix(int64(i), 0))
		if err != nil {
			t.Fatal(err)
		}
		if len(v.History) != 5+i {
			t.Errorf("import %d has a history of %d", i, len(v.History))
		}
	}
	if v, err := other.Import(ctx, path, "copy", time.Unix(9, 0)); err != nil || v.Model != "copy" || v.Number != 1 {
		t.Errorf("%v, %v", v, err)
	}
	_, err = other.Import(ctx, path, "a/b", time.Unix(9, 0))
	wantError(t, err, nil, "a/b")
}

func TestExportTargets(t *testing.T) {
	s := openTemp(t)
	mustSave(t, s, "m", &heap{})
	dir := t.TempDir()
	wantError(t, s.Export("m", dir), nil, dir, "another name")
	wantError(t, s.Export("m", filepath.Join(dir, "no", "file")), nil, "m@1 cannot be exported", "no such file")
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := s.Export("m", link); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if _, _, err := ReadFile(target); err != nil {
		t.Error(err)
	}
}

// Files that are no exports are refused in words.
func TestImportOfOtherFiles(t *testing.T) {
	s := openTemp(t)
	mustSave(t, s, "m", (&heap{}).with("x", noise(2000, 1)))
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if err := s.Export("m", good); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(s.logPath("m"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data  []byte
		words string
	}{
		"empty":         {nil, "not a file of accrete"},
		"a CSV":         {[]byte("a,b\n1,2\n"), "not a file of accrete"},
		"a log":         {log, "the log of a model, expected an exported model"},
		"cut":           {b[:len(b)/2], "cut off"},
		"cut in head":   {b[:10], "damaged"},
		"longer":        {append(bytes.Clone(b), 0), "damaged"},
		"no frames":     {sealed(newHead(exportFile)), "no version"},
		"another model": {sealed(mustFrame(contents{Name: "a/b", Versions: []record{{Number: 1}}})), "a/b"},
		"a file inside": {sealed(mustFrame(contents{Name: "a", Versions: []record{{Number: 1}}, Parts: []partEntry{{ID: 1, Flags: filePart, Hash: make([]byte, 32)}}})), "outside"},
		"no parts":      {sealed(mustFrame(contents{Name: "a", Versions: []record{{Number: 1, Learner: heapName, Sum: sumKeys(nil)}}})), "no head"},
		"wrong sum":     {sealed(mustFrame(contents{Name: "a", Versions: []record{{Number: 1, Learner: heapName}}})), "not those"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Import(ctx, path, "", time.Time{})
		wantError(t, err, learn.ErrDamaged, path, c.words)
		_, _, err = ReadFile(path)
		wantError(t, err, learn.ErrDamaged, path, c.words)
	}
	_, err = s.Import(ctx, filepath.Join(dir, "nothing"), "", time.Time{})
	wantError(t, err, os.ErrNotExist, "cannot be imported")
	_, _, err = ReadFile(filepath.Join(dir, "nothing"))
	wantError(t, err, os.ErrNotExist)
	if models, err := s.Models(); err != nil || len(models) != 1 {
		t.Errorf("%v, %v", models, err)
	}
}
