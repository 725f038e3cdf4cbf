package scratch

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestNobodySeesIt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := io.WriteString(f, "abc"); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := os.ReadDir(dir); runtime.GOOS != "windows" && (err != nil || len(found) > 0) {
		t.Errorf("the folder has %v, %v", found, err)
	}
	one, other := f.Reader(), f.Reader()
	io.CopyN(io.Discard, one, 4)
	for i, r := range []io.Reader{one, other} {
		if b, err := io.ReadAll(r); err != nil || string(b) != "abcabcabc"[4-4*i:] {
			t.Errorf("read %q, %v", b, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoMoreThanAllowed(t *testing.T) {
	f, err := New(10)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	var full *FullError
	if _, err := f.Write([]byte("x")); !errors.As(err, &full) || full.Most != 10 || strings.Contains(err.Error(), "\n") {
		t.Errorf("one byte too many: %v", err)
	}
}
