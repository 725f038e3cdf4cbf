package table

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
)

// keysFile is where a folder says which columns are keys.
const keysFile = "keys.json"

// folderKeys is what keys.json says: the tables by name, the columns that name their
// rows, those that name rows of others, and what is to be predicted.
type folderKeys struct {
	Tables  map[string]string   `json:"tables"`
	Primary map[string][]string `json:"primary"`
	Foreign []Link              `json:"foreign"`
	Target  struct {
		Table  string `json:"table"`
		Column string `json:"column"`
	} `json:"target"`
}

// IsTable reports whether a folder has a file of delimited rows that is called after a table.
func IsTable(dir, name string) bool {
	return slices.ContainsFunc(delimitedFiles(dir), func(file string) bool { return TableName(file) == name })
}

// IsFolderOfTables reports whether a folder holds tables that point at each other:
// it has a keys.json, or delimited files with different headers.
func IsFolderOfTables(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, keysFile)); err == nil {
		return true
	}
	headers := map[string]bool{}
	for _, file := range delimitedFiles(dir) {
		line, err := header(filepath.Join(dir, file))
		if err != nil {
			return false
		}
		headers[line] = true
	}
	return len(headers) > 1
}

// header returns the first line of a file.
func header(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var in io.Reader = f
	switch filepath.Ext(path) {
	case ".gz":
		if in, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	case ".zst":
		d, err := zstd.NewReader(f)
		if err != nil {
			return "", err
		}
		defer d.Close()
		in = d
	}
	line, err := bufio.NewReader(io.LimitReader(in, 1<<16)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// delimitedFiles lists the tables of a folder by file name.
func delimitedFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && slices.Contains([]string{".csv", ".tsv"}, filepath.Ext(unpacked(name))) {
			files = append(files, name)
		}
	}
	return files
}

// files are the tables of the folder by file name; a file alone is the only one of its own.
func (f *folder) files() []string {
	if info, err := os.Stat(f.dir); err == nil && !info.IsDir() {
		dir, file := filepath.Split(f.dir)
		f.dir = filepath.Clean(dir)
		return []string{file}
	}
	return delimitedFiles(f.dir)
}

// TableName is what a table in a folder is called after its file.
func TableName(path string) string {
	file := unpacked(filepath.Base(path))
	return strings.TrimSuffix(file, filepath.Ext(file))
}

// unpacked is a file's name without what says how it is packed.
func unpacked(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// Catalogue is the tables of a database: the address of each, the columns that name
// its rows, and those that name rows of others.
type Catalogue struct {
	Tables  map[string]string
	Primary map[string][]string
	Foreign []Link
}

// CatalogueOf returns the catalogue of an address that names no table; nil if it has
// none, or one table alone.
func CatalogueOf(ctx context.Context, address string) (*Catalogue, error) {
	s, err := schemeOf(address)
	if err != nil || s.Catalogue == nil {
		return nil, err
	}
	c, err := s.Catalogue(ctx, address)
	if err != nil || c == nil || len(c.Tables) < 2 {
		return nil, err
	}
	return c, nil
}

// Database reads the tables of a database, as Folder does those of a folder. Keys are
// those of its catalogue; where it has none that point at other tables, they are found
// by name and containment.
func Database(ctx context.Context, address string, o Options) (*Table, *Report, error) {
	c, err := CatalogueOf(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	if c == nil {
		return nil, nil, fmt.Errorf("%s: has no tables that point at each other", Redact(address))
	}
	f := &folder{dir: Redact(address), marked: map[string][]string{}, hashes: map[string]string{}, database: true}
	f.keys.Tables, f.keys.Primary, f.keys.Foreign = c.Tables, c.Primary, c.Foreign
	t, report, err := f.all(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	report.Format = "database"
	return t, report, nil
}

// folder is a folder being read, or a database.
type folder struct {
	dir      string
	database bool
	keys     folderKeys
	names    []string            // of its tables, sorted
	marked   map[string][]string // columns of each table that are keys
	notes    []string
	hashes   map[string]string
	known    map[string][]string // names of columns
	bytes    int64
}

// Folder reads a folder of tables that point at each other. The rows are those of
// the table that is to be predicted, as the options say: customers.churn is the
// column churn of the table customers. Which table that is, a model's schema says,
// else the target, else keys.json.
func Folder(ctx context.Context, dir string, o Options) (*Table, *Report, error) {
	f := &folder{dir: dir, marked: map[string][]string{}, hashes: map[string]string{}}
	return f.all(ctx, o)
}

// all reads the tables.
func (f *folder) all(ctx context.Context, o Options) (*Table, *Report, error) {
	if err := f.open(ctx, o); err != nil {
		return nil, nil, err
	}
	of, column, err := f.target(o)
	if err != nil {
		return nil, nil, err
	}
	linked := &Linked{Of: of, Target: column}
	ignored, err := f.ignored(ctx, o.Ignore, of)
	if err != nil {
		return nil, nil, err
	}
	var rows *Table
	for _, name := range f.names {
		with := Options{Nominal: f.marked[name], Ignore: ignored[name], Memory: o.Memory}
		t, report, err := f.read(ctx, name, with)
		if errors.Is(err, ErrNoRows) && name != of {
			f.leaveOut(name)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if name != of {
			f.remark(name, report)
		} else {
			if i := t.Schema.Index(column); i >= 0 {
				t = t.Project(others(t, i))
			}
			with = o
			with.Target, with.Name = column, ""
			with.Nominal, with.Ignore = slices.Concat(o.Nominal, f.marked[name]), ignored[name]
			if rows, report, err = f.read(ctx, name, with); err != nil {
				return nil, nil, err
			}
			f.remark(name, report)
		}
		linked.Tables = append(linked.Tables, NamedTable{name, f.keys.Primary[name], t})
	}
	linked.Links = f.keys.Foreign
	if rows == nil {
		if rows, err = NewBuilder(o.Schema).Table(); err != nil {
			return nil, nil, err
		}
		f.notes = append(f.notes, fmt.Sprintf("no rows of %s are here: what is around them is learnt", of))
	}
	return rows.WithLinked(linked), f.report(rows.Rows()), nil
}

// leaveOut forgets a table that has no rows.
func (f *folder) leaveOut(name string) {
	f.notes = append(f.notes, fmt.Sprintf("the table %s has no rows, and is left out", name))
	f.keys.Foreign = slices.DeleteFunc(slices.Clone(f.keys.Foreign), func(l Link) bool { return l.Table == name || l.To == name })
}

// ignored is the columns of each table among names such as customers.age; a name
// without a table is of each that has it.
func (f *folder) ignored(ctx context.Context, names []string, target string) (map[string][]string, error) {
	all := map[string][]string{}
	for _, name := range names {
		of, column, dotted := f.dotted(name)
		if dotted && f.keys.Tables[of] != "" {
			all[of] = append(all[of], column)
			continue
		}
		found := false
		for _, table := range f.names {
			columns, err := f.columns(ctx, table)
			if err != nil {
				return nil, err
			}
			if slices.Contains(columns, name) {
				all[table], found = append(all[table], name), true
			}
		}
		if !found { // which the reader of that table says
			all[target] = append(all[target], name)
		}
	}
	return all, nil
}

// columns are the names of a table's columns.
func (f *folder) columns(ctx context.Context, name string) ([]string, error) {
	if f.known[name] != nil {
		return f.known[name], nil
	}
	t, report, err := f.read(ctx, name, Options{Nominal: f.marked[name]}) // of a table of keys nothing else is left
	if errors.Is(err, ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if f.known == nil {
		f.known = map[string][]string{}
	}
	f.known[name] = slices.Concat(t.Schema.Names(), report.IDs)
	return f.known[name], nil
}

func others(t *Table, column int) []int {
	var rest []int
	for i := range t.Columns {
		if i != column {
			rest = append(rest, i)
		}
	}
	return rest
}

// open finds the tables and the keys.
func (f *folder) open(ctx context.Context, o Options) error {
	var text []byte
	err := errors.ErrUnsupported
	if !f.database {
		text, err = os.ReadFile(filepath.Join(f.dir, keysFile))
	}
	known := err == nil
	if known {
		if err := json.Unmarshal(text, &f.keys); err != nil {
			return fmt.Errorf("%s: %v", filepath.Join(f.dir, keysFile), err)
		}
	}
	if len(f.keys.Tables) == 0 {
		f.keys.Tables = map[string]string{}
		for _, file := range f.files() {
			f.keys.Tables[TableName(file)] = file
		}
	}
	if len(f.keys.Tables) == 0 {
		return fmt.Errorf("%s has no tables; expected .csv files, or %s", f.dir, keysFile)
	}
	for name, file := range f.keys.Tables {
		f.names = append(f.names, name)
		if !f.database && !filepath.IsLocal(file) {
			return fmt.Errorf("%s: the table %q is outside of the folder: %s", filepath.Join(f.dir, keysFile), name, file)
		}
	}
	slices.Sort(f.names)
	switch {
	case known || len(f.keys.Foreign) > 0:
	case o.Schema != nil && o.Schema.Keys != nil:
		f.knownKeys(o.Schema.Keys)
	default:
		if err := f.findKeys(ctx, o); err != nil {
			return err
		}
	}
	for name, columns := range f.keys.Primary {
		f.marked[name] = append(f.marked[name], columns...)
	}
	for _, l := range f.keys.Foreign {
		if len(l.Columns) == 0 || len(l.Columns) != len(l.ToColumns) || f.keys.Tables[l.Table] == "" || f.keys.Tables[l.To] == "" {
			return fmt.Errorf("%s: a foreign key of %q to %q has other columns than those that it points to, or a table that is not there", f.dir, l.Table, l.To)
		}
		f.marked[l.Table] = append(f.marked[l.Table], l.Columns...)
		f.marked[l.To] = append(f.marked[l.To], l.ToColumns...)
	}
	for name, columns := range f.marked {
		slices.Sort(columns)
		f.marked[name] = slices.Compact(columns)
	}
	return nil
}

// knownKeys takes the keys of the tables that a model learnt: a few rows more say little of
// what names what. Tables that it does not know are left out.
func (f *folder) knownKeys(k *Keys) {
	var unknown []string
	f.names = slices.DeleteFunc(f.names, func(name string) bool {
		if slices.Contains(k.Tables, name) {
			return false
		}
		unknown = append(unknown, name)
		return true
	})
	if len(unknown) > 0 {
		f.notes = append(f.notes, fmt.Sprintf("left out, as the model has no tables of these names: %s", strings.Join(unknown, ", ")))
	}
	f.keys.Primary = map[string][]string{}
	for _, name := range f.names {
		f.keys.Primary[name] = k.Primary[name]
	}
	for _, l := range k.Links {
		here, there := slices.Contains(f.names, l.Table), slices.Contains(f.names, l.To)
		if here {
			f.marked[l.Table] = append(f.marked[l.Table], l.Columns...)
		}
		if there {
			f.marked[l.To] = append(f.marked[l.To], l.ToColumns...)
		}
		if here && there {
			f.keys.Foreign = append(f.keys.Foreign, l)
		}
	}
}

// target finds the table whose rows are the examples, and the column to predict.
func (f *folder) target(o Options) (of, column string, err error) {
	asked, name, dotted := f.dotted(o.Target)
	switch {
	case o.Schema != nil && o.Schema.Linked != "":
		of, column = o.Schema.Linked, o.Target
	case dotted:
		of, column = asked, name
	case o.Target != "" && f.keys.Target.Table != "":
		of, column = f.keys.Target.Table, o.Target
	case o.Target != "":
		return "", "", fmt.Errorf("which table is %q of? write TABLE.%s, with one of %s", o.Target, o.Target, strings.Join(f.names, ", "))
	case f.keys.Target.Table != "":
		of, column = f.keys.Target.Table, f.keys.Target.Column
	default:
		alone := ""
		if f.database {
			alone = ", or add ?table=NAME to read one of them alone"
		}
		return "", "", fmt.Errorf("what is to be predicted? write TABLE.COLUMN, with one of the tables %s%s", strings.Join(f.names, ", "), alone)
	}
	if f.keys.Tables[of] == "" && !f.factsAlone(o) {
		return "", "", fmt.Errorf("%s has no table %q%s", f.dir, of, spell.Hint(of, f.names))
	}
	return of, column, nil
}

// dotted takes TABLE.COLUMN apart; a table of a database may have a dot in its name, too.
func (f *folder) dotted(name string) (of, column string, is bool) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '.' && f.keys.Tables[name[:i]] != "" {
			return name[:i], name[i+1:], true
		}
	}
	return strings.Cut(name, ".")
}

// factsAlone reports whether the folder may lack the rows themselves: to a model that knows
// them, what is around them is knowledge, too.
func (f *folder) factsAlone(o Options) bool {
	return o.Extend && o.Schema != nil && o.Schema.Keys != nil && len(f.names) > 0
}

func (f *folder) read(ctx context.Context, name string, o Options) (*Table, *Report, error) {
	read, path := ReadFile, filepath.Join(f.dir, f.keys.Tables[name])
	if f.database {
		read, path = ReadFrom, f.keys.Tables[name]
	}
	// A key that a file does not have is missing cells, not an error.
	t, report, err := read(ctx, path, o)
	if err != nil {
		return nil, nil, err
	}
	if f.hashes[name] == "" {
		f.hashes[name] = report.Hash
		f.bytes += report.Bytes
	}
	return t, report, nil
}

func (f *folder) remark(name string, r *Report) {
	for _, n := range r.Notes {
		f.notes = append(f.notes, name+": "+n)
	}
}

func (f *folder) report(rows int) *Report {
	sum := sha256.New()
	for _, name := range f.names {
		fmt.Fprintf(sum, "%s %s\n", name, f.hashes[name])
	}
	return &Report{Format: "folder of tables", Bytes: f.bytes, Hash: hex.EncodeToString(sum.Sum(nil)), Notes: f.notes, Address: f.dir, Rows: rows}
}

// findKeys finds keys by name and containment: a column called id, or after its table
// and id, whose cells are all there and all different, names the rows of its table;
// and a column of that name, or called after that table, in another table names rows
// of it if all of its values do. Names in letters need not be called so where they are
// the key of one table alone.
func (f *folder) findKeys(ctx context.Context, o Options) error {
	if f.keys.Primary == nil {
		f.keys.Primary = map[string][]string{}
	}
	columns := map[string][]string{}
	ids := map[string][]string{}
	tables := map[string]*Table{}
	var names []string
	for _, name := range f.names {
		t, report, err := f.read(ctx, name, Options{Memory: o.Memory})
		var known *remedy.Error
		if errors.As(err, &known) && known.Remedy.Kind == remedy.ChooseColumns { // it has nothing but keys
			t, report, err = f.read(ctx, name, Options{Memory: o.Memory, IDs: true})
		}
		if errors.Is(err, ErrNoRows) && !strings.HasPrefix(o.Target, name+".") {
			f.leaveOut(name)
			continue
		}
		if err != nil {
			return err
		}
		names = append(names, name)
		columns[name], ids[name] = slices.Concat(t.Schema.Names(), report.IDs), report.IDs
	}
	f.names = names
	shared := func(column string) bool { // by several tables
		n := 0
		for _, names := range columns {
			n += len(names) - len(slices.DeleteFunc(slices.Clone(names), func(c string) bool { return c == column }))
		}
		return n > 1
	}
	for _, name := range f.names {
		var marked []string
		for _, c := range columns[name] {
			if shared(c) || f.isKeyName(c) || slices.Contains(ids[name], c) {
				marked = append(marked, c)
			}
		}
		t, _, err := f.read(ctx, name, Options{Nominal: marked, Memory: o.Memory})
		if err != nil {
			return err
		}
		tables[name] = t
		for _, c := range marked {
			low := strings.ToLower(c)
			ownName := low == "id" || calledAfter(low, name) || shared(c)
			if i := t.Schema.Index(c); i >= 0 && ownName && isKey(t, i) && f.keys.Primary[name] == nil {
				f.keys.Primary[name] = []string{c}
				break
			}
		}
	}
	f.findLinks(tables, columns)
	var said []string
	for _, l := range f.keys.Foreign {
		said = append(said, l.Table+"."+l.Columns[0]+" → "+l.To+"."+l.ToColumns[0])
	}
	if len(said) == 0 {
		f.notes = append(f.notes, "no column of one table names rows of another; say it in "+keysFile)
		return nil
	}
	f.notes = append(f.notes, "keys found by name and containment: "+strings.Join(said, ", ")+"; "+keysFile+" overrules")
	return nil
}

// isKeyName reports whether a column may name rows, by what it is called.
func (f *folder) isKeyName(column string) bool {
	low := strings.ToLower(column)
	return strings.HasSuffix(low, "id") && low != "paid" || slices.ContainsFunc(f.names, func(t string) bool { return calledAfter(role(low), t) })
}

// calledAfter reports whether a column is called after a table: user, users, user_id or
// userid of users.
func calledAfter(column, table string) bool {
	table = strings.ToLower(table)
	return slices.ContainsFunc([]string{table, singular(table)}, func(t string) bool {
		return column == t || column == t+"_id" || column == t+"id"
	})
}

// role is a column's name without the number behind it: atom of atom2.
func role(column string) string { return strings.TrimRight(column, "0123456789") }

// findLinks finds which columns name rows of which table.
func (f *folder) findLinks(tables map[string]*Table, columns map[string][]string) {
	for _, from := range f.names {
		for _, c := range columns[from] {
			i := tables[from].Schema.Index(c)
			if i < 0 {
				continue
			}
			a := &tables[from].Schema.Attributes[i]
			link := func(to string, key []string) {
				f.keys.Primary[to] = key
				f.keys.Foreign = append(f.keys.Foreign, Link{from, []string{c}, to, key})
			}
			known := len(f.keys.Foreign)
			for _, to := range f.names {
				if key := f.keyOf(a, to, tables[to]); key != nil && f.namedLink(c, from, to) && (from != to || key[0] != c) {
					link(to, key)
				}
			}
			if len(f.keys.Foreign) > known || slices.Equal(f.keys.Primary[from], []string{c}) {
				continue
			}
			if to, key := f.homeOf(a, from, tables); to != "" && !(to == from && isKey(tables[from], i)) {
				link(to, key)
			}
		}
	}
}

// keyOf returns the column of a table that all values of another column name rows by: the
// one that is known to, else the first whose cells are all different; nil if there is none.
func (f *folder) keyOf(a *Attribute, to string, t *Table) []string {
	for i := range t.Schema.Attributes {
		name := t.Schema.Attributes[i].Name
		if known := f.keys.Primary[to]; known != nil && name != known[0] {
			continue
		}
		if isKey(t, i) && contained(a, &t.Schema.Attributes[i]) {
			return []string{name}
		}
	}
	return nil
}

// homeOf returns the only table whose rows the values of a column name, and its key; "" if
// there are several or none, or if the values are numbers, which are contained in others by
// chance.
func (f *folder) homeOf(a *Attribute, from string, tables map[string]*Table) (home string, key []string) {
	if a.Kind != Nominal || len(a.Values) < 2 || slices.ContainsFunc(a.Values, func(v string) bool { _, is := parseNumber([]byte(v)); return is }) {
		return "", nil
	}
	for _, to := range f.names {
		found := f.keyOf(a, to, tables[to])
		if found == nil || to == from && found[0] == a.Name {
			continue
		}
		if home != "" {
			return "", nil
		}
		home, key = to, found
	}
	return home, key
}

// namedLink reports whether a column of one table is called as one that names rows of
// another is, or as one that names rows of its own, such as manager_id.
func (f *folder) namedLink(column, from, to string) bool {
	low := strings.ToLower(column)
	if key := f.keys.Primary[to]; key != nil && low == strings.ToLower(key[0]) && low != "id" {
		return true
	}
	if calledAfter(low, to) || calledAfter(role(low), to) {
		return true
	}
	return from == to && strings.HasSuffix(low, "_id") && !slices.ContainsFunc(f.names, func(t string) bool { return calledAfter(low, t) })
}

// singular is what one row of a table is called, where its name is a plural.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		return strings.TrimSuffix(name, "s")
	}
	return name
}

// isKey reports whether all cells of a nominal column are known and different.
func isKey(t *Table, column int) bool {
	a := &t.Schema.Attributes[column]
	return a.Kind == Nominal && len(a.Values) == t.Rows() && !slices.Contains(t.Columns[column].Codes, Missing)
}

// contained reports whether all values of one nominal column are values of another.
func contained(a, b *Attribute) bool {
	if a.Kind != Nominal || b.Kind != Nominal || len(a.Values) == 0 {
		return false
	}
	known := set(b.Values)
	return !slices.ContainsFunc(a.Values, func(v string) bool { return !known[v] })
}
