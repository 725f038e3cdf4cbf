package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

// write puts rows into a table in one transaction, by COPY: the server reads
// cells as the types of its columns. A table that is not there is made.
func write(ctx context.Context, address string, columns []table.Written, rows io.Reader) (int64, error) {
	a, err := database.Split(address)
	if err != nil {
		return 0, err
	}
	definition, err := a.Target(columns, "bigint", "double precision", "text")
	if err != nil {
		return 0, err
	}
	s, err := dial(ctx, a)
	if err != nil {
		return 0, err
	}
	defer s.close() // which undoes what was not committed
	if _, err := s.conn.Exec(ctx, "BEGIN").ReadAll(); err != nil {
		return 0, s.unwritten(ctx, err)
	}
	there, err := s.rows(ctx, "SELECT to_regclass($1)::text", quoted(a.Table))
	if err == nil && there[0][0] == "" {
		_, err = s.conn.Exec(ctx, "CREATE TABLE "+quoted(a.Table)+" ("+definition+")").ReadAll()
	}
	if err != nil {
		return 0, s.unwritten(ctx, err)
	}
	done, err := s.conn.CopyFrom(ctx, rows, "COPY "+quoted(a.Table)+" ("+database.List(columns)+") FROM STDIN (FORMAT csv, HEADER true)")
	if err == nil {
		_, err = s.conn.Exec(ctx, "COMMIT").ReadAll()
	}
	if err != nil {
		return 0, s.unwritten(ctx, err)
	}
	return done.RowsAffected(), nil
}

// unwritten says that nothing of a table was written.
func (s *session) unwritten(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w; nothing was written", s.plain(err))
}
