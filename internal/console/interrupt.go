package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/enough"
)

// Interruptible returns a context that ends when the process is asked to stop.
// Work that has a best answer so far is told first that it is enough, and ends
// when it is asked again; asked once more than that, the process ends at once.
func Interruptible(ctx context.Context, say io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var bell enough.Bell
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	crew.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case s := <-signals:
				if s == os.Interrupt && bell.Ring() {
					fmt.Fprintln(say, "accrete: it is enough; keeping the best so far (interrupt again to keep nothing)")
					continue
				}
				signal.Stop(signals)
				cancel()
			}
		}
	})
	return enough.With(ctx, &bell), func() { signal.Stop(signals); cancel() }
}
