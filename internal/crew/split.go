package crew

import (
	"context"
	"runtime"
	"sync/atomic"
)

// grain is the number of rows that are worth a goroutine's while.
const grain = 4096

// Split calls work for consecutive ranges that cover 0 ≤ row < rows, on all
// cores if there are rows enough. It stops early when the context ends, and
// returns its error.
func Split(ctx context.Context, rows int, work func(lo, hi int)) error {
	if rows <= grain { // a single row must cost no more than its work
		if err := ctx.Err(); err != nil || rows == 0 {
			return err
		}
		work(0, rows)
		return ctx.Err()
	}
	return Each(ctx, (rows+grain-1)/grain, func(i int) { work(i*grain, min((i+1)*grain, rows)) })
}

// Each calls work for 0 ≤ i < n on all cores, for items that are worth a
// goroutine each. It stops early when the context ends, and returns its error.
func Each(ctx context.Context, n int, work func(i int)) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			work(i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var group Group
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				work(i)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
