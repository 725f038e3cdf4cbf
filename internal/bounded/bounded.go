// Package bounded keeps parsers and decoders honest in tests: whatever 64 kB
// they are given, they answer within a second and 256 MiB.
//
// The tests of table, rule, store, life and the learners' decoders use it; each
// fuzz target does (a test of the house looks).
package bounded

import (
	"math"
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

// enough is a time of processors that can be compared. An input of 1 MB that
// takes less is let go: a byte takes 20 ns then, in which nobody looks at a
// share of all bytes before it.
const enough = 20 * time.Millisecond

// cost is the time that processors took for some work: for the program itself,
// and for the kernel beneath it.
type cost struct{ program, kernel time.Duration }

func (c cost) total() time.Duration { return c.program + c.kernel }

// least is the best of two times of the same work, each part for itself.
func least(a, b cost) cost {
	return cost{program: min(a.program, b.program), kernel: min(a.kernel, b.kernel)}
}

// Worst runs what reads the worst input of a size, and fails the test if 64 kB
// take more than a second, or if doubling the input takes more than Growth
// times as long: on the mean of two doublings, as at a single size a cache or a
// round of the collector may begin to matter. Times are those of processors,
// not of the clock on the wall: others may use the machine. The best of each
// size counts, and where that looks too long, both are read again, some times
// at most, and then larger ones: noise only ever adds.
func Worst(t testing.TB, input func(size int) []byte, read func(b []byte)) {
	t.Helper()
	b := input(64 << 10)
	var took cost
	Input(t, len(b), func() { took = processor(func() { read(b) }) })
	for try := 0; try < 3 && took.total() > Time; try++ {
		took = least(took, processor(func() { read(b) }))
	}
	if took.total() > Time {
		t.Errorf("64 kB took %v", took.total())
		return
	}
	size := 64 << 10
	for took.total() < enough {
		if size *= 2; size > 1<<20 {
			return
		}
		b = input(size)
		took = processor(func() { read(b) })
	}
	growth := 0.
	for range 4 { // what grows too fast does so at every size, noise does not
		if growth = doubling(took, b, input(4*size), read); growth <= Growth {
			return
		}
		size *= 2
		b = input(size)
		took = processor(func() { read(b) })
	}
	t.Errorf("%d kB take %.2f times as long as half of them (%v)", size>>10, growth, took.total())
}

// doubling is how much longer twice the input takes, by an input that took some
// time and one of four times its size. The program's own time may speak alone:
// a kernel hands out memory that was not used before, which the larger input
// needs and the smaller finds lying about.
func doubling(took cost, b, large []byte, read func(b []byte)) (growth float64) {
	more := processor(func() { read(large) })
	for range 8 {
		growth = math.Sqrt(float64(more.total()) / float64(took.total()))
		if took.program > enough {
			growth = min(growth, math.Sqrt(float64(more.program)/float64(took.program)))
		}
		if growth <= Growth {
			break
		}
		took = least(took, processor(func() { read(b) }))
		runtime.GC() // what was left is not to be paid for by the larger
		more = least(more, processor(func() { read(large) }))
	}
	return growth
}
