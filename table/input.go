package table

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/scratch"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// input is the bytes to be read, from the beginning as often as needed.
type input struct {
	name string
	raw  io.Reader
	// seek is raw if it can go back to where it began, else nil.
	seek  io.Seeker
	begin int64
	size  int64 // of the raw bytes; 0 if not known
	spool *spool
	feed  *Feed    // of what is no bytes, or nil
	files []string // of what is many files, or nil
	// open opens one of files that are elsewhere; nil if they are here.
	open  func(ctx context.Context, path string) (io.ReadCloser, error)
	close []func() error
}

// newInput returns the input that a reader gives. What cannot be read twice
// is kept aside while it is read if keep is set.
func newInput(name string, r io.Reader, keep bool) *input {
	if name == "" {
		name = "-"
	}
	in := &input{name: name, raw: r}
	if s, ok := r.(io.Seeker); ok {
		// Pipes and terminals have a Seek that fails.
		if begin, err := s.Seek(0, io.SeekCurrent); err == nil {
			if end, err := s.Seek(0, io.SeekEnd); err == nil {
				if _, err := s.Seek(begin, io.SeekStart); err == nil {
					in.seek, in.begin, in.size = s, begin, end-begin
					return in
				}
			}
		}
	}
	if keep {
		in.spool = &spool{}
		in.close = append(in.close, in.spool.Close)
	}
	return in
}

// openInput opens a file, or standard input if the path is "-".
func openInput(ctx context.Context, path string, keep bool) (*input, error) {
	if path == "-" {
		return newInput(path, patient.Ending(ctx, os.Stdin), keep), nil
	}
	f, err := patient.Open(ctx, path)
	if err != nil {
		return nil, openError(path, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: is a folder; give a file", path)
	}
	in := newInput(path, f, keep)
	in.close = append(in.close, f.Close)
	return in, nil
}

func openError(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file; check the path", path)
	}
	var cause *os.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (in *input) Close() error {
	var errs []error
	for _, c := range in.close {
		errs = append(errs, c())
	}
	in.close = nil
	return errors.Join(errs...)
}

// first returns the raw bytes for the first time, and meters them.
func (in *input) first() (io.Reader, *meter) {
	m := &meter{r: in.raw, hash: sha256.New()}
	if in.spool != nil {
		return io.TeeReader(m, in.spool), m
	}
	return m, m
}

// again returns the raw bytes once more.
func (in *input) again() (io.Reader, error) {
	if in.feed != nil || in.files != nil {
		return nil, nil
	}
	if in.seek == nil {
		return in.spool.reader(), nil
	}
	if _, err := in.seek.Seek(in.begin, io.SeekStart); err != nil {
		return nil, err
	}
	return in.raw, nil
}

// meter counts and hashes what is read through it.
type meter struct {
	r       io.Reader
	bytes   atomic.Int64
	hash    hash.Hash
	stopped atomic.Bool
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.bytes.Add(int64(n))
	m.hash.Write(p[:n])
	return n, err
}

// rest reads what is left, unless it is stopped.
func (m *meter) rest() error {
	room := make([]byte, 64<<10)
	for !m.stopped.Load() {
		if _, err := m.Read(room); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return io.ErrClosedPipe
}

// sum returns the hash of all bytes, in hexadecimal, once they are read.
func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }

// spool keeps bytes for a second reading: a few in memory, more in a file
// without a name.
type spool struct {
	most   int64 // bytes; 0 for what there is room for
	memory []byte
	file   *scratch.File
}

const spoolInMemory = 4 << 20

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.memory)+len(p) > spoolInMemory {
		f, err := scratch.New(s.most)
		if err != nil {
			return 0, err
		}
		s.file = f
		if _, err := f.Write(s.memory); err != nil {
			return 0, err
		}
		s.memory = nil
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	s.memory = append(s.memory, p...)
	return len(p), nil
}

// reader reads the bytes from the beginning, or in any order.
func (s *spool) reader() *io.SectionReader {
	if s.file == nil {
		return io.NewSectionReader(bytes.NewReader(s.memory), 0, int64(len(s.memory)))
	}
	return s.file.Reader()
}

func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// glance is the size of the beginning of the input that is looked at to find
// its format, delimiter and header. It is fixed: what is read may not depend
// on the size of blocks.
const glance = 256 << 10

// content is the input's bytes after decompression. It can be looked at
// before it is read.
type content struct {
	r       io.Reader
	ahead   []byte // read from r, not yet from here
	ended   bool   // there is no more in r
	packing string // "gzip", "zstd" or ""
	zip     bool   // a zip file, such as a workbook
	close   func()
}

// unpack looks at the first bytes and decompresses if they say so.
func unpack(r io.Reader) (*content, error) {
	raw := &content{r: r}
	head, err := raw.look(6)
	if err != nil {
		return nil, err
	}
	c := &content{r: raw, close: func() {}}
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, damaged("gzip", err)
		}
		c.packing, c.r = "gzip", &unpacking{z, "gzip"}
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, damaged("zstd", err)
		}
		c.packing, c.r, c.close = "zstd", &unpacking{z, "zstd"}, z.Close
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		c.zip = true // a workbook, or refused when it is opened
	default:
		if kind := archive(head); kind != "" {
			return nil, fmt.Errorf("is a %s file; unpack it first, or pack it with gzip or zstd", kind)
		}
	}
	return c, nil
}

// look returns the content from here on without reading it: at least n
// bytes, fewer only if there are no more.
func (c *content) look(n int) ([]byte, error) {
	if len(c.ahead) < n && !c.ended {
		have := len(c.ahead)
		c.ahead = append(c.ahead, make([]byte, n-have)...)
		got, err := io.ReadFull(c.r, c.ahead[have:])
		c.ahead = c.ahead[:have+got]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			c.ended = true
		} else if err != nil {
			return nil, err
		}
	}
	return c.ahead, nil
}

// drop passes over bytes that were looked at.
func (c *content) drop(n int) { c.ahead = c.ahead[n:] }

func (c *content) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
			c.ahead = nil
		}
		return n, nil
	}
	if c.ended {
		return 0, io.EOF
	}
	return c.r.Read(p)
}

// archive names the kinds of packed files that are known but not read.
func archive(head []byte) string {
	for magic, kind := range map[string]string{"BZh": "bzip2", "\xfd7zXZ": "xz", "7z\xbc\xaf": "7z"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return kind
		}
	}
	return ""
}

// unpacking says of its errors that the packed data are damaged.
type unpacking struct {
	r    io.Reader
	kind string
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(u.kind, err)
	}
	return n, err
}

func damaged(kind string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s data end too early; copy the file again", kind)
	}
	return fmt.Errorf("the %s data are damaged (%v); copy the file again", kind, err)
}
