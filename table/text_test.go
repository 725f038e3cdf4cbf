package table

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "...": "", "The cat, the Cat's hat_2!": "the cat the cat s hat_2", "Ünïcode ŒUVRE Ещё": "ünïcode œuvre ещё",
		"日本 語": "日本 語", "e\u0301te\u0301": "été", "١٢ x": "١٢ x", "a-b.c": "a b c",
	} {
		var got []string
		Tokens([]byte(text), func(token []byte) { got = append(got, string(token)) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}

const documents = "doc,y\n\"A cat, a hat.\",yes\n?,no\n...,no\nThe HAT,yes\n"

func TestText(t *testing.T) {
	got, _ := mustRead(t, "x.csv", documents, Options{Text: []string{"doc"}})
	if a := &got.Schema.Attributes[0]; a.Kind != Text || strings.Join(a.Values, " ") != "a cat hat the" || a.Shown() != "text" {
		t.Fatalf("%+v", a)
	}
	words := got.Columns[0].Words
	for row, want := range []string{"a a cat hat", "", ".", "hat the"} {
		if text := got.Text(row, 0); text != want || words.Missing(row) != (want == "") {
			t.Errorf("row %d: %q, expected %q", row, text, want)
		}
	}
	if words.Count(0, 0) != 2 || words.Count(0, 3) != 0 {
		t.Error("wrong counts")
	}
	if s := Summarise(got)[0]; s.Missing != 1 || s.Distinct != 4 || s.Top[0] != (Frequency{"hat", 2}) {
		t.Errorf("%+v", s)
	}
	if part := got.Slice(2, 4); part.Text(1, 0) != "hat the" || part.Columns[0].Words.Missing(0) {
		t.Error("wrong slice")
	}
	if part := got.Select([]int{3, 1, 0}); part.Text(0, 0) != "hat the" || !part.Columns[0].Words.Missing(1) || part.Text(2, 0) != "a a cat hat" {
		t.Error("wrong selection")
	}
	for _, o := range []Options{
		{Text: []string{"doc"}, Nominal: []string{"doc"}}, {Text: []string{"doc"}, Target: "doc"}, {Text: []string{"dok"}},
	} {
		if _, _, err := read(t, "x.csv", documents, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, _, err := read(t, "x.csv", "doc,y\nok,1\n\"a\nb\xff c\",2\n", Options{Text: []string{"doc"}}); err == nil || !strings.Contains(err.Error(), `x.csv:3:1: column "doc": a cell is not UTF-8 text (byte 4 of it is 0xff)`) {
		t.Error(err)
	}
}

// New words are left out against a model's schema, or extend it.
func TestTextAgainstSchema(t *testing.T) {
	model, _ := mustRead(t, "x.csv", documents, Options{Text: []string{"doc"}})
	const more = "doc,y\nthe new cat,yes\nunknown,no\n"
	got, _ := mustRead(t, "m.csv", more, Options{Schema: model.Schema})
	if got.Text(0, 0) != "cat the" || got.Text(1, 0) != "." {
		t.Error(got.Text(0, 0), got.Text(1, 0))
	}
	got, _ = mustRead(t, "m.csv", more, Options{Schema: model.Schema, Extend: true})
	if got.Text(0, 0) != "cat the new" || strings.Join(got.Schema.Attributes[0].Values, " ") != "a cat hat the new unknown" {
		t.Error(got.Text(0, 0), got.Schema.Attributes[0].Values)
	}
	apart, _ := mustRead(t, "m.csv", more, Options{Text: []string{"doc"}})
	same, _, err := Conform(apart, model.Schema, true)
	if err != nil || same.Text(0, 0) != "cat the new" {
		t.Error(same, err)
	}
	names, _ := mustRead(t, "m.csv", more, Options{})
	if same, _, err = Conform(names, model.Schema, false); err != nil || same.Text(0, 0) != "cat the" {
		t.Error(same, err)
	}
	if same, _, err = Conform(model.Slice(0, 2), &Schema{Attributes: []Attribute{{Name: "y", Values: []string{"yes"}}, {Name: "z", Kind: Text}}}, false); err != nil || !same.Columns[1].Words.Missing(1) {
		t.Error(same, err)
	}
	if _, _, err = Conform(model, names.Schema, false); err == nil || !strings.Contains(err.Error(), "is text") {
		t.Error(err)
	}
}

// Texts in any form, cut into blocks of any size, count the same words.
func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-cA-C é.]{0,12}`), 1, 30).Draw(r, "texts")
		var csv bytes.Buffer
		csv.WriteString("doc,n\n")
		for i, text := range texts {
			fmt.Fprintf(&csv, "\"%s\",%d\n", text, i)
		}
		o := Options{Name: "x.csv", Text: []string{"doc"}, tuning: tuning{block: rapid.IntRange(1, 100).Draw(r, "block"), workers: 3}}
		got, _, err := Read(t.Context(), bytes.NewReader(csv.Bytes()), o)
		if err != nil {
			r.Fatal(err)
		}
		for i, text := range texts {
			counts := map[string]float64{}
			Tokens([]byte(text), func(token []byte) { counts[string(token)]++ })
			codes, n := got.Columns[0].Words.Row(i)
			for j, code := range codes {
				if counts[got.Schema.Attributes[0].Values[code]] != n[j] {
					r.Fatalf("%q: %v", text, counts)
				}
			}
			if len(codes) != len(counts) || got.Columns[0].Words.Missing(i) != (text == "") {
				r.Fatalf("%q: %d words", text, len(codes))
			}
		}
		var out bytes.Buffer
		if err := got.WriteCSV(&out); err != nil {
			r.Fatal(err)
		}
		back, _, err := Read(t.Context(), &out, Options{Name: "y.csv", Schema: got.Schema})
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(got, back, same); diff != "" {
			r.Fatal(diff)
		}
		whole, err := Concat(got.Slice(0, len(texts)/2), got.Slice(len(texts)/2, len(texts)))
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(show(got), show(whole)); diff != "" {
			r.Fatal(diff)
		}
	})
}

func TestLibsvm(t *testing.T) {
	const text = "# comment\n+1 1:0.5 7:2 # more\n\n-1 2:1e-3 3:0\n+1\n"
	for _, name := range []string{"x.libsvm", "x"} {
		got, report := mustRead(t, name, strings.TrimPrefix(text, "# comment\n"), Options{Target: "label"})
		if report.Format != "libsvm" || strings.Join(got.Schema.Attributes[1].Values, " ") != "1 2 7" || got.Schema.Attributes[0].Kind != Nominal {
			t.Fatalf("%+v %+v", report, got.Schema)
		}
		if got.Text(0, 1) != "1:0.5 7 7" || got.Text(1, 1) != "2:0.001" || got.Text(2, 1) != "." || got.Rows() != 3 {
			t.Error(show(got))
		}
	}
	grouped, _ := mustRead(t, "x.svm", "1 qid:3 1:1\n0 qid:4 2:1\n", Options{})
	if grouped.Schema.Index("qid") != 2 || grouped.Columns[2].Floats[1] != 4 {
		t.Error(show(grouped))
	}
	for bad, want := range map[string]string{
		"1 1:1\n2 x:1\n":       `x.libsvm:2:3: "x:1" is no cell of a sparse row`,
		"1 1:1 1:2\n":          "x.libsvm:1:1: an index comes twice",
		"1 1:nan\n":            `"1:nan" is no cell`,
		"1 qid:1 1:1\n2 1:1\n": "x.libsvm:2:1: the row has no qid",
		"1 1:1\n2 1\n":         `"1" is no cell`,
		"1 qid:1 qid:2 2:1\n":  `"qid:2" is no cell`,
		"1 :1\n":               `":1" is no cell`,
	} {
		if _, _, err := read(t, "x.libsvm", bad, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", bad, err, want)
		}
	}
}

func FuzzLibsvm(f *testing.F) {
	for _, seed := range []string{"+1 1:0.5 7:2 # x\n", "1 qid:3 1:1\n", "a,b 2:1\n\n", "1"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		defer bounded.Start(t, len(data))()
		want, _, wantErr := read(t, "x.libsvm", string(data), Options{})
		got, _, err := read(t, "x.libsvm", string(data), Options{tuning: tuning{block: int(block) + 1, workers: 3}})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: error %v, want %v", data, err, wantErr)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// sparseARFF has many numeric attributes and few cells.
func sparseARFF(attributes, rows int) string {
	var s strings.Builder
	for i := range attributes {
		fmt.Fprintf(&s, "@attribute a%d numeric\n", i)
	}
	s.WriteString("@attribute class {no,yes}\n@data\n")
	for r := range rows {
		fmt.Fprintf(&s, "{%d 1.5, %d 2, %d yes}\n", r%attributes, (r+attributes/2)%attributes, attributes)
	}
	return s.String()
}

// TestSparseARFF: very many attributes stay sparse, in memory that grows with
// the cells that are written.
func TestSparseARFF(t *testing.T) {
	text := sparseARFF(100_000, 2000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, report := mustRead(t, "x.arff", text, Options{Target: "class"})
	runtime.ReadMemStats(&after)
	if len(got.Columns) != 2 || got.Rows() != 2000 || got.Text(1, 1) != "a1:1.5 a50001 a50001" || got.Text(1, 0) != "yes" {
		t.Fatalf("%d columns, %q", len(got.Columns), got.Text(1, 0))
	}
	if len(report.Notes) == 0 || !strings.Contains(report.Notes[0]+report.Notes[len(report.Notes)-1], "one text column") {
		t.Error(report.Notes)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
		t.Errorf("%d MB were allocated for 2000 rows", used>>20)
	}
	again, _ := mustRead(t, "x.arff", text, Options{Target: "class", Schema: got.Schema})
	if diff := cmp.Diff(got, again, same); diff != "" {
		t.Error(diff)
	}
	if few, _ := mustRead(t, "x.arff", sparseARFF(3, 4), Options{}); len(few.Columns) != 4 {
		t.Error("few attributes are columns")
	}
	if _, _, err := read(t, "x.arff", strings.Replace(text, "1.5", "?", 1), Options{}); err == nil || !strings.Contains(err.Error(), "a missing cell in rows that are kept sparse") {
		t.Error(err)
	}
}

// TestMemoryBudget: small files that stand for huge tables end in an error
// that gives the numbers, not in gigabytes.
func TestMemoryBudget(t *testing.T) {
	var lines strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&lines, "{\"key%d\":%d}\n", i, i)
	}
	names := "@attribute x {a,b}\n"
	var nominal strings.Builder
	for i := range 20_000 {
		nominal.WriteString(strings.Replace(names, "x", fmt.Sprint("x", i), 1))
	}
	nominal.WriteString("@data\n" + strings.Repeat("{1 b}\n", 20_000))
	wide := strings.Repeat("a,b,c,d\n", 1) + strings.Repeat("1,2,3,4\n", 5000)
	for name, test := range map[string]struct {
		file, text string
		memory     int64
	}{
		"json lines":  {"x.jsonl", lines.String(), 0},
		"sparse arff": {"x.arff", nominal.String(), 0},
		"json lines of other keys": {"x.jsonl", func() string { // 280 kB took 900 MB
			var b strings.Builder
			for i := range 1000 {
				for j := range 35 {
					fmt.Fprintf(&b, "%c\"%x\":1", "{,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"[j], 35*i+j)
				}
				b.WriteString("}\n")
			}
			return b.String()
		}(), 512 << 20},
		"csv": {"x.csv", wide, 10_000},
		"dictionary": {"x.csv", "name,n\n" + func() (s string) {
			var b strings.Builder
			for i := range 5000 {
				fmt.Fprintf(&b, "a very long name of number %d,1\n", i)
			}
			return b.String()
		}(), 150_000},
	} {
		start := time.Now()
		_, _, err := read(t, test.file, test.text, Options{Memory: test.memory})
		if err == nil || !strings.Contains(err.Error(), "of memory, and") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
	_, _, err := read(t, "x.csv", wide, Options{Memory: 10_000})
	var over *MemoryError
	if !errors.As(err, &over) || over.Allowed != 10_000 || over.Need != 2*160_000+40_000+8*1024 || over.Columns != 4 { // the block, its text and the table
		t.Errorf("%v", err)
	}
	if _, _, err := read(t, "x.csv", wide, Options{Memory: 1 << 20}); err != nil {
		t.Error(err)
	}
}

// TestHeaderIsLinear: a megabyte of quotes inside an unquoted header took half
// a minute.
func TestHeaderIsLinear(t *testing.T) {
	text := strings.Repeat(`a"`, 1<<19) + ",b\nx,1\n"
	start := time.Now()
	got, _ := mustRead(t, "x.csv", text, Options{})
	if took := time.Since(start); took > 5*time.Second || len(got.Columns) != 2 {
		t.Errorf("%v for a header of a megabyte", took)
	}
}

// TestManyValues: codes of nominal cells do not overflow above 65,536 values.
func TestManyValues(t *testing.T) {
	var s strings.Builder
	s.WriteString("id,y\n")
	const n = 70_000
	for i := range n {
		fmt.Fprintf(&s, "v%d,%d\n", i, i%2)
	}
	got, _ := mustRead(t, "x.csv", s.String(), Options{Nominal: []string{"id"}})
	values := got.Schema.Attributes[0].Values
	if len(values) != n || slices.Max(got.Columns[0].Codes) != n-1 {
		t.Fatalf("%d values", len(values))
	}
	for _, row := range []int{0, 65_535, 65_536, 65_537, n - 1} {
		if got.Text(row, 0) != fmt.Sprint("v", row) {
			t.Errorf("row %d is %s", row, got.Text(row, 0))
		}
	}
}
