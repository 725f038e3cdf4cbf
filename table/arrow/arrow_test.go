package arrow_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/arrow"
)

// Files and streams that Apache's own module wrote (arrow-go 18.8.0), with and
// without packing, are read cell by cell as they were written.
func TestFilesOfOthers(t *testing.T) {
	for _, name := range []string{"plain.arrow", "lz4.arrow", "zstd.arrow", "stream.arrows"} {
		got, report, err := table.ReadFile(t.Context(), filepath.Join("testdata", name), table.Options{Nominal: []string{"text"}, Numeric: []string{"i64"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Rows() != 90 || !strings.HasPrefix(report.Format, "arrow") {
			t.Errorf("%s: %d rows of %s", name, got.Rows(), report.Format)
		}
		for n := range 90 {
			null := n%7 == 3
			want := map[string]string{"u16": fmt.Sprint(60000 + n), "f32": fmt.Sprint(float64(n) / 2), "large": fmt.Sprintf("large %d", n%4), "at": fmt.Sprintf("2026-01-01T%02d:00:00", n%24),
				"price": fmt.Sprint(float64(n-10) + 0.25*sign(n-10)), "view": []string{"short", "a text that is longer than twelve bytes"}[n%2]}
			if !null {
				want["i8"], want["i64"], want["f64"], want["text"] = fmt.Sprint(n-40), fmt.Sprint(n*1e9), fmt.Sprint(float64(n)/8), fmt.Sprintf("t%d", n%5)
				want["yes"], want["kind"] = fmt.Sprint(n%2 == 0), []string{"red", "green", "blue"}[n%3]
			}
			for i := range got.Schema.Attributes {
				a := &got.Schema.Attributes[i]
				w, compared := want[a.Name]
				if a.Name == "day" || !compared && !null {
					continue
				}
				if have := cell(got, n, i); have != w && !(strings.HasPrefix(w, have) && a.Name == "at") {
					t.Errorf("%s: row %d, %s is %q, expected %q", name, n, a.Name, have, w)
				}
			}
		}
	}
}

func sign(n int) float64 {
	if n < 0 {
		return -1
	}
	return 1
}

func cell(t *table.Table, r, i int) string {
	a, c := &t.Schema.Attributes[i], t.Columns[i]
	if a.Kind == table.Numeric {
		if math.IsNaN(c.Floats[r]) {
			return ""
		}
		return a.Format(c.Floats[r])
	}
	if c.Codes[r] < 0 {
		return ""
	}
	return a.Values[c.Codes[r]]
}

// What is written is read back, in one batch and in several.
func TestWrittenAndRead(t *testing.T) {
	for _, rows := range []int{0, 1, 9, 70000} {
		var text bytes.Buffer
		text.WriteString("id,x,name\n")
		for i := range rows {
			x, name := fmt.Sprint(float64(i)/3), fmt.Sprintf("n%d", i%11)
			if i%5 == 4 {
				x, name = "", ""
			}
			fmt.Fprintf(&text, "%d,%s,%s\n", 9007199254740000+i, x, name)
		}
		columns := []table.Written{{Name: "id", Whole: true}, {Name: "x", Number: true}, {Name: "name"}}
		path := filepath.Join(t.TempDir(), "x.arrow")
		var file bytes.Buffer
		if err := table.WriteFile(path, &file, columns, bytes.NewReader(text.Bytes())); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := table.ReadFile(context.Background(), path, table.Options{Numeric: []string{"id"}})
		if rows == 0 {
			if err == nil {
				t.Error("a file without rows is a table")
			}
			continue
		}
		if err != nil || got.Rows() != rows {
			t.Fatalf("%d rows: %v", rows, err)
		}
		want, _, err := table.Read(context.Background(), bytes.NewReader(text.Bytes()), table.Options{Numeric: []string{"id"}, Name: "x.csv"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Columns {
			for r := range rows {
				if a, b := cell(got, r, i), cell(want, r, i); a != b {
					t.Fatalf("row %d of %d, column %d: %q, expected %q", r, rows, i, a, b)
				}
			}
		}
	}
	if err := table.WriteFile("x.arrow", &bytes.Buffer{}, []table.Written{{Name: "x", Number: true}}, strings.NewReader("x\nfoo\n")); err == nil || !strings.Contains(err.Error(), `row 1: column "x": "foo" is no number`) {
		t.Error(err)
	}
}

// Any bytes are a table or an error.
func FuzzArrow(f *testing.F) {
	for _, name := range []string{"plain.arrow", "lz4.arrow", "zstd.arrow", "stream.arrows"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("ARROW1\x00\x00\xff\xff\xff\xff\x10\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		got, _, err := table.Read(context.Background(), bytes.NewReader(data), table.Options{Name: "x.arrow"})
		if (got == nil) != (err != nil) {
			t.Errorf("table %v with error %v", got, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %q", err)
		}
	})
}
