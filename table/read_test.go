package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
)

// same compares tables cell by cell, missing numbers being equal.
var same = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmp.AllowUnexported(Table{})}

// read reads a text under a name whose extension tells the format.
func read(tb testing.TB, name, text string, o Options) (*Table, *Report, error) {
	tb.Helper()
	o.Name = name
	t, report, err := Read(tb.Context(), strings.NewReader(text), o)
	if err == nil {
		if _, err := New(t.Schema, t.Columns, t.Weights); err != nil {
			tb.Fatalf("%q: not a sound table: %v", text, err)
		}
	} else if strings.ContainsAny(err.Error(), "\n\r") {
		tb.Fatalf("error of several lines: %q", err)
	}
	return t, report, err
}

func mustRead(tb testing.TB, name, text string, o Options) (*Table, *Report) {
	tb.Helper()
	t, report, err := read(tb, name, text, o)
	if err != nil {
		tb.Fatalf("%.200q: %v", text, err)
	}
	return t, report
}

// show writes a table in one line: types, then rows.
func show(t *Table) string {
	var s strings.Builder
	for i, a := range t.Schema.Attributes {
		if i > 0 {
			s.WriteString(" ")
		}
		s.WriteString(a.Name)
		switch {
		case a.Kind == Nominal:
			fmt.Fprintf(&s, "{%s}", strings.Join(a.Values, ","))
		case a.Date:
			s.WriteString(":date")
		case a.Time:
			s.WriteString(":time")
		}
	}
	for r := range t.Rows() {
		s.WriteString(" |")
		for c := range t.Columns {
			text := t.Text(r, c)
			if text == "" {
				text = "-"
			}
			s.WriteString(" " + text)
		}
		if t.Weights != nil {
			fmt.Fprintf(&s, " ×%v", t.Weights[r])
		}
	}
	return s.String()
}

func rows(n int, row func(i int) string) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(row(i) + "\n")
	}
	return s.String()
}

func TestTypes(t *testing.T) {
	for _, test := range []struct {
		name, text string
		options    Options
		want       string
		notes      []string
	}{
		{name: "numbers and names", text: "a,b\n1,x\n-2.5e1,y\n", want: "a b{x,y} | 1 x | -25 y"},
		{name: "0 and 1 are numbers", text: "a,b\n0,1\n1,0\n", want: "a b | 0 1 | 1 0"},
		{name: "missing cells", text: "a,b,c\n,,x\n?,NA,?\nNaN,nan,null\nnull,NULL,NA\n1,z,\n", want: "a b{z} c{x} | - - x | - - - | - - - | - - - | 1 z -"},
		{name: "dates", text: "d\n2024-03-01\n1970-01-02\n", want: "d:date | 2024-03-01 | 1970-01-02"},
		{name: "dates with times", text: "d\n2024-03-01T12:00:00Z\n1969-12-31 18:30\n", want: "d:time | 2024-03-01T12:00:00 | 1969-12-31T18:30:00"},
		{name: "dates and numbers are names", text: "d\n2024-03-01\n7\n", want: "d{2024-03-01,7} | 2024-03-01 | 7"},
		{name: "numbers and text are names", text: "d\n1\nx\n1.0\n", want: "d{1,1.0,x} | 1 | x | 1.0"},
		{name: "no hexadecimal, no underscores", text: "a,b\n0x10,1_000\n", want: "a{0x10} b{1_000} | 0x10 1_000"},
		{name: "infinite", text: "a\ninf\n-Infinity\n1\n", want: "a | +Inf | -Inf | 1"},
		{name: "beyond range", text: "a,b\n1e999,1\n-1e999,2\n", want: "a b | +Inf 1 | -Inf 2", notes: []string{`column "a": numbers beyond the range of a float64 are read as infinite`}},
		{name: "tiny", text: "a\n1e-999\n", want: "a | 0"},
		{name: "names sorted as numbers", text: "a\n10\n9\n-1\n", options: Options{Nominal: []string{"a"}}, want: "a{-1,9,10} | 10 | 9 | -1"},
		{name: "names sorted by bytes", text: "a\nb\nB\nä\na\n", want: "a{B,a,b,ä} | b | B | ä | a"},
		{name: "integer target is classes", text: "x,y\n1.5,2\n2.5,1.0\n3,?\n", options: Options{Target: "y"}, want: "x y{1,2} | 1.5 2 | 2.5 1 | 3 -", notes: []string{`target "y" has 2 distinct integers: they are read as classes; declared numeric, y is read as numbers`}},
		{name: "numeric target by order", text: "x,y\n1,2\n2,1\n", options: Options{Target: "y", Numeric: []string{"y"}}, want: "x y | 1 2 | 2 1"},
		{name: "target of fractions", text: "x,y\n1,2.5\n2,1\n", options: Options{Target: "y"}, want: "x y | 1 2.5 | 2 1"},
		{name: "date target", text: "x,y\n1,2024-01-01\n", options: Options{Target: "y"}, want: "x y:date | 1 2024-01-01"},
		{name: "target without a known cell", text: "x,y\n1,?\n2,\n", options: Options{Target: "y"}, want: "x y{} | 1 - | 2 -"},
		{name: "column without a known cell", text: "x,y\n1,?\n2,\n", want: "x | 1 | 2", notes: []string{`column "y" ignored: no cell is known`}},
		{name: "numeric column without a known cell", text: "x,y\n1,?\n", options: Options{Numeric: []string{"y"}}, want: "x y | 1 -"},
		{name: "ignored", text: "x,y\n1,2\n", options: Options{Ignore: []string{"x"}}, want: "y | 2"},
		{name: "weights", text: "x,w\na,2\nb,0.5\n", options: Options{Weight: "w"}, want: "x{a,b} | a ×2 | b ×0.5"},
		{name: "numeric dates", text: "x\n2024-01-01\n", options: Options{Numeric: []string{"x"}}, want: "x:date | 2024-01-01"},
		{name: "decimal commas", text: "a;b\n1,5;2\n2,5;3\n", want: "a b | 1.5 2 | 2.5 3", notes: []string{`column "a": "1,5" is read as 1.5`}},
		{name: "no header", text: "5.1,setosa\n4.9,virginica\n", want: "c1 c2{setosa,virginica} | 5.1 setosa | 4.9 virginica", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "one line of numbers", text: "1,2\n", want: "c1 c2 | 1 2", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "years as names", text: "town,2019,2020\nu,1,2\nv,3,4\n", want: "town{u,v} 2019 2020 | u 1 2 | v 3 4"},
		{name: "years as cells", text: "ann,1980\nbob,1990\n", want: "c1{ann,bob} c2 | ann 1980 | bob 1990", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "a number among names", text: "x,7\na,1\nb,2\n", want: "c1{a,b,x} c2 | x 7 | a 1 | b 2", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "a name above numbers", text: "x,7\n1,a\n2,b\n", want: "x 7{a,b} | 1 a | 2 b"},
		{name: "all names", text: "x,y\na,b\n", want: "x{a} y{b} | a b"},
		{name: "same names", text: "a,a,a.2,,a\n1,2,3,4,5\n", want: "a a.3 a.2 c4 a.4 | 1 2 3 4 5", notes: []string{`column "c4" had no name in the header`, `columns "a.3", "a.4" had the name of an earlier column`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, report := mustRead(t, "x.csv", test.text, test.options)
			if show(got) != test.want {
				t.Errorf("got  %s\nwant %s", show(got), test.want)
			}
			if diff := cmp.Diff(test.notes, report.Notes, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIDsAreIgnored(t *testing.T) {
	text := "id,k,y\n" + rows(60, func(i int) string { return fmt.Sprintf("r%d,v%d,t%d", i, i/2, i) })
	got, report := mustRead(t, "x.csv", text, Options{Target: "y"})
	if names := got.Schema.Names(); !slices.Equal(names, []string{"k", "y"}) {
		t.Errorf("columns %v", names)
	}
	want := []string{`column "id" ignored: 60 of its 60 values are distinct, as in ids or text; declared nominal it is kept, declared text its words are`}
	if !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q", report.Notes)
	}
	if got, _ = mustRead(t, "x.csv", text, Options{Nominal: []string{"id"}}); got.Schema.Index("id") != 0 {
		t.Error("--nominal does not keep the column")
	}
	_, report = mustRead(t, "x.csv", text, Options{})
	if want := `columns "id", "y" ignored: more than half of their values are distinct, as in ids or text; declared nominal it is kept, declared text its words are`; !slices.Contains(report.Notes, want) {
		t.Errorf("notes %q", report.Notes)
	}
	text = "id,k\n" + rows(50, func(i int) string { return fmt.Sprintf("r%d,%d", i, i) })
	if got, _ = mustRead(t, "x.csv", text, Options{}); got.Schema.Index("id") != 0 {
		t.Error("50 rows are not over 50")
	}
	text = "id\n" + rows(60, func(i int) string { return fmt.Sprintf("r%d", i) })
	if _, _, err := read(t, "x.csv", text, Options{}); err == nil || !strings.Contains(err.Error(), "no column is left") {
		t.Errorf("error %v", err)
	}
}

func TestBadInput(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		options          Options
		want             string
	}{
		{name: "empty", want: "x.csv: is empty; expected a header line and rows of data"},
		{name: "blank", text: "\n \n\n", want: "x.csv: is empty; expected a header line and rows of data"},
		{name: "header only", text: "a,b\n", want: "x.csv: has a header but no rows; add rows of data"},
		{name: "header only, no line end", text: "a,b", want: "x.csv: has a header but no rows; add rows of data"},
		{name: "short row", text: "a,b\n1,2\n\n3\n", want: "x.csv:4:2: the row has 1 cell where there are 2 columns; add or remove cells, or quote text that contains ','"},
		{name: "long row", text: "a,b\n1,2,3\n", want: "x.csv:2:5: the row has 3 cells where there are 2 columns; add or remove cells, or quote text that contains ','"},
		{name: "binary", text: "a\x00b", want: "x.csv: is binary, not text; expected CSV, ARFF, Parquet, Arrow, Excel (.xlsx), libsvm or JSON lines, plain or packed with gzip or zstd"},
		{name: "late binary", text: "a\n" + strings.Repeat("x\n", glance) + "y\x00\n", want: "x.csv:262146:1: column \"a\": a cell is not UTF-8 text (byte 2 of it is 0x00); name its encoding, or convert the file to UTF-8"},
		{name: "no UTF-8", text: "a,b\n1,caf\xff\n", want: "x.csv:2:3: column \"b\": a cell is not UTF-8 text (byte 4 of it is 0xff); name its encoding, or convert the file to UTF-8"},
		{name: "broken UTF-8", text: "a,caf\xc3\xa9\n1,caf\xc3\n", want: "x.csv:2:3: column \"café\": a cell is not UTF-8 text (byte 4 of it is 0xc3); name its encoding, or convert the file to UTF-8"},
		{name: "no UTF-8 in the header", text: "a,caf\xff\n1,2\n", want: "x.csv:1:1: the name of column 2 is not UTF-8 text; name its encoding, or convert the file to UTF-8"},
		{name: "late Latin-1", text: "a\n" + strings.Repeat("x\n", glance) + "caf\xe9\n", want: "x.csv:262146:1: column \"a\": a cell is not UTF-8 text (byte 4 of it is 0xe9); name its encoding, or convert the file to UTF-8"},
		{name: "UTF-16", text: "\xff\xfea\x00", want: "x.csv: has a header but no rows; add rows of data"},
		{name: "open quote", text: "a,b\n1,2\n3, \"x\n4,5\n", want: "x.csv:3:4: the quote that opens here is never closed; close it, or double it if it is part of the text"},
		{name: "open quote in the header", text: "\n\"a,b\n1,2\n", want: "x.csv:2:1: the quote that opens here is never closed; close it, or double it if it is part of the text"},
		{name: "text after a quote", text: "a,b\n1,\"x\"y\n", want: "x.csv:2:6: text follows a closing quote; double the quotes that are part of the text"},
		{name: "unknown name", text: "alpha,b\n1,2\n", options: Options{Nominal: []string{"alpa"}}, want: `x.csv: has no column "alpa" to take as nominal; did you mean "alpha"?`},
		{name: "unknown target", text: "alpha,b\n1,2\n", options: Options{Target: "zzzz"}, want: `x.csv: has no column "zzzz" to take as target; known are alpha, b`},
		{name: "unknown weight", text: "alpha,b\n1,2\n", options: Options{Weight: "alpah"}, want: `x.csv: has no column "alpah" to take as weights; did you mean "alpha"?`},
		{name: "both", text: "a\n1\n", options: Options{Nominal: []string{"a"}, Numeric: []string{"a"}}, want: `column "a" cannot be both nominal and numeric`},
		{name: "target ignored", text: "a\n1\n", options: Options{Target: "a", Ignore: []string{"a"}}, want: `column "a" cannot be both the target and ignored`},
		{name: "target weight", text: "a\n1\n", options: Options{Target: "a", Weight: "a"}, want: `column "a" cannot be both the target and the weights`},
		{name: "not numeric", text: "a,b\n1,2\n2,x\n", options: Options{Numeric: []string{"b"}}, want: `x.csv:3:3: column "b": "x" is neither a number nor a date such as 2024-03-01; correct the cell, or leave it empty if it is not known`},
		{name: "numeric date", text: "a,b\n1,2024-01-01\n2,x\n", options: Options{Numeric: []string{"b"}}, want: `x.csv:3:3: column "b": "x" is neither a number nor a date such as 2024-03-01; correct the cell, or leave it empty if it is not known`},
		{name: "no weight", text: "a,w\n1,2\n2,?\n", options: Options{Weight: "w"}, want: `x.csv:3:3: column "w": "?" is not a weight; expected a finite number ≥ 0 in every row`},
		{name: "negative weight", text: "a,w\n1,-2\n", options: Options{Weight: "w"}, want: `x.csv:2:3: column "w": "-2" is not a weight; expected a finite number ≥ 0 in every row`},
		{name: "infinite weight", text: "a,w\n1,inf\n", options: Options{Weight: "w"}, want: `x.csv:2:3: column "w": "inf" is not a weight; expected a finite number ≥ 0 in every row`},
		{name: "all ignored", text: "a\n1\n", options: Options{Ignore: []string{"a"}}, want: "x.csv: no column is left to learn from; say which columns are nominal, and which to leave out"},
		{name: "zip", text: "PK\x03\x04....", want: "x.csv: is no workbook, or damaged (zip: not a valid zip file); save it again as .xlsx"},
		{name: "damaged gzip", text: "\x1f\x8b" + strings.Repeat("\xff", 20), want: "x.csv: the gzip data are damaged (gzip: invalid header); copy the file again"},
		{name: "short gzip", text: "\x1f\x8b", want: "x.csv: the gzip data end too early; copy the file again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := read(t, "x.csv", test.text, test.options)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestFormatIsChosen(t *testing.T) {
	for _, test := range []struct{ file, text, want string }{
		{"x.csv", "a,b\n1,2\n", "csv"},
		{"x.tsv", "a\tb\n1\t2\n", "tsv"},
		{"x.txt", "a;b\n1;2\n", "csv with ;"},
		{"-", "a|b\n1|2\n", "csv with |"},
		{"-", "a\n1\n", "csv"},
		{"x.data", "a b\n1\n", "csv"},
		{"x.csv", "name;text\nx;a,b\ny;c,d\n", "csv with ;"},
		{"x.csv", "a,b\n\"1\n;;;;;;\",2\n", "csv"},
		{"x", "% comment\n\n@RELATION x\n@attribute a numeric\n@data\n1\n", "arff"},
		{"x", "@attribute a numeric\n@data\n1\n", "arff"},
		{"x.json", `{"a":1}`, "json lines"},
		{"", "\n{\"a\":1}\n", "json lines"},
		{"X.CSV.GZ", "\xef\xbb\xbfa,b\r\n1,2\r\n", "csv"},
	} {
		got, report := mustRead(t, test.file, test.text, Options{})
		if report.Format != test.want {
			t.Errorf("%q is %s, want %s", test.text, report.Format, test.want)
		}
		if test.want == "csv" && len(got.Columns) == 2 && got.Schema.Attributes[0].Name != "a" {
			t.Errorf("%q: columns %v", test.text, got.Schema.Names())
		}
	}
}

func packed(t *testing.T, kind, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if kind == "zstd" {
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPackedFiles(t *testing.T) {
	text := "a,b\n" + rows(20000, func(i int) string { return fmt.Sprintf("%d,v%d", i, i%7) })
	want, _ := mustRead(t, "x.csv", text, Options{})
	for _, kind := range []string{"gzip", "zstd"} {
		data := packed(t, kind, text)
		path := filepath.Join(t.TempDir(), "x.csv.packed")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, report, err := ReadFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Error(diff)
		}
		sum := sha256.Sum256(data)
		if report.Format != "csv, "+kind || report.Bytes != int64(len(data)) || report.Hash != hex.EncodeToString(sum[:]) {
			t.Errorf("report %+v", report)
		}
		for _, cut := range []int{len(data) / 2, len(data) - 1, 7} {
			_, _, err = Read(t.Context(), bytes.NewReader(data[:cut]), Options{Name: "x"})
			if err == nil || !strings.HasPrefix(err.Error(), "x: the "+kind+" data") {
				t.Errorf("%s cut at %d of %d: %v", kind, cut, len(data), err)
			}
		}
		// Bytes after the packed data are hashed as well.
		if kind == "gzip" {
			data = append(slices.Clip(data), packed(t, kind, "7,v0\n")...)
			_, report, err := Read(t.Context(), bytes.NewReader(data), Options{})
			sum := sha256.Sum256(data)
			if err != nil || report.Hash != hex.EncodeToString(sum[:]) {
				t.Errorf("two members: %v %v", report, err)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := ReadFile(t.Context(), filepath.Join(dir, "none"), Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if _, _, err := ReadFile(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	path := filepath.Join(dir, "x.csv")
	if err := os.WriteFile(path, []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var heard []float64
	got, _, err := ReadFile(t.Context(), path, Options{Progress: func(f float64) { heard = append(heard, f) }})
	if err != nil || show(got) != "a | 1 | 2" || !slices.Equal(heard, []float64{1}) {
		t.Error(got, err, heard)
	}
	if _, _, err := ReadFile(t.Context(), path, Options{Name: "set", Target: "q"}); err == nil || !strings.HasPrefix(err.Error(), "set: ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ReadFile(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.Chmod(path, 0); err == nil && os.Getuid() != 0 {
		if _, _, err := ReadFile(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Error(err)
		}
	}
}

func TestStandardInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Stdin = f
	got, _, err := ReadFile(t.Context(), "-", Options{})
	if err != nil || show(got) != "a | 1 | 2" {
		t.Error(got, err)
	}
}

func TestCancelWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	go func() {
		io.WriteString(pw, "a,b\n")
		for range 1000 {
			if _, err := io.WriteString(pw, strings.Repeat("1,2\n", 1000)); err != nil {
				return
			}
		}
		cancel() // and the writer hangs
	}()
	_, _, err := Read(ctx, pr, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pr.Close()
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	for n := range 4 {
		r := io.MultiReader(strings.NewReader("a,b\n1,2\n"[:2*n]), iotest.ErrReader(broken))
		if _, _, err := Read(t.Context(), r, Options{Name: "x"}); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "x: ") {
			t.Error(err)
		}
	}
	long := io.MultiReader(strings.NewReader("a,b\n"+strings.Repeat("1,2\n", glance)), iotest.ErrReader(broken))
	if _, _, err := Read(t.Context(), long, Options{Name: "x"}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A column that begins as numbers or dates and holds a name far below is read
// a second time, also from readers that cannot go back.
func TestLateNames(t *testing.T) {
	const n = 300000
	text := "num,date,time,late\n" + rows(n, func(i int) string {
		row := []string{fmt.Sprintf("%02d", i%30), "2024-01-01", fmt.Sprint(i), ""}
		switch i {
		case n - 3:
			row[0] = "x"
		case n - 2:
			row[1] = "17"
		case n - 1:
			row[3] = "7"
		}
		return strings.Join(row, ",")
	})
	check := func(got *Table, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		a := got.Schema.Attributes
		if got.Rows() != n || a[0].Kind != Nominal || len(a[0].Values) != 31 || a[0].Values[1] != "01" || a[1].Kind != Nominal || a[2].Kind != Numeric || a[3].Kind != Numeric {
			t.Fatalf("%d rows of %+v", got.Rows(), a)
		}
		if got.Text(n-3, 0) != "x" || got.Text(31, 0) != "01" || got.Text(n-2, 1) != "17" || got.Text(n-1, 3) != "7" || got.Text(0, 3) != "" || got.Text(5, 2) != "5" {
			t.Error("wrong cells")
		}
	}
	got, _, err := Read(t.Context(), strings.NewReader(text), Options{})
	check(got, err)
	got, _, err = Read(t.Context(), io.MultiReader(strings.NewReader(text)), Options{})
	check(got, err)
	got, _, err = Read(t.Context(), io.MultiReader(bytes.NewReader(packed(t, "zstd", text))), Options{})
	check(got, err)
}

// changing is a reader that gives something else the second time.
type changing struct {
	*strings.Reader
	texts []string
}

func (c *changing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart && len(c.texts) > 0 && c.Reader.Len() == 0 {
		c.Reader, c.texts = strings.NewReader(c.texts[0]), c.texts[1:]
	}
	return c.Reader.Seek(offset, whence)
}

func TestInputChangesWhileRead(t *testing.T) {
	text := "a\n" + strings.Repeat("1\n", 1<<20) + "x\n"
	for _, second := range []string{"a\n1\nx\n", "a\n", "a,b\n1\n", ""} {
		r := &changing{strings.NewReader(text), []string{text, second}}
		if _, _, err := Read(t.Context(), r, Options{Name: "x"}); err == nil {
			t.Errorf("%q the second time is not noticed", second)
		}
	}
}

func TestManyColumns(t *testing.T) {
	const n = 100000
	header, row := make([]string, n), make([]string, n)
	for i := range header {
		header[i], row[i] = fmt.Sprintf("k%d", i), fmt.Sprint(i%3)
	}
	row[7] = "x"
	text := strings.Join(header, ",") + "\n" + strings.Repeat(strings.Join(row, ",")+"\n", 5)
	got, report := mustRead(t, "x.csv", text, Options{})
	if len(got.Columns) != n || got.Rows() != 5 || got.Text(4, 8) != "2" || got.Schema.Attributes[7].Kind != Nominal {
		t.Error("wrong table")
	}
	if len(report.Notes) != 1 || !strings.HasPrefix(report.Notes[0], "100000 columns are many") {
		t.Errorf("notes %q", report.Notes)
	}
	// A header without names and rows without cells are remarked on in a line each.
	text = strings.Repeat(",", n) + "\n" + strings.Repeat(",", n-1) + "1,\n"
	_, report = mustRead(t, "x.csv", text, Options{})
	if len(report.Notes) != 3 {
		t.Errorf("%d notes", len(report.Notes))
	}
}

func TestHugeCell(t *testing.T) {
	huge := strings.Repeat("lorem \"\"ipsum\n", 8<<20/14)
	text := "a,b\n1,x\n2,\"" + huge + "\"\n3,y\n"
	got, report := mustRead(t, "x.csv", text, Options{})
	if got.Rows() != 3 || len(got.Text(1, 1)) != len(strings.ReplaceAll(huge, `""`, `"`)) || got.Text(2, 1) != "y" {
		t.Error("wrong cells")
	}
	if !slices.Equal(report.Notes, []string{`column "b": a cell has more than a megabyte of text`}) {
		t.Errorf("notes %q", report.Notes)
	}
	for _, text := range []string{text, "\"" + huge + "\",b\n1,2\n"} {
		_, _, err := read(t, "x.csv", text, Options{tuning: tuning{record: 1 << 20}})
		if err == nil || !strings.Contains(err.Error(), ":1: the record that begins here has more than 1 MB; is a quote not closed?") {
			t.Error(err)
		}
	}
}

func TestSchema(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{
		{Name: "n", Kind: Numeric},
		{Name: "v", Kind: Nominal, Values: []string{"b", "a"}},
		{Name: "d", Kind: Numeric, Date: true},
		{Name: "c", Kind: Nominal, Values: []string{"1", "2"}},
	}}
	for _, test := range []struct {
		name, text string
		extend     bool
		want       string
		notes      []string
		err        string
	}{
		{name: "order", text: "c,d,v,n\n1,2024-01-01,a,7\n", want: "n v{b,a} d:date c{1,2} | 7 a 2024-01-01 1"},
		{name: "unseen", text: "v,n,c,d\nz,1,3,\nb,?,2.0,\n", want: "n v{b,a} d:date c{1,2} | 1 (unseen) - (unseen) | - b - 2"},
		{name: "extend", text: "v,n,c,d\nz,1,3.0,\ny,1,3,\nz,,01,\n", extend: true, want: "n v{b,a,z,y} d:date c{1,2,3} | 1 z - 3 | 1 y - 3 | - z - 1"},
		{name: "absent and extra", text: "n,p,q\n1,2,3\n", want: "n v{b,a} d:date c{1,2} | 1 - - -", notes: []string{`columns "p", "q" ignored: the model does not know them`, `columns "v", "d", "c" not in x.csv: their cells are taken as missing`}},
		{name: "one absent, one extra", text: "n,v,d,q\n1,a,,3\n", want: "n v{b,a} d:date c{1,2} | 1 a - -", notes: []string{`column "q" ignored: the model does not know it`, `column "c" not in x.csv: its cells are taken as missing`}},
		{name: "no number", text: "v,n\na,1\na,old\n", err: `x.csv:3:3: column "n": "old" is not a number, as the column's other cells are expected to be; correct the cell, or leave it empty if it is not known`},
		{name: "no date", text: "n,d\n1,7\n", err: `x.csv:2:3: column "d": "7" is not a date such as 2024-03-01; correct the cell, or leave it empty if it is not known`},
		{name: "nothing in common", text: "p,q\n1,2\n", err: `x.csv: has none of the model's columns "n", "v", "d", "c"; its own are columns "p", "q"; is the header line missing?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := fmt.Sprint(schema)
			got, report, err := read(t, "x.csv", test.text, Options{Schema: schema, Extend: test.extend})
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != test.want {
				t.Errorf("got  %s\nwant %s", show(got), test.want)
			}
			if diff := cmp.Diff(test.notes, report.Notes, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if fmt.Sprint(schema) != before {
				t.Error("the schema has changed")
			}
		})
	}
}

func TestSchemaMarkersAndWeights(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "v", Kind: Nominal, Values: []string{"NA", "x"}}}}
	got, _ := mustRead(t, "x.csv", "v,w\nNA,1\nnull,2\nx,0\n", Options{Schema: schema, Weight: "w"})
	if want := "v{NA,x} | NA ×1 | - ×2 | x ×0"; show(got) != want {
		t.Errorf("got %s, want %s: a declared value is a value", show(got), want)
	}
	got, report := mustRead(t, "x.csv", "v,q\nNA,1\n", Options{Schema: schema, Ignore: []string{"q"}})
	if show(got) != "v{NA,x} | NA" || len(report.Notes) > 0 {
		t.Error(show(got), report.Notes)
	}
	// A header that names a column of the schema is one, numbers or not.
	numbers := &Schema{Attributes: []Attribute{{Name: "1", Kind: Numeric}, {Name: "2", Kind: Numeric}}}
	if got, _ = mustRead(t, "x.csv", "1,2\n3,4\n", Options{Schema: numbers}); show(got) != "1 2 | 3 4" {
		t.Error(show(got))
	}
}
