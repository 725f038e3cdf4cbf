package learn

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

type progressKey struct{}

// WithProgress returns a context through which a learner reports how far it
// is. The function is called with fractions from 0 to 1, from any goroutine.
func WithProgress(ctx context.Context, report func(fraction float64)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Report says that a fraction of the work is done. It is cheap, but not free:
// call it per thousand rows or per node, not per cell.
func Report(ctx context.Context, fraction float64) {
	if report, ok := ctx.Value(progressKey{}).(func(float64)); ok {
		report(fraction)
	}
}

// grain is the number of rows that are worth a goroutine's while.
const grain = 4096

// Split calls work for consecutive ranges that cover 0 ≤ row < rows, on all
// cores if there are rows enough. It stops early when the context ends, and
// returns its error.
func Split(ctx context.Context, rows int, work func(lo, hi int)) error {
	chunks := (rows + grain - 1) / grain
	workers := min(runtime.GOMAXPROCS(0), chunks)
	if workers <= 1 {
		for lo := 0; lo < rows; lo += grain {
			if err := ctx.Err(); err != nil {
				return err
			}
			work(lo, min(lo+grain, rows))
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				lo := int(next.Add(1)-1) * grain
				if lo >= rows {
					return
				}
				work(lo, min(lo+grain, rows))
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// each calls work for 0 ≤ i < n on all cores, for items that are worth a
// goroutine each.
func each(ctx context.Context, n int, work func(i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
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
