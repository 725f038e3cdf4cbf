//go:build !unix

package bounded

import "time"

// processor is how long a function takes.
func processor(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}
