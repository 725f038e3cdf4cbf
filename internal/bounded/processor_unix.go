//go:build unix

package bounded

import (
	"syscall"
	"time"
)

// processor is how long processors work for a function, all cores together.
func processor(work func()) time.Duration {
	start := used()
	work()
	return used() - start
}

func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
