package console

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/accrete-ml/accrete/internal/crew"
)

// MemoryLimit is why work ended that needed more memory than it may have.
type MemoryLimit struct{ Allowed int64 }

// Error says it in a line.
func (e *MemoryLimit) Error() string {
	return fmt.Sprintf("this needs more than %.1f GiB of memory, which is what may be used; nothing was changed: leave out rows or columns, or take a learner that keeps no rows", float64(e.Allowed)/(1<<30))
}

// watchEvery is how often memory is looked at.
const watchEvery = 50 * time.Millisecond

// leastWatched is what any command may hold: tables that do not fit into less are
// refused before they are read.
const leastWatched = 256 << 20

// WithMemory returns a context that ends, with a *MemoryLimit as its cause, when
// the process holds more memory than it may, whatever the collector does. It is
// better to end with a line than to be ended without one.
func WithMemory(ctx context.Context, allowed int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if allowed > 0 {
		most := uint64(max(allowed, leastWatched))
		crew.Go(func() error {
			held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
			tick := time.NewTicker(watchEvery)
			defer tick.Stop()
			for over := 0; ; {
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
				}
				metrics.Read(held)
				if held[0].Value.Uint64()-held[1].Value.Uint64() <= most+most/10 {
					over = 0
				} else if over++; over == 3 { // the collector has had its time
					cancel(&MemoryLimit{allowed})
					return nil
				}
			}
		})
	}
	return ctx, func() { cancel(nil) }
}
