// Package parquet reads Parquet files with flat columns into tables. It is
// apart from package table because its decoder and codecs are large: a program
// that imports it, for its effect alone, reads such files wherever it reads
// tables.
//
//	import _ "github.com/accrete-ml/accrete/table/parquet"
package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime/debug"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

func init() {
	table.RegisterFormat(table.Format{Name: "parquet", Extensions: []string{".parquet", ".pq"}, Magic: "PAR1", Open: open, Write: write})
}

// file is a Parquet file with flat columns. The file says what a column is:
// numbers and decimals are numeric, dates and timestamps are dates, true and
// false are names; texts are cells as if they stood in a CSV file.
type file struct {
	r       io.ReaderAt
	size    int64
	f       *parquet.File
	leaves  []*parquet.Column
	kinds   []columnKind
	cursors []cursor
}

// columnKind is what the values of a column are, and how those of a page or
// of a dictionary are read.
type columnKind struct {
	values  table.Values
	numbers numbersReader
	text    func(from encoding.Values) func(i int) []byte
}

// numbersReader returns n numbers from one on. They are in the room that it
// is given, or where the values are.
type numbersReader func(room []float64, from encoding.Values, at, n int) []float64

// errParquet begins what is said of files that cannot be decoded.
var errParquet = errors.New("is damaged or no Parquet file")

// guard turns a panic of the decoder, which trusts what it reads, into an
// error. A wild pointer becomes a panic first.
func guard(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w (%v); write it again", errParquet, cause)
	}
}

// open reads the footer.
func open(r io.ReaderAt, size int64) (table.Columnar, error) {
	f, err := openParquet(r, size)
	if err != nil {
		return nil, err
	}
	leaves := f.Root().Columns()
	return &file{r, size, f, leaves, make([]columnKind, len(leaves)), make([]cursor, len(leaves))}, nil
}

// Names returns the columns' names.
func (p *file) Names() []string {
	names := make([]string, len(p.leaves))
	for i, leaf := range p.leaves {
		names[i] = leaf.Name()
	}
	return names
}

// Rows returns the rows that the footer counts.
func (p *file) Rows() int64 { return p.f.NumRows() }

// Want prepares a column to be read.
func (p *file) Want(i int) (table.Values, error) {
	leaf := p.leaves[i]
	kind, err := kindOf(leaf)
	if err != nil {
		return 0, remedy.New(remedy.Remedy{Kind: remedy.LeaveOut}, "%w", err)
	}
	if err := checkPages(p.r, p.size, p.f, leaf.Index()); err != nil {
		return 0, err
	}
	p.kinds[i] = kind
	c := cursor{level: byte(leaf.MaxDefinitionLevel())}
	for _, group := range p.f.RowGroups() {
		c.chunks = append(c.chunks, group.ColumnChunks()[leaf.Index()])
	}
	p.cursors[i] = c
	return kind.values, nil
}

// Read goes on to the next rows of a column.
func (p *file) Read(i, most int) (int, error) { return p.cursors[i].read(most) }

// Fill gives them to cells.
func (p *file) Fill(i int, to *table.Cells) { p.cursors[i].addTo(to, &p.kinds[i]) }

// Close gives back what is held.
func (p *file) Close() {
	for i := range p.cursors {
		c := &p.cursors[i]
		c.release()
		c.chunks = nil
		c.closePages()
	}
}

func openParquet(r io.ReaderAt, size int64) (f *parquet.File, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if size == 0 {
		return nil, errors.New("is empty; expected a Parquet file")
	}
	// The decoder makes room for a footer of the size that is said at the
	// end of the file, whatever it is.
	var end [8]byte
	last := size - int64(len(end))
	_, err = r.ReadAt(end[:], max(0, last))
	footer := int64(binary.LittleEndian.Uint32(end[:]))
	if err != nil || footer > last {
		return nil, fmt.Errorf("%w (no footer); write it again", errParquet)
	}
	if err := believable(bufio.NewReader(io.NewSectionReader(r, last-footer, footer)), footer); err != nil {
		return nil, err
	}
	f, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w (%v); write it again", errParquet, err)
	}
	return f, nil
}

// checkPages compares what the headers of a column's pages say with what the
// footer says, for the decoder makes room for as much as they ask.
func checkPages(r io.ReaderAt, size int64, f *parquet.File, column int) (err error) {
	defer guard(&err)
	for _, group := range f.Metadata().RowGroups {
		m := &group.Columns[column].MetaData
		if m.Codec == format.Lz4Raw || m.Codec == format.Lz4 {
			// Its decoder tries ever more room when the data are damaged.
			return remedy.New(remedy.Remedy{Kind: remedy.LeaveOut}, "is packed with LZ4, which is not read; write it with zstd or snappy")
		}
		at := m.DataPageOffset
		if dictionary := m.DictionaryPageOffset; dictionary > 0 && dictionary < at {
			at = dictionary
		}
		end := at + m.TotalCompressedSize
		if at < 0 || end < at || end > size || m.NumValues != group.NumRows {
			return fmt.Errorf("%w (a column does not fit in); write it again", errParquet)
		}
		for values := int64(0); at < end && values < m.NumValues; {
			if err := believable(bufio.NewReaderSize(io.NewSectionReader(r, at, end-at), 512), end-at); err != nil {
				return err
			}
			section := io.NewSectionReader(r, at, end-at)
			buffer := bufio.NewReaderSize(section, 512)
			var page format.PageHeader
			if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(buffer)).Decode(&page); err != nil {
				return fmt.Errorf("%w (%v); write it again", errParquet, err)
			}
			header, _ := section.Seek(0, io.SeekCurrent)
			at += header - int64(buffer.Buffered()) + int64(page.CompressedPageSize)
			in := int64(max(page.DataPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues))
			values += in
			if page.CompressedPageSize < 0 || at > end || in > m.NumValues || int64(page.UncompressedPageSize) > m.TotalUncompressedSize ||
				page.DictionaryPageHeader.V.NumValues > page.UncompressedPageSize {
				return fmt.Errorf("%w (a page does not fit in); write it again", errParquet)
			}
		}
	}
	return nil
}

// kindOf says how the values of a column are to be read.
func kindOf(leaf *parquet.Column) (kind columnKind, err error) {
	defer guard(&err)
	if !leaf.Leaf() || leaf.Repeated() {
		return kind, errors.New("is nested; write it as flat columns")
	}
	t := leaf.Type()
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.DateType:
		return columnKind{values: table.Dates, numbers: cast((*encoding.Values).Int32)}, nil
	case *format.TimestampType:
		day, err := unitsPerDay(l.Unit)
		return columnKind{values: table.Dates, numbers: mapped((*encoding.Values).Int64, func(x int64) float64 { return days(x, day) })}, err
	case *format.TimeType:
		day, err := unitsPerDay(l.Unit)
		return columnKind{values: table.Numbers, numbers: integers(t, func(x int64) float64 { return float64(x) / float64(day/86400) })}, err
	case *format.DecimalType:
		if l.Scale < 0 || l.Scale > 1000 {
			return kind, fmt.Errorf("has decimals of scale %d, which are not read; write it as numbers", l.Scale)
		}
		return columnKind{values: table.Numbers, numbers: decimals(t, l.Scale)}, nil
	case *format.IntType:
		switch {
		case l.IsSigned:
		case t.Kind() == parquet.Int32:
			return columnKind{values: table.Numbers, numbers: cast((*encoding.Values).Uint32)}, nil
		default:
			return columnKind{values: table.Numbers, numbers: cast((*encoding.Values).Uint64)}, nil
		}
	case *format.UUIDType:
		return columnKind{values: table.Texts, text: hexadecimal}, nil
	case *format.Float16Type, *format.BsonType, *format.GeometryType, *format.GeographyType, *format.VariantType:
		return kind, fmt.Errorf("is of type %v, which is not read; write it as numbers or text", t)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return columnKind{values: table.Texts, text: booleans}, nil
	case parquet.Int32:
		return columnKind{values: table.Numbers, numbers: cast((*encoding.Values).Int32)}, nil
	case parquet.Int64:
		return columnKind{values: table.Numbers, numbers: cast((*encoding.Values).Int64)}, nil
	case parquet.Int96:
		return columnKind{values: table.Dates, numbers: mapped((*encoding.Values).Int96, julian)}, nil
	case parquet.Float:
		return columnKind{values: table.Numbers, numbers: cast((*encoding.Values).Float)}, nil
	case parquet.Double:
		return columnKind{values: table.Numbers, numbers: asTheyAre}, nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return columnKind{values: table.Texts, text: byteArrays}, nil
	}
	return columnKind{values: table.Texts, text: nulls}, nil // of a type without values
}

// part returns n elements from one on. It panics where there are not so
// many, even if there is room for them.
func part[T any](s []T, at, n int) []T { return s[:len(s):len(s)][at : at+n] }

func asTheyAre(_ []float64, from encoding.Values, at, n int) []float64 {
	return part(from.Double(), at, n)
}

// cast returns the reader of numbers that only need another type.
func cast[T int32 | int64 | uint32 | uint64 | float32](slice func(*encoding.Values) []T) numbersReader {
	return func(room []float64, from encoding.Values, at, n int) []float64 {
		for i, x := range part(slice(&from), at, n) {
			room[i] = float64(x)
		}
		return room[:n]
	}
}

// mapped returns the reader of values that stand for numbers.
func mapped[T any](slice func(*encoding.Values) []T, number func(T) float64) numbersReader {
	return func(room []float64, from encoding.Values, at, n int) []float64 {
		for i, x := range part(slice(&from), at, n) {
			room[i] = number(x)
		}
		return room[:n]
	}
}

// integers returns the reader of integers of either size.
func integers(t parquet.Type, number func(int64) float64) numbersReader {
	if t.Kind() == parquet.Int32 {
		return mapped((*encoding.Values).Int32, func(x int32) float64 { return number(int64(x)) })
	}
	return mapped((*encoding.Values).Int64, number)
}

func byteArrays(from encoding.Values) func(i int) []byte {
	if from.Kind() == encoding.FixedLenByteArray {
		data, size := from.FixedLenByteArray()
		return func(i int) []byte { return part(data, i*size, size) }
	}
	data, offsets := from.ByteArray()
	return func(i int) []byte { return data[offsets[i]:offsets[i+1]] }
}

// hexadecimal returns texts that are valid until the next one.
func hexadecimal(from encoding.Values) func(i int) []byte {
	array := byteArrays(from)
	var room []byte
	return func(i int) []byte {
		room = hex.AppendEncode(room[:0], array(i))
		return room
	}
}

func booleans(from encoding.Values) func(i int) []byte {
	bits, names := from.Boolean(), [2][]byte{[]byte("false"), []byte("true")}
	return func(i int) []byte { return names[bits[i/8]>>(i%8)&1] }
}

func nulls(encoding.Values) func(i int) []byte { return func(int) []byte { return nil } }

func unitsPerDay(unit format.TimeUnit) (int64, error) {
	if unit.Value == nil {
		return 1, errors.New("has times without a unit; write the file again")
	}
	return 86400e9 / int64(unit.Value.Duration()), nil
}

// days divides units of time since 1970 into whole days and a fraction.
func days(units, perDay int64) float64 {
	whole := units / perDay
	if units%perDay < 0 {
		whole--
	}
	return float64(whole) + float64(units-whole*perDay)/float64(perDay)
}

// julian reads the old timestamps of twelve bytes: nanoseconds of the day,
// and the Julian day number.
func julian(t deprecated.Int96) float64 {
	nanos := int64(uint64(t[0]) | uint64(t[1])<<32)
	return float64(int64(t[2])-2440588) + float64(nanos)/86400e9
}

// decimals returns the reader of integers that stand for 10^-scale.
func decimals(t parquet.Type, scale int32) numbersReader {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	divide := func(unscaled *big.Int) float64 {
		x, _ := new(big.Rat).SetFrac(unscaled, power).Float64()
		return x
	}
	if kind := t.Kind(); kind == parquet.Int32 || kind == parquet.Int64 {
		return integers(t, func(n int64) float64 {
			if scale <= 22 && -1<<53 <= n && n <= 1<<53 {
				return float64(n) / math.Pow10(int(scale))
			}
			return divide(big.NewInt(n))
		})
	}
	return func(room []float64, from encoding.Values, at, n int) []float64 {
		array := byteArrays(from)
		for i := range n {
			room[i] = divide(twosComplement(array(at + i)))
		}
		return room[:n]
	}
}

// twosComplement reads a big-endian signed integer of any length.
func twosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// cursor goes through the pages of a column one batch after the other, across
// row groups.
type cursor struct {
	chunks []parquet.ColumnChunk // of the row groups that come
	pages  parquet.Pages         // of the one that is read, or nil
	level  byte                  // the definition level of values that are not null
	spans  []span                // the rows of the batch
	rest   span                  // the rows of the last page that are not in it
	room   []float64

	// What the values of the dictionary met last stand for.
	dictionary parquet.Dictionary
	numbers    []float64
	codes      []int32 // in the batch, or notYet
}

// notYet is where the code of a name will be once the name is met.
const notYet = table.Unseen - 1

// span is a run of rows of a page.
type span struct {
	page       parquet.Page
	dictionary parquet.Dictionary // nil if there is none
	values     encoding.Values    // of the page, or indexes into its dictionary; nulls have none
	levels     []byte             // of the rows; nil if none is null
	from, rows int                // in the page
	at, known  int                // in values
}

// take cuts off the first rows.
func (s *span) take(most int, level byte) span {
	head := *s
	head.rows = min(most, s.rows)
	head.known = head.rows
	if s.levels != nil {
		head.levels, s.levels = s.levels[:head.rows], s.levels[head.rows:]
		if head.known = bytes.Count(head.levels, []byte{level}); head.known == head.rows {
			head.levels = nil
		}
	}
	s.from, s.rows, s.at = s.from+head.rows, s.rows-head.rows, s.at+head.known
	return head
}

// value returns the value of a row, for messages.
func (s *span) value(row int) parquet.Value {
	var v [1]parquet.Value
	row += s.from
	s.page.Slice(int64(row), int64(row)+1).Values().ReadValues(v[:])
	return v[0]
}

// read goes on to the next rows, fewer than most only at the end of the
// column, and returns their number.
func (c *cursor) read(most int) (rows int, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c.release()
	for rows < most {
		if c.rest.rows == 0 {
			page, err := c.page()
			if err == io.EOF {
				return rows, nil
			}
			if err != nil {
				return rows, fmt.Errorf("%w (%v); write it again", errParquet, err)
			}
			c.rest = span{page: page, dictionary: page.Dictionary(), values: page.Data(), levels: page.DefinitionLevels(), rows: int(page.NumValues())}
		}
		c.spans = append(c.spans, c.rest.take(most-rows, c.level))
		rows += c.spans[len(c.spans)-1].rows
	}
	return rows, nil
}

// page reads the next page. The pages of a row group are closed before those of
// the next one are opened: as long as they are open, they hold the last one.
func (c *cursor) page() (parquet.Page, error) {
	for {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return nil, io.EOF
			}
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		}
		page, err := c.pages.ReadPage()
		if err != io.EOF {
			return page, err
		}
		c.closePages()
	}
}

func (c *cursor) closePages() {
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

// release gives back the pages that all rows were taken of.
func (c *cursor) release() {
	for i, s := range c.spans {
		if i < len(c.spans)-1 || c.rest.rows == 0 {
			parquet.Release(s.page)
		}
	}
	clear(c.spans)
	c.spans = c.spans[:0]
}

// addTo gives the rows of the batch to its cells.
func (c *cursor) addTo(to *table.Cells, kind *columnKind) {
	defer func() {
		if cause := recover(); cause != nil {
			to.Damaged(cause)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if kind.values == table.Texts {
		c.dictionary = nil // the codes are those of another batch
	}
	for i := range c.spans {
		s := &c.spans[i]
		var taken int
		if kind.values == table.Texts {
			taken = c.addTexts(to, s, kind)
		} else {
			taken = to.AddFloats(c.floats(s, kind), kind.values)
		}
		if taken < s.rows {
			to.Refuse(fmt.Sprint(s.value(taken)))
			return
		}
	}
}

// floats returns the numbers of a span, NaN for null.
func (c *cursor) floats(s *span, kind *columnKind) []float64 {
	c.room = slices.Grow(c.room[:0], s.rows)[:s.rows]
	var known []float64
	if d := s.dictionary; d != nil {
		if d != c.dictionary {
			c.dictionary, c.numbers = d, kind.numbers(make([]float64, d.Len()), d.Page().Data(), 0, d.Len())
		}
		known = c.room[:s.known]
		for i, index := range part(s.values.Int32(), s.at, s.known) {
			known[i] = c.numbers[index]
		}
	} else {
		known = kind.numbers(c.room, s.values, s.at, s.known)
	}
	if s.levels == nil {
		return known
	}
	// From the last one on, each goes to a row that is not before its place.
	next := copy(c.room, known)
	for i := len(s.levels) - 1; i >= 0; i-- {
		if s.levels[i] == c.level {
			next--
			c.room[i] = c.room[next]
		} else {
			c.room[i] = table.NA
		}
	}
	return c.room
}

// addTexts gives the texts of a span to the cells, and returns how many of
// them were taken before one was at fault. Of a dictionary's texts each is
// looked at once.
func (c *cursor) addTexts(to *table.Cells, s *span, kind *columnKind) int {
	values, indexes := s.values, []int32(nil)
	if d := s.dictionary; d != nil {
		if d != c.dictionary {
			c.dictionary = d
			c.codes = slices.Grow(c.codes[:0], d.Len())[:d.Len()]
			for i := range c.codes {
				c.codes[i] = notYet
			}
		}
		values, indexes = d.Page().Data(), part(s.values.Int32(), s.at, s.known)
	}
	value, next := kind.text(values), 0
	for i := range s.rows {
		var cell []byte
		var code *int32
		if s.levels == nil || s.levels[i] == c.level {
			at := s.at + next
			if indexes != nil {
				at = int(indexes[next])
				code = &c.codes[at]
			}
			next++
			if code != nil && *code != notYet {
				to.AddCode(*code)
				continue
			}
			cell = value(at)
		}
		if !to.Add(cell) {
			return i
		}
		if code != nil {
			if last, ok := to.Code(); ok {
				*code = last
			}
		}
	}
	return s.rows
}
