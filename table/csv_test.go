package table

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCells(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"quotes", "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n", `a{x, y} b{say "hi"} | x, y say "hi"`},
		{"line ends inside", "a,b\n\"x\ny\",1\nz,2\n", "a{x\ny,z} b | x\ny 1 | z 2"},
		{"CRLF", "a,b\r\n1,x\r\n\r\n2,y\r\n", "a b{x,y} | 1 x | 2 y"},
		{"CRLF inside quotes stays", "a,b\r\n\"x\r\ny\",1\r\n", "a{x\r\ny} b | x\r\ny 1"},
		{"CR alone", "a,b\r1,x\r\r2,\"y\" \r", "a b{x,y} | 1 x | 2 y"},
		{"byte order mark", "\xef\xbb\xbfa,b\n1,2\n", "a b | 1 2"},
		{"spaces around", "a , b\n 1 ,  x y\t\n 2, \" z \" \n", "a b{ z ,x y} | 1 x y | 2  z "},
		{"quotes inside text", "a,b\n5\" disk,it\"s\n", `a{5" disk} b{it"s} | 5" disk it"s`},
		{"quoted numbers", "a,b\n\"1\",\"2.5\"\n3,\" 4\"\n", "a b | 1 2.5 | 3 4"},
		{"no last line end", "a,b\n1,2", "a b | 1 2"},
		{"blank lines", "\n\na\n\n1\n\n\n2\n\n", "a | 1 | 2"},
		{"quoted nothing is a row", "a\n\"\"\n1\n", "a | - | 1"},
		{"tabs around commas", "a,b\n1\t,\t2\n", "a b | 1 2"},
		{"empty between tabs", "a\tb\tc\n1\t\t3\n", "a c | 1 3"},
		{"last empty", "a,b\n1,\n,2\n", "a b | 1 - | - 2"},
		{"minus alone", "a\n-\n1\n", "a | - | 1"},
		{"many digits", "a\n0.1234567890123456789\n12345678901234567890123\n", "a | 0.12345678901234568 | 1.2345678901234568e+22"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for block := range 20 {
				got, _ := mustRead(t, "x.csv", test.text, Options{tuning: tuning{block: block}})
				if show(got) != test.want {
					t.Fatalf("blocks of %d:\ngot  %q\nwant %q", block, show(got), test.want)
				}
			}
		})
	}
}

// anyCSV draws files that are nearly well formed, so that both cells and
// errors are met.
func anyCSV(t *rapid.T) string {
	cell := rapid.OneOf(
		rapid.SampledFrom([]string{"", "?", "NA", "0", "1", "-2.5", "1e3", "1e999", "inf", "2024-02-29", "2024-02-29T10:00", "x", "yy", "ä", "\"q\"", "\"a,b\"", "\"a\nb\"", "\"a\"\"b\"", " 7 ", "5\"", "01"}),
		rapid.SampledFrom([]string{"1", "2", "3", "4.5"}),
	)
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	width := rapid.IntRange(1, 4).Draw(t, "width")
	var s strings.Builder
	for c := range width {
		if c > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, "k%d", c)
	}
	s.WriteString(eol)
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		w := width
		if rapid.IntRange(0, 40).Draw(t, "ragged") == 0 {
			w++
		}
		for c := range w {
			if c > 0 {
				s.WriteByte(',')
			}
			s.WriteString(cell.Draw(t, "cell"))
		}
		s.WriteString(eol)
	}
	return s.String() + rapid.SampledFrom([]string{"", "", "", "\"", "\"x", "\xff", "1"}).Draw(t, "end")
}

// What is read does not depend on the size of blocks or the number of
// workers, errors and remarks included.
func TestBlocksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := anyCSV(r)
		o := Options{}
		if rapid.Bool().Draw(r, "overrule") {
			o.Numeric = []string{"k0"}
		}
		want, wantReport, wantErr := read(t, "x.csv", text, o)
		o.tuning = tuning{block: rapid.IntRange(1, 60).Draw(r, "block"), workers: rapid.IntRange(1, 4).Draw(r, "workers")}
		got, report, err := read(t, "x.csv", text, o)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			r.Fatalf("%q: error %v, want %v", text, err, wantErr)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			r.Fatalf("%q: %s", text, diff)
		}
		if diff := cmp.Diff(wantReport, report, same); diff != "" {
			r.Fatalf("%q: %s", text, diff)
		}
	})
}

// The table does not depend on the order of rows, but for that order.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cell := rapid.SampledFrom([]string{"", "1", "2", "03", "x", "y"})
		lines := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			return cell.Draw(r, "a") + "," + cell.Draw(r, "b") + ",z"
		}), 2, 10).Draw(r, "lines")
		one, _ := mustRead(t, "x.csv", "a,b,c\n"+strings.Join(lines, "\n"), Options{})
		order := rapid.Permutation(indices(len(lines))).Draw(r, "order")
		moved := make([]string, len(lines))
		for to, from := range order {
			moved[to] = lines[from]
		}
		two, _ := mustRead(t, "x.csv", "a,b,c\n"+strings.Join(moved, "\n"), Options{})
		if diff := cmp.Diff(one.Select(order), two, same); diff != "" {
			r.Fatalf("%q: %s", lines, diff)
		}
	})
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// records splits a text as blocks are cut and parsed: into cells by record.
func records(d dialect, text []byte, block int) (rows [][]string, p *problem) {
	if len(text) > 0 && text[len(text)-1] != d.newline {
		text = append(bytes.Clone(text), d.newline)
	}
	for size := block; len(text) > 0; {
		n := len(text)
		if size < len(text) {
			if n = d.cut(text[:size]); n == 0 {
				size *= 2
				continue
			}
		}
		for data := text[:n]; len(data) > 0; {
			if skip := d.blankLine(data, 0); skip > 0 {
				data = data[skip:]
				continue
			}
			end := d.record(data)
			if end == 0 {
				end = len(data)
			}
			cells, p := d.split(data[:end])
			if p != nil {
				return nil, p
			}
			row := make([]string, len(cells))
			for i, cell := range cells {
				row[i] = string(cell)
			}
			rows = append(rows, row)
			data = data[end:]
		}
		text, size = text[n:], block
	}
	return rows, nil
}

// FuzzCSV reads what encoding/csv can read to the same cells, but for spaces
// around them and for line ends inside quotes, which encoding/csv changes. It
// reads anything to the same table for any size of blocks.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "a;b\n\"x\ny\";\"\"\"\"\n", "\"\n", "a,\"b\"c\n", "a\r\nb\r\n", "a\rb\r", " \"a\" ,b\n", "a\n\"\"\n\n", "\xef\xbb\xbfa\n1", "1e999,x\n2,\n", "a,a,\n1,2,3\n", "\"a\"\"\n,\"\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		defer bounded.Start(t, len(data))()
		d := dialect{',', '\n'}
		r := stdcsv.NewReader(bytes.NewReader(data))
		r.FieldsPerRecord = -1
		if want, err := r.ReadAll(); err == nil {
			got, p := records(d, data, int(block)+1)
			if p != nil {
				t.Fatalf("%q: %v, but encoding/csv reads %q", data, p, want)
			}
			if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
				t.Fatalf("%q: %s", data, diff)
			}
		}
		want, _, wantErr := read(t, "x.csv", string(data), Options{})
		got, _, err := read(t, "x.csv", string(data), Options{tuning: tuning{block: int(block) + 1, workers: 3}})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: error %v, want %v", data, err, wantErr)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// plain leaves out the spaces around cells and what encoding/csv makes of
// line ends.
func plain(rows [][]string) [][]string {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.Trim(strings.ReplaceAll(cell, "\r", ""), " \t")
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return rows
}
