//go:build linux || darwin

package scratch

import "syscall"

// free is how many bytes there is room for in a folder.
func free(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
