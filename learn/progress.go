package learn

import (
	"context"

	"github.com/accrete-ml/accrete/internal/crew"
)

type progressKey struct{}

// WithProgress returns a context through which a learner reports how far it
// is. The function is called with fractions from 0 to 1, from any goroutine.
func WithProgress(ctx context.Context, report func(fraction float64)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Report says that a fraction of the work is done. It is cheap, but not free:
// call it per thousand rows or per node, not per cell.
func Report(ctx context.Context, fraction float64) {
	if report, ok := ctx.Value(progressKey{}).(func(float64)); ok {
		report(fraction)
	}
}

// Split calls work for consecutive ranges that cover 0 ≤ row < rows, on all
// cores if there are rows enough. It stops early when the context ends, and
// returns its error.
func Split(ctx context.Context, rows int, work func(lo, hi int)) error {
	return crew.Split(ctx, rows, work)
}

// Each is Split for n items that are worth a goroutine each.
func Each(ctx context.Context, n int, work func(i int)) error { return crew.Each(ctx, n, work) }
