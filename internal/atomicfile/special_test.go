//go:build unix

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := Write(t.Context(), path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		t.Fatal(err)
	}
}

// A symbolic link stays one, also if nothing is at its end yet.
func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.Symlink("middle", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "middle")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"new", "again"} {
		put(t, link, text)
		if got, _ := os.ReadFile(target); string(got) != text {
			t.Errorf("the target holds %q", got)
		}
		if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
			t.Fatal("the link is a link no more")
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), loop, func(io.Writer) error { return nil }); err == nil {
		t.Error("wrote to a link that leads to itself")
	}
}

// A pipe is written through, and stays a pipe; so does a device.
func TestWriteGoesThroughPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		got <- string(b)
	}()
	put(t, pipe, "through")
	if text := <-got; text != "through" {
		t.Errorf("the pipe gave %q", text)
	}
	if info, _ := os.Lstat(pipe); info.Mode()&os.ModeNamedPipe == 0 {
		t.Error("the pipe is a pipe no more")
	}
	// A terminal's device stands for all of them; the tests leave the
	// machine's own alone.
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer master.Close()
	link := filepath.Join(dir, "device")
	if err := os.Symlink("/dev/ptmx", link); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat("/dev/ptmx")
	put(t, link, "x")
	if after, err := os.Stat("/dev/ptmx"); err != nil || after.Mode() != before.Mode() || !os.SameFile(before, after) {
		t.Errorf("the device was %v, is %v (%v)", before.Mode(), after, err)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := t.TempDir()
	fresh, private := filepath.Join(dir, "fresh"), filepath.Join(dir, "private")
	if err := os.WriteFile(private, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, fresh, "x")
	put(t, private, "x")
	for path, want := range map[string]os.FileMode{fresh: 0o640, private: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
	if err := Write(t.Context(), dir, func(io.Writer) error { return nil }); err == nil {
		t.Error("wrote to a folder")
	}
}
