// Package bounded keeps parsers and decoders honest in tests: whatever 64 kB
// they are given, they answer within a second and 256 MiB.
//
// The tests of table, rule, store, life and the learners' decoders use it; each
// fuzz target does (a test of the house looks).
package bounded

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	// Time is what an input of up to 64 kB may take on an idle machine.
	Time = time.Second
	// Memory is how many bytes may be allocated for it, all in all: more than
	// is ever in use at once.
	Memory = 256 << 20
	// Growth is how much longer twice the input may take. What is linear takes
	// 2, sorting 64 kB of single bytes 2·17/16 = 2.13; the rest is for clocks
	// and caches. What grows with the power of 1.5 takes 2.8, what is quadratic
	// 4: neither passes.
	Growth = 2.3
	// busy is how much slower a machine may be that does other things too:
	// fuzzing uses all cores.
	busy = 10
)

// Input runs what reads an input of a size, and fails the test if it takes too
// long or too much. Larger inputs may take more in proportion.
func Input(t testing.TB, size int, read func()) {
	t.Helper()
	defer Start(t, size)()
	read()
}

// Start begins to watch what is done with an input of a size; the function that
// it returns ends that, and fails the test as Input does.
func Start(t testing.TB, size int) (end func()) {
	before := allocated()
	start := time.Now()
	return func() {
		t.Helper()
		share := max(1, float64(size)/(64<<10))
		took := time.Since(start)
		if most := time.Duration(share * busy * float64(Time)); took > most {
			t.Errorf("%d bytes took %v, at most %v are allowed", size, took, most)
		}
		if used := allocated() - before; float64(used) > share*Memory {
			t.Errorf("%d bytes took %d MiB, at most %.0f are allowed", size, used>>20, share*Memory/(1<<20))
		}
	}
}

// allocated is how many bytes were ever allocated. It stops nobody, unlike
// runtime.ReadMemStats: fuzzing asks for it twice an input.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// enough is a time that can be compared: a hundred ticks of the coarsest clocks
// of processors' time.
const enough = 40 * time.Millisecond

// Worst runs what reads the worst input of a size, and fails the test if 64 kB
// take more than a second, or if doubling the input takes more than Growth
// times as long. Times are those of processors, not of the clock on the wall:
// others may use the machine. Of a few runs the best counts, and where that
// looks too long, of more: noise only ever adds. Short times are made long
// enough to be compared by running several times, and what reads 1 MB in a
// moment is let go.
func Worst(t testing.TB, input func(size int) []byte, read func(b []byte)) {
	t.Helper()
	b := input(64 << 10)
	Input(t, len(b), func() { read(b) })
	if one := best(b, read, 1); one > Time {
		t.Errorf("64 kB took %v", one)
		return
	}
	small, large := input(128<<10), input(256<<10)
	times := 1
	for took := processor(func() { read(small) }); took < enough && times < 1<<8; times *= 2 {
		took *= 2
	}
	ratio := 0.
	for try := range 8 {
		r := float64(best(large, read, times)) / float64(best(small, read, times))
		if try == 0 || r < ratio {
			ratio = r
		}
		if ratio <= Growth {
			return
		}
	}
	if took := best(large, read, 1); took > enough/4 { // what is shorter is the start of work, not its growth
		t.Errorf("twice %d kB took %.1f times as long (%v)", 128, ratio, took)
	}
}

// best is the least time of three that a number of readings take, each.
func best(b []byte, read func(b []byte), times int) time.Duration {
	least := time.Duration(1<<63 - 1)
	for range 3 {
		runtime.GC() // what was left by others is not ours
		least = min(least, processor(func() {
			for range times {
				read(b)
			}
		}))
	}
	return least / time.Duration(times)
}
