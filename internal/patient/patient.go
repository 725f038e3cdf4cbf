// Package patient opens and reads what may keep its reader waiting, such as
// pipes and terminals, so that the end of a context ends the wait. The system
// has no call for that: what waits is left to a goroutine, which ends with the
// process if nothing else comes.
//
// table and life read with it what the user names; atomicfile writes with it.
package patient

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Open opens a file to read. A regular file is returned as it is.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); mode.IsRegular() || mode.IsDir() {
		return os.Open(path)
	}
	f, err := OpenFile(ctx, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{Ending(ctx, f), f}, nil
}

// OpenFile opens what is there, and waits until it can be opened.
func OpenFile(ctx context.Context, path string, flag int) (*os.File, error) {
	var f *os.File
	done := crew.Go(func() (err error) {
		f, err = os.OpenFile(path, flag, 0)
		return err
	})
	select {
	case err := <-done:
		return f, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ending returns a reader that ends with the context, also while it waits. A
// regular file is returned as it is.
func Ending(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return r
		}
	}
	if ctx.Done() == nil || r == nil {
		return r
	}
	return &reader{r: r, ctx: ctx}
}

type reader struct {
	ctx  context.Context
	r    io.Reader
	room []byte // belongs to who reads; after the context's end to nobody
}

// most is how much is read at once.
const most = 1 << 16

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.room == nil {
		r.room = make([]byte, most)
	}
	n, room := 0, r.room[:min(most, len(p))]
	done := crew.Go(func() (err error) {
		n, err = r.r.Read(room)
		return err
	})
	select {
	case err := <-done:
		return copy(p, room[:n]), err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// File returns the bytes of a file of at most so many; what goes on for
// longer, if need be for ever, is an error.
func File(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f, path, most)
}

// Regular returns the bytes of a regular file of at most so many. Nothing
// else is opened for longer than it takes to see what it is: what is recorded
// to be read again must be the same then.
func Regular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a regular file", path))
	}
	return All(f, path, most)
}

// All returns what a reader of a name has, of at most so many bytes.
func All(r io.Reader, name string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has more than the %.1f MiB that may be read at once; give a smaller file, or allow more memory", name, float64(most)/(1<<20))
	}
	return text, err
}
