package life

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/patient"
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
	Grams                          int // of texts: words that follow one another are counted together up to so many

	// How cells are written, where it is not to be found out (see table.Options).
	Missing                  []string
	Decimal, Date, Delimiter string
	Encoding                 string
	Sheet                    string // of a workbook, the first one if it is ""
	NoHeader                 *bool
}

// Data is where rows are read from: a file, standard input ("-"), a built-in
// set, or another address that table.Open knows.
type Data struct {
	Arg     string // as it was named, without passwords
	As      string // what it is called; "" is by its address
	Builtin *datasets.Set
	Reading Reading
	file    string        // the path without the name of a sheet
	scheme  string        // of the address
	at      string        // the address, with its passwords; "" for what is none
	in      io.Reader     // standard input
	staged  *scratch.File // a copy of what can be read only once
	rows    *table.Feed   // a copy of the rows of a database
	text    []byte        // the lines that are learnt, of a file that is followed
	memory  int64         // bytes that may be used
	hash    string        // of the bytes, once they were read in batches
}

// The schemes that are more than an address here.
const fileScheme, builtinScheme, filesScheme = "file", "builtin", "files"

// Find resolves the name of data, as table.Open does: a file of that name comes
// before a built-in set and what other schemes know.
func (h *Home) Find(arg string, reading Reading) (*Data, error) {
	d := &Data{Arg: arg, Reading: reading, file: arg, scheme: fileScheme, in: h.In, memory: h.Memory}
	if arg == "-" {
		return d, nil
	}
	if file, sheet := table.SplitSheet(arg); sheet != "" {
		d.file, d.Reading.Sheet = file, sheet
	}
	info, err := os.Stat(d.file)
	switch {
	case err == nil && info.IsDir():
		if d.scheme = linkedScheme(arg); d.scheme == "" && table.IsFolderOfFiles(arg) {
			d.scheme, d.at, d.file = filesScheme, arg, ""
		}
		if d.scheme == "" {
			return nil, remedy.Misusef("%s is a folder; expected a file, a folder of tables that point at each other, -, or the name of a built-in set", arg)
		}
		return d, nil
	case err == nil:
		if filepath.Ext(arg) == ".pl" {
			d.scheme = programScheme
		}
		return d, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if d.scheme, err = table.SchemeOf(arg); err != nil {
		return nil, remedy.Misuse(err)
	}
	if plain, ok := strings.CutPrefix(arg, fileScheme+":"); ok {
		return h.Find(plain, reading)
	}
	if d.scheme != fileScheme && d.scheme != builtinScheme {
		d.Arg, d.at, d.file = table.Redact(arg), arg, ""
		if d.Arg != arg && strings.HasPrefix(d.scheme, "postgres") {
			h.note("others on this machine can see the password in the address while this runs; PGPASSWORD or ~/.pgpass keep it from them")
		}
		// What cannot be opened now is said when it is read.
		if c, err := table.CatalogueOf(context.Background(), arg); err == nil && c != nil {
			d.scheme = tablesScheme
		}
		return d, nil
	}
	d.Arg = strings.TrimPrefix(arg, builtinScheme+":")
	set, err := datasets.Lookup(d.Arg)
	if err == nil {
		d.Builtin = &set
		return d, nil
	}
	if name, _, _ := strings.Cut(arg, ":"); isWorld(name) {
		return nil, remedy.Misusef("%s is a world to act in, not rows: its states can be given as the rows of a file, with its columns", arg)
	}
	if looksLikeFile(arg) {
		return nil, remedy.Misusef("no such file: %s", arg)
	}
	if name, near := nearestWorld(arg); near && !strings.Contains(err.Error(), "did you mean") {
		return nil, remedy.Misusef("no such file, and no data set or world to act in is called %q; did you mean %q?", arg, name)
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
	if d.As != "" {
		return d.As
	}
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

// NameOf is the name that a model takes from a file.
func NameOf(file string) string { return (&Data{Arg: file, file: file}).Base() }

// stem is the file's name without what says how it is packed and written.
func (d *Data) stem() string {
	if d.scheme == filesScheme {
		return patterned(d.Arg)
	}
	if d.at != "" {
		return addressed(d.Arg)
	}
	name := filepath.Base(d.path())
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	if ext := filepath.Ext(name); ext != "" && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// patterned is what many files are called: what their names have in common, or
// their folder's name.
func patterned(address string) string {
	if info, err := os.Stat(address); err == nil && info.IsDir() {
		return filepath.Base(filepath.Clean(address))
	}
	before, _, _ := strings.Cut(address, "*")
	before, _, _ = strings.Cut(before, "[")
	name := strings.Trim(filepath.Base(before), "-_. ")
	if strings.HasSuffix(before, "/") || name == "" {
		name = filepath.Base(filepath.Dir(before + "x"))
	}
	if name == "." {
		return "files"
	}
	return name
}

// addressed is what the data at an address are called: their table, or else where
// they are.
func addressed(address string) string {
	base, query, _ := strings.Cut(address, "?")
	for _, pair := range strings.Split(query, "&") {
		if name, ok := strings.CutPrefix(pair, "table="); ok && name != "" {
			return name
		}
	}
	_, base, _ = strings.Cut(base, ":")
	base = filepath.Base(base)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// called is what the data is called where people read of it.
func (d *Data) called() string {
	if d.As != "" {
		return d.As
	}
	return table.Redact(d.Arg)
}

// Path is where the data lies, for the record: absolute for a file.
func (d *Data) Path() string {
	if d.Arg == "-" || d.at != "" && d.scheme != filesScheme || d.scheme != fileScheme && d.scheme != filesScheme && !d.isLinked() {
		return table.Redact(d.Arg)
	}
	if abs, err := filepath.Abs(d.Arg); err == nil {
		return abs
	}
	return d.Arg
}

// File is the path of the file that is read, "" for what is none.
func (d *Data) File() string {
	if d.Arg == "-" || d.scheme != fileScheme {
		return ""
	}
	return d.path()
}

// Target is the column to predict: the one asked for, or a built-in set's.
func (d *Data) Target(asked string) string {
	if asked == "" && d.Builtin != nil {
		return d.Builtin.Target
	}
	return asked
}

func (d *Data) options() table.Options {
	return table.Options{
		Name:    d.called(),
		Nominal: d.Reading.Nominal,
		Numeric: d.Reading.Numeric,
		Ignore:  d.Reading.Ignore,
		Weight:  d.Reading.Weight,
		Text:    d.Reading.Text, Grams: d.Reading.Grams, Sequence: d.Reading.Sequence,
		Missing: d.Reading.Missing, Decimal: d.Reading.Decimal, Date: d.Reading.Date, Delimiter: d.Reading.Delimiter, Encoding: d.Reading.Encoding, NoHeader: d.Reading.NoHeader, Sheet: d.Reading.Sheet,
		Memory: d.memory,
	}
}

// Stage reads what can be read only once, standard input or a pipe, into a
// file without a name, so that it can be read twice and at once. Release gives
// its room back.
func (d *Data) Stage(ctx context.Context) error {
	if d.scheme != fileScheme || d.staged != nil || d.text != nil {
		return nil
	}
	in := d.in
	if d.Arg != "-" {
		if info, err := os.Stat(d.path()); err != nil || info.Mode().IsRegular() {
			return err
		}
		f, err := patient.Open(ctx, d.path())
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
		_, err = io.Copy(f, patient.Ending(ctx, in))
	}
	return err
}

// stageRows is Stage, also for the rows of a database: whoever reads them twice
// is to see the same ones in the same order.
func (d *Data) stageRows(ctx context.Context) error {
	if d.at == "" || d.rows != nil || d.isLinked() {
		return d.Stage(ctx)
	}
	f, err := table.FeedOf(ctx, d.at)
	if err != nil || f == nil {
		return err
	}
	if d.rows, err = f.Stage(ctx); err != nil {
		return fmt.Errorf("%s: %w", d.Arg, err)
	}
	return nil
}

// feed is the copy of a database's rows, which is closed by Release, not by who
// reads it.
func (d *Data) feed() *table.Feed {
	f := *d.rows
	f.Close = nil
	return &f
}

// Release removes what Stage made.
func (d *Data) Release() {
	if d.rows != nil {
		d.rows.Close()
		d.rows = nil
	}
	if d.staged != nil {
		d.staged.Close()
		d.staged = nil
	}
}

// keep copies the data into the store. A built-in set is there anyway.
func (h *Home) keep(tx *store.Tx, d *Data, hash string) error {
	switch {
	case d.Builtin != nil:
		return nil
	case d.scheme != fileScheme:
		return remedy.Misusef("%s is no file, and no copy of it can be kept", table.Redact(d.Arg))
	}
	extension := ""
	if d.Arg != "-" {
		extension = filepath.Base(d.path())[len(d.stem()):]
	}
	if d.staged != nil {
		return tx.Keep(hash, extension, d.staged.Reader())
	}
	f, err := os.Open(d.path())
	if err != nil {
		return err
	}
	defer f.Close()
	return tx.Keep(hash, extension, f)
}

// reader returns the bytes of what is not opened by its address, or nil.
func (d *Data) reader() io.Reader {
	switch {
	case d.text != nil:
		return bytes.NewReader(d.text)
	case d.staged != nil:
		return d.staged.Reader()
	case d.Arg != "-":
		return nil
	case d.in == nil:
		return strings.NewReader("")
	}
	return d.in
}

// Read reads the whole table.
func (d *Data) Read(ctx context.Context, o table.Options) (*table.Table, *table.Report, error) {
	d.ownTables(o)
	if d.isLinked() {
		return d.linked(ctx, o)
	}
	if d.rows != nil {
		return d.feed().Read(ctx, o)
	}
	if r := d.reader(); r != nil {
		return table.Read(ctx, r, o)
	}
	return table.ReadFrom(ctx, d.address(), o)
}

// source reads in batches: as the columns of the options' schema, or of one
// that is found first, in a pass that keeps no rows.
func (d *Data) source(ctx context.Context, o table.Options) (table.Source, error) {
	d.ownTables(o)
	if d.isLinked() {
		t, report, err := d.linked(ctx, o)
		if err != nil {
			return nil, err
		}
		return table.FromTable(t, report), nil
	}
	if d.rows != nil {
		return d.feed().Source(ctx, o)
	}
	if r := d.reader(); r != nil {
		return table.NewSource(ctx, r, o)
	}
	return table.Open(ctx, d.address(), o)
}

// address is what the rows are read from.
func (d *Data) address() string {
	if d.scheme == fileScheme {
		return d.path()
	}
	return cmp.Or(d.at, d.Arg)
}

// path is the argument without the name of a sheet.
func (d *Data) path() string { return cmp.Or(d.file, d.Arg) }

// ReadPlain reads a table as it is written, with no model or target in mind: ids,
// texts and what is left out elsewhere stand in it, too.
func (h *Home) ReadPlain(ctx context.Context, d *Data) (*table.Table, error) {
	o := d.options()
	o.IDs, o.Ignore, o.Text, o.Nominal = true, nil, nil, slices.Concat(o.Nominal, o.Text)
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	return t, nil
}

// ReadFor reads a table to learn from, and finds its target. A learner of
// densities may do without one. Columns without a known cell are kept if they
// may be open (table.Attribute.Open).
func (h *Home) ReadFor(ctx context.Context, d *Data, target string, density, open bool) (*table.Table, *table.Report, int, error) {
	o := d.learning(target, density, open)
	bar, done := h.progress("reading")
	o.Progress = bar
	sampled := h.Memory > 0 && !d.isLinked() && d.reader() == nil && o.Sequence == ""
	if sampled {
		o.Memory, o.Aside = h.Memory/tableShare, h.Memory
	}
	t, report, err := d.Read(ctx, o)
	if over := (*table.MemoryError)(nil); sampled && errors.As(err, &over) {
		o.Memory = h.Memory
		t, report, err = h.readSample(ctx, d, o, over)
	}
	done()
	if err != nil {
		return nil, nil, 0, err
	}
	h.note(report.Notes...)
	if t.Linked != nil && !density {
		o.Target = t.Linked.Target
	}
	col, err := d.targetIn(t.Schema, o.Target, density)
	if err != nil || col == learn.NoTarget {
		return t, report, col, err
	}
	return t, report, col, h.afford(d, t.Rows(), &t.Schema.Attributes[col])
}

// learning is how data is read to learn from it.
func (d *Data) learning(target string, density, open bool) table.Options {
	o := d.options()
	o.Open = open
	o.Target = d.Target(target)
	if density {
		o.Target = target // without one it is a density, also of a built-in set
	}
	return o
}

// targetIn finds the column to predict, learn.NoTarget if there may be none.
func (d *Data) targetIn(schema *table.Schema, target string, density bool) (int, error) {
	if target == "" && density {
		return learn.NoTarget, nil
	}
	names := schema.Names()
	if target == "" {
		return 0, &remedy.Error{Err: errors.New("which column is to be predicted?"), Remedy: Remedy{Kind: remedy.GiveTarget, Names: names}, Misuse: true}
	}
	col := schema.Index(target)
	if col < 0 {
		return 0, remedy.Misusef("%s has no column %q to predict%s", d.called(), target, spell.Hint(target, names))
	}
	return col, nil
}

// afford returns an error if answers for all rows, or who is taken for whom,
// would need more memory than there may be: a number for each row and class, and
// for each two classes.
func (h *Home) afford(d *Data, rows int, target *table.Attribute) error {
	classes := len(target.Values)
	need := 8 * float64(max(rows, classes)) * float64(classes)
	if h.Memory == 0 || need <= float64(h.Memory) {
		return nil
	}
	return remedy.New(Remedy{Kind: remedy.AllowMemory}, "%s has %d classes of %s in %d rows: answers for all of them need %.1f GiB of memory, and %.1f GiB are allowed; join classes or leave out rows",
		d.called(), classes, target.Name, rows, need/(1<<30), float64(h.Memory)/(1<<30))
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
	found, err := d.source(ctx, d.options())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	return m.Schema().Opened(found.Schema()), nil
}
