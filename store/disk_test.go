package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// memDisk is a disk in memory that forgets, when it crashes, what was not
// synced: of writes to files any may be lost or torn, of changes of a folder
// the last ones. It can also fail at any step.
type memDisk struct {
	mu    sync.Mutex
	root  *inode
	locks map[*inode]chan struct{}
	step  int // changes so far
	// before hears of every change first. If it returns an error, the
	// change fails with it; a failing write may have written a part.
	before func(step int, op, path string) error
}

type inode struct {
	entries map[string]*inode // nil for a file
	data    []byte

	synced     []byte // what is on the platter
	writes     []memWrite
	syncedDirs map[string]*inode
	changes    []func(entries map[string]*inode)
}

type memWrite struct {
	at   int64
	data []byte // nil for a truncation to at
}

func newFolder() *inode {
	return &inode{entries: map[string]*inode{}, syncedDirs: map[string]*inode{}}
}

func newMemDisk() *memDisk { return &memDisk{root: newFolder(), locks: map[*inode]chan struct{}{}} }

var errCrash = errors.New("the machine has crashed")

// reboot returns the disk as it may be after a crash now.
func (d *memDisk) reboot(rng *rand.Rand) *memDisk {
	seen := map[*inode]*inode{}
	var recover func(n *inode) *inode
	recover = func(n *inode) *inode {
		if r, ok := seen[n]; ok {
			return r
		}
		if n.entries == nil {
			data := slices.Clone(n.synced)
			for _, w := range n.writes {
				switch rng.IntN(3) {
				case 0: // lost
				case 1:
					data = apply(data, w)
				case 2:
					if w.data != nil {
						data = apply(data, memWrite{w.at, w.data[:rng.IntN(len(w.data)+1)]})
					}
				}
			}
			r := &inode{data: data, synced: slices.Clone(data)}
			seen[n] = r
			return r
		}
		entries := maps.Clone(n.syncedDirs)
		for _, change := range n.changes[:rng.IntN(len(n.changes)+1)] {
			change(entries)
		}
		r := newFolder()
		seen[n] = r
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			r.entries[name] = recover(entries[name])
		}
		r.syncedDirs = maps.Clone(r.entries)
		return r
	}
	return &memDisk{root: recover(d.root), locks: map[*inode]chan struct{}{}}
}

func apply(data []byte, w memWrite) []byte {
	if w.data == nil {
		if int64(len(data)) > w.at {
			return data[:w.at]
		}
		return append(data, make([]byte, w.at-int64(len(data)))...)
	}
	if end := w.at + int64(len(w.data)); int64(len(data)) < end {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (d *memDisk) change(op, path string) error {
	d.step++
	if d.before != nil {
		return d.before(d.step, op, path)
	}
	return nil
}

func (d *memDisk) lookup(path string) *inode {
	path = filepath.Clean(path)
	if path == "." || path == "/" {
		return d.root
	}
	parent := d.lookup(filepath.Dir(path))
	if parent == nil || parent.entries == nil {
		return nil
	}
	return parent.entries[filepath.Base(path)]
}

func notExist(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist} }

// edit changes the entries of the folder that a path is in.
func (d *memDisk) edit(op, path string, change func(entries map[string]*inode)) error {
	folder := d.lookup(filepath.Dir(path))
	if folder == nil {
		return notExist(op, path)
	}
	change(folder.entries)
	folder.changes = append(folder.changes, change)
	return nil
}

func (d *memDisk) Open(path string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.lookup(path)
	if n == nil {
		return nil, notExist("open", path)
	}
	return &memFile{d, path, n}, nil
}

func (d *memDisk) Append(path string) (file, error) { return d.Open(path) }

func (d *memDisk) Create(path string, _ fs.FileMode) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("create", path); err != nil {
		return nil, err
	}
	n := d.lookup(path)
	if n == nil {
		n = &inode{}
		if err := d.edit("create", path, func(e map[string]*inode) { e[filepath.Base(path)] = n }); err != nil {
			return nil, err
		}
	} else {
		n.data, n.writes = nil, append(n.writes, memWrite{})
	}
	return &memFile{d, path, n}, nil
}

func (d *memDisk) Mkdir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lookup(path) != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	if d.lookup(filepath.Dir(path)) == nil {
		return notExist("mkdir", path)
	}
	if err := d.change("mkdir", path); err != nil {
		return err
	}
	n := newFolder()
	return d.edit("mkdir", path, func(e map[string]*inode) { e[filepath.Base(path)] = n })
}

func (d *memDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("rename", to); err != nil {
		return err
	}
	n := d.lookup(from)
	if n == nil {
		return notExist("rename", from)
	}
	return d.edit("rename", from, func(e map[string]*inode) {
		delete(e, filepath.Base(from))
		e[filepath.Base(to)] = n
	})
}

func (d *memDisk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("remove", path); err != nil {
		return err
	}
	n := d.lookup(path)
	if n == nil {
		return notExist("remove", path)
	}
	if len(n.entries) > 0 {
		return errors.New("the folder is not empty")
	}
	return d.edit("remove", path, func(e map[string]*inode) { delete(e, filepath.Base(path)) })
}

// RemoveAll removes file by file, as a real one does.
func (d *memDisk) RemoveAll(path string) error {
	d.mu.Lock()
	n := d.lookup(path)
	var names []string
	if n != nil {
		names = slices.Sorted(maps.Keys(n.entries))
	}
	d.mu.Unlock()
	if n == nil {
		return nil
	}
	for _, name := range names {
		if err := d.RemoveAll(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return d.Remove(path)
}

func (d *memDisk) Names(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.lookup(dir)
	if n == nil {
		return nil, notExist("readdir", dir)
	}
	return slices.Sorted(maps.Keys(n.entries)), nil
}

func (d *memDisk) Stat(path string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.lookup(path)
	if n == nil {
		return nil, notExist("stat", path)
	}
	return memInfo{n}, nil
}

func (d *memDisk) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("syncdir", path); err != nil {
		return err
	}
	n := d.lookup(path)
	if n == nil {
		return notExist("sync", path)
	}
	n.syncedDirs, n.changes = maps.Clone(n.entries), nil
	return nil
}

func (d *memDisk) Lock(ctx context.Context, path string, create bool) (held, error) {
	for {
		d.mu.Lock()
		n := d.lookup(path)
		if n == nil {
			if !create || d.lookup(filepath.Dir(path)) == nil {
				d.mu.Unlock()
				return nil, notExist("lock", path)
			}
			n = &inode{}
			d.edit("create", path, func(e map[string]*inode) { e[filepath.Base(path)] = n })
		}
		busy := d.locks[n]
		if busy == nil {
			d.locks[n] = make(chan struct{})
			d.mu.Unlock()
			return &memLock{d, path, n}, nil
		}
		d.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (d *memDisk) Locked(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.locks[d.lookup(path)] != nil
}

type memLock struct {
	disk *memDisk
	path string
	n    *inode
}

func (l *memLock) Sign(string) {}
func (l *memLock) Check() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.lookup(l.path) != l.n {
		return notExist("lock", l.path)
	}
	return nil
}

func (l *memLock) Release() {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	close(l.disk.locks[l.n])
	delete(l.disk.locks, l.n)
}

func (d *memDisk) Import(path string) (file, error) { return d.Open(path) }

func (d *memDisk) Export(_ context.Context, path string, write func(io.Writer) error) error {
	f, err := d.Create(path+".new", 0o600)
	if err == nil {
		err = write(io.NewOffsetWriter(f, 0))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = d.Rename(path+".new", path)
	}
	if err == nil {
		err = d.SyncDir(filepath.Dir(path))
	}
	return err
}

type memFile struct {
	disk *memDisk
	path string
	n    *inode
}

func (f *memFile) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return bytes.NewReader(f.n.data).ReadAt(b, at)
}

func (f *memFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.change("write", f.path)
	if err != nil {
		b = b[:len(b)/2]
	}
	w := memWrite{at, append([]byte{}, b...)}
	f.n.data, f.n.writes = apply(f.n.data, w), append(f.n.writes, w)
	if err == nil && len(b) == 0 {
		return 0, nil
	}
	return len(b), err
}

func (f *memFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change("truncate", f.path); err != nil {
		return err
	}
	w := memWrite{at: size}
	f.n.data, f.n.writes = apply(f.n.data, w), append(f.n.writes, w)
	return nil
}

func (f *memFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change("sync", f.path); err != nil {
		return err
	}
	f.n.synced, f.n.writes = slices.Clone(f.n.data), nil
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.n.data)), nil
}

func (f *memFile) Close() error { return nil }

type memInfo struct{ n *inode }

func (i memInfo) Name() string { return "" }
func (i memInfo) Size() int64  { return int64(len(i.n.data)) }
func (i memInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir
	}
	return 0
}
func (i memInfo) ModTime() time.Time { return time.Time{} }
func (i memInfo) IsDir() bool        { return i.n.entries != nil }
func (i memInfo) Sys() any           { return nil }

var _ io.ReaderAt = (*memFile)(nil)
