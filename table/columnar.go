package table

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Format is a kind of file that a package of its own reads, so that a program
// may leave it out. Packages register theirs when they are imported:
// table/parquet and table/arrow do.
type Format struct {
	Name       string   // as reports name it
	Extensions []string // of file names, each with its dot
	Magic      string   // what such files begin with
	// Open reads what the file says of itself.
	Open func(r io.ReaderAt, size int64) (Columnar, error)
	// Write writes comma-separated text with a header line as such a file; nil if
	// none is written.
	Write func(w io.Writer, columns []Written, rows io.Reader) error
}

// Columnar is a file of typed columns, of which only those that are wanted are
// read. Columns are read side by side, each by one goroutine at a time.
type Columnar interface {
	Names() []string
	Rows() int64 // that the file says it has
	// Want prepares a column to be read, and says what its values are.
	Want(column int) (Values, error)
	// Read goes on to the next rows of a column, fewer than most only at
	// its end, and returns their number.
	Read(column, most int) (int, error)
	// Fill gives the rows that Read went on to, to cells. It may be asked
	// twice. What is wrong with a value is said to the cells.
	Fill(column int, to *Cells)
	Close()
}

// Values says what the values of a column in a file are.
type Values uint8

// The kinds of values. Dates are in days since 1970.
const (
	Texts Values = iota // cells as if they stood in a CSV file
	Numbers
	Dates
	Names // texts that are names, also where they look like numbers
)

// String says it in a word.
func (v Values) String() string { return [...]string{"text", "numbers", "dates", "names"}[v&3] }

var formats struct {
	sync.RWMutex
	list []Format
}

// RegisterFormat makes a format known. It is called from init functions and
// panics if the name is taken.
func RegisterFormat(f Format) {
	formats.Lock()
	defer formats.Unlock()
	if slices.ContainsFunc(formats.list, func(g Format) bool { return g.Name == f.Name }) {
		panic(fmt.Sprintf("table: format %q is registered twice", f.Name))
	}
	formats.list = append(formats.list, f)
}

// unlinked are formats that are known by name also where their package was
// left out.
var unlinked = []Format{{Name: "parquet", Extensions: []string{".parquet", ".pq"}, Magic: "PAR1"}, {Name: "arrow", Extensions: []string{".arrow", ".feather", ".ipc", ".arrows"}, Magic: "ARROW1"}}

// formatOf finds the registered format of a file, by its extension or, if head
// is not nil, by its beginning.
func formatOf(path string, head []byte) (f Format, found bool) {
	extension := strings.ToLower(filepath.Ext(path))
	formats.RLock()
	defer formats.RUnlock()
	for _, f := range slices.Concat(formats.list, unlinked) {
		if head == nil && slices.Contains(f.Extensions, extension) || head != nil && bytes.HasPrefix(head, []byte(f.Magic)) {
			return f, true
		}
	}
	return Format{}, false
}

// columnar is the flow of batches out of a file of columns.
type columnar struct {
	ctx     context.Context
	file    Columnar
	grammar source // this, maybe with columns that the names of folders say
	fields  []*field
	wanted  []bool
	kinds   []Values
	batch   *batch
	rows    int // in a batch, at most
	tuning  tuning
	total   int64 // rows that the file says it has
	done    int64 // rows read
	size    int64 // bytes of the input
}

// beginColumnar opens the file and starts the flow.
func (s *reading) beginColumnar(ctx context.Context, name string) error {
	formats.RLock()
	i := slices.IndexFunc(formats.list, func(f Format) bool { return f.Name == name })
	if i < 0 {
		formats.RUnlock()
		return s.named(fmt.Errorf("is a %s file, which this program was built without; import table/%s", name, name))
	}
	format := formats.list[i]
	formats.RUnlock()
	r, size, err := s.randomAccess()
	if err != nil {
		return s.named(err)
	}
	file, err := format.Open(r, size)
	if err != nil {
		return s.named(err)
	}
	if err := s.startColumnar(ctx, file, nil); err != nil {
		return err
	}
	s.hashAside()
	return nil
}

// startColumnar starts the flow of columns. Those that only name rows are left
// out, unless somebody asks for them.
func (s *reading) startColumnar(ctx context.Context, file Columnar, keys []string) error {
	names := slices.Clone(file.Names())
	if len(names) == 0 {
		return s.named(fmt.Errorf("has no columns"))
	}
	for i, name := range names {
		if !goodText([]byte(name)) {
			return s.named(fmt.Errorf("the name of column %d is not UTF-8 text; write the file again", i+1))
		}
	}
	fields, err := s.nameFields(names)
	if err != nil {
		return err
	}
	p := &columnar{
		ctx: ctx, file: file, fields: fields, wanted: make([]bool, len(names)), kinds: make([]Values, len(names)),
		rows: max(1, min(1<<14, (1<<20)/len(names))), tuning: s.plan.options.tuning, total: file.Rows(), size: s.in.size,
	}
	p.rows = min(p.rows, p.tuning.block)
	for i, f := range fields {
		if f.how == auto && slices.Contains(keys, f.name) && f.name != s.plan.options.Target {
			f.how = skip
			s.notes.serial(f.name)
		}
		if f.how == skip {
			continue
		}
		if p.kinds[i], err = file.Want(i); err != nil {
			file.Close()
			return s.named(fmt.Errorf("column %q %w", names[i], err))
		}
		p.wanted[i] = true
		if f.how == auto {
			switch p.kinds[i] {
			case Numbers:
				f.how = asNumbers
			case Dates:
				f.how = asDates
			case Names: // what is missing has no text there
				f.how, f.only = asNames, true
			}
		}
	}
	p.grammar = s.withPartitions(p)
	p.batch = &batch{columns: p.grammar.columns()}
	s.source, s.flow = p.grammar, p
	return nil
}

// randomAccess returns the content for reading in any order: the input
// itself if it allows that, else a copy.
func (s *reading) randomAccess() (io.ReaderAt, int64, error) {
	if r, ok := s.in.raw.(io.ReaderAt); ok && s.in.seek != nil && s.content.packing == "" {
		return io.NewSectionReader(r, s.in.begin, s.in.size), s.in.size, nil
	}
	copied := &spool{most: cmp.Or(s.plan.options.Aside, s.plan.options.Memory)} // a bomb must not fill the disk
	s.in.close = append(s.in.close, copied.Close)
	to := &proportion{w: copied, packed: s.bytesRead}
	if s.meter != nil { // else it was found good before
		to.packing = s.content.packing
	}
	if _, err := io.Copy(to, s.content); err != nil {
		return nil, 0, err
	}
	r := copied.reader()
	return r, r.Size(), nil
}

// proportion refuses what unpacks to far more than it is: files of columns are
// packed as they are, and packed again they hardly get smaller.
type proportion struct {
	w        io.Writer
	packing  string
	packed   func() int64 // bytes so far
	unpacked int64
}

const (
	leastUnpacked = 64 << 20 // bytes that any file may have
	mostUnpacked  = 64       // times what it has packed
)

func (p *proportion) Write(b []byte) (int, error) {
	p.unpacked += int64(len(b))
	if p.packing != "" && p.unpacked > max(leastUnpacked, mostUnpacked*p.packed()) {
		return 0, fmt.Errorf("%s of %s unpack to more than %s; unpack the file first", bytesText(p.packed()), p.packing, bytesText(p.unpacked-int64(len(b))))
	}
	return p.w.Write(b)
}

// The methods of a flow. Columns are decoded and typed side by side.

func (p *columnar) next() (*batch, error) {
	b := p.batch
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	rows, errs := make([]int, len(p.fields)), make([]error, len(p.fields))
	p.each(func(i int) { rows[i], errs[i] = p.file.Read(i, p.rows) })
	b.lines = -1
	for i := range p.fields {
		switch {
		case !p.wanted[i]:
		case errs[i] != nil:
			return nil, errs[i]
		case b.lines < 0:
			b.lines = rows[i]
		case b.lines != rows[i]:
			return nil, fmt.Errorf("is damaged (columns differ in length); write it again")
		}
	}
	if b.lines <= 0 {
		return nil, io.EOF
	}
	b.run(p.grammar)
	p.done += int64(b.lines)
	if p.total > 0 {
		b.read = int64(float64(p.size) * min(1, float64(p.done)/float64(p.total)))
	}
	return b, nil
}

// each calls work for every column that is wanted, on all cores.
func (p *columnar) each(work func(i int)) {
	var group crew.Group
	columns := make(chan int, len(p.fields))
	for i := range p.fields {
		if p.wanted[i] {
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

func (p *columnar) release(*batch) {}

func (p *columnar) stop() { p.file.Close() }

// The methods of a source.

func (p *columnar) cut([]byte) int { return 0 }

func (p *columnar) eol() byte { return 0 }

func (p *columnar) columns() []cells {
	columns := make([]cells, len(p.fields))
	for i, f := range p.fields {
		columns[i].field = f
	}
	return columns
}

func (p *columnar) parse(b *batch) *problem {
	b.rows = b.lines
	problems := make([]*problem, len(p.fields))
	p.each(func(i int) {
		if c := &b.columns[i]; !c.idle {
			to := &Cells{cells: c}
			p.file.Fill(i, to)
			problems[i] = to.problem
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

// Cells take the values of a column, row by row.
type Cells struct {
	cells   *cells
	row     int
	fault   fault
	problem *problem
}

// Add takes a text, nil for a missing cell. It reports whether that was right;
// if not, Refuse says what was found.
func (c *Cells) Add(text []byte) bool {
	if c.fault = c.cells.add(text, c.row); c.fault != fine {
		return false
	}
	c.row++
	return true
}

// AddFloats takes numbers, or dates in days, NaN for missing ones. It returns
// how many it took before one was wrong.
func (c *Cells) AddFloats(xs []float64, of Values) int {
	kind := number
	if of == Dates {
		kind = date
	}
	taken, f := c.cells.addFloats(xs, kind, c.row)
	c.row += taken
	c.fault = f
	return taken
}

// Code returns the code of the last text, by which AddCode takes it again
// without looking at it, and whether it has one.
func (c *Cells) Code() (code int32, ok bool) {
	if c.cells.state != text || len(c.cells.codes) == 0 {
		return 0, false
	}
	return c.cells.codes[len(c.cells.codes)-1], true
}

// AddCode takes a text of these cells once more.
func (c *Cells) AddCode(code int32) {
	c.cells.addCode(code)
	c.row++
}

// Refuse says what the value was that could not be taken.
func (c *Cells) Refuse(value string) {
	c.problem = &problem{c.row, c.fault.say(c.cells.field.name, []byte(value)), c.cells.field.name}
}

// Damaged says that the file cannot be decoded here.
func (c *Cells) Damaged(cause any) {
	c.problem = problemAt(c.row, fmt.Sprintf("column %q: the file is damaged (%v); write it again", c.cells.field.name, cause))
}
