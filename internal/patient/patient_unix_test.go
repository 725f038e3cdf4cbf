//go:build unix

package patient

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func pipe(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes with names can be made here: %v", err)
	}
	return path
}

// soon cancels after a moment, and fails the test if what waits goes on.
func soon(t *testing.T, wait func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	done := make(chan error, 1)
	go func() { done <- wait(ctx) }()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	case <-time.After(5 * time.Second):
		t.Error("still waits")
	}
}

func TestWaitsEnd(t *testing.T) {
	soon(t, func(ctx context.Context) error { _, err := File(ctx, pipe(t), 1); return err })
	soon(t, func(ctx context.Context) error { _, err := OpenFile(ctx, pipe(t), os.O_WRONLY); return err })
	path := pipe(t)
	both, err := os.OpenFile(path, os.O_RDWR, 0) // a writer that says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	soon(t, func(ctx context.Context) error { _, err := File(ctx, path, 1); return err })
}

func TestFile(t *testing.T) {
	path := pipe(t)
	text := strings.Repeat("0123456789", 20000)
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = io.WriteString(w, text)
			w.Close()
		}
	}()
	got, err := File(t.Context(), path, int64(len(text)))
	if err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err = File(t.Context(), os.DevNull, 0)
	if err != nil {
		t.Error(err)
	}
	_, err = File(t.Context(), "/dev/zero", 1<<20)
	if err == nil || !strings.Contains(err.Error(), "/dev/zero has more than the 1.0 MiB") {
		t.Error(err)
	}
}
