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

// longestClass is how wide a name of a row or column may be.
const longestClass = 130.0

// SVG writes the matrix as a picture.
func (m *Matrix) SVG(w io.Writer) error {
	if err := m.check(); err != nil {
		return err
	}
	l := m.layout()
	var p picture
	p.title(l.total, m.Title)
	if m.ColumnLabel != "" {
		p.text(l.left, l.label+11, "start", shorten(m.ColumnLabel, 400), "fill", soft)
	}
	if len(m.Rows) == 0 || len(m.Columns) == 0 {
		p.text(margin, l.top+12, "start", "no data", "fill", soft)
		return p.writeTo(w, m.Title, max(l.total, 160), l.top+30)
	}
	for j, name := range m.Columns {
		x := l.left + (float64(j)+0.5)*l.wide
		if name = clip(name, longestClass); l.upright {
			p.text(x, l.top-6, "middle", name)
		} else {
			p.text(x, l.top-6, "start", name, "transform", fmt.Sprintf("rotate(-45 %s %s)", num(x), num(l.top-6)))
		}
	}
	for i := range m.Rows {
		m.row(&p, &l, i)
	}
	bottom := l.top + l.high*float64(len(m.Rows))
	p.upright(margin+10, (l.top+bottom)/2, shorten(m.RowLabel, max(bottom-l.top, 60)), "fill", soft)
	return p.writeTo(w, m.Title, l.total, bottom+margin)
}

func (m *Matrix) check() error {
	if len(m.Cells) != len(m.Rows) {
		return fmt.Errorf("draw: matrix has %d rows of cells for %d names", len(m.Cells), len(m.Rows))
	}
	for i, row := range m.Cells {
		if len(row) != len(m.Columns) {
			return fmt.Errorf("draw: row %d of the matrix has %d cells for %d columns", i+1, len(row), len(m.Columns))
		}
	}
	return nil
}

// matrixLayout is where the parts of a matrix lie.
type matrixLayout struct {
	wide, high float64 // of a cell
	left, top  float64 // of the first cell
	label      float64 // top of the columns' label
	total      float64 // width of the picture
	upright    bool    // columns' names are not slanted
}

func (m *Matrix) layout() matrixLayout {
	widest, rowNames, columnNames := 0.0, 0.0, 0.0
	for _, row := range m.Cells {
		for _, v := range row {
			widest = max(widest, width(cellText(v)))
		}
	}
	for _, name := range m.Rows {
		rowNames = max(rowNames, width(clip(name, longestClass)))
	}
	for _, name := range m.Columns {
		columnNames = max(columnNames, width(clip(name, longestClass)))
	}
	// Cells grow with what they say, and shrink when there are many.
	l := matrixLayout{
		high: min(max(420/float64(max(len(m.Rows), 1)), 20), 44),
		wide: max(min(max(420/float64(max(len(m.Columns), 1)), 20), 60), widest+8),
		left: margin + rowNames + 10, label: margin,
	}
	if need := columnNames + 10; need*float64(len(m.Columns)) <= 640 {
		l.wide = max(l.wide, need) // room for the names without slanting them
	}
	l.upright = columnNames+6 <= l.wide
	if m.RowLabel != "" {
		l.left += lineHeight + 6
	}
	right := l.left + l.wide*float64(len(m.Columns))
	l.total = max(right+margin, titleWidth(m.Title, 560), l.left+width(shorten(m.ColumnLabel, 400))+margin)
	if m.Title != "" {
		l.label += titleHeight
	}
	l.top = l.label
	if m.ColumnLabel != "" {
		l.top += lineHeight + 6
	}
	if l.upright {
		l.top += lineHeight + 4
	} else { // the last slanted name leans out to the right
		l.total = max(l.total, right+columnNames*0.72+margin)
		l.top += columnNames*0.72 + 12
	}
	return l
}

// row draws the i-th row of cells, shaded by their share of it.
func (m *Matrix) row(p *picture, l *matrixLayout, i int) {
	top := l.top + float64(i)*l.high
	p.text(l.left-8, top+l.high/2+4, "end", clip(m.Rows[i], longestClass))
	sum := 0.0
	for _, v := range m.Cells[i] {
		if v > 0 && finite(v) {
			sum += v
		}
	}
	for j, v := range m.Cells[i] {
		part := 0.0
		if v > 0 && sum > 0 {
			part = min(v/sum, 1)
		}
		// The square root lets rare errors show.
		shade := white.mix(palette[0], 0.92*math.Sqrt(part))
		if math.IsNaN(part) {
			shade = white
		}
		x := l.left + float64(j)*l.wide
		p.open("g")
		if part > 0 {
			p.tooltip(fmt.Sprintf("%s → %s: %s (%.1f %%)", m.Rows[i], m.Columns[j], cellText(v), 100*part))
		}
		p.add("rect", "x", x, "y", top, "width", l.wide, "height", l.high, "fill", shade, "stroke", faint)
		colour := ink
		switch {
		case part > 0.3:
			colour = "#ffffff"
		case v == 0:
			colour = "#b5b5b5"
		}
		p.text(x+l.wide/2, top+l.high/2+4, "middle", cellText(v), "fill", colour)
		p.close("g")
	}
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
