//go:build !unix

package bounded

import "time"

// processor is how long a function takes.
func processor(work func()) cost {
	start := time.Now()
	work()
	return cost{program: time.Since(start)}
}
