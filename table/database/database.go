// Package database is what all databases have in common that tables are read
// from and written to: addresses that name a table or a query, the rows of a
// query as typed columns, and a hash of them that does not depend on their
// order. The drivers are apart, in folders of their own, so that a program has
// those that it imports:
//
//	import _ "github.com/accrete-ml/accrete/table/database/postgres"
//	import _ "github.com/accrete-ml/accrete/table/database/sqlite"
//
// A driver says what the columns are, from the catalogue, and hands over rows
// (Rows); package table makes of them what it makes of files of columns.
package database

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Column is a column of a query's result: its name, and what the catalogue says
// that its values are.
type Column struct {
	Name   string
	Values table.Values
}

// Address is where rows are: what the driver connects to, and what is read there.
type Address struct {
	Base  string // for the driver
	Table string // or
	Query string
	Keys  []string // columns that name the rows of a table that is written
	Shown string   // without passwords
}

// Split divides an address into what the driver connects to, and what is read
// there: ?table=NAME or ?query=SELECT…, and &key=COLUMN,…. A query may be written
// as it is: per cent signs that begin no escape, plus signs, and ampersands that
// begin nothing like a part of an address stand for themselves. A password that was
// taken out of an address (table.Redacted) is none: the environment says it.
func Split(address string) (Address, error) {
	a := Address{Shown: table.Redact(address)}
	base, query, _ := strings.Cut(address, "?")
	var parts []string
	for _, part := range strings.Split(query, "&") {
		if n := len(parts) - 1; n >= 0 && !isPart(part) && strings.HasPrefix(parts[n], "query=") {
			parts[n] += "&" + part
		} else if part != "" {
			parts = append(parts, part)
		}
	}
	var rest []string
	for _, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		text, err := url.PathUnescape(value)
		if err != nil {
			text = value
		}
		switch key {
		case "table":
			a.Table = text
		case "query":
			a.Query = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
		case "key":
			a.Keys = append(a.Keys, strings.Split(text, ",")...)
		default:
			if value != table.Redacted {
				rest = append(rest, part)
			}
		}
	}
	if a.Table != "" && a.Query != "" {
		return a, remedy.Misusef("%s: names both a table and a query; expected one of them", a.Shown)
	}
	a.Base = strings.Replace(base, ":"+table.Redacted+"@", "@", 1)
	if len(rest) > 0 {
		a.Base += "?" + strings.Join(rest, "&")
	}
	return a, nil
}

// For is the address of one of the tables.
func (a Address) For(name string) string {
	join := "?"
	if strings.Contains(a.Base, "?") {
		join = "&"
	}
	return a.Base + join + "table=" + url.PathEscape(name)
}

// isPart reports whether a text begins as parts of addresses do: a word and =.
func isPart(text string) bool {
	key, _, ok := strings.Cut(text, "=")
	return ok && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// Choose finds the table that an address names, or says which there are.
func (a Address) Choose(tables []string) (string, error) {
	slices.Sort(tables)
	switch {
	case slices.Contains(tables, a.Table):
		return a.Table, nil
	case len(tables) == 0:
		return "", fmt.Errorf("%s: has no tables that can be read", a.Shown)
	case a.Table == "" && len(tables) == 1:
		return tables[0], nil
	case a.Table == "":
		return "", remedy.Misusef("%s: which table? add ?table=NAME, with one of %s", a.Shown, remedy.List(tables, 20))
	}
	return "", remedy.Misusef("%s: has no table %q%s", a.Shown, a.Table, spell.Hint(a.Table, tables))
}

// Quote writes a name as SQL has it.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Query is a query that is ready to be run, as often as its rows are wanted.
type Query struct {
	Columns []Column
	Keys    []string // columns that only name rows
	Whole   []string // those of them that are integers, as texts
	Rows    int64    // that there will probably be; 0 if nobody knows
	// Run hands all rows over, each ended by End.
	Run func(ctx context.Context, to *Rows) error
	// Decode hands over the cells of a row that was ended with these bytes.
	Decode func(to *Rows, raw []byte) error
}

// Feed makes rows of a query into those of package table.
func (q *Query) Feed(a Address, format, snapshot string, close func() error) *table.Feed {
	f := &table.Feed{
		Name: a.Shown, Format: format, Keys: q.Keys, Whole: q.Whole, Snapshot: snapshot, Close: close,
		Open: func(ctx context.Context, sum bool) (table.Columnar, error) { return newReader(ctx, q, sum), nil },
	}
	f.Stage = func(ctx context.Context) (*table.Feed, error) {
		copied, done, err := q.stage(ctx)
		if closed := close(); err == nil {
			err = closed
		}
		if err != nil {
			if done != nil {
				_ = done()
			}
			return nil, err
		}
		return copied.Feed(a, format, snapshot, done), nil
	}
	return f
}

// Target checks an address that rows are written to, and returns the table's
// definition: its columns, and the keys that name its rows.
func (a Address) Target(columns []table.Written, whole, number, text string) (definition string, err error) {
	if a.Table == "" {
		return "", remedy.Misusef("%s: into which table? add ?table=NAME", a.Shown)
	}
	var parts, keys, names []string
	for _, c := range columns {
		kind := text
		switch {
		case c.Whole:
			kind = whole
		case c.Number:
			kind = number
		}
		parts = append(parts, Quote(c.Name)+" "+kind)
		names = append(names, c.Name)
		if c.Key && len(a.Keys) == 0 {
			keys = append(keys, Quote(c.Name))
		}
	}
	for _, k := range a.Keys {
		if !slices.Contains(names, k) {
			return "", remedy.Misusef("%s: no column %q is written that could be a key%s; written are %s", a.Shown, k, spell.Hint(k, names), remedy.List(names, 20))
		}
		keys = append(keys, Quote(k))
	}
	if len(keys) > 0 {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(keys, ", ")+")")
	}
	return strings.Join(parts, ", "), nil
}

// List writes columns as SQL has them.
func List(columns []table.Written) string {
	var names []string
	for _, c := range columns {
		names = append(names, Quote(c.Name))
	}
	return strings.Join(names, ", ")
}
