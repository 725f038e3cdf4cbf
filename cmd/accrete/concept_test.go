package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The ends of a version space are said as they are, S at the outermost rows of the
// concept and G at the next others: a rounder number between two rows is another
// hypothesis.
func TestVersionSpaceSaysItsEnds(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "interval.csv")
	if err := os.WriteFile(data, []byte("x,in\n1.2,no\n3.1,yes\n4.4,yes\n3.8,yes\n7.5,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := []string{"learn", data, "--target", "in", "--learner", "concept", "--set", "space=intervals", "--folds", "0", "--name", "c", "--store", filepath.Join(dir, "s")}
	if status := execute(t.Context(), args, strings.NewReader(""), &out, &errs); status != 0 {
		t.Fatal(errs.String())
	}
	for _, want := range []string{"x is at least 3.1 and at most 4.4", "x is more than 1.2 and less than 7.5"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out.String())
		}
	}
}
