package console

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// SizeFlag is a number of bytes, as in 2GiB or 500MB.
type SizeFlag struct{ Value *int64 }

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}, {"", 1},
}

const leastMemory = 16 << 20

// String is the default, which is none.
func (f SizeFlag) String() string { return "" }

// Type is how help calls it.
func (SizeFlag) Type() string { return "size" }

// Set reads a size.
func (f SizeFlag) Set(text string) error {
	lower := strings.ToLower(strings.TrimSpace(text))
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(lower, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(x*u.bytes >= leastMemory && x*u.bytes < math.MaxInt64/2) {
			break
		}
		*f.Value = int64(x * u.bytes)
		return nil
	}
	return fmt.Errorf("expected a size of 16MiB or more, as in 2GiB or 500MB")
}

// MachineMemory is what the machine has, or what this process may have of it,
// 0 if that is not known.
func MachineMemory() int64 {
	least := addressSpace()
	take := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, after, ok := bytes.Cut(text, []byte("MemTotal:")); ok {
			if fields := bytes.Fields(after); len(fields) > 0 {
				n, _ := strconv.ParseInt(string(fields[0]), 10, 64) // 0 if it is no number
				take(n << 10)
			}
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(path); err == nil {
			n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
			take(n)
		}
	}
	return least
}
