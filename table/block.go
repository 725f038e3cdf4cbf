package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Text is read in blocks of whole records. One goroutine reads and cuts,
// others parse blocks into typed cells, and the caller takes the blocks back
// in order. Blocks and their cells are used again, so that only a few are
// ever in memory.

// grammar is how a text format is cut and parsed. Its methods are called
// from several goroutines.
type grammar interface {
	// cut returns the length of the whole records that the data begin
	// with, 0 if the first one goes on after them.
	cut(data []byte) int
	// parse adds the block's records to the batch's cells that are not idle.
	parse(b *batch) *problem
	// eol is the byte that ends a line, 0 if there are no lines but rows.
	eol() byte
}

// problem is what is wrong at a place of a block.
type problem struct {
	place  int
	text   string
	column string // of a cell that cannot be read
}

func problemAt(place int, text string) *problem { return &problem{place: place, text: text} }

// CellError is a cell of an input that cannot be read as the others of its column
// are.
type CellError struct {
	Row    int // counted from 1; 0 if it is not known
	Column string
	text   string
}

func (e *CellError) Error() string { return e.text }

// batch is a block of the input and the cells it holds.
type batch struct {
	columns []cells
	rows    int
	weights []float64 // what the format itself says rows weigh, or nil
	data    []byte
	lines   int   // in the data, or rows where there are none
	before  int   // lines or rows of the input before these; known once they are taken in order
	read    int64 // raw bytes read from the input by then
	problem *problem
	scratch []byte // for cells that are not in data as they are
	done    chan struct{}
}

// run parses the block. Columns that turn out mixed are read once more, as
// names, while the block is at hand.
func (b *batch) run(g grammar) {
	for i := range b.columns {
		b.columns[i].reset()
	}
	b.problem = b.parse(g)
	again := false
	for i := range b.columns {
		again = again || b.columns[i].state == mixed
	}
	if again {
		b.reread(g, func(c *cells) bool { return c.state == mixed })
	}
}

func (b *batch) parse(g grammar) *problem {
	b.rows, b.weights = 0, b.weights[:0]
	return g.parse(b)
}

// reread parses the block again for some columns, which become names.
func (b *batch) reread(g grammar, which func(c *cells) bool) {
	for i := range b.columns {
		c := &b.columns[i]
		if which(c) {
			c.restart()
		} else {
			c.idle = true
		}
	}
	rows := b.rows
	p := b.parse(g)
	b.rows = max(b.rows, rows)
	if b.problem == nil || p != nil && p.place < b.problem.place {
		b.problem = p
	}
	for i := range b.columns {
		b.columns[i].idle = b.columns[i].field.how == skip
	}
}

// position says where in the input a place of the block is: in which line
// and at which byte of it, or in which row.
func (b *batch) position(place int, eol byte) string {
	if eol == 0 {
		return fmt.Sprintf(" row %d:", b.before+place+1)
	}
	place = min(place, len(b.data))
	head := b.data[:place]
	return fmt.Sprintf("%d:%d:", b.before+bytes.Count(head, []byte{eol})+1, place-bytes.LastIndexByte(head, eol))
}

// tuning is what may differ between machines without any effect on what is
// read; tests make it extreme.
type tuning struct {
	block   int // bytes
	workers int
	record  int // bytes that a record may have at most
	names   int // of a column, that a survey keeps whatever they are
}

func (t tuning) orDefault() tuning {
	if t.block == 0 {
		t.block = 1 << 19 // larger ones are no faster, and several are in memory
	}
	if t.workers == 0 {
		t.workers = runtime.GOMAXPROCS(0)
	}
	if t.record == 0 {
		t.record = 256 << 20
	}
	if t.names == 0 {
		t.names = manyNames
	}
	return t
}

// blocks is the flow of batches from a reader to a caller.
type blocks struct {
	grammar grammar
	r       *content
	tuning  tuning
	meter   func() int64
	ctx     context.Context
	cancel  context.CancelFunc
	free    chan *batch
	work    chan *batch
	queue   chan *batch
	err     error // of the reader, once queue is closed
	all     crew.Group
	patient bool // stop waits for the reader
}

// startBlocks begins to read. The caller must stop it in the end.
func startBlocks(ctx context.Context, r *content, g source, t tuning, meter func() int64) *blocks {
	inFlight := t.workers + 2
	s := &blocks{
		grammar: g, r: r, tuning: t, meter: meter,
		free: make(chan *batch, inFlight), work: make(chan *batch, inFlight), queue: make(chan *batch, inFlight),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for range inFlight {
		s.free <- &batch{done: make(chan struct{}, 1)}
	}
	for range t.workers {
		s.all.Go(func() {
			for b := range s.work {
				if b.problem == nil && s.ctx.Err() == nil {
					if b.columns == nil {
						b.columns = g.columns()
					}
					b.lines = bytes.Count(b.data, []byte{g.eol()})
					b.run(g)
				}
				b.done <- struct{}{}
			}
		})
	}
	s.all.Go(func() {
		s.err = s.readAll()
		r.close()
		close(s.work)
		close(s.queue)
	})
	return s
}

func (s *blocks) readAll() error {
	var carry []byte
	for final := false; !final; {
		var b *batch
		select {
		case b = <-s.free:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		b.problem = nil
		var err error
		carry, final, err = s.fill(b, carry)
		if err != nil {
			return err
		}
		b.read = s.meter()
		if len(b.data) > 0 {
			s.work <- b
			s.queue <- b
		}
	}
	return nil
}

// fill reads the next block: what was carried over from the last one, and so
// many bytes that at least one record is whole.
func (s *blocks) fill(b *batch, carry []byte) (rest []byte, final bool, err error) {
	room := max(s.tuning.block, len(carry)+s.tuning.block/2)
	// A block that once had to hold a huge record is not kept for small ones.
	if cap(b.data) < room || cap(b.data) > 4*room {
		b.data = make([]byte, 0, room)
	}
	data := append(b.data[:0], carry...)
	for {
		n, err := io.ReadFull(s.r, data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if eol := s.grammar.eol(); len(data) > 0 && data[len(data)-1] != eol {
				data = append(data, eol)
			}
			b.data = data
			return nil, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		if n := s.grammar.cut(data); n > 0 {
			b.data = data[:n]
			return append(carry[:0], data[n:]...), false, nil
		}
		if len(data) >= s.tuning.record {
			b.data = data
			b.problem = problemAt(0, fmt.Sprintf("the record that begins here has more than %d MB; is a quote not closed?", s.tuning.record>>20))
			return nil, true, nil
		}
		data = append(make([]byte, 0, 2*cap(data)), data...)
	}
}

// next returns the next batch in order, io.EOF after the last one.
func (s *blocks) next() (*batch, error) {
	select {
	case b, ok := <-s.queue:
		if !ok {
			if s.err != nil {
				return nil, s.err
			}
			return nil, io.EOF
		}
		<-b.done
		return b, s.ctx.Err()
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// release gives a batch back whose cells have been taken.
func (s *blocks) release(b *batch) { s.free <- b }

// stop ends the flow early, or cleans up after its end. It does not wait for
// a reader that may hang, such as one at a terminal.
func (s *blocks) stop() {
	s.cancel()
	if s.patient {
		s.all.Wait()
	}
}

// errChanged says that a second reading found something else than the first.
var errChanged = errors.New("changed while it was being read; read it again when it is complete")
