package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Source gives the rows of a table in batches, so that memory does not grow
// with them. It is not safe for concurrent use.
type Source interface {
	// Schema returns the columns of the batches. Once they are read, its
	// dictionaries may have grown, if the options let them.
	Schema() *Schema
	// Next returns the next rows, io.EOF after the last ones. The
	// dictionaries of a batch begin with those of the batches before it.
	Next() (*Table, error)
	// Report says where the rows come from and what there is to say of
	// them; it is complete after the last batch.
	Report() *Report
	Close() error
}

// Scheme is a kind of address that rows can come from. Packages register
// theirs when they are imported, so that a program has those it needs.
type Scheme struct {
	// Name is what an address begins with, before a colon: sqlite in
	// sqlite:people.db.
	Name string
	// Knows reports whether an address without a colon is one of the
	// scheme's; nil if none is. Files come before all.
	Knows func(address string) bool
	// Open opens an address, with its name and colon where it has them; nil if
	// there is a Feed.
	Open func(ctx context.Context, address string, o Options) (Source, error)
	// Feed opens what gives typed columns, such as a database.
	Feed func(ctx context.Context, address string) (*Feed, error)
	// Write writes comma-separated text with a header line into the table of an
	// address, all rows or none; nil if nothing is written.
	Write func(ctx context.Context, address string, columns []Written, rows io.Reader) (int64, error)
	// Catalogue says which tables there are at an address that names none, and
	// which of their columns name rows; nil if nobody knows.
	Catalogue func(ctx context.Context, address string) (*Catalogue, error)
	// Read reads it whole; nil if that is the same as reading all batches.
	Read func(ctx context.Context, address string, o Options) (*Table, *Report, error)
}

var schemes struct {
	sync.RWMutex
	list []Scheme // sorted by name
}

// RegisterScheme makes a scheme known. It is called from init functions and
// panics if the name is taken.
func RegisterScheme(s Scheme) {
	schemes.Lock()
	defer schemes.Unlock()
	i, taken := slices.BinarySearchFunc(schemes.list, s.Name, func(s Scheme, name string) int { return strings.Compare(s.Name, name) })
	if s.Feed != nil {
		s.Open, s.Read = s.openFeed, s.readFeed
	}
	if taken || s.Name == "" || s.Open == nil {
		panic(fmt.Sprintf("table: scheme %q is registered twice, or has no name or nothing to open it", s.Name))
	}
	schemes.list = slices.Insert(schemes.list, i, s)
}

func init() {
	RegisterScheme(Scheme{Name: "file", Open: openFile, Read: func(ctx context.Context, address string, o Options) (*Table, *Report, error) {
		return ReadFile(ctx, strings.TrimPrefix(address, "file:"), o)
	}})
}

// schemeOf finds the scheme of an address: its name before the colon; a file,
// or standard input ("-"); else the scheme that knows it.
func schemeOf(address string) (Scheme, error) {
	schemes.RLock()
	defer schemes.RUnlock()
	file := schemes.list[slices.IndexFunc(schemes.list, func(s Scheme) bool { return s.Name == "file" })]
	name, _, colon := strings.Cut(address, ":")
	if address == "-" {
		return file, nil
	}
	if info, err := os.Stat(address); err == nil && info.IsDir() && len(expand(address)) > 0 {
		return schemes.list[slices.IndexFunc(schemes.list, func(s Scheme) bool { return s.Name == "files" })], nil
	} else if err == nil {
		return file, nil
	}
	names := make([]string, 0, len(schemes.list))
	for _, s := range schemes.list {
		if colon && s.Name == name || s.Knows != nil && s.Knows(address) {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if colon && strings.Contains(address, "://") {
		return Scheme{}, fmt.Errorf("%s: this program reads no %s addresses%s", Redact(address), name, spell.Hint(name, names))
	}
	return file, nil // which says what is wrong with the path
}

// SchemeOf names the scheme by which an address is opened (see Open); file is
// that of what no other one knows.
func SchemeOf(address string) (string, error) {
	s, err := schemeOf(address)
	return s.Name, err
}

// Open opens an address to be read in batches: a path, - for standard input,
// or what a scheme knows. Without a schema in the options, the columns' kinds
// are found first, in a pass that keeps no rows.
func Open(ctx context.Context, address string, o Options) (Source, error) {
	s, err := schemeOf(address)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, address, o)
}

// ReadFrom reads the whole of an address (see Open).
func ReadFrom(ctx context.Context, address string, o Options) (*Table, *Report, error) {
	s, err := schemeOf(address)
	if err != nil {
		return nil, nil, err
	}
	if s.Read != nil {
		return s.Read(ctx, address, o)
	}
	source, err := s.Open(ctx, address, o)
	if err != nil {
		return nil, nil, err
	}
	defer source.Close()
	t, err := All(source)
	return t, source.Report(), err
}

// All reads the rest of a source into one table.
func All(s Source) (*Table, error) {
	var batches []*Table
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		batches = append(batches, t)
	}
	if len(batches) == 0 {
		return nil, errors.New("table: the source has no rows")
	}
	return Concat(batches...)
}

// Redacted stands where a password stood.
const Redacted = "xxxxx"

// Redact returns an address without the passwords that it may hold, for logs
// and messages.
func Redact(address string) string {
	base, query, asks := strings.Cut(address, "?")
	if scheme, rest, ok := strings.Cut(base, "://"); ok && asks && !strings.Contains(rest, "@") && strings.Contains(query, "@") {
		// A password with a question mark, unless what follows the colon is a port.
		if user, port, colon := strings.Cut(rest, ":"); colon && strings.Trim(strings.SplitN(port, "/", 2)[0], "0123456789") != "" {
			return scheme + "://" + user + ":" + Redacted + address[strings.LastIndex(address, "@"):]
		}
	}
	if scheme, rest, ok := strings.Cut(base, "://"); ok {
		// What stands before the last @ is who asks, also where it holds
		// characters that an address may not.
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			if user, _, secret := strings.Cut(rest[:at], ":"); secret {
				rest = user + ":" + Redacted + rest[at:]
			}
		}
		base = scheme + "://" + rest
	}
	if !asks {
		return base
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if key, _, ok := strings.Cut(pair, "="); ok && slices.Contains(secrets, strings.ToLower(key)) {
			pairs[i] = key + "=" + Redacted
		}
	}
	return base + "?" + strings.Join(pairs, "&")
}

// secrets are parts of addresses that nobody is to see.
var secrets = []string{"password", "passwd", "pwd", "sslpassword", "secret", "token", "access_token", "apikey", "api_key", "x-amz-signature", "x-amz-credential", "sig", "signature"}

// openFile opens a path or standard input as a source.
func openFile(ctx context.Context, address string, o Options) (Source, error) {
	path := address
	if _, err := os.Stat(path); err != nil {
		path = strings.TrimPrefix(address, "file:")
	}
	if o.Name == "" {
		o.Name = path
	}
	if o.Sheet == "" {
		path, o.Sheet = SplitSheet(path)
	}
	in, err := openInput(ctx, path, o.Schema == nil)
	if err != nil {
		return nil, err
	}
	return newSource(ctx, in, path, o)
}

// NewSource reads what a reader gives in batches (see Open). The extension of
// o.Name helps to tell the format.
func NewSource(ctx context.Context, r io.Reader, o Options) (Source, error) {
	return newSource(ctx, newInput(o.Name, r, o.Schema == nil), o.Name, o)
}

// newSource reads by the schema that there is, or by the one that a first pass
// finds.
func newSource(ctx context.Context, in *input, path string, o Options) (*Stream, error) {
	if o.Schema != nil {
		return newStream(ctx, in, path, o)
	}
	progress := o.Progress
	half := func(from float64) func(float64) {
		if progress == nil {
			return nil
		}
		return func(fraction float64) { progress(from + fraction/2) }
	}
	o.Progress = half(0)
	found, err := survey(ctx, in, path, o)
	if err != nil {
		in.Close()
		return nil, err
	}
	o.Progress = half(0.5)
	o.Schema, o.Extend = found.schema, false
	o.Ignore = slices.Concat(o.Ignore, found.ignored)
	raw, err := in.again()
	if err != nil {
		in.Close()
		return nil, err
	}
	r, err := resumeReading(ctx, in, raw, path, o)
	if err != nil {
		in.Close()
		return nil, err
	}
	r.surveyed = found
	return &Stream{reading: r}, nil
}

// surveyed is what a first pass over an input found.
type surveyed struct {
	schema  *Schema
	ignored []string // columns that are not in the schema
	report  *Report
	rows    int
}

// survey finds the kinds and values of the columns without keeping rows.
// Columns that turn out to be names late are passed over once more.
func survey(ctx context.Context, in *input, path string, o Options) (*surveyed, error) {
	s, err := startReading(ctx, in, path, o)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	s.assembly.survey = true
	if err := s.all(); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	if s.assembly.rereads() {
		if err := s.readMixed(ctx); err != nil {
			return nil, err
		}
	}
	rows := s.assembly.total
	s.assembly.rows, s.assembly.weights = 0, nil
	t, err := s.assembly.table(&s.notes)
	if err != nil {
		return nil, err
	}
	found := &surveyed{schema: t.Schema, report: s.report(), rows: rows}
	known := set(t.Schema.Names())
	for name, f := range s.plan.fields {
		if !known[name] && !f.bagged && name != o.Weight && name != o.Sequence {
			found.ignored = append(found.ignored, name)
		}
	}
	slices.Sort(found.ignored)
	return found, nil
}

// few gathers the distinct numbers of a target while they may be classes.
type few struct {
	seen []float64
	many bool // or no integers
}

func (f *few) add(xs []float64) {
	for _, x := range xs {
		if f.many {
			return
		}
		if IsMissing(x) || slices.Contains(f.seen, x) {
			continue
		}
		if f.seen = append(f.seen, x); !isInteger(x) || len(f.seen) > mostClasses {
			f.many, f.seen = true, nil
		}
	}
}

// FromTable returns a source of the rows of a table that there is.
func FromTable(t *Table, r *Report) Source {
	if r == nil {
		r = &Report{Rows: t.Rows()}
	}
	return &held{t: t, report: r}
}

// held is a table as a source.
type held struct {
	t      *Table
	next   int
	begun  bool
	report *Report
}

func (h *held) Schema() *Schema { return h.t.Schema }

func (h *held) Report() *Report { return h.report }

func (h *held) Close() error {
	h.next = h.t.Rows()
	return nil
}

func (h *held) Next() (*Table, error) {
	facts := h.t.Rows() == 0 && h.t.Linked != nil && !h.begun // what is around rows, and none of them
	if h.begun = true; h.next >= h.t.Rows() && !facts {
		return nil, io.EOF
	}
	from := h.next
	h.next = min(from+batchRows, h.t.Rows())
	return h.t.Slice(from, h.next), nil
}
