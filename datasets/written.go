package datasets

import (
	"bytes"
	"io"

	"github.com/accrete-ml/accrete/table"
)

// written is a generated table being read as a CSV file. Rows are written
// when they are asked for. No generator makes a name that wants quotes.
type written struct {
	table *table.Table
	row   int // next to be written
	ready bytes.Buffer
}

func newWritten(t *table.Table) *written {
	w := &written{table: t}
	w.line(func(col int) string { return t.Schema.Attributes[col].Name })
	return w
}

// Read implements io.Reader.
func (w *written) Read(p []byte) (int, error) {
	for w.ready.Len() < len(p) && w.row < w.table.Rows() {
		w.line(func(col int) string { return w.table.Text(w.row, col) })
		w.row++
	}
	if w.ready.Len() == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return w.ready.Read(p)
}

// Close implements io.Closer.
func (w *written) Close() error { return nil }

func (w *written) line(cell func(col int) string) {
	for col := range w.table.Columns {
		if col > 0 {
			w.ready.WriteByte(',')
		}
		w.ready.WriteString(cell(col))
	}
	w.ready.WriteByte('\n')
}
