package table

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Many files are read as one: those that a pattern such as logs/2026-*.parquet
// matches, or all tables of a folder and of the folders in it, in the order of
// their names. Folders called COLUMN=VALUE, as Hive has them, are columns that
// come last. All files must have the same columns.

func init() {
	RegisterScheme(Scheme{Name: "files", Knows: func(address string) bool { return isPattern(address) && len(expand(address)) > 0 },
		Open: func(ctx context.Context, address string, o Options) (Source, error) {
			in, err := manyFiles(address, &o)
			if err != nil {
				return nil, err
			}
			return newSource(ctx, in, address, o)
		},
		Read: func(ctx context.Context, address string, o Options) (*Table, *Report, error) {
			in, err := manyFiles(address, &o)
			if err != nil {
				return nil, nil, err
			}
			return readInput(ctx, in, address, o)
		}})
}

// isPattern reports whether an address may stand for several files. A query of a
// database is none, whatever stands in it.
func isPattern(address string) bool {
	return strings.ContainsAny(address, "*[") && !strings.Contains(address, "://") && !strings.Contains(address, "?query=")
}

// IsFolderOfFiles reports whether a folder has tables in it, here or deeper.
func IsFolderOfFiles(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && len(expand(dir)) > 0
}

// Files lists the files of a folder, or those that a pattern matches, in the
// order in which they are read as one table. A path of a file is that file.
func Files(address string) []string {
	if info, err := os.Stat(address); err == nil && !info.IsDir() {
		return []string{address}
	}
	if info, err := os.Stat(address); err == nil && info.IsDir() || isPattern(address) {
		return expand(address)
	}
	return nil
}

// Among returns which of the paths below a folder, or of those that a pattern
// matches, are read as one table, in order: slashes divide folders, and folders
// and files that are hidden are passed over.
func Among(paths []string, address string) ([]string, error) {
	root, match, err := Pattern(address)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, path := range paths {
		below, inside := strings.CutPrefix(path, root)
		if inside && match(path) && !slices.ContainsFunc(strings.Split(below, "/"), isHidden) {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files, nil
}

// Pattern returns the folder below which all paths are that a pattern matches,
// and which these are: * is anything within a name, ** anything at all. Without
// either, all tables of the folder are.
func Pattern(pattern string) (root string, match func(path string) bool, err error) {
	special := strings.IndexAny(pattern, "*[")
	if special < 0 {
		return pattern, tableFile, nil
	}
	text := regexp.QuoteMeta(pattern)
	for _, r := range [][2]string{{`\*\*/`, `(.*/)?`}, {`\*\*`, `.*`}, {`\*`, `[^/]*`}, {`\[`, `[`}, {`\]`, `]`}} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	like, err := regexp.Compile("^" + text + "$")
	if err != nil {
		return "", nil, fmt.Errorf("%s: is no pattern of files; expected * within names, ** for folders, [0-9]", pattern)
	}
	return pattern[:strings.LastIndexByte("/"+pattern[:special], '/')], like.MatchString, nil
}

// isHidden reports whether what has a name is passed over.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// tableFile reports whether a file's name says that it is a table.
func tableFile(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, packed)
	}
	if slices.Contains([]string{".csv", ".tsv", ".tab", ".arff", ".jsonl", ".ndjson", ".json", ".libsvm", ".svm", ".svmlight"}, filepath.Ext(base)) {
		return true
	}
	_, known := formatOf(base, nil)
	return known
}

// expand lists the files of a folder, or those that a pattern matches.
func expand(address string) []string {
	address = strings.TrimPrefix(address, "files:")
	root, match := address, func(path string) bool { return tableFile(path) }
	if isPattern(address) {
		begin, matches, err := Pattern(filepath.ToSlash(filepath.Clean(address)))
		if err != nil {
			return nil
		}
		root, match = cmp.Or(filepath.FromSlash(begin), "."), func(path string) bool { return matches(filepath.ToSlash(path)) }
	}
	var files []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // what cannot be read is missing when it is opened
		}
		switch {
		case d.IsDir() && isHidden(d.Name()) && path != root:
			return fs.SkipDir
		case !d.IsDir() && !isHidden(d.Name()) && match(path):
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files
}

// partition is a column that the names of folders say.
type partition struct{ name, value string }

// nowhere is what Hive calls the folder of rows whose cell is missing.
const nowhere = "__HIVE_DEFAULT_PARTITION__"

// partitionsOf reads the names of the folders that a file is in.
func partitionsOf(path string) []partition {
	var found []partition
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if !ok || name == "" {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if value == nowhere {
			value = ""
		}
		found = append(found, partition{name, value})
	}
	return found
}

// manyFiles is the input that the files of an address are.
func manyFiles(address string, o *Options) (*input, error) {
	files := expand(address)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there are no tables here; expected files such as .csv, .parquet or .jsonl", address)
	}
	if o.Name == "" {
		o.Name = address
	}
	in := &input{name: address, files: files}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			in.size += info.Size()
		}
	}
	return in, nil
}

// NewSourceOfFiles reads files that are elsewhere as one, as those of a folder
// are (see Open): each is opened when its turn has come, in every pass.
func NewSourceOfFiles(ctx context.Context, files []string, open func(ctx context.Context, file string) (io.ReadCloser, error), o Options) (Source, error) {
	return newSource(ctx, &input{name: o.Name, files: files, open: open}, o.Name, o)
}

// openFile opens one of the files.
func (in *input) openFile(ctx context.Context, path string) (*input, error) {
	if in.open == nil {
		return openInput(ctx, path, false)
	}
	r, err := in.open(ctx, path)
	if err != nil {
		return nil, err
	}
	one := newInput(path, r, false)
	one.close = append(one.close, r.Close)
	return one, nil
}

// series is the flow of batches out of files one after another. All share the
// plan and the assembly of one reading.
type series struct {
	ctx     context.Context
	whole   *reading
	name    string // of all files
	at      int    // the file that is read
	now     *reading
	names   []string          // the columns of the first file
	kinds   map[string]Values // of files of columns
	states  map[string]state  // of columns before this file
	before  int64             // bytes of the files before
	formats []string
	hashes  []string
}

// beginFiles starts the flow.
func (s *reading) beginFiles(ctx context.Context) error {
	f := &series{ctx: ctx, whole: s, name: s.plan.name, kinds: map[string]Values{}}
	s.flow = f
	return f.open()
}

// open begins the file that comes next.
func (f *series) open() error {
	s, path := f.whole, f.whole.in.files[f.at]
	in, err := s.in.openFile(f.ctx, path)
	if err != nil {
		return err
	}
	s.plan.name, s.assembly.lines = path, 0
	f.now = &reading{in: in, path: path, plan: s.plan, assembly: s.assembly, parts: partitionsOf(path)}
	raw, meter := in.first()
	if s.meter != nil {
		f.now.meter = meter
	} else {
		raw = in.raw
	}
	f.states = map[string]state{}
	for _, c := range s.assembly.columns {
		if c.known > 0 {
			f.states[c.field.name] = c.state
		}
	}
	if err := f.now.begin(f.ctx, raw); err != nil {
		return err
	}
	s.source = f.now.source
	if f.at == 0 {
		s.notes.lines = append(s.notes.lines, f.now.notes.lines...)
	}
	if !slices.Contains(f.formats, f.now.format) {
		f.formats = append(f.formats, f.now.format)
	}
	return f.agree()
}

// agree compares the columns of a file with those of the first.
func (f *series) agree() error {
	if f.now.format == "json lines" { // whose rows may lack some
		return nil
	}
	first, path := f.whole.in.files[0], f.whole.in.files[f.at]
	var names []string
	for _, c := range f.now.source.columns() {
		names = append(names, c.field.name)
	}
	if f.at == 0 {
		f.names = names
	}
	for _, name := range f.names {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: has no column %q, which %s has; read files that have the same columns, or name those that do", path, name, first)
		}
	}
	for _, name := range names {
		if !slices.Contains(f.names, name) {
			return fmt.Errorf("%s: has a column %q, which %s has not; read files that have the same columns, or name those that do", path, name, first)
		}
	}
	p, ok := f.now.flow.(*columnar)
	for i := 0; ok && i < len(p.fields); i++ {
		name := p.fields[i].name
		if was, known := f.kinds[name]; known && p.wanted[i] && was != p.kinds[i] {
			return fmt.Errorf("column %q is %v in %s and %v in %s; write both the same way", name, was, first, p.kinds[i], path)
		}
		if p.wanted[i] {
			f.kinds[name] = p.kinds[i]
		}
	}
	return nil
}

// kept compares what the cells of a file turned out to be with those before.
func (f *series) kept() error {
	if f.whole.plan.options.Schema != nil {
		return nil
	}
	words := map[state]string{number: "numbers", date: "dates", text: "names", mixed: "names"}
	for _, c := range f.whole.assembly.columns {
		if was := f.states[c.field.name]; c.field.how == auto && (was == number || was == date) && c.state != was {
			return fmt.Errorf("column %q has %s in %s and others in %s; correct the file, or read the column as names", c.field.name, words[was], f.whole.in.files[0], f.whole.in.files[f.at])
		}
	}
	return nil
}

// The methods of a flow.

func (f *series) next() (*batch, error) {
	for {
		b, err := f.now.flow.next()
		if err == nil {
			b.read += f.before
			return b, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err := f.close(); err != nil {
			return nil, err
		}
		if f.at++; f.at == len(f.whole.in.files) {
			f.whole.plan.name = f.name
			return nil, io.EOF
		}
		if err := f.open(); err != nil {
			return nil, err
		}
	}
}

// close ends a file that was read.
func (f *series) close() error {
	s := f.now
	var err error
	if s.aside != nil {
		err = <-s.aside
		s.aside = nil
	} else if s.meter != nil {
		err = s.meter.rest()
	}
	if err == nil && s.meter != nil {
		f.hashes = append(f.hashes, s.meter.sum())
	}
	f.before += s.in.size
	s.stop()
	return errors.Join(err, s.in.Close(), f.kept())
}

func (f *series) release(b *batch) { f.now.flow.release(b) }

func (f *series) stop() {
	f.now.stop()
	f.now.in.Close()
	f.whole.plan.name = f.name
}

// report completes what there is to say of the files.
func (f *series) report(r *Report) *Report {
	r.Format = fmt.Sprintf("%s of %s", count(len(f.whole.in.files), "file"), strings.Join(f.formats, " and "))
	r.Bytes = f.before
	if f.whole.ended && len(f.hashes) == len(f.whole.in.files) {
		r.Hashes = f.hashes
		sum := sha256.New()
		for i, hash := range f.hashes {
			fmt.Fprintf(sum, "%q %s\n", filepath.Base(f.whole.in.files[i]), hash)
		}
		r.Hash = hex.EncodeToString(sum.Sum(nil))
	}
	return r
}

// partitioned is a grammar with columns that are the same in all its rows.
type partitioned struct {
	source
	fields []*field
	values [][]byte
}

// withPartitions adds to a format the columns that the names of folders say.
// Those that the file has itself are its own.
func (s *reading) withPartitions(g source) source {
	if len(s.parts) == 0 {
		return g
	}
	own := map[string]bool{}
	for _, c := range g.columns() {
		own[c.field.name] = true
	}
	p := &partitioned{source: g}
	for _, part := range s.parts {
		if !own[part.name] {
			p.fields = append(p.fields, s.plan.field(part.name))
			p.values = append(p.values, []byte(part.value))
		}
	}
	if len(p.fields) == 0 {
		return g
	}
	return p
}

func (p *partitioned) columns() []cells {
	columns := p.source.columns()
	for _, f := range p.fields {
		columns = append(columns, cells{field: f})
	}
	return columns
}

func (p *partitioned) parse(b *batch) *problem {
	last := len(b.columns) - len(p.fields)
	constant := slices.Clone(b.columns[last:])
	b.columns = b.columns[:last:last]
	wrong := p.source.parse(b)
	for i := range constant {
		c := &constant[i]
		if c.idle || slices.ContainsFunc(b.columns, func(other cells) bool { return other.field == c.field && other.rows() > 0 }) {
			continue
		}
		for row := range b.rows {
			if c.state == text && row > 0 {
				c.addCode(c.codes[len(c.codes)-1])
			} else if f := c.add(p.values[i], 0); f != fine && wrong == nil {
				wrong = &problem{0, f.say(c.field.name, p.values[i]), c.field.name}
			}
		}
	}
	b.columns = append(b.columns, constant...)
	return wrong
}
