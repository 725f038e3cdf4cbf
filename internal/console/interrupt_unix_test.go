//go:build unix

package console

import (
	"bytes"
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/enough"
)

// TestStoppedWorkKeepsItsBest: asked to stop, be it twice at once or by kill, work
// that has a best answer hears that it is enough, and its context goes on; asked
// again, that ends too.
func TestStoppedWorkKeepsItsBest(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var said bytes.Buffer
		ctx, stop := Interruptible(t.Context(), &said)
		work, release := enough.Heed(ctx, 0)
		send := func() {
			if err := syscall.Kill(syscall.Getpid(), signal); err != nil {
				t.Fatal(err)
			}
		}
		ends := func(ctx context.Context, within time.Duration) bool {
			select {
			case <-ctx.Done():
				return true
			case <-time.After(within):
				return false
			}
		}
		send()
		if !ends(work, 5*time.Second) {
			t.Fatalf("%v: nobody said that it is enough", signal)
		}
		send() // to the group, as it were
		if ends(ctx, oneRequest+50*time.Millisecond) {
			t.Errorf("%v twice at once: nothing is kept", signal)
		}
		send()
		if !ends(ctx, 5*time.Second) {
			t.Errorf("%v again: it goes on", signal)
		}
		release()
		stop()
	}
}
