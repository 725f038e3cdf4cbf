package console

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress returns a function that draws how far the work is, and one that
// clears it. The bar appears after a second, and only on a terminal.
func Progress(w io.Writer, what string) (report func(fraction float64), done func()) {
	if p, ok := w.(*Page); ok {
		w = p.W
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(float64) {}, func() {}
	}
	var mu sync.Mutex
	var bar *progressbar.ProgressBar
	start := time.Now()
	report = func(fraction float64) {
		mu.Lock()
		defer mu.Unlock()
		if bar == nil {
			if time.Since(start) < time.Second {
				return
			}
			bar = progressbar.NewOptions(1000,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		_ = bar.Set(int(1000 * min(max(fraction, 0), 1)))
	}
	return report, func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
