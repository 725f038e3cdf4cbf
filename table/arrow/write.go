package arrow

import (
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// Numbers of Arrow's unions and enumerations.
const (
	version5 = 4

	headSchema     = 1
	headDictionary = 2
	headBatch      = 3

	typeNull      = 1
	typeInt       = 2
	typeFloat     = 3
	typeUtf8      = 5
	typeBool      = 6
	typeDecimal   = 7
	typeDate      = 8
	typeTime      = 9
	typeTimestamp = 10
	typeDuration  = 18
	typeLargeUtf8 = 20
	typeUtf8View  = 24
)

// batchRows are the rows of a batch that is written.
const batchRows = 1 << 16

// write writes comma-separated text with a header line as an Arrow file: int64,
// float64 and utf8 columns, empty cells null.
func write(w io.Writer, columns []table.Written, rows io.Reader) error {
	out := &writer{w: w, columns: columns}
	if err := out.begin(); err != nil {
		return err
	}
	in := csv.NewReader(rows)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := out.row(record); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if out.rows == batchRows {
			if err := out.flush(); err != nil {
				return err
			}
		}
	}
	if out.rows > 0 {
		if err := out.flush(); err != nil {
			return err
		}
	}
	return out.end()
}

// writer is an Arrow file in the making.
type writer struct {
	w       io.Writer
	at      int64
	columns []table.Written
	cells   []column
	rows    int
	blocks  []int64 // where batches are: offset, bytes of metadata, bytes of body
}

// column is the cells of a batch.
type column struct {
	valid []byte
	nulls int64
	ends  []byte // int32, of texts
	data  []byte
}

func (o *writer) put(p []byte) error {
	n, err := o.w.Write(p)
	o.at += int64(n)
	return err
}

func (o *writer) begin() error {
	o.reset()
	if err := o.put([]byte("ARROW1\x00\x00")); err != nil {
		return err
	}
	w := &builder{}
	schema := o.schema(w)
	_, err := o.message(w, headSchema, schema, nil)
	return err
}

func (o *writer) reset() {
	o.rows = 0
	o.cells = make([]column, len(o.columns))
	for i, c := range o.columns {
		if !c.Number && !c.Whole {
			o.cells[i].ends = binary.LittleEndian.AppendUint32(nil, 0)
		}
	}
}

// schema writes the columns.
func (o *writer) schema(w *builder) int {
	fields := make([]int, len(o.columns))
	for i, c := range o.columns {
		name := w.text(c.Name)
		kind, of := typeUtf8, 0
		switch {
		case c.Whole:
			kind = typeInt
			w.begin(2)
			w.set(0, 4, 64)
			w.set(1, 1, 1)
		case c.Number:
			kind = typeFloat
			w.begin(1)
			w.set(0, 2, 2) // double
		default:
			w.begin(0)
		}
		of = w.end()
		children := w.offsets(nil)
		w.begin(6)
		w.point(0, name)
		w.set(1, 1, 1)
		w.set(2, 1, uint64(kind))
		w.point(3, of)
		w.point(5, children)
		fields[i] = w.end()
	}
	list := w.offsets(fields)
	w.begin(2)
	w.point(1, list)
	return w.end()
}

// message writes a message with its body, and returns the bytes of its metadata.
func (o *writer) message(w *builder, kind, head int, body []byte) (int64, error) {
	w.begin(4)
	w.set(3, 8, uint64(len(body)))
	w.point(2, head)
	w.set(0, 2, version5)
	w.set(1, 1, uint64(kind))
	meta := w.finish(w.end())
	for len(meta)%8 != 0 {
		meta = append(meta, 0)
	}
	prefix := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(meta)))
	for _, p := range [][]byte{prefix, meta, body} {
		if err := o.put(p); err != nil {
			return 0, err
		}
	}
	return int64(len(meta) + 8), nil
}

func (o *writer) row(record []string) error {
	if len(record) != len(o.columns) {
		return fmt.Errorf("%d cells of %d columns", len(record), len(o.columns))
	}
	for i, text := range record {
		c, of := &o.cells[i], &o.columns[i]
		if o.rows%8 == 0 {
			c.valid = append(c.valid, 0)
		}
		var bits uint64
		switch {
		case text == "":
			c.nulls++
		case of.Whole:
			x, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("column %q: %q is no whole number", of.Name, text)
			}
			bits = uint64(x)
		case of.Number:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("column %q: %q is no number", of.Name, text)
			}
			bits = bitsOf(x)
		}
		if text != "" {
			c.valid[o.rows/8] |= 1 << (o.rows % 8)
		}
		if of.Whole || of.Number {
			c.data = binary.LittleEndian.AppendUint64(c.data, bits)
			continue
		}
		c.data = append(c.data, text...)
		if len(c.data) > 1<<31-1 {
			return fmt.Errorf("column %q has texts of more than 2 GiB in a batch", of.Name)
		}
		c.ends = binary.LittleEndian.AppendUint32(c.ends, uint32(len(c.data)))
	}
	o.rows++
	return nil
}

// flush writes a batch.
func (o *writer) flush() error {
	var nodes, buffers []int64
	var body []byte
	add := func(p []byte) {
		buffers = append(buffers, int64(len(body)), int64(len(p)))
		body = append(body, p...)
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
	}
	for i := range o.cells {
		c := &o.cells[i]
		nodes = append(nodes, int64(o.rows), c.nulls)
		add(c.valid)
		if c.ends != nil {
			add(c.ends)
		}
		add(c.data)
	}
	w := &builder{}
	of := w.structs(2, buffers)
	list := w.structs(2, nodes)
	w.begin(3)
	w.set(0, 8, uint64(o.rows))
	w.point(1, list)
	w.point(2, of)
	at := o.at
	meta, err := o.message(w, headBatch, w.end(), body)
	o.blocks = append(o.blocks, at, meta, int64(len(body)))
	o.reset()
	return err
}

// end writes the footer.
func (o *writer) end() error {
	if err := o.put([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil {
		return err
	}
	w := &builder{}
	blocks := w.structs(3, o.blocks) // metadata are four bytes, and four of padding
	none := w.structs(3, nil)
	schema := o.schema(w)
	w.begin(4)
	w.point(1, schema)
	w.point(2, none)
	w.point(3, blocks)
	w.set(0, 2, version5)
	footer := w.finish(w.end())
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return o.put(append(footer, "ARROW1"...))
}
