// Package owner tells whose a file is, where the system knows of owners. A
// store is private to its owner: files that are another's are not trusted
// (package store).
package owner

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
)

// Check returns an error if a file belongs to another user than the one who
// runs this program, or who had the system's owner run it (sudo).
func Check(path string, info fs.FileInfo) error {
	uid, _, known := Of(info)
	if !known || uid == os.Geteuid() {
		return nil
	}
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") == strconv.Itoa(uid) {
		return nil
	}
	return fmt.Errorf("%s belongs to %s: %w", path, name(uid), fs.ErrPermission)
}

func name(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("the user %q", u.Username)
	}
	return fmt.Sprintf("another user (%d)", uid)
}
