package table

import (
	"bufio"
	"io"
	"strings"
)

// WriteCSV writes the table as comma-separated text with a header line. What
// it writes reads back to the same cells; weights are not written.
func (t *Table) WriteCSV(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for col, name := range t.Schema.Names() {
		writeCell(out, col, name)
	}
	if len(t.Columns) == 1 && t.Schema.Attributes[0].Name == "" {
		out.WriteString(`""`)
	}
	out.WriteByte('\n')
	for row := range t.Rows() {
		for col := range t.Columns {
			writeCell(out, col, t.Text(row, col))
		}
		// A line with nothing on it would be no row.
		if len(t.Columns) == 1 && t.Text(row, 0) == "" {
			out.WriteString(`""`)
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeCell writes a cell and the comma before it, with quotes if the text
// would otherwise not be read as one cell and in full.
func writeCell(out *bufio.Writer, col int, text string) {
	if col > 0 {
		out.WriteByte(',')
	}
	if !strings.ContainsAny(text, "\",\t;|\r\n") && strings.Trim(text, " ") == text {
		out.WriteString(text)
		return
	}
	out.WriteByte('"')
	out.WriteString(strings.ReplaceAll(text, `"`, `""`))
	out.WriteByte('"')
}
