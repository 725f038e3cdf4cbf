// Package sqlite reads tables and queries of SQLite files, and writes tables
// into them. It is apart from package database because its engine is large: a
// program that imports it, for its effect alone, reads sqlite:FILE?table=NAME
// wherever it reads tables.
//
// A read is one transaction, so that all passes over the rows see the same ones.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the engine

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

const scheme = "sqlite"

func init() {
	table.RegisterScheme(table.Scheme{Name: scheme, Feed: feed, Write: write, Catalogue: catalogue})
}

// feed opens a table or a query.
func feed(ctx context.Context, address string) (*table.Feed, error) {
	a, err := database.Split(address)
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, a, "ro")
	if err != nil {
		return nil, err
	}
	q, err := f.query(ctx, a)
	if err != nil {
		f.close()
		if strings.HasPrefix(err.Error(), a.Shown) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", a.Shown, err)
	}
	return q.Feed(a, scheme, "", f.close), nil
}

// file is an open file, in one transaction.
type file struct {
	path string
	db   *sql.DB
	conn *sql.Conn
}

// path is that of the file of an address, as it is written or with its escapes
// read, such as %3f for a question mark.
func path(a database.Address) string {
	base, _, _ := strings.Cut(strings.TrimPrefix(a.Base, scheme+":"), "?")
	base = strings.TrimPrefix(base, "//")
	if _, err := os.Stat(base); err != nil {
		if plain, err := url.PathUnescape(base); err == nil {
			return plain
		}
	}
	return base
}

// open opens a file that is there.
func open(ctx context.Context, a database.Address, mode string) (*file, error) {
	name := path(a)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New("is no file")
		}
		if errors.Is(err, os.ErrNotExist) && mode == "ro" {
			return nil, remedy.Misusef("%s: there is no such file: %s", a.Shown, name)
		}
		if mode == "ro" || !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", a.Shown, err)
		}
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: "mode=" + mode + "&_pragma=busy_timeout(10000)&_time_format=sqlite"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Shown, err)
	}
	f := &file{path: name, db: db}
	if f.conn, err = db.Conn(ctx); err == nil {
		begin := "BEGIN"
		if mode != "ro" {
			begin = "BEGIN IMMEDIATE"
		}
		_, err = f.conn.ExecContext(ctx, begin)
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("%s: %w", a.Shown, err)
	}
	return f, nil
}

// close ends the transaction, and nothing of it is kept.
func (f *file) close() error {
	if f.conn != nil {
		_, _ = f.conn.ExecContext(context.Background(), "ROLLBACK") // there may be none any more
		_ = f.conn.Close()
	}
	return f.db.Close()
}

// tables lists the tables and views.
func (f *file) tables(ctx context.Context) ([]string, error) {
	return f.texts(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
}

// catalogue lists the tables of a file, and their keys.
func catalogue(ctx context.Context, address string) (*table.Catalogue, error) {
	a, err := database.Split(address)
	if err != nil || a.Table != "" || a.Query != "" {
		return nil, err
	}
	f, err := open(ctx, a, "ro")
	if err != nil {
		return nil, err
	}
	defer f.close()
	names, err := f.texts(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Shown, err)
	}
	c := &table.Catalogue{Tables: map[string]string{}, Primary: map[string][]string{}}
	for _, name := range names {
		c.Tables[name] = a.For(name)
		if c.Primary[name], err = f.texts(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", name); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Shown, err)
		}
	}
	for _, name := range names {
		// A key that names no column points at the primary key.
		rows, err := f.texts(ctx, `SELECT id || char(10) || "table" || char(10) || "from" || char(10) || coalesce("to", '') FROM pragma_foreign_key_list(?) ORDER BY id, seq`, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Shown, err)
		}
		var ids []string
		var own []table.Link
		for _, row := range rows {
			cells := strings.SplitN(row, "\n", 4)
			if len(cells) != 4 || c.Tables[cells[1]] == "" {
				continue
			}
			at := slices.Index(ids, cells[0])
			if at < 0 {
				at, ids, own = len(own), append(ids, cells[0]), append(own, table.Link{Table: name, To: cells[1]})
			}
			l := &own[at]
			if primary := c.Primary[cells[1]]; cells[3] == "" && len(l.Columns) < len(primary) {
				cells[3] = primary[len(l.Columns)]
			}
			l.Columns, l.ToColumns = append(l.Columns, cells[2]), append(l.ToColumns, cells[3])
		}
		c.Foreign = append(c.Foreign, own...)
	}
	return c, nil
}

func (f *file) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := f.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// query prepares to read what an address names.
func (f *file) query(ctx context.Context, a database.Address) (*database.Query, error) {
	q := &database.Query{}
	text := "SELECT * FROM (" + a.Query + "\n)" // one statement, which only reads
	if a.Query == "" {
		tables, err := f.tables(ctx)
		if err != nil {
			return nil, err
		}
		name, err := a.Choose(tables)
		if err != nil {
			return nil, err
		}
		text = "SELECT * FROM " + database.Quote(name)
		if q.Keys, err = f.texts(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0", name); err != nil {
			return nil, err
		}
		if len(q.Keys) > 1 { // each of them says something
			q.Keys = nil
		}
		_ = f.conn.QueryRowContext(ctx, "SELECT max(rowid) FROM "+database.Quote(name)).Scan(&q.Rows) // views have none
	}
	rows, err := f.conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		if slices.Contains(q.Keys, t.Name()) && valuesOf(t.DatabaseTypeName()) == table.Numbers && strings.Contains(strings.ToUpper(t.DatabaseTypeName()), "INT") {
			q.Whole = append(q.Whole, t.Name())
			q.Columns = append(q.Columns, database.Column{Name: t.Name(), Values: table.Names})
			continue
		}
		q.Columns = append(q.Columns, database.Column{Name: t.Name(), Values: valuesOf(t.DatabaseTypeName())})
	}
	q.Run = func(ctx context.Context, to *database.Rows) error { return f.run(ctx, text, q.Columns, to) }
	q.Decode = func(to *database.Rows, raw []byte) error { return decode(raw, q.Columns, to) }
	return q, rows.Err()
}

// valuesOf says what a declared type means, after the rules of affinity
// (sqlite.org/datatype3.html); a column of which nothing is declared tells by its
// cells.
func valuesOf(declared string) table.Values {
	t := strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(t, p) {
				return true
			}
		}
		return false
	}
	switch {
	case t == "", has("BLOB"):
		return table.Texts
	case has("BOOL"):
		return table.Names
	case has("DATE", "TIMESTAMP"):
		return table.Dates
	case has("INT"):
		return table.Numbers
	case has("CHAR", "CLOB", "TEXT"):
		return table.Names
	case has("REAL", "FLOA", "DOUB", "NUM", "DEC"):
		return table.Numbers
	}
	return table.Texts
}

// run hands over the rows of a query. The driver's own rows are read, without
// the copies that database/sql makes.
func (f *file) run(ctx context.Context, text string, columns []database.Column, to *database.Rows) error {
	return f.conn.Raw(func(raw any) error {
		rows, err := raw.(driver.QueryerContext).QueryContext(ctx, text, nil)
		if err != nil {
			return err
		}
		defer rows.Close()
		if len(rows.Columns()) != len(columns) {
			return errors.New("its columns have changed; read it again")
		}
		cells := make([]driver.Value, len(columns))
		w := &writer{to: to, columns: columns}
		for {
			switch err := rows.Next(cells); {
			case errors.Is(err, io.EOF):
				return ctx.Err()
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return fmt.Errorf("the rows after the first %d cannot be read: %w", to.Done(), err)
			}
			w.raw = w.raw[:0]
			for i, v := range cells {
				w.cell(i, v)
			}
			if err := to.End(w.raw); err != nil {
				return err
			}
		}
	})
}

// decode hands over a row by the bytes that writer gathered.
func decode(raw []byte, columns []database.Column, to *database.Rows) error {
	w := &writer{to: to, columns: columns}
	rest := raw
	for i := range columns {
		if len(rest) == 0 {
			return io.ErrUnexpectedEOF
		}
		kind := rest[0]
		rest = rest[1:]
		need := 8
		switch kind {
		case 'n':
			need = 0
		case 's':
			need = 4
		}
		if len(rest) < need {
			return io.ErrUnexpectedEOF
		}
		head := rest[:need]
		rest = rest[need:]
		switch kind {
		case 'n':
			w.cell(i, nil)
		case 'i':
			w.cell(i, int64(binary.LittleEndian.Uint64(head)))
		case 'f':
			w.cell(i, math.Float64frombits(binary.LittleEndian.Uint64(head)))
		case 't':
			w.cell(i, time.UnixMicro(int64(binary.LittleEndian.Uint64(head))).UTC())
		case 's':
			n := int(binary.LittleEndian.Uint32(head))
			if len(rest) < n {
				return io.ErrUnexpectedEOF
			}
			w.say(i, rest[:n])
			rest = rest[n:]
		default:
			return fmt.Errorf("a cell of unknown kind %q", kind)
		}
	}
	return to.End(raw)
}

// writer hands over rows, and gathers the bytes by which they are hashed.
type writer struct {
	to      *database.Rows
	columns []database.Column
	raw     []byte
	text    []byte
}

func (w *writer) cell(i int, v driver.Value) {
	switch v := v.(type) {
	case nil:
		w.raw = append(w.raw, 'n')
		w.to.Null(i)
	case int64:
		w.raw = binary.LittleEndian.AppendUint64(append(w.raw, 'i'), uint64(v))
		w.number(i, float64(v), func(b []byte) []byte { return strconv.AppendInt(b, v, 10) })
	case float64:
		w.raw = binary.LittleEndian.AppendUint64(append(w.raw, 'f'), math.Float64bits(v))
		w.number(i, v, func(b []byte) []byte { return strconv.AppendFloat(b, v, 'g', -1, 64) })
	case bool:
		w.say(i, strconv.AppendBool(w.text[:0], v))
	case string:
		w.say(i, append(w.text[:0], v...))
	case []byte:
		w.say(i, append(w.text[:0], v...))
	case time.Time:
		w.raw = binary.LittleEndian.AppendUint64(append(w.raw, 't'), uint64(v.UnixMicro()))
		days := float64(v.Unix())/86400 + float64(v.Nanosecond())/86400e9
		if w.columns[i].Values == table.Dates {
			w.to.Number(i, days)
		} else {
			moment := table.Attribute{Time: true}
			w.to.Text(i, []byte(moment.Format(days*86400)))
		}
	default:
		w.say(i, fmt.Append(w.text[:0], v))
	}
}

// number hands over a number, as text where those are expected.
func (w *writer) number(i int, x float64, text func([]byte) []byte) {
	switch w.columns[i].Values {
	case table.Numbers:
		w.to.Number(i, x)
	case table.Dates: // as SQLite's own functions write dates: a Julian day, or seconds
		w.text = text(w.text[:0])
		w.to.Odd(i, string(w.text))
	default:
		w.text = text(w.text[:0])
		w.to.Text(i, w.text)
	}
}

// say hands over a text.
func (w *writer) say(i int, text []byte) {
	w.raw = binary.LittleEndian.AppendUint32(append(w.raw, 's'), uint32(len(text)))
	w.raw = append(w.raw, text...)
	switch w.columns[i].Values {
	case table.Numbers, table.Dates:
		w.to.Odd(i, string(text))
	default:
		w.to.Text(i, text)
	}
}
