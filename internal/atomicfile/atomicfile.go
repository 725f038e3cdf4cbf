// Package atomicfile writes files that are either whole or not there: a
// temporary file beside the target, synced, then renamed over it. What is no
// regular file (a device, a pipe) is written through instead, and a symbolic
// link stays a link: the file that it leads to is written.
//
// Package store and what writes outputs in cmd lean on it.
package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/internal/owner"
	"github.com/accrete-ml/accrete/internal/patient"
)

// Write creates or replaces the file with what write puts out. If write or
// any step of storing fails, a regular file is as it was before. A file that
// was there keeps its mode, and its owner where that can be; a new one has
// what the user's mask leaves.
func Write(ctx context.Context, path string, write func(w io.Writer) error) error {
	target, info, err := follow(path)
	switch {
	case err != nil:
		return fmt.Errorf("cannot write %s: %w", path, err)
	case info == nil:
		return replace(target, nil, write)
	case info.IsDir():
		return fmt.Errorf("cannot write %s: it is a folder; give another name", path)
	case !info.Mode().IsRegular():
		return through(ctx, target, write)
	}
	return replace(target, info, write)
}

// maxLinks is how many symbolic links may lead to one another.
const maxLinks = 40

// follow returns where a path leads, also if there is nothing yet at the end
// of a symbolic link; info is nil then.
func follow(path string) (string, fs.FileInfo, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil, nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, info, err
		}
		// Links such as /dev/stdout lead to what has no name of its own.
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return path, info, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", nil, err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", nil, errors.New("too many symbolic links lead to one another")
}

// through writes to what cannot be replaced. It may wait for a reader, until
// the context ends.
func through(ctx context.Context, path string, write func(w io.Writer) error) (err error) {
	f, err := patient.OpenFile(ctx, path, os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	defer func() {
		if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			err = ctx.Err()
		}
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("cannot write %s: %w", path, closed)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// replace writes a new file and gives it the name of the old one, if any.
func replace(path string, old fs.FileInfo, write func(w io.Writer) error) (err error) {
	f, err := temporary(path, old)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	err = w.Flush()
	if err == nil && old != nil {
		if err = f.Chmod(old.Mode().Perm()); err == nil {
			keepOwner(f, old)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// temporary makes an empty file beside another. What replaces a private file
// is private from the start.
func temporary(path string, old fs.FileInfo) (*os.File, error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm() & 0o600
	}
	dir, base := filepath.Split(path)
	if len(base) > 200 { // leave room in the longest names
		base = base[:200]
	}
	for try := 0; ; try++ {
		name := filepath.Join(dir, "."+base+"."+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm|0o200)
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// keepOwner gives the new file to the owner of the old, if that is allowed.
func keepOwner(f *os.File, old fs.FileInfo) {
	now, err := f.Stat()
	if err != nil {
		return
	}
	uid, gid, known := owner.Of(old)
	if u, g, _ := owner.Of(now); known && (u != uid || g != gid) {
		_ = f.Chown(uid, gid) // only the system's owner may
	}
}

// syncDir makes a rename in the folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	return nil
}
