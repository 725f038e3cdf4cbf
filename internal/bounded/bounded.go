// Package bounded keeps parsers and decoders honest in tests: whatever 64 kB
// they are given, they answer within a second and 256 MiB.
//
// The tests of table, rule, store and the learners' decoders use it.
package bounded

import (
	"math"
	"runtime"
	"testing"
	"time"
)

const (
	// Time is what an input of up to 64 kB may take on an idle machine.
	Time = time.Second
	// Memory is how many bytes may be allocated for it, all in all.
	Memory = 256 << 20
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
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	return func() {
		t.Helper()
		share := max(1, float64(size)/(64<<10))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if most := time.Duration(share * busy * float64(Time)); took > most {
			t.Errorf("%d bytes took %v, at most %v are allowed", size, took, most)
		}
		if used := after.TotalAlloc - before.TotalAlloc; float64(used) > share*Memory {
			t.Errorf("%d bytes took %d MiB, at most %.0f are allowed", size, used>>20, share*Memory/(1<<20))
		}
	}
}

// Worst runs what reads the worst input of a size, and fails the test if 64 kB
// take more than a second (the best of three runs), or if doubling the input
// takes more than 2.3 times as long. Times under a few milliseconds are not
// compared: they say nothing.
func Worst(t testing.TB, input func(size int) []byte, read func(b []byte)) {
	t.Helper()
	best := func(b []byte) time.Duration {
		least := time.Duration(1<<63 - 1)
		for range 3 {
			start := time.Now()
			read(b)
			least = min(least, time.Since(start))
		}
		return least
	}
	b := input(64 << 10)
	Input(t, len(b), func() { read(b) })
	one := best(b)
	if one > Time {
		t.Errorf("64 kB took %v", one)
	}
	for size := 64 << 10; size < 1<<19 && one < 20*time.Millisecond; size *= 2 {
		one = best(input(2 * size))
		if one >= 20*time.Millisecond {
			ratio := math.Inf(1)
			for try := 0; try < 6 && ratio > 2.3; try++ { // somebody else may use the machine
				ratio = min(ratio, float64(best(input(4*size)))/float64(best(input(2*size))))
			}
			if ratio > 2.3 {
				t.Errorf("twice %d bytes took %.1f times as long", 2*size, ratio)
			}
			return
		}
	}
}
