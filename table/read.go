package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/charset"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/xlsx"
)

// Options say how an input is to be read. The zero value finds everything
// out by looking.
type Options struct {
	// Name is what errors call the input: a path, "-" or a set's name.
	Name string
	// Nominal, Numeric and Ignore overrule, by column name, what looking
	// at the cells would say.
	Nominal, Numeric, Ignore []string
	// Text names columns of which the words are counted.
	Text []string
	// Grams counts runs of up to so many words of a text as words too, at most
	// MostGrams; 0 and 1 are words alone. Read against a model's schema, texts
	// are read as they were there, which their dictionary tells.
	Grams int
	// Weight is the column of row weights. It is taken out of the attributes.
	Weight string
	// Sequence is the column that says which rows belong together; rows of
	// one sequence stand together, in order. It is taken out of the
	// attributes. A schema that has one is read by it.
	Sequence string
	// Missing are texts that mean a missing cell besides the usual ones; an
	// empty one among them, that the usual ones do not; NAME=… means it in one
	// column. Numbers mean it however they are written. Decimal is , or . where
	// it is said what divides decimals, and Date the order of dates, as in
	// ParseOrder; without them columns tell. Each may be several lines, of which
	// NAME=… is about one column. NoHeader and Delimiter say what is
	// looked for otherwise: that the first line is a row (or, if false, names),
	// and what divides cells.
	Missing   []string
	Decimal   string
	Date      string
	NoHeader  *bool
	Delimiter string
	// Encoding is how letters are written in a text that is no UTF-8, as
	// charset.Named knows it; without it the letters tell.
	Encoding string
	// Sheet is the one of a workbook to be read, the first one if it is "".
	Sheet string
	// Target is the column that will be predicted. It is never ignored as
	// an id, and at most 20 distinct integers in it are read as classes.
	// Read against a model's schema, it may be absent without a remark.
	Target string
	// Optional are columns of a model's schema that may be absent without a remark.
	Optional []string
	// Open keeps columns without a known cell, which are left out otherwise:
	// their first cells may come with other rows (see Attribute.Open).
	Open bool
	// IDs keeps columns of names most of which are distinct, which are left out
	// as ids otherwise, and has the report say how many cells columns of names
	// have: whoever reads a table in parts can tell only when all are read.
	IDs bool
	// Schema, if not nil, is that of a model: the input is read as these
	// columns, in this order. Columns that are absent are missing cells,
	// others are ignored, and a cell of the wrong type is an error.
	Schema *Schema
	// Extend makes unknown names extend the schema's dictionaries instead
	// of becoming Unseen.
	Extend bool
	// Memory is how many bytes the table may need, 0 for what an input of
	// its size can need if it is not written to exhaust memory: the larger
	// of 512 MB and 32 times its text. More is a *MemoryError.
	Memory int64
	// Aside is how many bytes of an input may be kept aside in a file while it is
	// read, 0 for as many as the table may need.
	Aside int64
	// Progress, if not nil, hears which fraction of the input has been
	// read, from 0 to 1. It is called from one goroutine at a time.
	Progress func(fraction float64)

	tuning tuning
}

// Report is what there is to say about an input besides its cells.
type Report struct {
	Format string   // csv, tsv, arff, parquet, xlsx, libsvm or json lines, and how it is packed
	Bytes  int64    // as stored
	Hash   string   // SHA-256 of the bytes as stored, in hexadecimal
	Notes  []string // remarks for the user, a line each
	Hashes []string // of each of many files
	IDs    []string // columns that were left out as ids or text
	// Known is how many cells of each column of names are known, if ids were to
	// be kept (Options.IDs).
	Known map[string]int
	// Remarks are the notes that are about one column.
	Remarks []Remark

	Address  string // where the rows come from, without passwords
	Snapshot string // of a database, which state of it they are; "" if it has no name
	Rows     int    // read so far
}

// ReadFile reads a file, or standard input if the path is "-". Its format follows from its extension, else from its
// beginning; a file packed with gzip or zstd is unpacked on the way.
func ReadFile(ctx context.Context, path string, o Options) (*Table, *Report, error) {
	if o.Name == "" {
		o.Name = path
	}
	if o.Sheet == "" {
		path, o.Sheet = SplitSheet(path)
	}
	in, err := openInput(ctx, path, o.Schema == nil)
	if err != nil {
		return nil, nil, err
	}
	return readInput(ctx, in, path, o)
}

// Read reads what a reader gives, such as standard input. The extension of
// o.Name helps to tell the format.
func Read(ctx context.Context, r io.Reader, o Options) (*Table, *Report, error) {
	return readInput(ctx, newInput(o.Name, r, o.Schema == nil), o.Name, o)
}

// readInput reads the whole of an input and closes it.
func readInput(ctx context.Context, in *input, path string, o Options) (*Table, *Report, error) {
	defer in.Close()
	s, err := startReading(ctx, in, path, o)
	if err != nil {
		return nil, nil, err
	}
	defer s.stop()
	if err := s.all(); err != nil {
		return nil, nil, err
	}
	if err := s.finish(); err != nil {
		return nil, nil, err
	}
	var t *Table
	if o.Schema != nil {
		t, err = s.assembly.conformed()
	} else {
		if s.assembly.rereads() {
			err = s.readMixed(ctx)
		}
		if err == nil {
			t, err = s.assembly.table(&s.notes)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return t, s.report(), nil
}

// reading is an input being read.
type reading struct {
	in       *input
	path     string
	plan     *plan
	notes    notes
	meter    *meter       // nil in a second reading
	aside    <-chan error // the end of hashAside, or nil
	content  *content
	format   string
	sheets   string // of a workbook, others than the first, which is read
	source   source
	flow     flow
	assembly *assembly
	ended    bool
	surveyed *surveyed // what a first pass found, or nil
	parts    []partition
}

// source is an input whose format is known.
type source interface {
	grammar
	// columns returns empty cells for a batch.
	columns() []cells
}

// flow gives batches in order, io.EOF after the last one.
type flow interface {
	next() (*batch, error)
	release(b *batch)
	stop()
}

// startReading looks at the beginning of an input and starts the flow.
func startReading(ctx context.Context, in *input, path string, o Options) (*reading, error) {
	if o.Name == "" {
		o.Name = in.name
	}
	o.tuning = o.tuning.orDefault()
	plan, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &reading{in: in, path: path, plan: plan, assembly: &assembly{plan: plan}}
	var raw io.Reader
	raw, s.meter = in.first()
	if err := s.begin(ctx, raw); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// resumeReading reads an input once more, by a schema.
func resumeReading(ctx context.Context, in *input, raw io.Reader, path string, o Options) (*reading, error) {
	o.tuning = o.tuning.orDefault()
	plan, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	s := &reading{in: in, path: path, plan: plan, assembly: &assembly{plan: plan}}
	if err := s.begin(ctx, raw); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// begin opens the content and starts the flow of the format it has.
func (s *reading) begin(ctx context.Context, raw io.Reader) error {
	if s.in.feed != nil {
		return s.beginFeed(ctx)
	}
	if s.in.files != nil {
		return s.beginFiles(ctx)
	}
	content, err := unpack(raw)
	if err != nil {
		return s.named(err)
	}
	s.content = content
	if content.zip {
		return s.beginSheet(ctx)
	}
	head, err := content.look(glance)
	if err != nil {
		return s.named(err)
	}
	if s.content, head, err = s.decoded(content, head); err != nil {
		return s.named(err)
	}
	s.format = chooseFormat(s.path, head)
	switch s.format {
	case "arff":
		s.source, err = s.beginARFF()
	case "json lines":
		s.source, err = s.beginJSON()
	case "libsvm":
		s.source, err = s.beginLibsvm()
	case "csv":
		s.source, err = s.beginCSV()
	default:
		return s.beginColumnar(ctx, s.format)
	}
	if err != nil {
		return err
	}
	s.source = s.withPartitions(s.source)
	s.startText(ctx)
	return nil
}

// startText starts the flow of a format of text.
func (s *reading) startText(ctx context.Context) {
	flow := startBlocks(ctx, s.content, s.source, s.plan.options.tuning, s.bytesRead)
	flow.patient = s.in.seek != nil
	s.flow = flow
}

// beginSheet reads a sheet of a workbook as the text that it would be exported as.
func (s *reading) beginSheet(ctx context.Context) error {
	r, size, err := s.randomAccess()
	if err != nil {
		return s.named(err)
	}
	text, others, err := xlsx.Open(r, size, s.plan.options.Sheet, s.plan.options.Memory)
	if err != nil {
		return s.named(err)
	}
	if s.plan.options.Sheet == "" && len(others) > 0 {
		s.sheets = quotedList(others)
		s.notes.add("the first sheet is read; ?sheet=NAME after the file reads another: %s", s.sheets)
	}
	s.content = &content{r: text, close: func() {}}
	s.format = "xlsx"
	if _, err := s.content.look(glance); err != nil {
		return s.named(err)
	}
	if s.source, err = s.beginCSV(); err != nil {
		return err
	}
	s.hashAside()
	s.startText(ctx)
	return nil
}

// SplitSheet divides book.xlsx?sheet=NAME into the file and the sheet. What is a
// file as it stands has no sheet.
func SplitSheet(path string) (file, sheet string) {
	i := strings.LastIndex(path, "?sheet=")
	if i < 0 {
		return path, ""
	}
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	return path[:i], path[i+len("?sheet="):]
}

// hashAside reads the input on the side, for the hash: a source that reads in
// an order of its own does not go through the meter.
func (s *reading) hashAside() {
	if s.meter != nil {
		s.aside = crew.Go(s.meter.rest)
	}
}

func (s *reading) bytesRead() int64 {
	if s.meter == nil {
		return 0
	}
	return s.meter.bytes.Load()
}

// beginText refuses what is not text, or nothing at all, and passes over a
// byte order mark.
func (s *reading) beginText() error {
	head := s.content.ahead
	switch {
	case len(bytes.TrimSpace(head)) == 0 && s.content.ended:
		return s.named(errors.New("is empty; expected a header line and rows of data"))
	case bytes.IndexByte(head, 0) >= 0:
		return s.named(errors.New("is binary, not text; expected CSV, ARFF, Parquet, Arrow, Excel (.xlsx), libsvm or JSON lines, plain or packed with gzip or zstd"))
	case bytes.HasPrefix(head, byteOrderMark):
		s.content.drop(len(byteOrderMark))
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// chooseFormat tells the format by the extension, then by the beginning.
func chooseFormat(path string, head []byte) string {
	base := strings.ToLower(filepath.Base(path))
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, packed)
	}
	extension := filepath.Ext(base)
	switch extension {
	case ".csv", ".tsv", ".tab":
		return "csv"
	case ".arff":
		return "arff"
	case ".jsonl", ".ndjson", ".json":
		return "json lines"
	case ".libsvm", ".svm", ".svmlight":
		return "libsvm"
	}
	for _, beginning := range [][]byte{nil, head} {
		if f, ok := formatOf(base, beginning); ok {
			return f.Name
		}
	}
	head = bytes.TrimPrefix(head, byteOrderMark)
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '%' {
			head = line
			break
		}
		head = rest
	}
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		return "json lines"
	case len(head) > 9 && equalFold(head[:9], "@relation"), len(head) > 10 && equalFold(head[:10], "@attribute"):
		return "arff"
	case isLibsvm(head):
		return "libsvm"
	}
	return "csv"
}

// named puts the input's name before an error that does not have it.
func (s *reading) named(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || s.in.files != nil && strings.HasPrefix(err.Error(), s.plan.name+":") {
		return err
	}
	return fmt.Errorf("%s: %w", s.plan.name, err)
}

// ErrNoRows is what a table without rows is refused with.
var ErrNoRows = errors.New("has a header but no rows; add rows of data")

// all takes every batch into the assembly.
func (s *reading) all() error {
	for {
		b, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.assembly.add(b, s.source); err != nil {
			return err
		}
		s.flow.release(b)
	}
}

func (s *reading) next() (*batch, error) {
	b, err := s.flow.next()
	switch {
	case err == nil:
		if size := s.in.size; size > 0 && b.read > 0 {
			read := min(1, float64(b.read)/float64(size))
			s.assembly.expect = int(float64(s.assembly.rows+b.rows) / read)
			if progress := s.plan.options.Progress; progress != nil {
				progress(read)
			}
		}
	case err != io.EOF:
		err = s.named(err)
	}
	return b, err
}

// stop ends the reading, complete or not.
func (s *reading) stop() {
	if s.flow != nil {
		s.flow.stop()
	} else if s.content != nil {
		s.content.close()
	}
	if s.aside != nil {
		s.meter.stopped.Store(true)
		<-s.aside
		s.aside = nil
	}
}

// finish is called after the last batch. It reads what a decompressor may
// have left, for the hash, and checks that there was what was asked for.
func (s *reading) finish() error {
	var err error
	if s.aside != nil {
		err = <-s.aside
		s.aside = nil
	} else if s.meter != nil && s.in.feed == nil && s.in.files == nil {
		err = s.meter.rest()
	}
	if err != nil {
		return s.named(err)
	}
	s.ended = true
	if s.assembly.total == 0 {
		if s.sheets != "" {
			return s.named(fmt.Errorf("the first sheet %w, or read another by ?sheet=NAME after the file: %s", ErrNoRows, s.sheets))
		}
		return s.named(ErrNoRows)
	}
	if err := s.plan.check(slices.Sorted(maps.Keys(s.plan.fields))); err != nil {
		return err
	}
	s.noteStrangers()
	return nil
}

// noteStrangers remarks on the columns in which input and schema differ.
func (s *reading) noteStrangers() {
	if s.plan.options.Schema == nil {
		return
	}
	if len(s.assembly.extra) > 0 {
		s.notes.lines = append(s.notes.lines, extraNote(s.assembly.extra))
	}
	var absent []string
	for _, name := range s.plan.options.Schema.Names() {
		if f := s.plan.fields[name]; f == nil && name != s.plan.options.Target && !slices.Contains(s.plan.options.Optional, name) {
			absent = append(absent, name)
		}
	}
	if len(absent) > 0 {
		s.notes.lines = append(s.notes.lines, absentNote(absent, " in "+s.plan.name))
	}
}

// readMixed reads the input again for the columns that began as numbers or
// dates and turned out to be names, or whose names must be kept after all.
func (s *reading) readMixed(ctx context.Context) error {
	raw, err := s.in.again()
	if err != nil {
		return s.named(err)
	}
	a := s.assembly
	hows := make([]how, len(a.columns))
	for i, col := range a.columns {
		hows[i], col.field.slot, col.field.how = col.field.how, -1, skip
		if col.state == mixed {
			col.field.how = asNames
		}
	}
	second := &reading{in: s.in, path: s.path, plan: s.plan, assembly: &assembly{plan: s.plan, expect: a.rows, survey: a.survey}}
	defer second.stop()
	if err := second.begin(ctx, raw); err != nil {
		return err
	}
	if err := second.all(); err != nil {
		return err
	}
	if second.assembly.rows != a.rows {
		return s.named(errChanged)
	}
	again := false
	for i, col := range a.columns {
		if col.state == mixed {
			if a.columns[i] = second.assembly.column(col.field); a.columns[i].regrets() {
				a.columns[i].state, again = mixed, true
			}
		}
		col.field.how = hows[i]
	}
	if again {
		return s.readMixed(ctx)
	}
	return nil
}

func (s *reading) report() *Report {
	if s.surveyed != nil {
		return s.surveyed.report
	}
	r := &Report{Format: s.format, Notes: s.notes.list(), IDs: slices.Concat(s.notes.ids, s.notes.numbered), Known: s.notes.known, Remarks: slices.Clone(s.notes.remarks), Bytes: s.meter.bytes.Load(), Address: Redact(s.plan.name), Rows: s.assembly.total}
	if s.in.feed != nil {
		return s.reportFeed(r)
	}
	if f, ok := s.flow.(*series); ok {
		return f.report(r)
	}
	if s.content.packing != "" {
		r.Format += ", " + s.content.packing
	}
	if s.ended {
		r.Hash = s.meter.sum()
	}
	return r
}

// plan is what the options make of the columns of an input.
type plan struct {
	name    string
	options Options
	attrs   map[string]int // of the schema
	mutex   sync.Mutex
	fields  map[string]*field

	nominal, numeric, text, ignore map[string]bool // of the options
	decimals, orders               byColumn        // likewise
	charset                        charset.Charset // likewise
}

// set makes a list of names one in which they are found at once.
func set(names []string) map[string]bool {
	in := make(map[string]bool, len(names))
	for _, name := range names {
		in[name] = true
	}
	return in
}

func newPlan(o Options) (*plan, error) {
	if o.Schema != nil && o.Sequence == "" {
		o.Sequence = o.Schema.Sequence
	}
	p := &plan{name: o.Name, options: o, fields: map[string]*field{}, attrs: map[string]int{},
		nominal: set(o.Nominal), numeric: set(o.Numeric), text: set(o.Text), ignore: set(o.Ignore)}
	if o.Sequence != "" && (o.Sequence == o.Target || o.Sequence == o.Weight || p.text[o.Sequence] || p.ignore[o.Sequence]) {
		return nil, fmt.Errorf("column %q says the sequence of a row and cannot be the target, the weights, text or ignored", o.Sequence)
	}
	if o.Target != "" && p.ignore[o.Target] {
		return nil, fmt.Errorf("column %q cannot be both the target and ignored", o.Target)
	}
	if o.Weight != "" && o.Weight == o.Target {
		return nil, fmt.Errorf("column %q cannot be both the target and the weights", o.Target)
	}
	for _, name := range o.Nominal {
		if p.numeric[name] {
			return nil, fmt.Errorf("column %q cannot be both nominal and numeric", name)
		}
	}
	var err error
	if p.orders, err = newByColumn(o.Date, orderStyle); err != nil {
		return nil, err
	}
	if p.decimals, err = newByColumn(o.Decimal, decimalStyle); err != nil {
		return nil, err
	}
	if o.Encoding != "" {
		if p.charset, err = charset.Named(o.Encoding); err != nil {
			return nil, remedy.Misuse(err)
		}
	}
	if o.Grams < 0 || o.Grams > MostGrams {
		return nil, fmt.Errorf("runs of up to %d words: expected 1 to %d", o.Grams, MostGrams)
	}
	for _, name := range o.Text {
		switch {
		case p.nominal[name], p.numeric[name]:
			return nil, fmt.Errorf("column %q cannot be both text and nominal or numeric", name)
		case name == o.Target, name == o.Weight:
			return nil, fmt.Errorf("column %q is text and cannot be the target or the weights", name)
		}
	}
	if o.Schema != nil {
		for i := range o.Schema.Attributes {
			p.attrs[o.Schema.Attributes[i].Name] = i
		}
	}
	return p, nil
}

// all returns what is to be done with columns that differ.
func (p *plan) all(names []string) []*field {
	p.mutex.Lock()
	if len(p.fields) == 0 {
		p.fields = make(map[string]*field, len(names))
	}
	p.mutex.Unlock()
	fields := make([]*field, len(names))
	for i, name := range names {
		fields[i] = p.field(name)
	}
	return fields
}

// field returns what is to be done with a column. It is safe for concurrent
// use.
func (p *plan) field(name string) *field {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if f, ok := p.fields[name]; ok {
		return f
	}
	o := &p.options
	f := &field{name: name, how: auto, attr: -1, slot: -1}
	i, known := p.attrs[name]
	p.style(f, i, known)
	switch {
	case p.ignore[name]:
		f.how = skip
	case o.Weight != "" && o.Weight == name:
		f.how, f.weight = asNumbers, true
	case o.Sequence != "" && o.Sequence == name:
		f.how, f.group, f.keepID = asNames, true, true
	case known:
		f.attr = i
		switch a := &o.Schema.Attributes[i]; {
		case a.Kind == Nominal:
			f.how = asNames
			f.startFrom(a.Values)
		case a.Kind == Text:
			f.how, f.values, f.grams = asWords, a.Values, gramsOf(a.Values)
			if len(a.Values) == 0 {
				f.grams = o.Grams
			}
		case a.Date, a.Time:
			f.how, f.seconds = asDates, a.Time
		default:
			f.how = asNumbers
		}
	case o.Schema != nil:
		f.how = skip
	case p.nominal[name]:
		f.how, f.keepID = asNames, true
	case p.numeric[name]:
		f.how = asQuantity
	case p.text[name]:
		f.how, f.grams = asWords, o.Grams
	}
	p.fields[name] = f
	return f
}

// style says how a column's cells are written: as the options say, else as the
// model's column does.
func (p *plan) style(f *field, attr int, known bool) {
	o := &p.options
	missing := o.missing(f.name)
	form := Style("")
	if known {
		s := o.Schema.Attributes[attr].Style
		form = s.Form()
		missing = slices.Concat(missing, s.Missing())
	}
	if f.decimal = p.decimals.of(f.name); f.decimal == "" && form.isNumber() {
		f.decimal = form
	}
	_, f.dated = p.orders.some[f.name]
	_, f.pointed = p.decimals.some[f.name]
	if f.order = p.orders.of(f.name); f.order == "" && !form.isNumber() {
		f.order = form
	}
	for _, text := range missing {
		if text == "" {
			f.only = true
		} else {
			f.gone = append(f.gone, text)
			if x, ok := Style("").ParseNumber(text); ok {
				f.codes = append(f.codes, x)
			}
		}
	}
}

// missing returns the texts that mean a missing cell of a column.
func (o *Options) missing(column string) []string {
	texts := slices.Clone(o.Missing)
	for i, text := range texts {
		if of, ok := strings.CutPrefix(text, column+"="); ok {
			texts[i] = of
		}
	}
	return texts
}

// check compares the columns that there are with those that were asked for.
func (p *plan) check(names []string) error {
	o := &p.options
	known := sync.OnceValue(func() map[string]bool { return set(names) })
	has := func(name string) bool { return known()[name] }
	asked := func(name, as string) error {
		if _, ok := p.attrs[name]; name == "" || ok || has(name) {
			return nil
		}
		for _, whole := range names {
			if strings.HasPrefix(whole, name+",") {
				return remedy.Misusef("%s: has no column %q to take as %s; in a list %q stands in double quotes", p.name, name, as, whole)
			}
		}
		return remedy.Misusef("%s: has no column %q to take as %s%s", p.name, name, as, hint(name, names))
	}
	for _, text := range o.Missing {
		if name, _, ok := strings.Cut(text, "="); ok && !has(name) {
			if near, ok := spell.Nearest(name, names); ok {
				return remedy.Misusef("%s: has no column %q in which %q is missing; did you mean %q?", p.name, name, text, near)
			}
		}
	}
	for _, list := range []struct {
		names []string
		as    string
	}{{o.Nominal, "nominal"}, {o.Numeric, "numeric"}, {o.Text, "text"}, {o.Ignore, "ignored"}, {[]string{o.Target}, "target"}} {
		for _, name := range list.names {
			if err := asked(name, list.as); err != nil {
				return err
			}
		}
	}
	for _, said := range []struct {
		b  byColumn
		as string
	}{{p.decimals, "one with decimals"}, {p.orders, "dates"}} {
		for name := range said.b.some {
			if err := asked(name, said.as); err != nil {
				return err
			}
		}
	}
	if o.Weight != "" && !has(o.Weight) {
		return remedy.Misusef("%s: has no column %q to take as weights%s", p.name, o.Weight, hint(o.Weight, names))
	}
	if o.Sequence != "" && !has(o.Sequence) {
		return remedy.Misusef("%s: has no column %q to take as sequences%s", p.name, o.Sequence, hint(o.Sequence, names))
	}
	if o.Schema == nil || len(p.attrs) == 0 {
		return nil
	}
	for name := range p.attrs {
		if has(name) {
			return nil
		}
	}
	return fmt.Errorf("%s: has none of the model's %s; its own are %s; is the header line missing?", p.name, columnList(o.Schema.Names()), columnList(names))
}
