package table_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/accrete-ml/accrete/internal/bounded"
	. "github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/parquet"
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

// TestParquetMemory: what row groups decode to is not held, also where each is one
// page, as DuckDB writes them.
func TestParquetMemory(t *testing.T) {
	type row struct {
		X int32 `parquet:"x,dict"`
	}
	rows := make([]row, 4_000_000) // which take 16 MB decoded, and little in the file
	for i := range rows {
		rows[i].X = int32(i / 50_000 % 2)
	}
	data := parquetBytes(t, rows, parquet.MaxRowsPerRowGroup(50_000), parquet.PageBufferSize(1<<20))
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools are emptied by the second
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	source, err := NewSource(t.Context(), bytes.NewReader(data), Options{Name: "x.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	before := held()
	for read := 0; read < 3_900_000; {
		batch, err := source.Next()
		if err != nil {
			t.Fatal(err)
		}
		read += batch.Rows()
	}
	if more := held() - before; more > 4<<20 {
		t.Errorf("%d KB are held at the end", more>>10)
	}
}

func TestParquet(t *testing.T) {
	data := parquetBytes(t, parquetRows())
	const types = "flag{false,true} small large count byte single double name{x,y} digits day:date time:time clock price big id{ab000000000000000000000000000000} kind{k,l}"
	const first = " | true -1 7 18446744073709552000 255 1.5 0.5 x 1 2024-03-01 2024-03-01T12:00:00 1.5 123.45 0.256 ab000000000000000000000000000000 k"
	const second = " | false 2 - 3 0 - - - 2 1969-12-31 1969-12-31T18:00:00 0 -0.05 -0.001 ab000000000000000000000000000000 k"
	const third = " | true 3 9 4 1 +Inf - y 3 1970-01-01 1970-01-01T00:00:00 0.001 92233720368547760 0 ab000000000000000000000000000000 l"
	const last = " | true 3 9 4 1 0 - - 3 1970-01-01 1970-01-01T00:00:00 0.001 0 0 ab000000000000000000000000000000 l"
	for _, o := range []Options{{}, Tuned(Options{}, 1, 3), Tuned(Options{}, 3, 1)} {
		got, report, err := Read(t.Context(), bytes.NewReader(data), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := types + first + second + third + last; Show(got) != want {
			t.Errorf("got  %s\nwant %s", Show(got), want)
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
	for _, r := range []io.Reader{io.MultiReader(bytes.NewReader(data)), bytes.NewReader(Packed(t, "gzip", string(data)))} {
		got, _, err := Read(t.Context(), r, Options{Name: "x.parquet.gz"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, Same); diff != "" {
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
	if want := "small{-1,2,3} large digits day{1969-12-31,1970-01-01,2024-03-01} time:time | -1 7 1 2024-03-01 2024-03-01T12:00:00 ×255 | 2 - 2 1969-12-31 1969-12-31T18:00:00 ×0 | 3 9 3 1970-01-01 1970-01-01T00:00:00 ×1 | 3 9 3 1970-01-01 1970-01-01T00:00:00 ×1"; Show(got) != want {
		t.Errorf("got  %s\nwant %s", Show(got), want)
	}
	schema := &Schema{Attributes: []Attribute{{Name: "kind", Kind: Nominal, Values: []string{"l"}}, {Name: "digits", Kind: Numeric}, {Name: "day", Kind: Numeric, Date: true}, {Name: "small", Kind: Nominal, Values: []string{"2", "3"}}}}
	got, _, err = Read(t.Context(), bytes.NewReader(data), Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if want := "kind{l} digits day:date small{2,3} | (unseen) 1 2024-03-01 (unseen) | (unseen) 2 1969-12-31 2 | l 3 1970-01-01 3 | l 3 1970-01-01 3"; Show(got) != want {
		t.Errorf("got  %s\nwant %s", Show(got), want)
	}
	for _, test := range []struct {
		schema Attribute
		want   string
	}{
		{Attribute{Name: "kind", Kind: Numeric}, `x: row 1: column "kind": "k" is not a number`},
		{Attribute{Name: "day", Kind: Numeric}, `x: row 1: column "day": "19783" is not a number`},
		{Attribute{Name: "small", Kind: Numeric, Date: true}, `x: row 1: column "small": "-1" is not a date`},
	} {
		_, _, err = Read(t.Context(), bytes.NewReader(data), Options{Name: "x", Schema: &Schema{Attributes: []Attribute{test.schema}}})
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
	if diff := cmp.Diff(got, Gather(t, s), Same); diff != "" {
		t.Error("the stream differs from the whole")
	}
}

// A stream that is closed early leaves its input alone.
func TestParquetClosedStream(t *testing.T) {
	rows, _ := variedRows(5000)
	r := bytes.NewReader(parquetBytes(t, rows))
	s, err := NewStream(t.Context(), r, Tuned(Options{Schema: &Schema{Attributes: []Attribute{{Name: "int", Kind: Numeric}}}}, 10, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r.Reset(nil) // the race detector knows if anyone still reads
	if report := s.Report(); report.Hash != "" {
		t.Errorf("%+v", report)
	}
}

func TestParquetOldTimestamps(t *testing.T) {
	type row struct {
		T deprecated.Int96 `parquet:"t"`
	}
	noon := int64(12 * 3600 * 1e9)
	data := parquetBytes(t, []row{{deprecated.Int96{uint32(noon), uint32(noon >> 32), 2440588 + 19783}}})
	got, _, err := Read(t.Context(), bytes.NewReader(data), Options{})
	if err != nil || Show(got) != "t:time | 2024-03-01T12:00:00" {
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
	if want := `x: column "b" is nested; write it as flat columns; leave out what is not needed`; err == nil || err.Error() != want {
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
	if want := `x: column "flag" is packed with LZ4, which is not read; write it with zstd or snappy; leave out what is not needed`; err == nil || err.Error() != want {
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

// A footer of a few bytes gets no room for what it only claims to have.
func TestParquetClaims(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<24)
	for name, footer := range map[string][]byte{
		"list of columns": slices.Concat([]byte{0x29, 0xfc}, huge),
		"list of groups":  slices.Concat([]byte{0x49, 0xfc}, huge),
		"text":            slices.Concat([]byte{0x68}, huge),
		"lists in lists":  slices.Concat([]byte{0x29}, bytes.Repeat([]byte{0x19}, 60000)),
	} {
		data := slices.Concat([]byte("PAR1"), footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1"))
		bounded.Input(t, len(data), func() {
			_, _, err := Read(t.Context(), bytes.NewReader(data), Options{Name: "x.parquet"})
			if err == nil || !strings.HasPrefix(err.Error(), "x.parquet: is damaged or no Parquet file") {
				t.Errorf("%s: %v", name, err)
			}
		})
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
		defer bounded.Start(t, len(data))()
		if len(data) > 1<<16 {
			return
		}
		_, _, err := Read(t.Context(), bytes.NewReader(data), Options{Name: "x.parquet"})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("error of several lines: %q", err)
		}
	})
}

// variedRow has the ways in which a flat column can be stored.
type variedRow struct {
	Double        float64   `parquet:"double"`
	DoubleDict    float64   `parquet:"double_dict,dict"`
	DoubleSplit   float64   `parquet:"double_split,split"`
	DoubleNull    *float64  `parquet:"double_null,optional"`
	Float         float32   `parquet:"float"`
	FloatNullDict *float32  `parquet:"float_null_dict,optional,dict"`
	Int           int32     `parquet:"int"`
	IntDelta      int32     `parquet:"int_delta,delta"`
	LongNull      *int64    `parquet:"long_null,optional"`
	LongDict      int64     `parquet:"long_dict,dict"`
	Unsigned      uint32    `parquet:"unsigned"`
	UnsignedNull  *uint64   `parquet:"unsigned_null,optional,dict"`
	Bool          bool      `parquet:"bool"`
	BoolNull      *bool     `parquet:"bool_null,optional"`
	Name          string    `parquet:"name"`
	NameDict      string    `parquet:"name_dict,dict"`
	NameDelta     string    `parquet:"name_delta,delta"`
	NameNull      *string   `parquet:"name_null,optional"`
	NameNullDict  *string   `parquet:"name_null_dict,optional,dict"`
	DigitsDict    string    `parquet:"digits_dict,dict"`
	LateDict      string    `parquet:"late_dict,dict"`
	Time          time.Time `parquet:"time,timestamp(millisecond)"`
	Day           int32     `parquet:"day,date,dict"`
	Price         *int64    `parquet:"price,optional,decimal(2:18)"`
	Wide          [16]byte  `parquet:"wide,decimal(1:38),dict"`
	ID            [16]byte  `parquet:"id,uuid"`
}

// variedRows returns rows, and what each cell of them is to be: a float64, or
// a name, or nil.
func variedRows(n int) (rows []variedRow, want [][]any) {
	random := rand.New(rand.NewPCG(7, 7))
	missing := []string{"", "NA", "?", "null"}
	for i := range n {
		x := math.Round(random.NormFloat64()*1e6) / 1e3
		if random.IntN(20) == 0 {
			x = math.NaN()
		}
		few, name, late := random.IntN(5), fmt.Sprintf("n%d", random.IntN(90)), strconv.Itoa(random.IntN(9))
		if random.IntN(10) == 0 {
			name = missing[random.IntN(len(missing))]
		}
		if i == n-1 {
			late = "x"
		}
		r := variedRow{
			Double: x, DoubleDict: float64(few) / 4, DoubleSplit: -x, Float: float32(few) / 2, Int: int32(i) - 100, IntDelta: int32(few) - 2,
			LongDict: int64(few) << 40, Unsigned: math.MaxUint32 - uint32(few), Bool: few > 2, Name: name, NameDict: name, NameDelta: name,
			DigitsDict: fmt.Sprintf("%d.50", few), LateDict: late, Time: time.UnixMilli(int64(few-2) * 43200e3), Day: int32(few) - 2, ID: [16]byte{0: 0xab, 15: byte(few)},
		}
		r.Wide[15] = byte(few)
		cells := []any{x, float64(few) / 4, -x, nil, float64(few) / 2, nil, float64(i) - 100, float64(few) - 2, nil, float64(int64(few) << 40), float64(math.MaxUint32 - few), nil,
			strconv.FormatBool(few > 2), nil, name, name, name, nil, nil, float64(few) + .5, late, float64(few-2) / 2, float64(few - 2), nil, float64(few) / 10, fmt.Sprintf("ab%030x", few)}
		there := func(column int, value any) bool {
			if i/100%3 == 1 || random.IntN(3) == 0 { // also pages of nothing but nulls
				return false
			}
			cells[column] = value
			return true
		}
		if there(3, x) {
			r.DoubleNull = &x
		}
		if f := float32(few); there(5, float64(f)) {
			r.FloatNullDict = &f
		}
		if l := int64(few); there(8, float64(l)) {
			r.LongNull = &l
		}
		if u := uint64(few) << 60; there(11, float64(u)) {
			r.UnsignedNull = &u
		}
		if b := few > 2; there(13, strconv.FormatBool(b)) {
			r.BoolNull = &b
		}
		if there(17, name) {
			r.NameNull = &name
		}
		if there(18, name) {
			r.NameNullDict = &name
		}
		if price := int64(few); there(23, float64(price)/100) {
			r.Price = &price
		}
		rows, want = append(rows, r), append(want, cells)
	}
	return rows, want
}

// Whatever the pages, row groups and batches, each cell is what was written.
func TestParquetCells(t *testing.T) {
	const n = 1200
	rows, want := variedRows(n)
	for _, options := range [][]parquet.WriterOption{
		{},
		{parquet.DataPageVersion(1), parquet.PageBufferSize(512), parquet.Compression(&parquet.Gzip)},
		{parquet.MaxRowsPerRowGroup(333), parquet.PageBufferSize(256), parquet.Compression(&parquet.Snappy)},
		{parquet.MaxRowsPerRowGroup(100), parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd)},
	} {
		data := parquetBytes(t, rows, options...)
		for _, tuning := range [][2]int{{}, {7, 3}, {64, 1}, {333, 2}} {
			got, _, err := Read(t.Context(), bytes.NewReader(data), Tuned(Options{}, tuning[0], tuning[1]))
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows() != n || len(got.Columns) != len(want[0]) {
				t.Fatalf("%d rows of %d columns", got.Rows(), len(got.Columns))
			}
			for r := range n {
				for c, want := range want[r] {
					a, column := &got.Schema.Attributes[c], &got.Columns[c]
					var cell any
					if a.Kind == Numeric {
						if x := column.Floats[r]; !IsMissing(x) {
							cell = x
							if a.Time {
								cell = x / 86400
							}
						}
					} else if code := column.Codes[r]; code != Missing {
						cell = a.Values[code]
					}
					switch w := want.(type) {
					case float64:
						if IsMissing(w) {
							want = nil
						}
					case string:
						if MissingText([]byte(w)) {
							want = nil
						}
					}
					if cell != want {
						t.Fatalf("row %d, column %s: got %v, want %v", r, a.Name, cell, want)
					}
				}
			}
		}
	}
}

// What is wrong with a cell is told with its row, whatever the pages.
func TestBadParquetCells(t *testing.T) {
	type row struct {
		Weight float64  `parquet:"weight"`
		Null   *float64 `parquet:"null,optional"`
		Dict   int64    `parquet:"dict,dict"`
		Text   string   `parquet:"text,dict"`
	}
	one := 1.0
	rows := make([]row, 500)
	for i := range rows {
		rows[i] = row{1, &one, 1, "1"}
	}
	rows[300], rows[400] = row{-2, nil, -3, "x"}, row{-4, nil, -5, "\xff"}
	data := parquetBytes(t, rows, parquet.MaxRowsPerRowGroup(90), parquet.PageBufferSize(128))
	numeric := func(name string) Options {
		return Options{Schema: &Schema{Attributes: []Attribute{{Name: name, Kind: Numeric}}}}
	}
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Weight: "weight"}, `x: row 301: column "weight": "-2" is not a weight`},
		{Options{Weight: "null"}, `x: row 301: column "null": "<null>" is not a weight`},
		{Options{Weight: "dict"}, `x: row 301: column "dict": "-3" is not a weight`},
		{numeric("text"), `x: row 301: column "text": "x" is not a number`},
		{Options{}, `x: row 401: column "text": a cell is not UTF-8 text`},
	} {
		for _, block := range []int{0, 7, 64} {
			test.options.Name = "x"
			test.options = Tuned(test.options, block, 0)
			_, _, err := Read(t.Context(), bytes.NewReader(data), test.options)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		}
	}
}

// BenchmarkReadParquet reads numbers, some of them null, and names out of
// dictionaries, from pages and row groups of the usual size.
func BenchmarkReadParquet(b *testing.B) {
	type row struct {
		X1   float64  `parquet:"x1"`
		X2   float64  `parquet:"x2"`
		X3   *float64 `parquet:"x3,optional"`
		I1   int64    `parquet:"i1"`
		I2   int32    `parquet:"i2,dict"`
		Flag bool     `parquet:"flag"`
		N1   string   `parquet:"n1,dict"`
		N2   string   `parquet:"n2,dict"`
		N3   *string  `parquet:"n3,optional,dict"`
		N4   string   `parquet:"n4"`
	}
	random := rand.New(rand.NewPCG(1, 1))
	rows := make([]row, 200_000)
	for i := range rows {
		x, name := random.NormFloat64(), fmt.Sprintf("value-%d", random.IntN(8))
		rows[i] = row{x, x * x, &x, int64(random.IntN(1e6)), int32(random.IntN(100)), x > 0, name, fmt.Sprintf("value-%d", random.IntN(200)), &name, name}
		if random.IntN(10) == 0 {
			rows[i].X3, rows[i].N3 = nil, nil
		}
	}
	data := parquetBytes(b, rows, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(120_000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		t, _, err := Read(b.Context(), bytes.NewReader(data), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(t.Columns) != 10 {
			b.Fatal(len(t.Columns))
		}
	}
}
