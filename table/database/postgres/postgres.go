// Package postgres reads tables and queries of PostgreSQL, and writes tables
// into it. It is apart from package database because its driver is large: a
// program that imports it, for its effect alone, reads
// postgres://HOST/DB?table=NAME wherever it reads tables.
//
// A read is one transaction of one snapshot (repeatable read, read only). The
// catalogue says what the columns are; the rows come by COPY in binary form,
// which costs the server and us less than any other way. Passwords are those of
// the environment (PGPASSWORD, PGPASSFILE, ~/.pgpass) or of the address, and
// never said.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

func init() {
	for _, name := range []string{"postgres", "postgresql"} {
		table.RegisterScheme(table.Scheme{Name: name, Feed: feed, Write: write, Catalogue: catalogue})
	}
}

// feed opens a table or a query.
func feed(ctx context.Context, address string) (*table.Feed, error) {
	a, err := database.Split(address)
	if err != nil {
		return nil, err
	}
	s, err := connect(ctx, a)
	if err != nil {
		return nil, err
	}
	q, err := s.query(ctx)
	if err != nil {
		s.close()
		return nil, s.plain(err)
	}
	return q.Feed(a, "postgres", s.snapshot, s.close), nil
}

// session is a connection in one transaction.
type session struct {
	address  database.Address
	password string
	conn     *pgconn.PgConn
	snapshot string // that the transaction sees
}

// patience is how long a server may take to answer at first, unless the address
// or the environment says connect_timeout.
const patience = 10 * time.Second

// atOnce is how long a server may take to stop a query that nobody waits for any
// more, before the connection is closed.
const atOnce = 300 * time.Millisecond

// dial connects. Errors do not have the password.
func dial(ctx context.Context, a database.Address) (*session, error) {
	s := &session{address: a}
	c, err := pgconn.ParseConfig(a.Base)
	if err != nil {
		return nil, remedy.Misusef("%s: is no address of a PostgreSQL database; expected postgres://USER@HOST:PORT/DATABASE?table=NAME", a.Shown)
	}
	s.password = c.Password
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = patience
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "accrete"
	}
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: atOnce}
	}
	if s.conn, err = pgconn.ConnectConfig(ctx, c); err != nil {
		return nil, s.plain(err)
	}
	return s, nil
}

// connect begins a transaction of one snapshot.
func connect(ctx context.Context, a database.Address) (*session, error) {
	s, err := dial(ctx, a)
	if err != nil {
		return nil, err
	}
	// Two passes see the rows in the same order where no scan begins in the middle.
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL synchronize_seqscans = off"
	if _, err = s.conn.Exec(ctx, begin).ReadAll(); err == nil {
		var is [][]string
		if is, err = s.rows(ctx, "SELECT txid_current_snapshot()::text"); err == nil {
			s.snapshot = is[0][0]
		}
	}
	if err != nil {
		s.close()
		return nil, s.plain(err)
	}
	return s, nil
}

// close ends the transaction, and nothing of it is kept.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

// plain says what is wrong in a line, without the password.
func (s *session) plain(err error) error {
	var refused *pgconn.ConnectError
	var said *pgconn.PgError
	var network *net.OpError
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &said):
		text = said.Message
		if said.Detail != "" {
			text += " (" + said.Detail + ")"
		}
		if said.Code == "57P01" || said.Code == "57P02" || said.Code == "57P03" { // it shuts down, or starts
			text += "; try again when it is up"
		}
		if said.Code == "28P01" { // the password is not the one
			text += "; PGPASSWORD or ~/.pgpass says the password"
		}
	case errors.As(err, &refused):
		first, _, _ := strings.Cut(strings.TrimSpace(errors.Unwrap(refused).Error()), "\n") // the others are other ways to the same host
		text = "cannot connect: " + first
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.As(err, &network):
		text = "the connection was lost (" + text + "); try again"
	}
	if s.password != "" {
		text = strings.ReplaceAll(text, s.password, table.Redacted)
	}
	plain := fmt.Errorf("%s: %s", s.address.Shown, text)
	var misused *remedy.Error
	switch {
	case errors.As(err, &misused):
		return err
	case said != nil && strings.HasPrefix(said.Code, "42"): // what was asked for is wrong
		return remedy.Misuse(plain)
	}
	return plain
}

// rows returns the cells of a small query of the catalogue; missing ones are "".
func (s *session) rows(ctx context.Context, query string, args ...string) ([][]string, error) {
	var values [][]byte
	for _, a := range args {
		values = append(values, []byte(a))
	}
	r := s.conn.ExecParams(ctx, query, values, nil, nil, nil).Read()
	if r.Err != nil {
		return nil, r.Err
	}
	var all [][]string
	for _, row := range r.Rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, string(cell))
		}
		all = append(all, cells)
	}
	return all, nil
}

// quoted is a table's name as SQL has it: a dot divides the schema from it.
func quoted(name string) string {
	if schema, of, ok := strings.Cut(name, "."); ok {
		return database.Quote(schema) + "." + database.Quote(of)
	}
	return database.Quote(name)
}

// tables lists the tables and views that can be read, those of other schemas
// than the usual ones with a dot.
func (s *session) tables(ctx context.Context) ([]string, error) {
	rows, err := s.rows(ctx, `SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname||'.'||c.relname END
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ('pg_catalog','information_schema','pg_toast')
		AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1`)
	var names []string
	for _, r := range rows {
		names = append(names, r[0])
	}
	return names, err
}

// catalogue lists the tables of a database, and their keys.
func catalogue(ctx context.Context, address string) (*table.Catalogue, error) {
	a, err := database.Split(address)
	if err != nil || a.Table != "" || a.Query != "" {
		return nil, err
	}
	s, err := connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer s.close()
	const name = `CASE WHEN pg_table_is_visible(%[1]s.oid) THEN %[1]s.relname ELSE %[1]s.relnamespace::regnamespace||'.'||%[1]s.relname END`
	const columns = `(SELECT string_agg(a.attname, E'\n' ORDER BY u.at) FROM unnest(%[1]s) WITH ORDINALITY AS u(num, at) JOIN pg_attribute a ON a.attrelid = %[2]s AND a.attnum = u.num)`
	tables, err := s.rows(ctx, "SELECT "+fmt.Sprintf(name, "c")+`, coalesce((SELECT `+fmt.Sprintf(columns, "k.conkey", "c.oid")+` FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p'), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r','p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog','information_schema','pg_toast')
		AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1`)
	if err != nil {
		return nil, s.plain(err)
	}
	c := &table.Catalogue{Tables: map[string]string{}, Primary: map[string][]string{}}
	for _, t := range tables {
		c.Tables[t[0]] = a.For(t[0])
		if t[1] != "" {
			c.Primary[t[0]] = strings.Split(t[1], "\n")
		}
	}
	keys, err := s.rows(ctx, "SELECT "+fmt.Sprintf(name, "f")+", "+fmt.Sprintf(name, "t")+", "+fmt.Sprintf(columns, "k.conkey", "f.oid")+", "+fmt.Sprintf(columns, "k.confkey", "t.oid")+`
		FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid WHERE k.contype = 'f' ORDER BY 1, k.conname`)
	if err != nil {
		return nil, s.plain(err)
	}
	for _, k := range keys {
		if c.Tables[k[0]] != "" && c.Tables[k[1]] != "" {
			c.Foreign = append(c.Foreign, table.Link{Table: k[0], To: k[1], Columns: strings.Split(k[2], "\n"), ToColumns: strings.Split(k[3], "\n")})
		}
	}
	return c, nil
}

// query prepares to read what the address names.
func (s *session) query(ctx context.Context) (*database.Query, error) {
	q, asked := &database.Query{}, s.address.Query
	if asked == "" {
		tables, err := s.tables(ctx)
		if err != nil {
			return nil, err
		}
		name, err := s.address.Choose(tables)
		if err != nil {
			return nil, err
		}
		asked = "SELECT * FROM " + quoted(name)
		if err := s.know(ctx, q, name); err != nil {
			return nil, err
		}
	}
	// A statement that is prepared is one alone, and may end in a comment.
	is, err := s.conn.Prepare(ctx, "", "SELECT * FROM ("+asked+"\n) AS q", nil)
	if err != nil {
		return nil, err
	}
	if len(is.Fields) == 0 {
		return nil, errors.New("the query has no columns")
	}
	var list, names []string
	decoders := make([]decoder, len(is.Fields))
	for i, f := range is.Fields {
		as := typeOf(f.DataTypeOID)
		if whole := f.DataTypeOID == 20 || f.DataTypeOID == 21 || f.DataTypeOID == 23; whole && slices.Contains(q.Keys, f.Name) {
			as = sqlType{"%s::text", table.Names, text}
			q.Whole = append(q.Whole, f.Name)
		}
		column := "c" + strconv.Itoa(i)
		names = append(names, column)
		list = append(list, fmt.Sprintf(as.read, column))
		decoders[i] = as.decode
		q.Columns = append(q.Columns, database.Column{Name: f.Name, Values: as.values})
	}
	copied := "COPY (SELECT " + strings.Join(list, ", ") + " FROM (" + asked + "\n) AS q(" + strings.Join(names, ", ") + ")) TO STDOUT (FORMAT binary)"
	q.Decode = func(to *database.Rows, raw []byte) error {
		_, err := (&copying{to: to, decoders: decoders, begun: true}).next(raw)
		return err
	}
	q.Run = func(ctx context.Context, to *database.Rows) error {
		c := &copying{to: to, decoders: decoders}
		_, err := s.conn.CopyTo(ctx, c, copied)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c.err != nil:
			return c.err
		case err != nil && to.Done() > 0:
			return fmt.Errorf("after %d rows: %w", to.Done(), s.bare(err))
		case err != nil:
			return s.bare(err)
		case !c.ended:
			return errors.New("the rows end too early; try again")
		}
		return nil
	}
	return q, nil
}

// bare is plain without the address, which whoever reads puts before it.
func (s *session) bare(err error) error {
	plain := s.plain(err)
	if text, ok := strings.CutPrefix(plain.Error(), s.address.Shown+": "); ok {
		return errors.New(text)
	}
	return plain
}

// know asks the catalogue for a table's key and size.
func (s *session) know(ctx context.Context, q *database.Query, name string) error {
	rows, err := s.rows(ctx, `SELECT c.reltuples::bigint::text, coalesce((SELECT string_agg(a.attname, E'\n') FROM pg_index i
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = c.oid AND i.indisprimary), '')
		FROM pg_class c WHERE c.oid = to_regclass($1)`, quoted(name))
	if err != nil || len(rows) == 0 {
		return err
	}
	if n, err := strconv.ParseInt(rows[0][0], 10, 64); err == nil && n > 0 {
		q.Rows = n
	}
	if key := rows[0][1]; key != "" && !strings.Contains(key, "\n") { // each part of a longer one says something
		q.Keys = []string{key}
	}
	return nil
}
