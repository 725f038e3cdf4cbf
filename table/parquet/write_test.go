package parquet

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/accrete-ml/accrete/table"
)

// Columns stand in the order in which they are written, whatever their names.
func TestColumnsKeepTheirOrder(t *testing.T) {
	columns := []table.Written{{Name: "z"}, {Name: "a", Number: true}, {Name: "prediction"}, {Name: "b", Whole: true}}
	var out bytes.Buffer
	if err := write(&out, columns, strings.NewReader("z,a,prediction,b\nx,1.5,yes,3\n,,no,\n")); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range file.Schema().Fields() {
		names = append(names, f.Name())
	}
	if !slices.Equal(names, []string{"z", "a", "prediction", "b"}) {
		t.Errorf("columns are %q", names)
	}
	rows := make([]parquet.Row, 2)
	if n, _ := file.RowGroups()[0].Rows().ReadRows(rows); n != 2 || rows[0][1].Double() != 1.5 || rows[0][3].Int64() != 3 || !rows[1][0].IsNull() || string(rows[1][2].ByteArray()) != "no" {
		t.Errorf("rows are %v", rows)
	}
}
