package life

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/scratch"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Reading says how to read data: which columns are names, numbers, texts or to
// be left out, which one weighs the rows, and which one says the sequence that
// a row belongs to.
type Reading struct {
	Nominal, Numeric, Text, Ignore []string
	Weight, Sequence               string
}

// Data is where rows are read from: a file, standard input ("-") or a built-in
// set.
type Data struct {
	Arg     string
	Builtin *datasets.Set
	Reading Reading
	in      io.Reader     // standard input
	staged  *scratch.File // a copy of what can be read only once
	memory  int64         // bytes that may be used
}

// Find resolves the name of data. A file of that name comes before a built-in
// set.
func (h *Home) Find(arg string, reading Reading) (*Data, error) {
	d := &Data{Arg: arg, Reading: reading, in: h.In, memory: h.Memory}
	if arg == "-" {
		return d, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return nil, remedy.Misusef("%s is a folder; expected a file, -, or the name of a built-in set", arg)
	case err == nil:
		return d, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	set, err := datasets.Lookup(arg)
	if err == nil {
		d.Builtin = &set
		return d, nil
	}
	if looksLikeFile(arg) {
		return nil, remedy.Misusef("no such file: %s", arg)
	}
	return nil, remedy.Misusef("no such file, and %v", err)
}

// looksLikeFile reports whether a name that is no file was meant as one.
func looksLikeFile(arg string) bool {
	return strings.ContainsAny(arg, "/\\") || filepath.Ext(arg) != "" && !strings.Contains(arg, ":")
}

// Base is the name that a model takes from its data: what a model may be
// called, other characters replaced by a hyphen.
func (d *Data) Base() string {
	if d.Arg == "-" {
		return "stdin"
	}
	if d.Builtin != nil {
		return d.Builtin.Name
	}
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r) {
			return r
		}
		return '-'
	}, d.stem()), ".")
}

// stem is the file's name without what says how it is packed and written.
func (d *Data) stem() string {
	name := filepath.Base(d.Arg)
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	if ext := filepath.Ext(name); ext != "" && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// Path is where the data lies, for the record: absolute for a file.
func (d *Data) Path() string {
	if d.Arg == "-" || d.Builtin != nil {
		return d.Arg
	}
	if abs, err := filepath.Abs(d.Arg); err == nil {
		return abs
	}
	return d.Arg
}

// File is the path of the file that is read, "" for what is none.
func (d *Data) File() string {
	if d.Arg == "-" || d.Builtin != nil {
		return ""
	}
	return d.Arg
}

// Target is the column to predict: the one asked for, or a built-in set's.
func (d *Data) Target(asked string) string {
	if asked == "" && d.Builtin != nil {
		return d.Builtin.Target
	}
	return asked
}

func (d *Data) options() table.Options {
	o := table.Options{
		Name:    d.Arg,
		Nominal: d.Reading.Nominal,
		Numeric: d.Reading.Numeric,
		Ignore:  d.Reading.Ignore,
		Weight:  d.Reading.Weight,
		Text:    d.Reading.Text, Sequence: d.Reading.Sequence,
		Memory: d.memory,
	}
	if d.Builtin != nil {
		o.Nominal = append(o.Nominal[:len(o.Nominal):len(o.Nominal)], d.Builtin.Nominal...)
		o.Ignore = append(o.Ignore[:len(o.Ignore):len(o.Ignore)], d.Builtin.Ignore...)
	}
	return o
}

// Stage reads what can be read only once, standard input or a pipe, into a
// file without a name, so that it can be read twice and at once. Release gives
// its room back.
func (d *Data) Stage(ctx context.Context) error {
	if d.Builtin != nil || d.staged != nil {
		return nil
	}
	in := d.in
	if d.Arg != "-" {
		if info, err := os.Stat(d.Arg); err != nil || info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(d.Arg)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	f, err := scratch.New(0)
	if err != nil {
		return err
	}
	d.staged = f
	if in != nil {
		_, err = io.Copy(f, interruptible{ctx, in})
	}
	return err
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// copied is a reader of what was staged. Release closes it, for all readers.
type copied struct{ *io.SectionReader }

func (copied) Close() error { return nil }

// Release removes what Stage made.
func (d *Data) Release() {
	if d.staged != nil {
		d.staged.Close()
		d.staged = nil
	}
}

// open returns a reader of the raw bytes, for data that is not a file to be
// opened by its own name.
func (d *Data) open() (io.ReadCloser, error) {
	switch {
	case d.Builtin != nil:
		r, _, err := datasets.Open(d.Arg)
		return r, err
	case d.staged != nil:
		return copied{d.staged.Reader()}, nil
	case d.in == nil:
		return io.NopCloser(strings.NewReader("")), nil
	}
	return io.NopCloser(d.in), nil
}

// byName reports whether the data is a file to be opened by its own name.
func (d *Data) byName() bool { return d.Arg != "-" && d.Builtin == nil && d.staged == nil }

// keep copies the data into the store. A built-in set is there anyway.
func (h *Home) keep(tx *store.Tx, d *Data, hash string) error {
	if d.Builtin != nil {
		return nil
	}
	extension := ""
	if d.Arg != "-" {
		extension = filepath.Base(d.Arg)[len(d.stem()):]
	}
	if d.staged != nil {
		return tx.Keep(hash, extension, d.staged.Reader())
	}
	f, err := os.Open(d.Arg)
	if err != nil {
		return err
	}
	defer f.Close()
	return tx.Keep(hash, extension, f)
}

// Read reads the whole table.
func (d *Data) Read(ctx context.Context, o table.Options) (*table.Table, *table.Report, error) {
	if d.byName() {
		return table.ReadFile(ctx, d.Arg, o)
	}
	r, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	t, report, err := table.Read(ctx, r, o)
	if err != nil || d.Builtin == nil || o.Schema != nil {
		return t, report, err
	}
	t, err = d.Builtin.Declare(t) // values that the set has, though no row
	return t, report, err
}

// Stream reads in batches, as the columns of a model's schema. Close the
// returned closer when done.
func (d *Data) stream(ctx context.Context, o table.Options) (*table.Stream, func(), error) {
	if d.byName() {
		s, err := table.OpenStream(ctx, d.Arg, o)
		if err != nil {
			return nil, nil, err
		}
		return s, func() { s.Close() }, nil
	}
	r, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	s, err := table.NewStream(ctx, r, o)
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	return s, func() { s.Close(); r.Close() }, nil
}

// ReadFor reads a table to learn from, and finds its target. A learner of
// densities may do without one. Columns without a known cell are kept if they
// may be open (table.Attribute.Open).
func (h *Home) ReadFor(ctx context.Context, d *Data, target string, density, open bool) (*table.Table, *table.Report, int, error) {
	o := d.options()
	o.Open = open
	o.Target = d.Target(target)
	if density {
		o.Target = target // without one it is a density, also of a built-in set
	}
	bar, done := h.progress("reading")
	o.Progress = bar
	t, report, err := d.Read(ctx, o)
	done()
	if err != nil {
		return nil, nil, 0, err
	}
	h.note(report.Notes...)
	if o.Target == "" && density {
		return t, report, learn.NoTarget, nil
	}
	names := t.Schema.Names()
	if o.Target == "" {
		return nil, nil, 0, &remedy.Error{Err: errors.New("which column is to be predicted?"), Remedy: Remedy{Kind: remedy.GiveTarget, Names: names}, Misuse: true}
	}
	col := t.Schema.Index(o.Target)
	if col < 0 {
		return nil, nil, 0, remedy.Misusef("%s has no column %q to predict%s", d.Arg, o.Target, spell.Hint(o.Target, names))
	}
	return t, report, col, h.afford(d, t, col)
}

// afford returns an error if answers for all rows would need more memory than
// there may be: a number for each row and class.
func (h *Home) afford(d *Data, t *table.Table, target int) error {
	classes := len(t.Schema.Attributes[target].Values)
	need := 8 * float64(t.Rows()) * float64(classes)
	if h.Memory == 0 || need <= float64(h.Memory) {
		return nil
	}
	return remedy.New(Remedy{Kind: remedy.AllowMemory}, "%s has %d classes of %s in %d rows: answers for all of them need %.1f GiB of memory, and %.1f GiB are allowed; join classes or leave out rows",
		d.Arg, classes, t.Schema.Attributes[target].Name, t.Rows(), need/(1<<30), float64(h.Memory)/(1<<30))
}

// ReadAs reads a table as the columns of a model's schema. Names that the
// model does not know are kept.
func (h *Home) ReadAs(ctx context.Context, d *Data, schema *table.Schema) (*table.Table, error) {
	o := d.options()
	o.Schema, o.Extend = schema, true
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	return t, nil
}

// openSchema returns a model's schema for reading more rows: a column that has
// had no known cell so far is of the kind that the data say.
func (d *Data) openSchema(ctx context.Context, m learn.Model) (*table.Schema, error) {
	o := d.options()
	t, _, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	return m.Schema().Opened(t.Schema), nil
}
