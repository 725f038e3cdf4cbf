package main

import (
	"embed"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/scratch"
	"github.com/accrete-ml/accrete/internal/xlsx"
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
	figure     = console.Figure
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
// holds as a workbook.
func (a *app) tableOutput(path string, write func(w io.Writer) error, reads ...string) error {
	if a.json || !strings.EqualFold(filepath.Ext(path), ".xlsx") {
		return a.output(path, write, reads...)
	}
	return a.output(path, func(w io.Writer) error {
		text, err := scratch.New(0)
		if err != nil {
			return err
		}
		defer text.Close()
		if err := write(text); err != nil {
			return err
		}
		return xlsx.Write(w, text.Reader())
	}, reads...)
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
		debug.SetMemoryLimit(a.memory) // the collector works harder near it
	}
	return a.memory
}
