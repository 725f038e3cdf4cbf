package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/console"
)

// The manual has a page of every command, and no line of it is taken for a
// request of the typesetter's that is none.
func TestManual(t *testing.T) {
	root := (&app{}).root()
	pages := console.ManPages(root, "1.2.3")
	request := regexp.MustCompile(`^\.(TH|SH|SS|B|BR|TP|nf|fi)( |$)`)
	for _, c := range root.Commands() {
		if page := pages["accrete-"+c.Name()+".1"]; c.IsAvailableCommand() != strings.Contains(page, ".SH SYNOPSIS") {
			t.Errorf("the page of %s: %q", c.Name(), page)
		}
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if strings.ContainsFunc(line, func(r rune) bool { return r > 127 }) || strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !request.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// A release is built, and its archive and, installed, its packages hold a program
// that runs, with manual and completions.
func TestRelease(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("builds a release twice; ACCRETE_LONG=1")
	}
	if runtime.GOOS != "linux" {
		t.Skip("packages are for Linux")
	}
	out := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir, c.Env = "../..", append(os.Environ(), "OUT="+out)
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	run("scripts/release", "v9.8.7", "linux/"+runtime.GOARCH)
	rpms, _ := filepath.Glob(filepath.Join(out, "*.rpm"))
	if len(rpms) != 1 {
		t.Fatalf("RPM packages: %v", rpms)
	}
	for kind, install := range map[string]string{
		"accrete_9.8.7_linux_" + runtime.GOARCH + ".tar.gz": "tar -xzf FILE -C TO",
		"accrete_9.8.7_" + runtime.GOARCH + ".deb":          "dpkg --root=TO --force-not-root --force-script-chrootless --install FILE",
		filepath.Base(rpms[0]):                              "rpm --root TO --nodeps --ignorearch --install FILE",
	} {
		to := t.TempDir()
		words := strings.Fields(strings.NewReplacer("FILE", filepath.Join(out, kind), "TO", to).Replace(install))
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%s is not tried: %v", kind, err)
			continue
		}
		for _, folder := range []string{"updates", "info"} { // an empty system for dpkg
			if err := os.MkdirAll(filepath.Join(to, "var/lib/dpkg", folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(to, "var/lib/dpkg/status"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run(words[0], words[1:]...)
		found := map[string]string{}
		_ = filepath.WalkDir(to, func(path string, _ os.DirEntry, _ error) error {
			found[filepath.Base(path)] = path
			return nil
		})
		for _, name := range []string{"accrete-learn.1.gz", "_accrete", "accrete.fish"} {
			if found[name] == "" {
				t.Errorf("%s has no %s", kind, name)
			}
		}
		program := filepath.Join(to, "accrete")
		if !strings.HasSuffix(kind, ".tar.gz") {
			program = filepath.Join(to, "usr", "bin", "accrete")
		}
		if said := run(program, "version"); !strings.HasPrefix(said, "accrete 9.8.7") {
			t.Errorf("%s says %q", kind, said)
		}
		run(program, "learn", "iris", "--folds", "0", "--name", "tried", "--store", t.TempDir())
	}
	if wheels, _ := filepath.Glob(filepath.Join(out, "accrete-9.8.7-py3-none-*.whl")); len(wheels) != 1 {
		t.Errorf("wheels: %v", wheels)
	}
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil || bytes.Count(sums, []byte("\n")) < 6 {
		t.Errorf("checksums: %v\n%s", err, sums)
	}
}
