package reproduce

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// Runner measures our value over so many seeds, the first of which is given.
// See Fixed and OverSeeds.
type Runner func(ctx context.Context, first uint64, seeds int) (Result, error)

// Result is a measured value and the ends of its interval, which are the
// value itself where nothing is random.
type Result struct {
	Ours, Low, High float64
}

// Fixed is the Run of an experiment in which nothing is random.
func Fixed(measure func(ctx context.Context) (float64, error)) Runner {
	return func(ctx context.Context, _ uint64, _ int) (Result, error) {
		x, err := measure(ctx)
		return Result{x, x, x}, err
	}
}

// Computed is Fixed for what cannot fail and takes no time.
func Computed(compute func() float64) Runner {
	return Fixed(func(context.Context) (float64, error) { return compute(), nil })
}

// OverSeeds is the Run of a random experiment: the mean over the seeds, with
// its 95 % interval by Student's t. Seeds run on all cores. A single seed has
// no interval.
func OverSeeds(measure func(ctx context.Context, seed uint64) (float64, error)) Runner {
	return func(ctx context.Context, first uint64, seeds int) (Result, error) {
		values := make([]float64, seeds)
		errs := make([]error, seeds)
		var next, done atomic.Int64
		var group crew.Group
		for range min(runtime.GOMAXPROCS(0), seeds) {
			group.Go(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1) - 1)
					if i >= seeds {
						return
					}
					values[i], errs[i] = measure(quiet(ctx), first+uint64(i))
					learn.Report(ctx, float64(done.Add(1))/float64(seeds))
				}
			})
		}
		group.Wait()
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		for i, err := range errs {
			if err != nil {
				return Result{}, fmt.Errorf("seed %d: %w", first+uint64(i), err)
			}
		}
		e := stat.Mean(values)
		if seeds == 1 {
			return Result{e.Value, e.Value, e.Value}, nil
		}
		i := e.Interval(0.95, stat.TwoSided)
		return Result{e.Value, i.Low, i.High}, nil
	}
}

// quiet keeps the progress of one seed from being taken for the whole's.
func quiet(ctx context.Context) context.Context { return learn.WithProgress(ctx, func(float64) {}) }

// shared is what several experiments of one Run need and one computes.
type shared struct {
	sync.Mutex
	runs map[sharedRun]*result
}

type sharedKey struct{}

// sharedRun names a computation and its seed.
type sharedRun struct {
	what string
	seed uint64
}

type result struct {
	sync.Mutex
	done  bool
	value any
}

// sharing returns a context in which once computes each thing once.
func sharing(ctx context.Context) context.Context {
	return context.WithValue(ctx, sharedKey{}, &shared{runs: map[sharedRun]*result{}})
}

// once returns what compute gives for this name and seed, which is computed
// the first time that an experiment of a Run asks for it. Errors are not kept.
func once[T any](ctx context.Context, what string, seed uint64, compute func() (T, error)) (T, error) {
	s, ok := ctx.Value(sharedKey{}).(*shared)
	if !ok {
		return compute()
	}
	s.Lock()
	r := s.runs[sharedRun{what, seed}]
	if r == nil {
		r = &result{}
		s.runs[sharedRun{what, seed}] = r
	}
	s.Unlock()
	r.Lock()
	defer r.Unlock()
	if !r.done {
		value, err := compute()
		if err != nil {
			return value, err
		}
		r.value, r.done = value, true
	}
	return r.value.(T), nil
}
