package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
)

// What errors of this package are about, for errors.Is. Damage is
// learn.ErrDamaged.
var (
	ErrUnknown  = errors.New("unknown model or version")
	ErrLocked   = errors.New("another writer is at work")
	ErrConflict = errors.New("another version was saved in between")
	ErrNewer    = errors.New("written by a newer accrete")
)

// failure is an error in one line of words that is also one of the above.
type failure struct {
	text   string
	causes []error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return f.causes }

func fail(about error, format string, a ...any) error {
	return &failure{strings.ReplaceAll(fmt.Sprintf(format, a...), "\n", " "), []error{about}}
}

// explain says what could not be done, why the disk refused, and what to do.
func explain(err error, what string, otherwise remedy.Remedy) error {
	var known *failure
	if errors.As(err, &known) {
		return err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail(err, "%s: the disk is full (%v); free some space and try again: nothing that was saved before is lost", what, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return &remedy.Error{Err: fail(err, "%s: %v; ask the owner, or do without", what, err), Remedy: otherwise}
	}
	return fail(err, "%s: %v", what, err)
}

// damaged is an error about a file that is not as it was written.
func damaged(format string, a ...any) error { return fail(learn.ErrDamaged, format, a...) }
