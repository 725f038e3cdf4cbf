package table

import (
	"bufio"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// benchmarkBytes returns the size of the benchmark's file: 20 MB, or what
// ACCRETE_BENCH_MB says.
func benchmarkBytes(tb testing.TB) int64 {
	if mb, err := strconv.Atoi(os.Getenv("ACCRETE_BENCH_MB")); err == nil {
		return int64(mb) << 20
	}
	return 20 << 20
}

// benchmarkFile writes rows of 6 floats, 2 integers and 6 names out of small
// dictionaries, every tenth field in quotes.
func benchmarkFile(tb testing.TB) (path string, size int64) {
	path = filepath.Join(tb.TempDir(), "bench.csv")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString("f1,f2,f3,f4,f5,f6,i1,i2,n1,n2,n3,n4,n5,n6\n")
	random := rand.New(rand.NewPCG(1, 1))
	var line []byte
	for limit := benchmarkBytes(tb); size < limit; size += int64(len(line)) {
		line = line[:0]
		for c := range 14 {
			if c > 0 {
				line = append(line, ',')
			}
			quoted := random.IntN(10) == 0
			if quoted {
				line = append(line, '"')
			}
			switch {
			case c < 6:
				line = strconv.AppendFloat(line, random.NormFloat64()*math.Pow10(c), 'f', 6-c/2, 64)
			case c < 8:
				line = strconv.AppendInt(line, int64(random.IntN(100000)), 10)
			default:
				line = fmt.Appendf(line, "value-%d", random.IntN(4<<c>>6))
			}
			if quoted {
				line = append(line, '"')
			}
		}
		line = append(line, '\n')
		w.Write(line)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	return path, info.Size()
}

// BenchmarkReadCSV and BenchmarkStandardCSV fill the same columns from the
// same file.
func BenchmarkReadCSV(b *testing.B) {
	path, size := benchmarkFile(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		t, _, err := ReadFile(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(t.Columns) != 14 {
			b.Fatal(len(t.Columns))
		}
	}
}

func BenchmarkStandardCSV(b *testing.B) {
	path, size := benchmarkFile(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := standardRead(path); err != nil {
			b.Fatal(err)
		}
	}
}

func standardRead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := stdcsv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return err
	}
	var floats [8][]float64
	var codes [6][]int32
	var names [6]map[string]int32
	for i := range names {
		names[i] = map[string]int32{}
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for c, cell := range record {
			if c < 8 {
				x, err := strconv.ParseFloat(cell, 64)
				if err != nil {
					return err
				}
				floats[c] = append(floats[c], x)
				continue
			}
			code, ok := names[c-8][cell]
			if !ok {
				code = int32(len(names[c-8]))
				names[c-8][string([]byte(cell))] = code
			}
			codes[c-8] = append(codes[c-8], code)
		}
	}
}

// BenchmarkReadMemory reports the most memory that the process had while it
// read, over the size of the columns read. It reads once: what an earlier
// reading left to the collector would count as well.
func BenchmarkReadMemory(b *testing.B) {
	path, _ := benchmarkFile(b)
	runtime.GC()
	debug.FreeOSMemory()
	// Linux forgets the peak so far when told to.
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		b.Skip("needs Linux")
	}
	var columnar float64
	for b.Loop() {
		t, _, err := ReadFile(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		columnar = 0
		for _, c := range t.Columns {
			columnar += float64(8*len(c.Floats) + 4*len(c.Codes))
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("needs Linux")
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	fmt.Sscan(line, &kilobytes)
	b.ReportMetric(kilobytes*1024/columnar, "peak/columns")
	b.ReportMetric(columnar/(1<<20), "columns-MB")
}

// BenchmarkScanNumber reads a short decimal, the most frequent cell there is.
func BenchmarkScanNumber(b *testing.B) {
	cell := []byte("1234.5678,")
	b.SetBytes(int64(len(cell)))
	b.ReportAllocs()
	for b.Loop() {
		if _, end := scanNumber(cell, 0); end != len(cell)-1 {
			b.Fatal(end)
		}
	}
}
