package learn

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestReport(t *testing.T) {
	Report(context.Background(), 0.5) // nobody listens
	var heard []float64
	ctx := WithProgress(context.Background(), func(f float64) { heard = append(heard, f) })
	Report(ctx, 0.25)
	Report(ctx, 1)
	if len(heard) != 2 || heard[0] != 0.25 || heard[1] != 1 {
		t.Errorf("heard %v", heard)
	}
}

// Ranges cover every row once, and are the same on any number of cores.
func TestSplit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, rows := range []int{0, 1, 4096 - 1, 4096, 4096 + 1, 10*4096 + 7} {
		var first map[[2]int]bool
		for _, cores := range []int{1, 2, 4} {
			runtime.GOMAXPROCS(cores)
			times := make([]atomic.Int32, rows)
			var mutex sync.Mutex
			ranges := map[[2]int]bool{}
			if err := Split(context.Background(), rows, func(lo, hi int) {
				mutex.Lock()
				ranges[[2]int{lo, hi}] = true
				mutex.Unlock()
				for r := lo; r < hi; r++ {
					times[r].Add(1)
				}
			}); err != nil {
				t.Fatal(err)
			}
			for r := range times {
				if times[r].Load() != 1 {
					t.Fatalf("%d rows on %d cores: row %d is worked on %d times", rows, cores, r, times[r].Load())
				}
			}
			if first == nil {
				first = ranges
			}
			if len(ranges) != len(first) {
				t.Errorf("%d rows on %d cores: %d ranges, on one core %d", rows, cores, len(ranges), len(first))
			}
		}
	}
}

func TestSplitStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2} {
		runtime.GOMAXPROCS(cores)
		ctx, cancel := context.WithCancel(context.Background())
		var calls atomic.Int32
		err := Split(ctx, 100*4096, func(lo, hi int) {
			calls.Add(1)
			cancel()
		})
		if err != context.Canceled || int(calls.Load()) > cores {
			t.Errorf("on %d cores: error %v after %d calls", cores, err, calls.Load())
		}
	}
}
