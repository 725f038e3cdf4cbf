package console

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/internal/crew"
)

// MemoryLimit is why work ended that needed more memory than it may have.
type MemoryLimit struct{ Allowed int64 }

// Error says it in a line.
func (e *MemoryLimit) Error() string {
	return fmt.Sprintf("this needs more than %s of memory, which is what may be used: leave out rows or columns, or take a learner that keeps no rows", Bytes(e.Allowed))
}

// Bytes writes a number of bytes for people, as --memory takes it.
func Bytes(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
}

// watchEvery is how often memory is looked at.
const watchEvery = 5 * time.Millisecond

// patience is how often it may be too much before work ends: what the collector
// can still take back is not needed.
const patience = 3

// leastWatched is what any command may hold: tables that do not fit into less are
// refused before they are read.
const leastWatched = 256 << 20

// endFrom is where work ends: what it takes until it has heard of that is the rest.
func endFrom(allowed int64) int64 { return allowed - allowed/16 }

// guard is a context that memory is watched for, and the attempts within it.
type guard struct {
	context.Context
	allowed int64

	mu       sync.Mutex
	attempts []context.CancelCauseFunc
	ended    bool // the newest attempt was, and has not stopped yet
}

type guardKey struct{}

// Value finds the guard of a context.
func (g *guard) Value(key any) any {
	if key == (guardKey{}) {
		return g
	}
	return g.Context.Value(key)
}

// WithMemory returns a context that ends, with a *MemoryLimit as its cause, when
// the process holds more memory than it may, whatever the collector does. It is
// better to end with a line than to be ended without one.
func WithMemory(ctx context.Context, allowed int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if allowed <= 0 {
		return ctx, func() { cancel(nil) }
	}
	g := &guard{Context: ctx, allowed: allowed}
	most := endFrom(max(allowed, leastWatched))
	crew.Go(func() error {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		resident, done := residency()
		defer done()
		for over := 0; ; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			if held := resident(); held <= most {
				over = 0
			} else if over++; over >= patience || held > most+most/32 {
				over = 0
				g.end(cancel)
			}
		}
	})
	return g, func() { cancel(nil) }
}

// end ends the newest attempt, or all if there is none. One that was ended is
// waited for.
func (g *guard) end(all context.CancelCauseFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch n := len(g.attempts); {
	case g.ended:
	case n > 0:
		g.ended = true
		g.attempts[n-1](&MemoryLimit{g.allowed})
	default:
		all(&MemoryLimit{g.allowed})
	}
}

// Attempt returns a context for work that can be done with less: it ends, with a
// *MemoryLimit as its cause, before the one that it is made of does. Done says
// that the work has stopped, and gives its memory back.
func Attempt(ctx context.Context) (attempt context.Context, done func()) {
	g, ok := ctx.Value(guardKey{}).(*guard)
	if !ok {
		return ctx, func() {}
	}
	attempt, cancel := context.WithCancelCause(ctx)
	g.mu.Lock()
	g.attempts = append(g.attempts, cancel)
	g.mu.Unlock()
	return attempt, func() {
		_, over := context.Cause(attempt).(*MemoryLimit)
		cancel(nil)
		if over { // and not whoever interrupts it, who does not wait for the collector
			debug.FreeOSMemory()
		}
		g.mu.Lock()
		g.attempts, g.ended = g.attempts[:len(g.attempts)-1], false
		g.mu.Unlock()
	}
}

// Room is how many bytes may still be taken of those that are allowed: a quarter is
// left for garbage, or the collector would do most of the work.
func Room(allowed int64) int64 {
	debug.FreeOSMemory()
	resident, done := residency()
	defer done()
	return allowed - allowed/4 - resident()
}

// Held does work, and returns how many bytes it held at most besides what was there
// before. The collector works often meanwhile, and says what is no garbage.
func Held(work func() error) (most int64, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectOften))
	runtime.GC()
	before, peak := live(), int64(0)
	stop := make(chan struct{})
	watched := crew.Go(func() error {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return nil
			case <-tick.C:
				peak = max(peak, live())
			}
		}
	})
	err = work()
	close(stop)
	<-watched
	return max(peak, live()) - before, err
}

// collectOften is how much garbage there may be while memory is measured, in percent
// of what is held.
const collectOften = 8

// live is how many bytes of objects the collector found in use the last time.
func live() int64 {
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(held)
	return int64(held[0].Value.Uint64())
}

// residency returns how to find out how many bytes of memory the process holds:
// what the system says, or else what the collector does.
func residency() (held func() int64, done func()) {
	if f, err := os.Open("/proc/self/statm"); err == nil { // pages: of all addresses, of those in memory, …
		var text [128]byte
		return func() int64 {
			n, _ := f.ReadAt(text[:], 0) // the file is shorter
			_, pages, _ := bytes.Cut(text[:n], []byte(" "))
			pages, _, _ = bytes.Cut(pages, []byte(" "))
			number, _ := strconv.ParseInt(string(pages), 10, 64) // it is one
			return number * int64(os.Getpagesize())
		}, func() { f.Close() }
	}
	counts := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	return func() int64 {
		metrics.Read(counts)
		return int64(counts[0].Value.Uint64() - counts[1].Value.Uint64())
	}, func() {}
}
