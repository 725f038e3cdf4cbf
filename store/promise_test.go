package store

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Every sentence of the promise names tests, and they exist.
func TestEveryPromiseIsTested(t *testing.T) {
	page, err := os.ReadFile("../docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "../internal/atomicfile/*_test.go", "../internal/patient/*_test.go", "../internal/scratch/*_test.go", "../cmd/accrete/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	name := regexp.MustCompile("`(Test[A-Za-z]+)`")
	promises := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		promises++
		found := name.FindAllStringSubmatch(line, -1)
		if len(found) == 0 {
			t.Errorf("no test tries to break: %s", line)
		}
		for _, f := range found {
			if !strings.Contains(tests.String(), "func "+f[1]+"(") {
				t.Errorf("there is no %s, which is to break: %s", f[1], line)
			}
		}
	}
	if promises < 15 {
		t.Errorf("only %d promises", promises)
	}
}

// keepAndSave keeps a copy of a source and saves a version that tells of it.
func keepAndSave(s *Store, name string, h *heap, data string) error {
	sum := sha256.Sum256([]byte(data))
	hash := hex.EncodeToString(sum[:])
	return s.Write(ctx, name, func(tx *Tx) error {
		if err := tx.Keep(hash, ".csv", strings.NewReader(data)); err != nil {
			return err
		}
		_, err := tx.Save(h, Version{Kind: Update, Source: Source{Hash: hash}})
		return err
	})
}

// Wherever the disk is full, there is no version whose copy is missing.
func TestCopyBeforeVersion(t *testing.T) {
	for failAt := 1; ; failAt++ {
		d := homeDisk()
		s := smallStore(d)
		first, failed := d.step, false
		d.before = func(step int, op, path string) error {
			if step != first+failAt {
				return nil
			}
			failed = true
			return syscall.ENOSPC
		}
		err := keepAndSave(s, "m", &heap{}, "a,b\n")
		d.before = nil
		versions, _ := s.Log("m")
		for _, v := range versions {
			if err := s.CheckKept("m", v.Source.Hash); err != nil {
				t.Fatalf("step %d: %v has no copy: %v", failAt, v, err)
			}
		}
		if !failed {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}

func TestOrphanedCopiesAreSwept(t *testing.T) {
	s := openTemp(t)
	for i, data := range []string{"one", "two"} {
		if err := keepAndSave(s, "m", (&heap{}).with(data, nil), data); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.sourcesDir("m"), "three.csv.new"), []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	versions, err := s.Log("m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(ctx, "m@1", versions[0].At); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "m@2"); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(s.sourcesDir("m"))
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0].Name(), versions[0].Source.Hash) {
		t.Errorf("left: %v (%v)", names, err)
	}
}

// Every module that we need is on the page of dependencies, with its version
// and its licence, and nothing else is.
func TestDependenciesAreWrittenDown(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]string{
		"MIT": "Permission is hereby granted", "BSD": "Redistribution and use", "Apache-2.0": "Apache License", "MPL-2.0": "Mozilla Public License",
	}
	listed := map[string]bool{}
	row := regexp.MustCompile(`^\| (\S+) \| (\S+) \| (\S+) \| (\d{4}-\d\d-\d\d) \| (.{5,}) \|`)
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		listed[m[1]+" "+m[2]] = true
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m[1]).Output()
		if err != nil || strings.TrimSpace(string(dir)) == "" {
			continue // not downloaded here
		}
		text := ""
		files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "LICENSE*"))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			text += string(b)
		}
		if mark := marks[m[3]]; mark == "" || !strings.Contains(text, mark) {
			t.Errorf("%s is not under %s", m[1], m[3])
		}
	}
	needed := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`)
	for _, m := range needed.FindAllStringSubmatch(string(mod), -1) {
		if key := m[1] + " " + m[2]; !listed[key] {
			t.Errorf("docs/dependencies.md does not list %s", key)
		} else {
			delete(listed, key)
		}
	}
	for key := range listed {
		t.Errorf("docs/dependencies.md lists %s, which go.mod does not need", key)
	}
}
