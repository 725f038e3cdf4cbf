//go:build unix

package owner

import (
	"io/fs"
	"syscall"
)

// Of returns the user and the group that a file belongs to.
func Of(info fs.FileInfo) (uid, gid int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}
