package console

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/accrete-ml/accrete/internal/digits"
)

// Table prints aligned columns. Numbers, written as text that begins
// with a digit or a sign, are set right.
func Table(w io.Writer, header []string, rows [][]string) {
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
		most := LongestCell
		if i == len(cells)-1 {
			most = LongestLast
		}
		row[i] = Shown(c, most)
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

// Percent writes a fraction as people read it: 95.6 %.
func Percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// Number writes a figure with four significant digits, and from 10,000 on as a
// whole number with commas.
func Number(x float64) string {
	if size := math.Abs(x); size >= 9999.5 && size < 1e15 {
		return digits.Commas(strconv.FormatFloat(x, 'f', 0, 64), 0, size)
	}
	return fmt.Sprintf("%.4g", x)
}

// Count writes a weight of rows: whole where it is whole.
func Count(x float64) string {
	if x == float64(int64(x)) {
		return fmt.Sprintf("%d", int64(x))
	}
	return fmt.Sprintf("%.1f", x)
}

// Plural returns "1 row", "2 rows".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Word is an argument as a shell takes it whole.
func Word(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\$`*?[]{}()<>|&;!#~", r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Figure writes a figure that may be missing.
func Figure(x *float64, write func(float64) string) string {
	if x == nil {
		return ""
	}
	return write(*x)
}
