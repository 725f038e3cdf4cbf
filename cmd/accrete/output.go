package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/scratch"
	"github.com/accrete-ml/accrete/internal/xlsx"
	"github.com/accrete-ml/accrete/table"
)

// printJSON writes one JSON document, on one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(console.Shielded(a.raw))
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

//go:embed help
var texts embed.FS

// help is the long text of a command.
func help(command string) string {
	text, _ := texts.ReadFile("help/" + command + ".txt") // it is built in
	return strings.TrimSpace(string(text))
}

// The words of the console.
var (
	printTable = console.Table
	percent    = console.Percent
	number     = console.Number
	count      = console.Count
	plural     = console.Plural
	shown      = console.Shown
	word       = console.Word
)

// output calls write with standard output, or with a file that appears whole
// when write has succeeded. A file that is read is never replaced.
func (a *app) output(path string, write func(w io.Writer) error, reads ...string) error {
	if path == "" || path == "-" {
		return write(console.Shielded(a.raw))
	}
	if to, err := os.Stat(path); err == nil {
		for _, read := range reads {
			if from, err := os.Stat(read); read != "" && err == nil && os.SameFile(from, to) {
				return usagef("--out %s would replace %s, which is read; name another file", path, read)
			}
		}
	}
	return atomicfile.Write(a.ctx, path, write)
}

// tableOutput is output for comma-separated text, which a file that ends in .xlsx
// holds as a workbook and one that ends in .parquet as columns, and which goes into
// the table that an address of a database names.
func (a *app) tableOutput(path string, write func(w io.Writer) error, columns func() []table.Written, reads ...string) error {
	book, elsewhere := strings.EqualFold(filepath.Ext(path), ".xlsx"), table.Writes(path)
	if a.json || !book && !elsewhere {
		return a.output(path, write, reads...)
	}
	text, err := scratch.New(0)
	if err != nil {
		return err
	}
	defer text.Close()
	convert := func(w io.Writer) error {
		if err := write(text); err != nil {
			return err
		}
		if book {
			return xlsx.Write(w, text.Reader())
		}
		return table.WriteFile(path, w, columns(), text.Reader())
	}
	if !table.WritesTable(path) {
		return a.output(path, convert, reads...)
	}
	if err := write(text); err != nil {
		return err
	}
	rows, err := table.WriteTo(a.ctx, path, columns(), text.Reader())
	if err == nil {
		fmt.Fprintf(a.errs, "%s written to %s\n", plural(int(rows), "row"), table.Redact(path))
	}
	return err
}

// progress draws how far the work is, on a terminal.
func (a *app) progress(what string) (report func(fraction float64), done func()) {
	return console.Progress(a.errs, what)
}

// budget is how much memory may be used: what was asked for, or three quarters
// of what there is.
func (a *app) budget() int64 {
	if a.memory == 0 {
		a.memory = console.MachineMemory() / 4 * 3
	}
	if a.memory > 0 {
		debug.SetMemoryLimit(a.memory - a.memory/8) // from there the collector works harder
	}
	return a.memory
}
