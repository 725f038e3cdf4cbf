package parquet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/accrete-ml/accrete/table"
)

// write writes comma-separated text with a header line as a Parquet file of
// optional columns, numbers and texts.
func write(w io.Writer, columns []table.Written, rows io.Reader) error {
	group := parquet.Group{}
	for _, c := range columns {
		if group[c.Name] != nil {
			return fmt.Errorf("two columns are called %q, which a Parquet file does not allow", c.Name)
		}
		node := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		switch {
		case c.Whole:
			node = parquet.Leaf(parquet.Int64Type)
		case c.Number:
			node = parquet.Leaf(parquet.DoubleType)
		}
		group[c.Name] = parquet.Optional(node)
	}
	schema := parquet.NewSchema("rows", ordered{group, columns})
	out := parquet.NewWriter(w, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(1<<18))
	at := make([]int, len(columns)) // where each column is in the file
	for i, c := range columns {
		leaf, ok := schema.Lookup(c.Name)
		if !ok {
			return fmt.Errorf("column %q cannot be written", c.Name)
		}
		at[i] = leaf.ColumnIndex
	}
	in := csv.NewReader(rows)
	if _, err := in.Read(); err != nil {
		return err
	}
	var batch []parquet.Row
	for n := 1; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		row := make(parquet.Row, len(columns))
		for i, text := range record {
			if row[at[i]], err = value(text, columns[i], at[i]); err != nil {
				return fmt.Errorf("row %d: %w", n, err)
			}
		}
		if batch = append(batch, row); len(batch) == 1024 {
			if _, err := out.WriteRows(batch); err != nil {
				return err
			}
			batch = slices.Delete(batch, 0, len(batch))
		}
	}
	if _, err := out.WriteRows(batch); err != nil {
		return err
	}
	return out.Close()
}

// ordered is columns in the order in which they are written, not that of their names.
type ordered struct {
	parquet.Group
	columns []table.Written
}

// Fields returns them in that order.
func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	place := func(f parquet.Field) int {
		return slices.IndexFunc(o.columns, func(c table.Written) bool { return c.Name == f.Name() })
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place(a) - place(b) })
	return fields
}

// value is a cell as the file has it.
func value(text string, c table.Written, column int) (parquet.Value, error) {
	if text == "" {
		return parquet.NullValue().Level(0, 0, column), nil
	}
	if x, err := strconv.ParseInt(text, 10, 64); c.Whole && err == nil {
		return parquet.Int64Value(x).Level(0, 1, column), nil
	}
	if !c.Number && !c.Whole {
		return parquet.ByteArrayValue([]byte(text)).Level(0, 1, column), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || c.Whole {
		return parquet.Value{}, fmt.Errorf("column %q: %q is no number", c.Name, text)
	}
	return parquet.DoubleValue(x).Level(0, 1, column), nil
}
