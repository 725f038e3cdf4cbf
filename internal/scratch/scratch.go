// Package scratch has files without a name, for bytes that are to be read more
// than once and are too many for memory. Where the system allows it the name is
// gone before the first byte is written: nobody else can open the file, and it
// goes with the process, however that ends. Elsewhere Close removes it. table
// and life keep inputs in such files that can be read only once.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File is a temporary file. It may be read by many at once, after it is
// written.
type File struct {
	file  *os.File
	named bool  // the system does not remove files that are open
	size  int64 // written so far
	most  int64
	why   string
}

// FullError says that a file would take more room than it may have.
type FullError struct {
	Most int64  // bytes
	Why  string // no more
}

// Error gives the numbers in one line.
func (e *FullError) Error() string {
	return fmt.Sprintf("more than %.1f MiB to be kept aside: %s", float64(e.Most)/(1<<20), e.Why)
}

// New makes a file in the folder for temporary files. It may grow to a number
// of bytes, 0 for any, and to half of what is free there; more is a
// *FullError.
func New(most int64) (*File, error) {
	f, err := os.CreateTemp("", "accrete-*")
	if err != nil {
		return nil, fmt.Errorf("no room to keep the input for a second reading: %w", err)
	}
	s := &File{file: f, named: os.Remove(f.Name()) != nil, most: most, why: "that is the memory allowed; unpack it first, or allow more"}
	if free, known := free(os.TempDir()); known && (most == 0 || free/2 < most) {
		s.most, s.why = max(1, free/2), fmt.Sprintf("that is half of what is free in %s; choose a larger folder for temporary files", os.TempDir())
	}
	return s, nil
}

// Write appends bytes.
func (s *File) Write(p []byte) (int, error) {
	if s.most > 0 && s.size+int64(len(p)) > s.most {
		return 0, &FullError{s.most, s.why}
	}
	n, err := s.file.WriteAt(p, s.size)
	s.size += int64(n)
	return n, err
}

// Reader reads what was written, from the beginning.
func (s *File) Reader() *io.SectionReader { return io.NewSectionReader(s.file, 0, s.size) }

// Close gives the room back.
func (s *File) Close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
