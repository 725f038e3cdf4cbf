package database

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/scratch"
	"github.com/accrete-ml/accrete/table"
)

// Rows takes the rows of a query from a driver, cell by cell, and hands them
// over in blocks. A driver that is faster than who reads waits.
type Rows struct {
	ctx     context.Context
	columns []Column
	block   *block
	full    chan *block
	free    chan *block
	most    int // rows of a block
	sum     *sum
	done    int64 // rows
	bytes   int64
	aside   io.Writer // of rows that are only copied, or nil
}

// block is rows by column.
type block struct {
	rows  int
	cells []cells
}

// cells are the values of a column: numbers, NaN for missing ones, or texts.
type cells struct {
	floats []float64
	text   []byte
	ends   []int // of texts in text; below 0 if missing
	odd    []odd // texts where numbers are expected
}

type odd struct {
	row  int
	text string
}

// Number takes a number, or a date in days, NaN for a missing one.
func (r *Rows) Number(column int, x float64) {
	c := &r.block.cells[column]
	c.floats = append(c.floats, x)
}

// Text takes a text.
func (r *Rows) Text(column int, text []byte) {
	c := &r.block.cells[column]
	c.text = append(c.text, text...)
	c.ends = append(c.ends, len(c.text))
}

// Odd takes a text where a number or a date is expected, as files of SQLite may
// have it.
func (r *Rows) Odd(column int, text string) {
	c := &r.block.cells[column]
	c.odd = append(c.odd, odd{len(c.floats), text})
	c.floats = append(c.floats, math.NaN())
}

// Null takes a missing cell.
func (r *Rows) Null(column int) {
	if v := r.columns[column].Values; v == table.Numbers || v == table.Dates {
		r.Number(column, math.NaN())
		return
	}
	c := &r.block.cells[column]
	c.ends = append(c.ends, -1-len(c.text))
}

// End ends a row, which came as these bytes. An error ends the query: nobody
// wants more rows.
func (r *Rows) End(raw []byte) error {
	if r.sum != nil {
		r.sum.add(raw)
	}
	r.bytes += int64(len(raw))
	r.done++
	if r.aside != nil {
		return r.copy(raw)
	}
	if r.block.rows++; r.block.rows < r.most {
		return nil
	}
	return r.hand()
}

// Done is how many rows were taken.
func (r *Rows) Done() int64 { return r.done }

// hand gives the block away, and takes an empty one.
func (r *Rows) hand() error {
	select {
	case r.full <- r.block:
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
	select {
	case r.block = <-r.free:
		r.block.empty()
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
	return nil
}

func (b *block) empty() {
	b.rows = 0
	for i := range b.cells {
		c := &b.cells[i]
		c.floats, c.text, c.ends, c.odd = c.floats[:0], c.text[:0], c.ends[:0], c.odd[:0]
	}
}

// sum adds up the hashes of rows, so that their order does not matter
// (Bellare & Micciancio 1997).
type sum struct {
	total [4]uint64
	rows  uint64
}

func (s *sum) add(raw []byte) {
	h := sha256.Sum256(raw)
	var carry uint64
	for i := range s.total {
		s.total[i], carry = bits.Add64(s.total[i], binary.LittleEndian.Uint64(h[8*i:]), carry)
	}
	s.rows++
}

// of returns the hash of all rows, under their columns, in hexadecimal.
func (s *sum) of(columns []Column) string {
	h := sha256.New()
	for _, c := range columns {
		binary.Write(h, binary.LittleEndian, uint64(len(c.Name)))
		h.Write([]byte(c.Name))
	}
	binary.Write(h, binary.LittleEndian, append(s.total[:], s.rows))
	return hex.EncodeToString(h.Sum(nil))
}

// reader gives the rows of a query by column (table.Columnar).
type reader struct {
	query  *Query
	ctx    context.Context
	cancel context.CancelFunc
	ran    <-chan error // the end of the query; nil before it began

	mu    sync.Mutex
	rows  *Rows
	block *block
	taken int   // blocks
	at    []int // of each column
	err   error
}

// inFlight is how many blocks there are: one is filled while one is read.
const inFlight = 3

func newReader(ctx context.Context, q *Query, sums bool) *reader {
	r := &reader{query: q, at: make([]int, len(q.Columns))}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.rows = &Rows{ctx: r.ctx, columns: q.Columns, full: make(chan *block, inFlight), free: make(chan *block, inFlight)}
	if sums {
		r.rows.sum = &sum{}
	}
	for range inFlight {
		r.rows.free <- &block{cells: make([]cells, len(q.Columns))}
	}
	return r
}

// Names returns the columns' names.
func (r *reader) Names() []string {
	names := make([]string, len(r.query.Columns))
	for i, c := range r.query.Columns {
		names[i] = c.Name
	}
	return names
}

// Rows returns how many rows there will probably be.
func (r *reader) Rows() int64 { return r.query.Rows }

// Want says what the values of a column are.
func (r *reader) Want(column int) (table.Values, error) { return r.query.Columns[column].Values, nil }

// Read goes on to the next block: the first column that asks for it takes it
// for all.
func (r *reader) Read(column, most int) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[column] == r.taken {
		r.next(most)
		r.taken++
	}
	r.at[column] = r.taken
	if r.err != nil || r.block == nil {
		return 0, r.err
	}
	return r.block.rows, nil
}

func (r *reader) next(most int) {
	if r.ran == nil {
		r.rows.most, r.rows.block = most, <-r.rows.free
		r.ran = crew.Go(r.run)
	}
	if r.block != nil {
		r.rows.free <- r.block
		r.block = nil
	}
	b, more := <-r.rows.full
	if more {
		r.block = b
		return
	}
	if r.err = <-r.ran; r.err == nil {
		r.err = r.ctx.Err()
	}
	done := make(chan error, 1)
	done <- r.err
	r.ran = done // whoever asks again hears the same
}

// run lets the driver hand over all rows.
func (r *reader) run() error {
	defer close(r.rows.full)
	if err := r.query.Run(r.ctx, r.rows); err != nil {
		return err
	}
	if r.rows.block.rows > 0 {
		return r.rows.hand()
	}
	return nil
}

// Fill gives the rows of the block to cells.
func (r *reader) Fill(column int, to *table.Cells) {
	c, values := &r.block.cells[column], r.query.Columns[column].Values
	if values != table.Numbers && values != table.Dates {
		c.fillTexts(to)
		return
	}
	at := 0
	for _, o := range c.odd {
		if !fillFloats(to, c.floats[at:o.row], values) {
			return
		}
		if !to.Add([]byte(o.text)) {
			to.Refuse(o.text)
			return
		}
		at = o.row + 1
	}
	fillFloats(to, c.floats[at:], values)
}

func fillFloats(to *table.Cells, xs []float64, values table.Values) bool {
	if n := to.AddFloats(xs, values); n < len(xs) {
		a := table.Attribute{Date: values == table.Dates}
		to.Refuse(a.Format(xs[n]))
		return false
	}
	return true
}

func (c *cells) fillTexts(to *table.Cells) {
	begin := 0
	for _, end := range c.ends {
		if end < 0 {
			to.Add(nil)
			continue
		}
		text := c.text[begin:end]
		begin = end
		if !to.Add(text) {
			to.Refuse(string(text))
			return
		}
	}
}

// Close ends the query.
func (r *reader) Close() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ran == nil {
		return
	}
	for range r.rows.full { // a driver that waits for room goes on, and ends
	}
	err := <-r.ran
	done := make(chan error, 1)
	done <- err
	r.ran = done
}

// Sum returns the hash of the rows, and the bytes that they came as.
func (r *reader) Sum() (string, int64) {
	if r.rows.sum == nil {
		return "", r.rows.bytes
	}
	return r.rows.sum.of(r.query.Columns), r.rows.bytes
}

var _ table.Summed = (*reader)(nil)

// Index returns where a column is, -1 if it is not there.
func (q *Query) Index(name string) int {
	return slices.IndexFunc(q.Columns, func(c Column) bool { return c.Name == name })
}

// copy keeps the bytes of a row aside, after their number.
func (r *Rows) copy(raw []byte) error {
	r.block.empty()
	if r.done%1024 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	var size [4]byte
	binary.LittleEndian.PutUint32(size[:], uint32(len(raw)))
	if _, err := r.aside.Write(size[:]); err != nil {
		return err
	}
	_, err := r.aside.Write(raw)
	return err
}

// stage runs the query once, and returns one that gives the same rows from a file
// without a name, which done removes.
func (q *Query) stage(ctx context.Context) (copied *Query, done func() error, err error) {
	f, err := scratch.New(0)
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	rows := &Rows{ctx: ctx, columns: q.Columns, block: &block{cells: make([]cells, len(q.Columns))}, aside: w}
	if err := errors.Join(q.Run(ctx, rows), w.Flush()); err != nil {
		return nil, f.Close, err
	}
	again := *q
	again.Rows = rows.done
	again.Run = func(_ context.Context, to *Rows) error {
		r := bufio.NewReaderSize(f.Reader(), 1<<18)
		var size [4]byte
		var raw []byte
		for {
			if _, err := io.ReadFull(r, size[:]); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			n := int(binary.LittleEndian.Uint32(size[:]))
			raw = slices.Grow(raw[:0], n)[:n]
			if _, err := io.ReadFull(r, raw); err != nil {
				return err
			}
			if err := q.Decode(to, raw); err != nil {
				return err
			}
		}
	}
	return &again, f.Close, nil
}
