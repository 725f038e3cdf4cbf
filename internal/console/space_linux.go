package console

import (
	"math"
	"syscall"
)

// reserved is the address space that a Go program takes at its start and hardly
// uses: what describes the pages of its heap, the ballast, the program itself.
const reserved = 1600 << 20

// addressSpace is what this process may use of it (ulimit -v) for tables and
// models, 0 if all. A quarter is left for the gaps between them.
func addressSpace() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return 0
	}
	return max(leastMemory, (int64(limit.Cur)-reserved)/4*3)
}
