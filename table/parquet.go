package table

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime/debug"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile reads Parquet files with flat columns. The file says what a
// column is: numbers and decimals are numeric, dates and timestamps are dates,
// true and false are names; texts are cells as if they stood in a CSV file.
type parquetFile struct {
	ctx     context.Context
	fields  []*field
	kinds   []parquetKind
	cursors []cursor
	batch   *batch
	rows    int // in a batch
	tuning  tuning
	total   int64 // rows that the file says it has
	done    int64 // rows read
	size    int64 // bytes of the input
}

// parquetKind is what the values of a column are.
type parquetKind struct {
	state  state // number, date or text
	number func(v parquet.Value) float64
	text   func(v parquet.Value) []byte
}

// errParquet begins what is said of files that cannot be decoded.
var errParquet = errors.New("is damaged or no Parquet file")

// guard turns a panic of the decoder, which trusts what it reads, into an
// error. A wild pointer becomes a panic first.
func guard(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w (%v); write it again", errParquet, cause)
	}
}

// beginParquet opens the file and starts the flow.
func (s *reading) beginParquet(ctx context.Context) error {
	r, size, err := s.randomAccess()
	if err != nil {
		return s.named(err)
	}
	f, err := openParquet(r, size)
	if err != nil {
		return s.named(err)
	}
	leaves := f.Root().Columns()
	if len(leaves) == 0 {
		return s.named(errors.New("has no columns"))
	}
	names := make([]string, len(leaves))
	for i, leaf := range leaves {
		names[i] = leaf.Name()
		if !goodText([]byte(names[i])) {
			return s.named(fmt.Errorf("the name of column %d is not UTF-8 text; write the file again", i+1))
		}
	}
	fields, err := s.nameFields(names)
	if err != nil {
		return err
	}
	p := &parquetFile{
		ctx: ctx, fields: fields, kinds: make([]parquetKind, len(leaves)), cursors: make([]cursor, len(leaves)),
		rows: max(1, min(1<<14, (1<<20)/len(leaves))), tuning: s.plan.options.tuning, total: f.NumRows(), size: s.in.size,
	}
	if s.plan.options.tuning.block < p.rows {
		p.rows = s.plan.options.tuning.block
	}
	for i, leaf := range leaves {
		if fields[i].how == skip {
			continue
		}
		if p.kinds[i], err = kindOfParquet(leaf); err != nil {
			return s.named(fmt.Errorf("column %q %w, or leave it out with --ignore", names[i], err))
		}
		if fields[i].how == auto {
			switch p.kinds[i].state {
			case number:
				fields[i].how = asNumbers
			case date:
				fields[i].how = asDates
			}
		}
		if err := checkPages(r, size, f, leaf.Index()); err != nil {
			return s.named(fmt.Errorf("column %q %w", names[i], err))
		}
		p.cursors[i].pages = leaf.Pages()
	}
	p.batch = &batch{columns: p.columns(), values: make([][]parquet.Value, len(leaves))}
	s.source, s.flow = p, p
	return nil
}

// randomAccess returns the content for reading in any order: the input
// itself if it allows that, else a copy.
func (s *reading) randomAccess() (io.ReaderAt, int64, error) {
	if r, ok := s.in.raw.(io.ReaderAt); ok && s.in.seek != nil && s.content.packing == "" {
		return io.NewSectionReader(r, s.in.begin, s.in.size), s.in.size, nil
	}
	copied := &spool{}
	s.in.close = append(s.in.close, copied.Close)
	if _, err := io.Copy(copied, s.content); err != nil {
		return nil, 0, err
	}
	return copied.at()
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
	if _, err := r.ReadAt(end[:], max(0, size-int64(len(end)))); err != nil || int64(binary.LittleEndian.Uint32(end[:])) > size-int64(len(end)) {
		return nil, fmt.Errorf("%w (no footer); write it again", errParquet)
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
			return errors.New("is packed with LZ4, which is not read; write it with zstd or snappy, or leave it out with --ignore")
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

// kindOfParquet says how the values of a column are to be read.
func kindOfParquet(leaf *parquet.Column) (kind parquetKind, err error) {
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
		return numeric(date, func(v parquet.Value) float64 { return float64(v.Int32()) }), nil
	case *format.TimestampType:
		day, err := unitsPerDay(l.Unit)
		return numeric(date, func(v parquet.Value) float64 { return days(v.Int64(), day) }), err
	case *format.TimeType:
		day, err := unitsPerDay(l.Unit)
		return numeric(number, func(v parquet.Value) float64 { return float64(integer(v)) / float64(day/86400) }), err
	case *format.DecimalType:
		if l.Scale < 0 || l.Scale > 1000 {
			return kind, fmt.Errorf("has decimals of scale %d, which are not read; write it as numbers", l.Scale)
		}
		return numeric(number, decimal(l.Scale)), nil
	case *format.IntType:
		if !l.IsSigned {
			return numeric(number, unsigned), nil
		}
	case *format.UUIDType:
		return names(func(v parquet.Value) []byte { return []byte(hex.EncodeToString(v.ByteArray())) }), nil
	case *format.Float16Type, *format.BsonType, *format.GeometryType, *format.GeographyType, *format.VariantType:
		return kind, fmt.Errorf("is of type %v, which is not read; write it as numbers or text", t)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return names(func(v parquet.Value) []byte {
			if v.Boolean() {
				return []byte("true")
			}
			return []byte("false")
		}), nil
	case parquet.Int32, parquet.Int64:
		return numeric(number, func(v parquet.Value) float64 { return float64(integer(v)) }), nil
	case parquet.Int96:
		return numeric(date, julian), nil
	case parquet.Float:
		return numeric(number, func(v parquet.Value) float64 { return float64(v.Float()) }), nil
	case parquet.Double:
		return numeric(number, parquet.Value.Double), nil
	}
	return names(parquet.Value.ByteArray), nil
}

func numeric(s state, f func(v parquet.Value) float64) parquetKind {
	return parquetKind{state: s, number: f}
}

func names(f func(v parquet.Value) []byte) parquetKind { return parquetKind{state: text, text: f} }

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unsigned(v parquet.Value) float64 {
	if v.Kind() == parquet.Int32 {
		return float64(v.Uint32())
	}
	return float64(v.Uint64())
}

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
func julian(v parquet.Value) float64 {
	t := v.Int96()
	nanos := int64(uint64(t[0]) | uint64(t[1])<<32)
	return float64(int64(t[2])-2440588) + float64(nanos)/86400e9
}

// decimal returns the reader of integers that stand for 10^-scale.
func decimal(scale int32) func(v parquet.Value) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	divide := func(unscaled *big.Int) float64 {
		x, _ := new(big.Rat).SetFrac(unscaled, power).Float64()
		return x
	}
	return func(v parquet.Value) float64 {
		if kind := v.Kind(); kind == parquet.Int32 || kind == parquet.Int64 {
			n := integer(v)
			if scale < int32(len(pow10)) && -1<<53 <= n && n <= 1<<53 {
				return float64(n) / pow10[scale]
			}
			return divide(big.NewInt(n))
		}
		return divide(twosComplement(v.ByteArray()))
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

// cursor reads the values of a column one batch after the other, across
// pages and row groups.
type cursor struct {
	pages  parquet.Pages
	values parquet.ValueReader
}

// read fills the buffer, less only at the end of the column.
func (c *cursor) read(buffer []parquet.Value) (n int, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for n < len(buffer) {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, fmt.Errorf("%w (%v); write it again", errParquet, err)
			}
			c.values = page.Values()
		}
		got, err := c.values.ReadValues(buffer[n:])
		n += got
		if err == io.EOF {
			c.values = nil
		} else if err != nil {
			return n, fmt.Errorf("%w (%v); write it again", errParquet, err)
		} else if got == 0 {
			return n, fmt.Errorf("%w (a page without end); write it again", errParquet)
		}
	}
	return n, nil
}

// The methods of a flow. Columns are decoded and typed side by side.

func (p *parquetFile) next() (*batch, error) {
	b := p.batch
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	errs := make([]error, len(p.cursors))
	p.each(func(i int) {
		if cap(b.values[i]) < p.rows {
			b.values[i] = make([]parquet.Value, p.rows)
		}
		n, err := p.cursors[i].read(b.values[i][:p.rows])
		b.values[i], errs[i] = b.values[i][:n], err
	})
	b.lines = -1
	for i := range p.cursors {
		if p.cursors[i].pages == nil {
			continue
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		if n := len(b.values[i]); b.lines < 0 {
			b.lines = n
		} else if n != b.lines {
			return nil, fmt.Errorf("%w (columns differ in length); write it again", errParquet)
		}
	}
	if b.lines <= 0 {
		return nil, io.EOF
	}
	b.run(p)
	p.done += int64(b.lines)
	if p.total > 0 {
		b.read = int64(float64(p.size) * min(1, float64(p.done)/float64(p.total)))
	}
	return b, nil
}

// each calls work for every column that is wanted, on all cores.
func (p *parquetFile) each(work func(i int)) {
	var group sync.WaitGroup
	columns := make(chan int, len(p.fields))
	for i := range p.fields {
		if p.cursors[i].pages != nil {
			columns <- i
		}
	}
	close(columns)
	for range min(p.tuning.workers, len(columns)) {
		group.Go(func() {
			for i := range columns {
				work(i)
			}
		})
	}
	group.Wait()
}

func (p *parquetFile) release(*batch) {}

func (p *parquetFile) stop() {
	for i := range p.cursors {
		if pages := p.cursors[i].pages; pages != nil {
			pages.Close()
		}
	}
}

// The methods of a source.

func (p *parquetFile) cut([]byte) int { return 0 }

func (p *parquetFile) eol() byte { return 0 }

func (p *parquetFile) columns() []cells {
	columns := make([]cells, len(p.fields))
	for i, f := range p.fields {
		columns[i].field = f
	}
	return columns
}

func (p *parquetFile) parse(b *batch) *problem {
	b.rows = b.lines
	problems := make([]*problem, len(p.fields))
	p.each(func(i int) {
		if c := &b.columns[i]; !c.idle {
			problems[i] = p.kinds[i].addAll(c, b.values[i])
		}
	})
	var first *problem
	for _, problem := range problems {
		if problem != nil && (first == nil || problem.place < first.place) {
			first = problem
		}
	}
	return first
}

// addAll takes the values of a batch.
func (k *parquetKind) addAll(c *cells, values []parquet.Value) (p *problem) {
	row := 0
	defer func() {
		if cause := recover(); cause != nil {
			p = &problem{row, fmt.Sprintf("column %q: the file is damaged (%v); write it again", c.field.name, cause)}
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for ; row < len(values); row++ {
		var f fault
		v := values[row]
		switch {
		case v.IsNull():
			f = c.add(nil, row)
		case k.state == text:
			f = c.add(k.text(v), row)
		default:
			f = c.addFloat(k.number(v), k.state, row)
		}
		if f != fine {
			return &problem{row, f.say(c.field.name, []byte(fmt.Sprint(v)))}
		}
	}
	return nil
}
