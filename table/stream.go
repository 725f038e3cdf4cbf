package table

import (
	"context"
	"errors"
	"io"
)

// Stream reads an input larger than memory, a batch of rows at a time, as the
// columns of a schema. It is not safe for concurrent use.
type Stream struct {
	reading *reading
	pending *Table // read, not yet handed out
	next    int    // its first row not yet handed out
	err     error  // of the last Next
}

// batchCells bounds the cells of a batch, batchRows its rows.
const (
	batchRows  = 1 << 16
	batchCells = 1 << 22
)

// OpenStream opens a file, or standard input if the path is "-", to be read in
// batches. The options must have a schema.
func OpenStream(ctx context.Context, path string, o Options) (*Stream, error) {
	if o.Schema == nil {
		return nil, errNoSchema
	}
	in, err := openInput(ctx, path, false)
	if err != nil {
		return nil, err
	}
	return newStream(ctx, in, path, o)
}

// NewStream reads what a reader gives in batches. The options must have a
// schema.
func NewStream(ctx context.Context, r io.Reader, o Options) (*Stream, error) {
	if o.Schema == nil {
		return nil, errNoSchema
	}
	return newStream(ctx, newInput(o.Name, r, false), o.Name, o)
}

var errNoSchema = errors.New("table: a stream needs a schema to read by; use Read to find one")

func newStream(ctx context.Context, in *input, path string, o Options) (*Stream, error) {
	r, err := startReading(ctx, in, path, o)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &Stream{reading: r}, nil
}

// Next returns the next rows, io.EOF after the last ones. The schema of a
// batch extends those of the batches before it.
func (s *Stream) Next() (*Table, error) {
	most := max(1, min(batchRows, batchCells/max(1, len(s.reading.plan.options.Schema.Attributes))))
	for s.pending == nil {
		if s.err == nil {
			s.pending, s.err = s.read()
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	end := min(s.next+most, s.pending.Rows())
	t := s.pending.Slice(s.next, end)
	if s.next = end; end == s.pending.Rows() {
		s.pending, s.next = nil, 0
	}
	return t, nil
}

// read returns the rows of the next block that has any.
func (s *Stream) read() (*Table, error) {
	r := s.reading
	for {
		b, err := r.next()
		if err == io.EOF {
			if err := r.finish(); err != nil {
				return nil, err
			}
			if r.surveyed != nil && r.assembly.total != r.surveyed.rows {
				return nil, r.named(errChanged)
			}
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		r.assembly.expect = 0
		err = r.assembly.add(b, r.source)
		if err != nil {
			return nil, err
		}
		r.flow.release(b)
		if r.assembly.rows > 0 {
			return r.assembly.conformed()
		}
	}
}

// Schema returns the columns of the batches so far.
func (s *Stream) Schema() *Schema {
	if grown := s.reading.assembly.schema; grown != nil {
		return grown
	}
	return s.reading.plan.options.Schema
}

// Report says what there is to say about the input so far; its hash is there
// after the last batch, or from the beginning if a first pass found the schema.
func (s *Stream) Report() *Report { return s.reading.report() }

// Close ends the reading, complete or not. The report stays.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = errors.New("table: the stream is closed")
	}
	s.pending = nil
	s.reading.stop()
	return s.reading.in.Close()
}
