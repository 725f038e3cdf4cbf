package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// disk is the file operations that the store is built on, few enough that
// tests can put a disk in its place that fails or crashes at any of them.
type disk interface {
	Open(path string) (file, error)                     // for reading
	Create(path string, perm fs.FileMode) (file, error) // for writing, empty
	Append(path string) (file, error)                   // for reading and writing
	Mkdir(path string) error
	Rename(from, to string) error
	Remove(path string) error
	RemoveAll(path string) error
	Names(dir string) ([]string, error) // sorted
	Stat(path string) (fs.FileInfo, error)
	SyncDir(path string) error
	// TryLock takes the lock that a file stands for, unless somebody has
	// it; then it says who, as far as known.
	TryLock(path string) (release func(), owner string, err error)
}

type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
	Close() error
}

type osDisk struct{}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func openFile(path string, flag int, perm fs.FileMode) (file, error) {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osDisk) Open(path string) (file, error)   { return openFile(path, os.O_RDONLY, 0) }
func (osDisk) Append(path string) (file, error) { return openFile(path, os.O_RDWR, 0) }
func (osDisk) Create(path string, perm fs.FileMode) (file, error) {
	return openFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
}
func (osDisk) Mkdir(path string) error               { return os.Mkdir(path, 0o700) }
func (osDisk) Rename(from, to string) error          { return os.Rename(from, to) }
func (osDisk) Remove(path string) error              { return os.Remove(path) }
func (osDisk) RemoveAll(path string) error           { return os.RemoveAll(path) }
func (osDisk) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (osDisk) Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// SyncDir makes durable which files a folder has.
func (osDisk) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there, nor need they be
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (osDisk) TryLock(path string) (release func(), owner string, err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err != nil {
		return nil, "", err
	}
	if !held {
		l.Close()
		text, _ := os.ReadFile(path) // for the error message only
		return nil, strings.TrimSpace(string(text)), nil
	}
	if err := checkLock(l, path); err != nil {
		l.Close()
		return nil, "", err
	}
	// Who it is helps those who wait; a failure harms nobody.
	_ = os.WriteFile(path, fmt.Appendf(nil, "process %d\n", os.Getpid()), 0o600)
	return func() { l.Close() }, "", nil
}

// checkLock makes sure that a lock is that of the file which now has the path:
// the model may have been deleted, and its lock with it, while we opened the
// file; then others queue on another file.
func checkLock(l *flock.Flock, path string) error {
	ours, err := l.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(path)
	if err == nil && !os.SameFile(ours, now) {
		err = fs.ErrNotExist
	}
	return err
}
