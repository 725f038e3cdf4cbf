package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pictures that cannot be written are an error of one line, and what was measured is
// printed all the same.
func TestReproduceKeepsFiguresWithoutPictures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if status := execute(t.Context(), []string{"reproduce", "concept-houses", "--pictures", filepath.Join(file, "x")}, strings.NewReader(""), &out, &errs); status != 1 {
		t.Errorf("exit status %d, expected 1", status)
	}
	if !strings.Contains(out.String(), "4 met, 0 near, 0 not met") {
		t.Errorf("the figures are not there:\n%s", out.String())
	}
	if said := strings.TrimSpace(errs.String()); !strings.HasPrefix(said, "accrete: ") || strings.Contains(said, "\n") {
		t.Errorf("said %q, expected an error of one line", said)
	}
}
