package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/owner"
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
	// Lock waits for the lock that a file stands for, which is made if
	// asked for.
	Lock(ctx context.Context, path string, create bool) (held, error)
	// Locked reports whether somebody has that lock.
	Locked(path string) bool

	// Import and Export are about files outside of the store.
	Import(path string) (file, error)
	Export(ctx context.Context, path string, write func(io.Writer) error) error
}

// held is a lock that one has.
type held interface {
	// Check returns an error if the file that is locked is no longer the
	// one that has its path.
	Check() error
	Sign(who string) // tells those who wait; a failure harms nobody
	Release()
}

type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
	Close() error
}

// osDisk is a store's folder on the system's disk. Nothing outside of the
// folder can be reached through it: symbolic links within are refused, and so
// is what belongs to somebody else.
type osDisk struct{ dir string }

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// enter opens the store's folder and returns a path relative to it, along
// which there is nothing but the owner's own folders and files.
func (d osDisk) enter(path string) (*os.Root, string, error) {
	rel, err := filepath.Rel(d.dir, path)
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		return nil, "", fail(fs.ErrInvalid, "%s is not within the store %s", path, d.dir)
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, "", err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = owner.Check(d.dir, info)
	}
	for i := 0; err == nil && i < len(rel); i++ {
		if i > 0 && os.IsPathSeparator(rel[i]) {
			_, err = lstat(root, d.dir, rel[:i])
		}
	}
	if err == nil {
		if _, err = lstat(root, d.dir, rel); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		root.Close()
		return nil, "", err
	}
	return root, rel, nil
}

// lstat refuses what has no place in a store.
func lstat(root *os.Root, dir, rel string) (fs.FileInfo, error) {
	info, err := root.Lstat(rel)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, rel)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fail(fs.ErrPermission, "%s is a symbolic link, which has no place in a store; remove it, or put what it leads to in its place", path)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fail(fs.ErrPermission, "%s is neither a file nor a folder, and has no place in a store; remove it", path)
	}
	return info, owner.Check(path, info)
}

func (d osDisk) openFile(path string, flag int, perm fs.FileMode) (file, error) {
	root, rel, err := d.enter(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDisk) Open(path string) (file, error)   { return d.openFile(path, os.O_RDONLY, 0) }
func (d osDisk) Append(path string) (file, error) { return d.openFile(path, os.O_RDWR, 0) }
func (d osDisk) Create(path string, perm fs.FileMode) (file, error) {
	return d.openFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
}

// Mkdir also makes the store's folder and those above it.
func (d osDisk) Mkdir(path string) error {
	if rel, err := filepath.Rel(d.dir, path); err != nil || rel == "." || !filepath.IsLocal(rel) {
		return os.Mkdir(path, 0o700)
	}
	return d.within(path, func(root *os.Root, rel string) error { return root.Mkdir(rel, 0o700) })
}

func (d osDisk) within(path string, do func(root *os.Root, rel string) error) error {
	root, rel, err := d.enter(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, rel)
}

func (d osDisk) Rename(from, to string) error {
	return d.within(from, func(root *os.Root, rel string) error {
		target, err := filepath.Rel(d.dir, to)
		if err != nil {
			return err
		}
		return root.Rename(rel, target)
	})
}

func (d osDisk) Remove(path string) error {
	if path == d.dir {
		return os.Remove(path)
	}
	return d.within(path, func(root *os.Root, rel string) error { return root.Remove(rel) })
}

func (d osDisk) RemoveAll(path string) error {
	return d.within(path, func(root *os.Root, rel string) error { return root.RemoveAll(rel) })
}

func (d osDisk) Stat(path string) (info fs.FileInfo, err error) {
	if path == d.dir {
		return os.Stat(path)
	}
	err = d.within(path, func(root *os.Root, rel string) error {
		info, err = root.Lstat(rel)
		return err
	})
	return info, err
}

func (d osDisk) Names(dir string) (names []string, err error) {
	err = d.within(dir, func(root *os.Root, rel string) error {
		f, err := root.Open(rel)
		if err != nil {
			return err
		}
		defer f.Close()
		names, err = f.Readdirnames(-1)
		return err
	})
	slices.Sort(names)
	return names, err
}

// SyncDir makes durable which files a folder has.
func (d osDisk) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there, nor need they be
	}
	sync := func(f *os.File, err error) error {
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	}
	if rel, err := filepath.Rel(d.dir, path); err != nil || strings.HasPrefix(rel, "..") {
		return sync(os.Open(path))
	}
	return d.within(path, func(root *os.Root, rel string) error { return sync(root.Open(rel)) })
}

func (osDisk) Import(path string) (file, error) { return openRegular(path) }

func (osDisk) Export(ctx context.Context, path string, write func(io.Writer) error) error {
	return atomicfile.Write(ctx, path, write)
}

// openRegular opens a file for reading, unless it is one that would make the
// reader wait.
func openRegular(path string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fail(fs.ErrInvalid, "%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// osLock is a lock of the system, which goes with the process that has it.
type osLock struct {
	file *os.File
	disk osDisk
	path string
}

func (l *osLock) Sign(who string) {
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt([]byte(who+"\n"), 0)
	}
}

func (l *osLock) Release() { l.file.Close() }

// Check makes sure that the locked file is the one that others queue on: the
// model, or the whole store, may have been removed or replaced.
func (l *osLock) Check() error {
	ours, err := l.file.Stat()
	if err != nil {
		return err
	}
	now, err := l.disk.Stat(l.path)
	if err == nil && !os.SameFile(ours, now) {
		err = &fs.PathError{Op: "lock", Path: l.path, Err: fs.ErrNotExist}
	}
	return err
}

func (d osDisk) Lock(ctx context.Context, path string, create bool) (held, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	opened, err := d.openFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	f := opened.(osFile).File
	l := &osLock{f, d, path}
	if err := waitForLock(ctx, f); err != nil {
		return nil, err
	}
	if err := l.Check(); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// waitForLock takes the lock, or closes the file. The system's call cannot be
// interrupted: who is told to stop leaves it to end by itself.
func waitForLock(ctx context.Context, f *os.File) error {
	if err := ctx.Err(); err != nil {
		f.Close()
		return err
	}
	free, err := tryLock(f, true)
	if free || err != nil {
		if err != nil {
			f.Close()
		}
		return err
	}
	got := crew.Go(func() error { return lockFile(f) })
	select {
	case err := <-got:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		crew.Go(func() error { return errors.Join(<-got, f.Close()) })
		return ctx.Err()
	}
}

func (d osDisk) Locked(path string) bool {
	f, err := d.openFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := tryLock(f.(osFile).File, false)
	return err == nil && !free
}
