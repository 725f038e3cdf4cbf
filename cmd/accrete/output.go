package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/accrete-ml/accrete/internal/atomicfile"
)

// printJSON writes one JSON document, on one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.raw)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printTable prints aligned columns. Numbers, written as text that begins
// with a digit or a sign, are set right.
func printTable(w io.Writer, header []string, rows [][]string) {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t.SetStyle(style)
	t.AppendHeader(tableRow(header))
	for _, r := range rows {
		t.AppendRow(tableRow(r))
	}
	var config []table.ColumnConfig
	for i := range header {
		if numericColumn(rows, i) {
			config = append(config, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(config)
	for line := range strings.Lines(t.Render()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		most := longestCell
		if i == len(cells)-1 {
			most = longestLast
		}
		row[i] = shown(c, most)
	}
	return row
}

func numericColumn(rows [][]string, col int) bool {
	some := false
	for _, r := range rows {
		cell := r[col]
		if cell == "" {
			continue
		}
		if !strings.ContainsAny(cell[:1], "0123456789-+.") {
			return false
		}
		some = true
	}
	return some
}

// percent writes a fraction as people read it: 95.6 %.
func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// number writes a figure with four significant digits.
func number(x float64) string { return fmt.Sprintf("%.4g", x) }

// count writes a weight of rows: whole where it is whole.
func count(x float64) string {
	if x == float64(int64(x)) {
		return fmt.Sprintf("%d", int64(x))
	}
	return fmt.Sprintf("%.1f", x)
}

// plural returns "1 row", "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// output calls write with standard output, or with a file that appears whole
// when write has succeeded. A file that is read is never replaced.
func (a *app) output(path string, write func(w io.Writer) error, reads ...string) error {
	if path == "" || path == "-" {
		return write(a.raw)
	}
	if to, err := os.Stat(path); err == nil {
		for _, read := range reads {
			if from, err := os.Stat(read); read != "" && err == nil && os.SameFile(from, to) {
				return usagef("--out %s would replace %s, which is read; name another file", path, read)
			}
		}
	}
	return atomicfile.Write(path, write)
}

// progress returns a function that draws how far the work is, and one that
// clears it. The bar appears after a second, and only on a terminal.
func (a *app) progress(what string) (report func(fraction float64), done func()) {
	f, ok := a.errs.(*page).w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(float64) {}, func() {}
	}
	var mu sync.Mutex
	var bar *progressbar.ProgressBar
	start := time.Now()
	report = func(fraction float64) {
		mu.Lock()
		defer mu.Unlock()
		if bar == nil {
			if time.Since(start) < time.Second {
				return
			}
			bar = progressbar.NewOptions(1000,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		_ = bar.Set(int(1000 * min(max(fraction, 0), 1)))
	}
	return report, func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
