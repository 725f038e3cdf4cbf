package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// debianPython is the interpreter that the Python package is tried with: the
// one that scripts/python installs scikit-learn, pandas and Jupyter for.
const debianPython = "/usr/bin/python3"

// TestPython runs the tests of the Python package, which drives this program.
// Those that need something which is not there say so.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("the Python package starts many processes")
	}
	if _, err := os.Stat(debianPython); err != nil {
		t.Skipf("the Python package is not tried: there is no %s; scripts/python installs what is needed", debianPython)
	}
	binary, err := exec.LookPath("accrete") // this program, as scripts find it
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../python/tests/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests of the Python package were found", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run(strings.TrimPrefix(name, "test_"), func(t *testing.T) {
			c := exec.CommandContext(t.Context(), debianPython, "-B", "-W", "error::ResourceWarning", "-m", "unittest", name)
			c.Dir = "../../python/tests"
			c.Env = append(os.Environ(), "PYTHONPATH=..", "ACCRETE_BINARY="+binary, "PYTHONDONTWRITEBYTECODE=1", "TMPDIR="+t.TempDir())
			said, err := c.CombinedOutput()
			for line := range strings.Lines(string(said)) {
				if strings.Contains(line, "skipped") || strings.Contains(line, " ms on the clock") {
					t.Log(strings.TrimSpace(line))
				}
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
		})
	}
}

// The package and the program are of one version, and refuse each other else.
func TestPythonVersion(t *testing.T) {
	text, err := os.ReadFile("../../python/accrete/_version.py")
	if err != nil {
		t.Fatal(err)
	}
	if want := `__version__ = "` + version + `"`; !strings.Contains(string(text), want) {
		t.Errorf("python/accrete/_version.py does not say %s", want)
	}
}
