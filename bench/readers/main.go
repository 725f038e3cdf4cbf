// Command readers measures how fast Apache Arrow for Go reads files, in the
// protocol of the benchmark. It is a module of its own, so that Accrete does
// not depend on what it is only compared with.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/csv"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// repeats is as in the benchmark's own measuring process.
const repeats = 25

type part struct {
	Part    string    `json:"part"`
	Seconds []float64 `json:"seconds,omitempty"`
	Bytes   float64   `json:"bytes,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Text    string    `json:"text,omitempty"`
}

func say(p part) {
	line, _ := json.Marshal(p)
	fmt.Println(string(line))
}

func main() {
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "readers:", err)
		os.Exit(1)
	}
}

func measure(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("expected: work path method [budget=seconds]")
	}
	work, path, method := args[0], args[1], args[2]
	switch work {
	case "version":
		say(part{Part: "version", Text: arrow.PkgVersion})
		return nil
	case "read":
	default:
		return fmt.Errorf("unknown work %q", work)
	}
	read := map[string]func(string) (int, error){"csv": readCSV, "parquet": readParquet}[method]
	if read == nil {
		return fmt.Errorf("unknown method %q", method)
	}
	budget := 0.0
	for _, a := range args[3:] {
		if text, ok := strings.CutPrefix(a, "budget="); ok {
			budget, _ = strconv.ParseFloat(text, 64)
		}
	}
	var seconds []float64
	rows := 0
	for total := 0.0; len(seconds) == 0 || total < budget && len(seconds) < repeats; {
		start := time.Now()
		n, err := read(path)
		if err != nil {
			return err
		}
		s := time.Since(start).Seconds()
		seconds, total, rows = append(seconds, s), total+s, n
	}
	say(part{Part: "read", Seconds: seconds, Rows: rows})
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil // a system that does not tell the peak memory
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "VmHWM:" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			say(part{Part: "memory", Bytes: 1024 * kib})
		}
	}
	return nil
}

// readCSV keeps every record, as a table does, with inferred types.
func readCSV(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := csv.NewInferringReader(f, csv.WithHeader(true), csv.WithChunk(16384))
	defer r.Release()
	var kept []arrow.RecordBatch
	rows := 0
	for r.Next() {
		record := r.RecordBatch()
		record.Retain()
		kept, rows = append(kept, record), rows+int(record.NumRows())
	}
	runtime.KeepAlive(kept)
	return rows, r.Err()
}

func readParquet(path string) (int, error) {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	columns, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{Parallel: true}, memory.DefaultAllocator)
	if err != nil {
		return 0, err
	}
	t, err := columns.ReadTable(context.Background())
	if err != nil {
		return 0, err
	}
	defer t.Release()
	return int(t.NumRows()), nil
}
