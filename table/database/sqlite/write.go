package sqlite

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

// write puts rows into a table in one transaction; cells become what its columns
// are declared as. A file or a table that is not there is made.
func write(ctx context.Context, address string, columns []table.Written, rows io.Reader) (int64, error) {
	a, err := database.Split(address)
	if err != nil {
		return 0, err
	}
	definition, err := a.Target(columns, "INTEGER", "REAL", "TEXT")
	if err != nil {
		return 0, err
	}
	f, err := open(ctx, a, "rwc")
	if err != nil {
		return 0, err
	}
	defer f.close()
	n, err := f.insert(ctx, a, definition, columns, rows)
	if err == nil {
		_, err = f.conn.ExecContext(ctx, "COMMIT")
	}
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, fmt.Errorf("%s: %w; nothing was written", a.Shown, err)
	}
	return n, nil
}

func (f *file) insert(ctx context.Context, a database.Address, definition string, columns []table.Written, rows io.Reader) (n int64, err error) {
	if _, err := f.conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+database.Quote(a.Table)+" ("+definition+")"); err != nil {
		return 0, err
	}
	insert, err := f.conn.PrepareContext(ctx, "INSERT INTO "+database.Quote(a.Table)+" ("+database.List(columns)+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	in := csv.NewReader(rows)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return 0, err
	}
	cells := make([]any, len(columns))
	for ; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for i, text := range record {
			if cells[i] = text; text == "" {
				cells[i] = nil
			}
		}
		if _, err := insert.ExecContext(ctx, cells...); err != nil {
			return n, fmt.Errorf("row %d: %w", n+1, err)
		}
	}
}
