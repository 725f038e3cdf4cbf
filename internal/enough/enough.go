// Package enough tells work that has a best answer so far that it may stop and
// give it: a search that could go on for ever need not be thrown away when its
// user has seen enough. The end of a context still means that nothing comes of
// the work.
//
// learners heed it, cmd rings it when it is interrupted.
package enough

import (
	"context"
	"sync"
	"time"
)

// Bell is heard by work that can stop early.
type Bell struct {
	mu      sync.Mutex
	rung    bool
	next    int
	hearers map[int]context.CancelFunc
}

type key struct{}

// With returns a context in which work hears the bell.
func With(ctx context.Context, b *Bell) context.Context { return context.WithValue(ctx, key{}, b) }

// Ring tells all who listen that it is enough. It reports whether anybody did,
// and had not been told before.
func (b *Bell) Ring() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung || len(b.hearers) == 0 {
		return false
	}
	b.rung = true
	for _, stop := range b.hearers {
		stop()
	}
	return true
}

// Heed returns a context that ends with ctx, when the bell rings, or after so
// many seconds, if that is above 0. Release is to be called when the work is
// done.
func Heed(ctx context.Context, seconds float64) (heeding context.Context, release func()) {
	heeding, stop := context.WithCancel(ctx)
	timed := context.CancelFunc(func() {})
	if seconds > 0 {
		heeding, timed = context.WithTimeout(heeding, time.Duration(min(seconds, 1e9)*float64(time.Second)))
	}
	b, _ := ctx.Value(key{}).(*Bell)
	if b == nil {
		return heeding, func() { timed(); stop() }
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hearers == nil {
		b.hearers = map[int]context.CancelFunc{}
	}
	id := b.next
	b.next++
	b.hearers[id] = stop
	if b.rung {
		stop()
	}
	return heeding, func() {
		b.mu.Lock()
		delete(b.hearers, id)
		b.mu.Unlock()
		timed()
		stop()
	}
}
