package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits until it has the lock that a file stands for.
func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 1<<30, &windows.Overlapped{OffsetHigh: 1})
}

// tryLock takes the lock, alone or together with others who look, if it is
// free.
func tryLock(f *os.File, alone bool) (free bool, err error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 1<<30, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
