package table

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Written is a column of rows that are written elsewhere than into text.
type Written struct {
	Name   string
	Number bool // its cells are numbers, or empty
	Whole  bool // they are integers
	Key    bool // it names the rows
}

// Writes reports whether rows can be written to a path or an address by WriteTo:
// a file of columns, or a table of a database.
func Writes(address string) bool {
	if f, ok := formatOf(address, nil); ok && f.Write != nil {
		return true
	}
	s, ok := writingScheme(address)
	return ok && s.Write != nil
}

// WritesTable reports whether an address is that of a database's table.
func WritesTable(address string) bool {
	_, ok := writingScheme(address)
	return ok
}

// writingScheme finds the scheme that an address names.
func writingScheme(address string) (Scheme, bool) {
	name, _, colon := strings.Cut(address, ":")
	schemes.RLock()
	defer schemes.RUnlock()
	i := slices.IndexFunc(schemes.list, func(s Scheme) bool { return colon && s.Name == name && s.Write != nil })
	if i < 0 {
		return Scheme{}, false
	}
	return schemes.list[i], true
}

// WriteTo writes rows that are comma-separated text with a header line into the
// table that an address names, all of them or none, and returns their number.
func WriteTo(ctx context.Context, address string, columns []Written, rows io.Reader) (int64, error) {
	s, ok := writingScheme(address)
	if !ok {
		return 0, fmt.Errorf("%s: is no table that can be written to", Redact(address))
	}
	return s.Write(ctx, address, columns, rows)
}

// WriteFile writes rows that are comma-separated text with a header line as the
// file of columns that a name's extension says.
func WriteFile(name string, w io.Writer, columns []Written, rows io.Reader) error {
	f, ok := formatOf(name, nil)
	if !ok || f.Write == nil {
		return fmt.Errorf("%s: files that end in %s are not written", name, filepath.Ext(name))
	}
	return f.Write(w, columns, rows)
}

// WrittenAs are the columns of a table as they are written.
func (t *Table) WrittenAs() []Written {
	columns := make([]Written, len(t.Columns))
	for i := range columns {
		a := &t.Schema.Attributes[i]
		columns[i] = Written{Name: a.Name, Number: a.Kind == Numeric && !a.Date && !a.Time}
	}
	return columns
}
