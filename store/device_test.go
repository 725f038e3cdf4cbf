//go:build linux

package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A real device that fails: a file system on a block device whose own room runs
// out, so that writes that were taken fail when they are synced, and the system
// then refuses to write at all. All that was acknowledged is there when the
// device is sound again. Only for root, on Linux, with ACCRETE_LONG=1.
func TestFailingDevice(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" || os.Getuid() != 0 {
		t.Skip("mounts a device: for root, with ACCRETE_LONG=1")
	}
	dir := t.TempDir()
	room, disk := filepath.Join(dir, "room"), filepath.Join(dir, "disk")
	image := filepath.Join(room, "image")
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Skipf("%s %v: %v %s", name, args, err, out)
		}
	}
	for _, d := range []string{room, disk} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run("mount", "-t", "tmpfs", "-o", "size=16m", "none", room)
	t.Cleanup(func() { exec.Command("umount", "-l", room).Run() })
	run("truncate", "-s", "64M", image)
	run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", image)
	run("mount", "-o", "loop,errors=continue", image, disk)
	t.Cleanup(func() { exec.Command("umount", "-l", disk).Run() })

	model := func(i int) *heap { return (&heap{}).with(fmt.Sprint(i), noise(700_000, uint64(i))) }
	s, err := Open(filepath.Join(disk, "s"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	for i := 1; i < 100; i++ {
		v, err := s.Save(ctx, "m", model(i), Version{Kind: Update})
		if err != nil {
			t.Logf("after %d versions: %v", acknowledged, err)
			break
		}
		acknowledged = v.Number
	}
	if acknowledged == 0 || acknowledged > 90 {
		t.Fatalf("%d versions of 700 kB were acknowledged on a device of 16 MB", acknowledged)
	}
	run("umount", disk)
	run("mount", "-o", "remount,size=200m", room)
	run("mount", "-o", "loop", image, disk)
	if s, err = Open(filepath.Join(disk, "s"), Options{}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= acknowledged; i++ {
		if m, v, err := s.Load(fmt.Sprintf("m@%d", i)); err != nil || v.Number != i || !same(m, model(i)) {
			t.Fatalf("version %d of %d: %v, %v", i, acknowledged, v, err)
		}
	}
	health, err := s.Check(ctx)
	if err != nil || len(health) != 1 {
		t.Fatalf("%v, %v", health, err)
	}
	for _, d := range health[0].Damaged {
		if !d.Recoverable {
			t.Errorf("check says %+v", d)
		}
	}
	if _, err := s.Save(ctx, "m", model(100), Version{Kind: Update}); err != nil {
		t.Error(err)
	}
}
