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
	held := make([]byte, 600<<20)
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
	}
	runtime.KeepAlive(held)
	if over := (*console.MemoryLimit)(nil); !errors.As(context.Cause(ctx), &over) {
		t.Error(context.Cause(ctx))
	}
}
