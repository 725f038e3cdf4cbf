//go:build unix

package life_test

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/parquet"
)

// BenchmarkParquet learns as accrete learn does from ten numbers, nine names and a
// class in a Parquet file, beside bare reading, which looks at every cell once; by the clock
// and by what the cores did.
// ACCRETE_ROWS sets the number of rows.
func BenchmarkParquet(b *testing.B) {
	rows := 200_000
	if n, err := strconv.Atoi(os.Getenv("ACCRETE_ROWS")); err == nil {
		rows = n
	}
	path := filepath.Join(b.TempDir(), "rows.parquet")
	writeParquet(b, path, rows)
	spent := 0.0 // by this process when a part began
	per := func(b *testing.B) {
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(rows)*1e9, "ns/row")
		b.ReportMetric((cpu(b)-spent)/float64(b.N)/float64(rows)*1e9, "cpu-ns/row")
	}
	b.Run("read", func(b *testing.B) {
		spent = cpu(b)
		for b.Loop() {
			if n := readCells(b, path); n != 20*rows {
				b.Fatal(n)
			}
		}
		per(b)
	})
	b.Run("read at once", func(b *testing.B) {
		spent = cpu(b)
		for b.Loop() {
			if t, _, err := table.ReadFile(b.Context(), path, table.Options{Target: "y"}); err != nil || t.Rows() != rows {
				b.Fatal(err)
			}
		}
		per(b)
	})
	for _, learner := range []string{"prior", "bayes"} {
		b.Run(learner, func(b *testing.B) {
			h := &life.Home{Seed: 1, Now: time.Now}
			spent = cpu(b)
			for b.Loop() {
				d, err := h.Find(path, life.Reading{})
				if err != nil {
					b.Fatal(err)
				}
				p, err := h.LearnInMemory(b.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: learner}})
				if err != nil || p.Version.Rows != float64(rows) {
					b.Fatal(err)
				}
			}
			per(b)
		})
	}
}

// cpu is how many seconds of all cores this process has had.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// readCells counts the cells of a file that are known.
func readCells(b *testing.B, path string) (known int) {
	s, err := table.Open(b.Context(), path, table.Options{Target: "y"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for {
		t, err := s.Next()
		if err == io.EOF {
			return known
		}
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range t.Columns {
			for _, x := range c.Floats {
				if x == x {
					known++
				}
			}
			for _, code := range c.Codes {
				if code >= 0 {
					known++
				}
			}
		}
	}
}

func writeParquet(b *testing.B, path string, rows int) {
	group := parquet.Group{"y": parquet.Encoded(parquet.String(), &parquet.RLEDictionary)}
	for i := range 10 {
		group["x"+strconv.Itoa(i)] = parquet.Leaf(parquet.DoubleType)
	}
	for i := range 9 {
		group["n"+strconv.Itoa(i)] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	schema := parquet.NewSchema("rows", group)
	w := parquet.NewWriter(f, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<20))
	var names [8]parquet.Value
	for i := range names {
		names[i] = parquet.ByteArrayValue([]byte("value " + strconv.Itoa(i)))
	}
	random := rand.New(rand.NewPCG(1, 1))
	block := make([]parquet.Row, 1000)
	for low := 0; low < rows; low += len(block) {
		block = block[:min(len(block), rows-low)]
		for r := range block {
			row := block[r][:0]
			for i, column := range schema.Columns() {
				v := parquet.DoubleValue(random.NormFloat64())
				switch column[0][0] {
				case 'n':
					v = names[random.IntN(len(names))]
				case 'y':
					v = names[random.IntN(2)]
				}
				row = append(row, v.Level(0, 0, i))
			}
			block[r] = row
		}
		if _, err := w.WriteRows(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
