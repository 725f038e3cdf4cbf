package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/enough"
)

// oneRequest is how long signals count as one request: programs that stop others
// often send a signal to the process and to its group.
const oneRequest = 200 * time.Millisecond

// grace is how long work may take to end with its best answer when the process is
// told to terminate, as by kill: who says so does not say it twice.
const grace = 5 * time.Second

// Interruptible returns a context that ends when the process is asked to stop.
// Work that has a best answer so far is told first that it is enough, and ends
// when it is asked again, or after a while if it was told to terminate; asked once
// more than that, the process ends at once.
func Interruptible(ctx context.Context, say io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var bell enough.Bell
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	crew.Go(func() error {
		var told time.Time
		for {
			select {
			case <-ctx.Done():
				return nil
			case s := <-signals:
				if bell.Ring() {
					told = time.Now()
					fmt.Fprintln(say, "accrete: it is enough; keeping the best so far (interrupt again to keep nothing)")
					if s == syscall.SIGTERM {
						time.AfterFunc(grace, cancel)
					}
					continue
				}
				if time.Since(told) < oneRequest {
					continue
				}
				signal.Stop(signals)
				cancel()
			}
		}
	})
	return enough.With(ctx, &bell), func() { signal.Stop(signals); cancel() }
}
