package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A source without a schema gives, batch by batch, what Read reads at once.
func TestSourceReadsAsRead(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var s strings.Builder
		s.WriteString("a,b,c,id,doc,w,y\n")
		cell := rapid.SampledFrom([]string{"1", "2", "2.5", "x", "?", "", "2024-01-05", "1.0", "y z"})
		late := rapid.Bool().Draw(r, "late name")
		rows := rapid.IntRange(1, 80).Draw(r, "rows")
		for i := range rows {
			a := fmt.Sprint(i % 7)
			if late && i == rows-1 {
				a = "name"
			}
			fmt.Fprintf(&s, "%s,%s,%s,id%d,%s,%d,%d\n", a, cell.Draw(r, "b"), cell.Draw(r, "c"), i, cell.Draw(r, "doc"), i%3, i%4)
		}
		o := Options{Name: "x.csv", Text: []string{"doc"}, Weight: "w", Target: rapid.SampledFrom([]string{"", "y", "a", "b"}).Draw(r, "target")}
		o.tuning = tuning{block: rapid.IntRange(1, 300).Draw(r, "block"), workers: 2}
		want, wantReport, err := Read(t.Context(), strings.NewReader(s.String()), o)
		if err != nil {
			r.Fatal(err)
		}
		var in io.Reader = strings.NewReader(s.String())
		if rapid.Bool().Draw(r, "pipe") {
			in = io.MultiReader(in) // cannot seek
		}
		source, err := NewSource(t.Context(), in, o)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want.Schema, source.Schema()); diff != "" {
			r.Fatal(diff)
		}
		got, err := All(source)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			r.Fatal(diff)
		}
		if diff := cmp.Diff(wantReport, source.Report()); diff != "" {
			r.Fatal(diff)
		}
		if err := source.Close(); err != nil {
			r.Fatal(err)
		}
	})
}

// rowsOf writes rows without end to speak of, without keeping them.
type rowsOf struct {
	left int
	line []byte
	n    int
}

func (r *rowsOf) Read(p []byte) (int, error) {
	if len(r.line) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.n++
		r.line = fmt.Appendf(nil, "%d,%d,v%d,%d\n", r.n, r.n*7%1000, r.n%50, r.n%2)
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// TestSourceMemory: neither finding the schema nor reading holds the rows.
func TestSourceMemory(t *testing.T) {
	in := io.MultiReader(strings.NewReader("a,b,c,y\n"), &rowsOf{left: 400_000})
	source, err := NewSource(t.Context(), in, Options{Name: "x.csv", Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	rows, most := 0, uint64(0)
	for {
		batch, err := source.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Rows()
		if rows%10 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	// The table itself is 400,000 rows of 24 bytes, next to blocks of 0.5 MB.
	if rows != 400_000 || most > 30<<20 || source.Report().Rows != rows || source.Report().Hash == "" {
		t.Errorf("%d rows, %d MB, %+v", rows, most>>20, source.Report())
	}
}

// numbers is a scheme of the tests.
type numbers struct {
	schema *Schema
	left   int
}

func (n *numbers) Schema() *Schema { return n.schema }
func (n *numbers) Report() *Report { return &Report{Format: "numbers"} }
func (n *numbers) Close() error    { return nil }
func (n *numbers) Next() (*Table, error) {
	if n.left--; n.left < 0 {
		return nil, io.EOF
	}
	return New(n.schema, []Column{{Floats: []float64{float64(n.left), 1}}}, nil)
}

func TestSchemes(t *testing.T) {
	RegisterScheme(Scheme{
		Name:  "numbers",
		Knows: func(address string) bool { return address == "two-batches" },
		Open: func(_ context.Context, address string, _ Options) (Source, error) {
			if address == "numbers:none" {
				return nil, errors.New("none")
			}
			return &numbers{&Schema{Attributes: []Attribute{{Name: "x", Kind: Numeric}}}, 2}, nil
		},
	})
	for _, address := range []string{"numbers:1", "two-batches"} {
		got, report, err := ReadFrom(t.Context(), address, Options{})
		if err != nil || show(got) != "x | 1 | 1 | 0 | 1" || report.Format != "numbers" {
			t.Errorf("%s: %v %v", address, got, err)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "two-batches")
	if err := os.WriteFile(path, []byte("a,b\n1,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{path, "file:" + path} {
		if got, _, err := ReadFrom(t.Context(), address, Options{}); err != nil || show(got) != "a b{x} | 1 x" {
			t.Errorf("%s: %v", address, err)
		}
		source, err := Open(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := All(source); err != nil || show(got) != "a b{x} | 1 x" {
			t.Errorf("%s: %v", address, err)
		}
		source.Close()
	}
	for address, want := range map[string]string{
		"mysql://root:secret@host/db": "mysql://root:xxxxx@host/db: this program reads no mysql addresses",
		"nofile.csv":                  "nofile.csv: there is no such file",
		"numbers:none":                "none",
	} {
		if _, err := Open(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := Redact("postgres://me:secret%zz@h/db"); strings.Contains(got, "secret") {
		t.Error(got)
	}
}

var patients = &Schema{Attributes: []Attribute{
	{Name: "age", Kind: Numeric}, {Name: "sex", Values: []string{"f", "m"}}, {Name: "seen", Kind: Numeric, Date: true}, {Name: "note", Kind: Text}, {Name: "ill"},
}}

type ill struct {
	Age   *float64
	Sex   string
	When  time.Time `accrete:"seen"`
	Note  string
	Ill   bool
	Extra int
}

func TestBuilder(t *testing.T) {
	b := NewBuilder(patients)
	age := 54.0
	rows := []any{
		ill{Age: &age, Sex: "f", When: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Note: "A cough. A cold", Ill: true},
		&ill{Sex: "x"},
		map[string]any{"age": 7, "sex": "m", "seen": "2024-03-01", "ill": false, "note": nil},
		map[string]string{"age": "8.5", "sex": ""},
		map[string]float64{"age": 9},
	}
	for _, row := range rows {
		if err := b.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	for row, want := range map[any]string{
		3:                    "a row is a map",
		struct{ Foo int }{1}: "no field of",
		struct {
			A int `accrete:"aeg"`
		}{1}: `is for the column "aeg", which there is not; did you mean "age"?`,
		struct{ Age, AGE int }{1, 2}: `are both for the column "age"`,
		struct{ Age string }{"old"}:  `column "age": "old" is not a number`,
		struct{ Seen string }{"old"}: `column "seen": "old" is not a date`,
		struct{ Sex string }{"\xff"}: "is not UTF-8",
		struct{ Sex complex128 }{1}:  "a cell is a number, a string, a bool or a time",
	} {
		if err := b.Add(row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, expected %s", row, err, want)
		}
	}
	if err := b.Add(map[string]any{"note": "words", "sexx": "m"}); err == nil || !strings.Contains(err.Error(), `there is no column "sexx"; did you mean "sex"?`) {
		t.Error(err)
	}
	got, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	const want = "age sex{f,m,x} seen:date note ill{true,false} | 54 f 2024-02-29 a a cough cold true | - x - - false | 7 m 2024-03-01 - false | 8.5 - - - - | 9 - - - -"
	if show(got) != want {
		t.Errorf("%s\nexpected\n%s", show(got), want)
	}
	if len(patients.Attributes[1].Values) != 2 {
		t.Error("the schema has changed")
	}
	b.Reset()
	b.Closed = true
	if err := b.Add(map[string]any{"sex": "unheard-of", "note": "A new word"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Float(0, 1); err != nil {
		t.Fatal(err)
	}
	b.EndWeighing(2.5)
	if again, err := b.Table(); err != nil || show(again) != "age sex{f,m,x} seen:date note ill{true,false} | - (unseen) - a - ×1 | 1 - - - - ×2.5" {
		t.Error(show(again), err)
	}
	if show(got) != want {
		t.Error("a table has changed after it was made")
	}
}

// TestBuilderAllocates: rows cost what their cells need.
func TestBuilderAllocates(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "age", Kind: Numeric}, {Name: "sex", Values: []string{"f", "m"}}}}
	b := NewBuilder(schema)
	row := &struct {
		Age float64
		Sex string
	}{54, "m"}
	for range 4096 {
		if err := b.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { _ = b.Add(row) }); n > 0.1 {
		t.Errorf("%v allocations a row", n)
	}
}

func BenchmarkBuilder(b *testing.B) {
	builder := NewBuilder(&Schema{Attributes: []Attribute{{Name: "age", Kind: Numeric}, {Name: "sex", Values: []string{"f", "m"}}}})
	row := &struct {
		Age float64
		Sex string
	}{54, "m"}
	b.ReportAllocs()
	for b.Loop() {
		if builder.Rows() == 1<<16 {
			builder.Reset()
		}
		if err := builder.Add(row); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHeavyReadersAreApart: package table does not bring in the decoder of
// Parquet, which a program may leave out.
func TestHeavyReadersAreApart(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") && strings.Contains(string(text), "github.com/parquet-go") {
			t.Errorf("%s imports the decoder of Parquet", path)
		}
	}
}
