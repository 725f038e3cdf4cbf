package console_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
)

// Work that holds more memory than it may is ended, and told why; what the
// collector can take back is not held.
func TestMemoryIsWatched(t *testing.T) {
	ctx, done := console.WithMemory(t.Context(), 256<<20)
	defer done()
	for range 20 {
		_ = make([]byte, 64<<20)
		runtime.GC()
	}
	if ctx.Err() != nil {
		t.Error("ended for what nobody holds")
	}
	attempt, stopped := console.Attempt(ctx)
	hold(attempt)
	if over := (*console.MemoryLimit)(nil); !errors.As(context.Cause(attempt), &over) || ctx.Err() != nil {
		t.Error("an attempt ends before the whole:", context.Cause(attempt), ctx.Err())
	}
	stopped()
	if time.Sleep(100 * time.Millisecond); ctx.Err() != nil {
		t.Error("ended for what an attempt has given back")
	}
	hold(ctx)
	if over := (*console.MemoryLimit)(nil); !errors.As(context.Cause(ctx), &over) {
		t.Error(context.Cause(ctx))
	}
}

// hold touches memory until the context ends.
func hold(ctx context.Context) {
	var held [][]byte
	for range 300 {
		if ctx.Err() != nil {
			break
		}
		b := make([]byte, 2<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		held = append(held, b)
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(held)
}
