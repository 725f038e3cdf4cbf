package table

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
)

type parquetRow struct {
	Flag    bool      `parquet:"flag"`
	Small   int32     `parquet:"small"`
	Large   int64     `parquet:"large,optional"`
	Count   uint64    `parquet:"count"`
	Byte    uint8     `parquet:"byte"`
	Single  float32   `parquet:"single"`
	Double  *float64  `parquet:"double,optional"`
	Name    *string   `parquet:"name,optional,dict"`
	Digits  string    `parquet:"digits"`
	Day     int32     `parquet:"day,date"`
	Time    time.Time `parquet:"time,timestamp(microsecond)"`
	Clock   int32     `parquet:"clock,time(millisecond)"`
	Price   int64     `parquet:"price,decimal(2:18)"`
	Big     [16]byte  `parquet:"big,decimal(3:38)"`
	ID      [16]byte  `parquet:"id,uuid"`
	Kind    string    `parquet:"kind,enum"`
	Unknown []byte    `parquet:"unknown,optional"`
}

func parquetRows() []parquetRow {
	half, nan := 0.5, math.NaN()
	x, y, empty := "x", "y", ""
	big := func(last ...byte) (b [16]byte) {
		copy(b[16-len(last):], last)
		return b
	}
	minus := [16]byte{}
	for i := range minus {
		minus[i] = 0xff
	}
	return []parquetRow{
		{true, -1, 7, math.MaxUint64, 255, 1.5, &half, &x, "01", 19783, time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC), 1500, 12345, big(1, 0), [16]byte{0xab}, "k", nil},
		{false, 2, 0, 3, 0, float32(math.NaN()), &nan, nil, "2", -1, time.Date(1969, 12, 31, 18, 0, 0, 0, time.UTC), 0, -5, minus, [16]byte{0xab}, "k", nil},
		{true, 3, 9, 4, 1, float32(math.Inf(1)), nil, &y, "3", 0, time.Unix(0, 0), 1, math.MaxInt64, big(), [16]byte{0xab}, "l", nil},
		{true, 3, 9, 4, 1, 0, nil, &empty, "3", 0, time.Unix(0, 0), 1, 0, big(), [16]byte{0xab}, "l", nil},
	}
}

func parquetBytes[T any](tb testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestParquet(t *testing.T) {
	data := parquetBytes(t, parquetRows())
	const types = "flag{false,true} small large count byte single double name{x,y} digits day:date time:date clock price big id{ab000000000000000000000000000000} kind{k,l}"
	const first = " | true -1 7 18446744073709552000 255 1.5 0.5 x 1 2024-03-01 2024-03-01T12:00:00 1.5 123.45 0.256 ab000000000000000000000000000000 k"
	const second = " | false 2 - 3 0 - - - 2 1969-12-31 1969-12-31T18:00:00 0 -0.05 -0.001 ab000000000000000000000000000000 k"
	const third = " | true 3 9 4 1 +Inf - y 3 1970-01-01 1970-01-01 0.001 92233720368547760 0 ab000000000000000000000000000000 l"
	const last = " | true 3 9 4 1 0 - - 3 1970-01-01 1970-01-01 0.001 0 0 ab000000000000000000000000000000 l"
	for _, o := range []Options{{}, {tuning: tuning{block: 1, workers: 3}}, {tuning: tuning{block: 3, workers: 1}}} {
		got, report, err := Read(t.Context(), bytes.NewReader(data), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := types + first + second + third + last; show(got) != want {
			t.Errorf("got  %s\nwant %s", show(got), want)
		}
		if report.Format != "parquet" || report.Bytes != int64(len(data)) || len(report.Hash) != 64 || len(report.Notes) != 1 {
			t.Errorf("%+v", report)
		}
	}
	// From readers that cannot go back, and packed.
	want, _, err := Read(t.Context(), bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []io.Reader{io.MultiReader(bytes.NewReader(data)), bytes.NewReader(packed(t, "gzip", string(data)))} {
		got, _, err := Read(t.Context(), r, Options{Name: "x.parquet.gz"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Error(diff)
		}
	}
}

func TestParquetOptions(t *testing.T) {
	data := parquetBytes(t, parquetRows())
	got, _, err := Read(t.Context(), bytes.NewReader(data), Options{Nominal: []string{"small", "day"}, Numeric: []string{"digits", "time", "large"}, Weight: "byte", Target: "small",
		Ignore: []string{"flag", "count", "single", "double", "name", "clock", "price", "big", "id", "kind", "unknown"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "small{-1,2,3} large digits day{1969-12-31,1970-01-01,2024-03-01} time:date | -1 7 1 2024-03-01 2024-03-01T12:00:00 ×255 | 2 - 2 1969-12-31 1969-12-31T18:00:00 ×0 | 3 9 3 1970-01-01 1970-01-01 ×1 | 3 9 3 1970-01-01 1970-01-01 ×1"; show(got) != want {
		t.Errorf("got  %s\nwant %s", show(got), want)
	}
	schema := &Schema{[]Attribute{{Name: "kind", Kind: Nominal, Values: []string{"l"}}, {Name: "digits", Kind: Numeric}, {Name: "day", Kind: Numeric, Date: true}, {Name: "small", Kind: Nominal, Values: []string{"2", "3"}}}}
	got, _, err = Read(t.Context(), bytes.NewReader(data), Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if want := "kind{l} digits day:date small{2,3} | (unseen) 1 2024-03-01 (unseen) | (unseen) 2 1969-12-31 2 | l 3 1970-01-01 3 | l 3 1970-01-01 3"; show(got) != want {
		t.Errorf("got  %s\nwant %s", show(got), want)
	}
	for _, test := range []struct {
		schema Attribute
		want   string
	}{
		{Attribute{Name: "kind", Kind: Numeric}, `x: row 1: column "kind": "k" is not a number`},
		{Attribute{Name: "day", Kind: Numeric}, `x: row 1: column "day": "19783" is not a number`},
		{Attribute{Name: "small", Kind: Numeric, Date: true}, `x: row 1: column "small": "-1" is not a date`},
	} {
		_, _, err = Read(t.Context(), bytes.NewReader(data), Options{Name: "x", Schema: &Schema{[]Attribute{test.schema}}})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if _, _, err = Read(t.Context(), bytes.NewReader(data), Options{Name: "x", Weight: "small"}); err == nil || !strings.HasPrefix(err.Error(), `x: row 1: column "small": "-1" is not a weight`) {
		t.Error(err)
	}
}

// Texts that begin as numbers and turn out to be names are read again.
func TestParquetLateNames(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
		B int64  `parquet:"b"`
		C string `parquet:"c"`
	}
	rows := make([]row, 40000)
	for i := range rows {
		rows[i] = row{"01", int64(i), "x"}
	}
	rows[len(rows)-1].A = "x"
	rows[0].C = "7"
	data := parquetBytes(t, rows, parquet.MaxRowsPerRowGroup(7000), parquet.Compression(&parquet.Zstd))
	var heard int
	got, _, err := Read(t.Context(), bytes.NewReader(data), Options{Progress: func(f float64) { heard++ }})
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Schema.Attributes; got.Rows() != len(rows) || a[0].Kind != Nominal || got.Text(5, 0) != "01" || got.Text(39999, 0) != "x" || got.Text(39999, 1) != "39999" || got.Text(0, 2) != "7" || heard == 0 {
		t.Errorf("%d rows of %+v", got.Rows(), a)
	}
	s, err := NewStream(t.Context(), bytes.NewReader(data), Options{Schema: got.Schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(got, gather(t, s), same); diff != "" {
		t.Error("the stream differs from the whole")
	}
}

func TestParquetOldTimestamps(t *testing.T) {
	type row struct {
		T deprecated.Int96 `parquet:"t"`
	}
	noon := int64(12 * 3600 * 1e9)
	data := parquetBytes(t, []row{{deprecated.Int96{uint32(noon), uint32(noon >> 32), 2440588 + 19783}}})
	got, _, err := Read(t.Context(), bytes.NewReader(data), Options{})
	if err != nil || show(got) != "t:date | 2024-03-01T12:00:00" {
		t.Error(got, err)
	}
}

func TestBadParquet(t *testing.T) {
	type nested struct {
		A int64            `parquet:"a"`
		B []int64          `parquet:"b"`
		C struct{ D int }  `parquet:"c"`
		E map[string]int64 `parquet:"e"`
	}
	data := parquetBytes(t, []nested{{1, []int64{2}, struct{ D int }{3}, nil}})
	_, _, err := Read(t.Context(), bytes.NewReader(data), Options{Name: "x"})
	if want := `x: column "b" is nested; write it as flat columns, or leave it out with --ignore`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	good := parquetBytes(t, parquetRows())
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, "x.parquet: is empty; expected a Parquet file"},
		{[]byte("PAR1"), "x.parquet: is damaged or no Parquet file"},
		{[]byte("a,b\n1,2\n3,4\n"), "x.parquet: is damaged or no Parquet file"},
		{good[:len(good)-1], "x.parquet: is damaged or no Parquet file"},
		{parquetBytes(t, []parquetRow{}), "x.parquet: has a header but no rows; add rows of data"},
	} {
		_, _, err := Read(t.Context(), bytes.NewReader(test.data), Options{Name: "x.parquet"})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	_, _, err = Read(t.Context(), bytes.NewReader(parquetBytes(t, parquetRows(), parquet.Compression(&parquet.Lz4Raw))), Options{Name: "x"})
	if want := `x: column "flag" is packed with LZ4, which is not read; write it with zstd or snappy, or leave it out with --ignore`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	type latin struct {
		A []byte `parquet:"a"`
	}
	_, _, err = Read(t.Context(), bytes.NewReader(parquetBytes(t, []latin{{[]byte("x")}, {[]byte("\xff")}})), Options{Name: "x"})
	if want := `x: row 2: column "a": a cell is not UTF-8 text`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A bit that is wrong anywhere makes an error or a table, nothing worse.
func TestDamagedParquet(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd} {
		good := parquetBytes(t, parquetRows(), parquet.Compression(codec))
		for i := 0; i < len(good); i += 13 {
			data := bytes.Clone(good)
			data[i] ^= 1 << (i % 8)
			got, _, err := Read(t.Context(), bytes.NewReader(data), Options{Name: "x.parquet"})
			if err == nil {
				if _, err := New(got.Schema, got.Columns, got.Weights); err != nil {
					t.Fatal(err)
				}
			} else if !strings.HasPrefix(err.Error(), "x.parquet: ") {
				t.Fatal(err)
			}
		}
	}
}

// FuzzParquet meets damaged files with errors, or with the same table
// whatever the size of batches.
func FuzzParquet(f *testing.F) {
	good := parquetBytes(f, parquetRows(), parquet.Compression(&parquet.Snappy))
	f.Add(good)
	type small struct {
		A int64  `parquet:"a"`
		B string `parquet:"b,dict"`
	}
	f.Add(parquetBytes(f, []small{{1, "x"}, {2, "y"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		_, _, err := Read(t.Context(), bytes.NewReader(data), Options{Name: "x.parquet"})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("error of several lines: %q", err)
		}
	})
}
