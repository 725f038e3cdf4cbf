package serve

import (
	"context"
	"slices"
	"sync"
	"time"
)

// busy has each caller do only so much at once, so that nobody takes it all: who
// has no place left waits in line for one of their own, first come first served,
// and others do not wait for them. A disk that stalls for a moment therefore makes
// a line, not refusals.
type busy struct {
	mu sync.Mutex
	of map[string]*line
}

// line is the requests of one caller.
type line struct {
	inside  int
	waiting []chan struct{} // closed when the place is theirs
}

// lineFactor is how many requests may wait, for each that is at work.
const lineFactor = 4

// enter takes a place, and reports whether there was one in time.
func (b *busy) enter(ctx context.Context, who string, most int, patience time.Duration) bool {
	b.mu.Lock()
	if b.of == nil {
		b.of = map[string]*line{}
	}
	l := b.of[who]
	if l == nil {
		l = &line{}
		b.of[who] = l
	}
	if l.inside < most {
		l.inside++
		b.mu.Unlock()
		return true
	}
	if len(l.waiting) >= lineFactor*most {
		b.mu.Unlock()
		return false
	}
	mine := make(chan struct{})
	l.waiting = append(l.waiting, mine)
	b.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-mine:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return false
	}
	return true // it came at the last moment
}

// leave gives a place to who waits longest, or back.
func (b *busy) leave(who string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.of[who]
	if len(l.waiting) > 0 {
		close(l.waiting[0])
		l.waiting = slices.Delete(l.waiting, 0, 1)
		return
	}
	if l.inside--; l.inside == 0 {
		delete(b.of, who)
	}
}
