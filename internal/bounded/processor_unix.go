//go:build unix

package bounded

import (
	"syscall"
	"time"
)

// processor is how long processors work for a function, all cores together.
func processor(work func()) cost {
	start := used()
	work()
	end := used()
	return cost{program: end.program - start.program, kernel: end.kernel - start.kernel}
}

func used() cost {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return cost{}
	}
	return cost{program: time.Duration(u.Utime.Nano()), kernel: time.Duration(u.Stime.Nano())}
}
