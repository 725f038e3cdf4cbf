package draw

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Matrix is counts in rows and columns, such as a confusion matrix: a row for
// each true class, a column for each predicted one. Cells are shaded by their
// share of their row.
type Matrix struct {
	Title                 string
	Rows, Columns         []string
	RowLabel, ColumnLabel string
	Cells                 [][]float64
}

// SVG writes the matrix as a picture.
func (m *Matrix) SVG(w io.Writer) error {
	if len(m.Cells) != len(m.Rows) {
		return fmt.Errorf("draw: matrix has %d rows of cells for %d names", len(m.Cells), len(m.Rows))
	}
	for i, row := range m.Cells {
		if len(row) != len(m.Columns) {
			return fmt.Errorf("draw: row %d of the matrix has %d cells for %d columns", i+1, len(row), len(m.Columns))
		}
	}
	const longest = 130.0
	text := make([][]string, len(m.Rows))
	widest := 0.0
	for i, row := range m.Cells {
		text[i] = make([]string, len(row))
		for j, v := range row {
			text[i][j] = cellText(v)
			widest = max(widest, width(text[i][j]))
		}
	}
	rowNames, columnNames := 0.0, 0.0
	for _, name := range m.Rows {
		rowNames = max(rowNames, width(shorten(name, longest)))
	}
	for _, name := range m.Columns {
		columnNames = max(columnNames, width(shorten(name, longest)))
	}
	// Cells grow with what they say, and shrink when there are many.
	high := min(max(420/float64(max(len(m.Rows), 1)), 20), 44)
	wide := max(min(max(420/float64(max(len(m.Columns), 1)), 20), 60), widest+8)
	if need := columnNames + 10; need*float64(len(m.Columns)) <= 640 {
		wide = max(wide, need) // room for the names without slanting them
	}
	upright := columnNames+6 <= wide

	var p picture
	y := margin
	left := margin + rowNames + 10
	if m.RowLabel != "" {
		left += lineHeight + 6
	}
	right := left + wide*float64(len(m.Columns))
	total := max(right+margin, min(width(m.Title)*1.35+2*margin, 560), left+width(shorten(m.ColumnLabel, 400))+margin)
	if !upright { // the last slanted name leans out to the right
		total = max(total, right+columnNames*0.72+margin)
	}
	if m.Title != "" {
		p.text(margin, y+12, "start", shorten(m.Title, (total-2*margin)/1.3), "font-size", 15.0, "font-weight", "bold")
		y += titleHeight
	}
	if m.ColumnLabel != "" {
		p.text(left, y+11, "start", shorten(m.ColumnLabel, 400), "fill", soft)
		y += lineHeight + 6
	}
	if upright {
		y += lineHeight + 4
	} else {
		y += columnNames*0.72 + 12
	}
	for j, name := range m.Columns {
		x := left + (float64(j)+0.5)*wide
		if name = shorten(name, longest); upright {
			p.text(x, y-6, "middle", name)
		} else {
			p.text(x, y-6, "start", name, "transform", fmt.Sprintf("rotate(-45 %s %s)", num(x), num(y-6)))
		}
	}
	for i, row := range m.Cells {
		top := y + float64(i)*high
		p.text(left-8, top+high/2+4, "end", shorten(m.Rows[i], longest))
		sum := 0.0
		for _, v := range row {
			if v > 0 && finite(v) {
				sum += v
			}
		}
		for j, v := range row {
			part := 0.0
			if v > 0 && sum > 0 {
				part = min(v/sum, 1)
			}
			// The square root lets rare errors show.
			shade := white.mix(palette[0], 0.92*math.Sqrt(part))
			if math.IsNaN(part) {
				shade = white
			}
			x := left + float64(j)*wide
			p.open("g")
			if part > 0 {
				p.tooltip(fmt.Sprintf("%s → %s: %s (%.1f %%)", m.Rows[i], m.Columns[j], text[i][j], 100*part))
			}
			p.add("rect", "x", x, "y", top, "width", wide, "height", high, "fill", shade, "stroke", faint)
			colour := ink
			switch {
			case part > 0.3:
				colour = "#ffffff"
			case v == 0:
				colour = "#b5b5b5"
			}
			p.text(x+wide/2, top+high/2+4, "middle", text[i][j], "fill", colour)
			p.close("g")
		}
	}
	bottom := y + high*float64(len(m.Rows))
	if len(m.Rows) == 0 || len(m.Columns) == 0 {
		p.text(margin, y+12, "start", "no data", "fill", soft)
		return p.writeTo(w, m.Title, max(total, 160), y+30)
	}
	if m.RowLabel != "" {
		middle := (y + bottom) / 2
		p.text(margin+10, middle, "middle", shorten(m.RowLabel, max(bottom-y, 60)), "fill", soft, "transform", fmt.Sprintf("rotate(-90 %s %s)", num(margin+10), num(middle)))
	}
	return p.writeTo(w, m.Title, total, bottom+margin)
}

// cellText writes counts whole and other numbers short.
func cellText(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v == math.Trunc(v) && math.Abs(v) < 1e9:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
