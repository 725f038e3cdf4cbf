package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// dataFlags say how to read DATA.
type dataFlags struct {
	nominal, numeric, ignore []string
	weight                   string
}

func (d *dataFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&d.nominal, "nominal", nil, "columns to read as names")
	f.StringSliceVar(&d.numeric, "numeric", nil, "columns to read as numbers")
	f.StringSliceVar(&d.ignore, "ignore", nil, "columns to leave out")
	f.StringVar(&d.weight, "weight", "", "column with the weight of each row")
}

// data is a resolved DATA argument: a file, standard input or a built-in set.
type data struct {
	arg     string
	builtin *datasets.Set
	flags   *dataFlags
	in      io.Reader // standard input
}

// find resolves a DATA argument. A file of that name comes before a built-in
// set.
func (a *app) find(arg string, flags *dataFlags) (*data, error) {
	d := &data{arg: arg, flags: flags, in: a.in}
	if arg == "-" {
		return d, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return nil, usagef("%s is a folder; expected a file, -, or the name of a built-in set", arg)
	case err == nil:
		return d, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	set, err := datasets.Lookup(arg)
	if err == nil {
		d.builtin = &set
		return d, nil
	}
	if looksLikeFile(arg) {
		return nil, usagef("no such file: %s", arg)
	}
	return nil, usagef("no such file, and %v", err)
}

// looksLikeFile reports whether a name that is no file was meant as one.
func looksLikeFile(arg string) bool {
	return strings.ContainsAny(arg, "/\\") || filepath.Ext(arg) != "" && !strings.Contains(arg, ":")
}

// base is the name that a model takes from its data.
func (d *data) base() string {
	if d.arg == "-" {
		return "stdin"
	}
	if d.builtin != nil {
		return d.builtin.Name
	}
	name := filepath.Base(d.arg)
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	if ext := filepath.Ext(name); ext != "" && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// path is where the data lies, for the record: absolute for a file.
func (d *data) path() string {
	if d.arg == "-" || d.builtin != nil {
		return d.arg
	}
	if abs, err := filepath.Abs(d.arg); err == nil {
		return abs
	}
	return d.arg
}

// target is the column to predict: the one asked for, or a built-in set's.
func (d *data) target(asked string) string {
	if asked == "" && d.builtin != nil {
		return d.builtin.Target
	}
	return asked
}

func (d *data) options() table.Options {
	o := table.Options{
		Name:    d.arg,
		Nominal: d.flags.nominal,
		Numeric: d.flags.numeric,
		Ignore:  d.flags.ignore,
		Weight:  d.flags.weight,
	}
	if d.builtin != nil {
		o.Nominal = append(o.Nominal, d.builtin.Nominal...)
		o.Ignore = append(o.Ignore, d.builtin.Ignore...)
	}
	return o
}

// open returns a reader of the raw bytes, for data that is not a file.
func (d *data) open() (io.ReadCloser, error) {
	if d.builtin != nil {
		r, _, err := datasets.Open(d.arg)
		return r, err
	}
	return io.NopCloser(d.in), nil
}

// hold reads standard input into memory, so that it can be read twice.
func (d *data) hold() error {
	if d.arg != "-" {
		return nil
	}
	all, err := io.ReadAll(d.in)
	d.in = bytes.NewReader(all)
	return err
}

// keep copies the data into the store. A built-in set is there anyway.
func (a *app) keep(s *store.Store, name string, d *data, hash string) error {
	if d.builtin != nil {
		return nil
	}
	if in, ok := d.in.(*bytes.Reader); ok && d.arg == "-" {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return s.Keep(name, hash, "", in)
	}
	f, err := os.Open(d.arg)
	if err != nil {
		return err
	}
	defer f.Close()
	base := filepath.Base(d.arg)
	return s.Keep(name, hash, base[len(d.base()):], f)
}

// read reads the whole table. With a target, it is checked to be a column.
func (d *data) read(ctx context.Context, o table.Options) (*table.Table, *table.Report, error) {
	if d.arg != "-" && d.builtin == nil {
		return table.ReadFile(ctx, d.arg, o)
	}
	r, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	t, report, err := table.Read(ctx, r, o)
	if err != nil || d.builtin == nil || o.Schema != nil {
		return t, report, err
	}
	t, err = d.builtin.Declare(t) // values that the set has, though no row
	return t, report, err
}

// stream reads in batches, as the columns of a model's schema.
func (d *data) stream(ctx context.Context, o table.Options) (*table.Stream, error) {
	if d.arg != "-" && d.builtin == nil {
		return table.OpenStream(ctx, d.arg, o)
	}
	r, err := d.open()
	if err != nil {
		return nil, err
	}
	return table.NewStream(ctx, r, o)
}

// readFor reads a table to learn from, and finds its target.
func (a *app) readFor(ctx context.Context, d *data, target string, info learn.Info) (*table.Table, *table.Report, int, error) {
	o := d.options()
	o.Target = d.target(target)
	if info.Takes.Density {
		o.Target = target // without one it is a density, also of a built-in set
	}
	bar, done := a.progress("reading")
	o.Progress = bar
	t, report, err := d.read(ctx, o)
	done()
	if err != nil {
		return nil, nil, 0, err
	}
	a.notes(report.Notes)
	if o.Target == "" && info.Takes.Density {
		return t, report, learn.NoTarget, nil
	}
	names := t.Schema.Names()
	if o.Target == "" {
		return nil, nil, 0, usagef("which column is to be predicted? --target one of %s", list(names, 20))
	}
	col := t.Schema.Index(o.Target)
	if col < 0 {
		return nil, nil, 0, usagef("%s has no column %q to predict%s", d.arg, o.Target, spell.Hint(o.Target, names))
	}
	return t, report, col, nil
}

// list joins names for a message, the first few of many.
func list(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}
