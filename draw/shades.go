package draw

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Shades is tables of numbers as pictures: what units look for, or what they
// say. Numbers above 0 are blue and those below red, deeper the farther they
// are from 0, relative to the farthest of their panel.
type Shades struct {
	Title  string
	Panels []Panel
}

// Panel is one table. With names its cells are labelled and say their number;
// without, it is a picture of pixels.
type Panel struct {
	Name          string
	Rows, Columns []string
	Cells         [][]float64
}

const (
	widestShades = 900.0
	panelGap     = 24.0
)

// SVG writes the panels side by side, in as many lines as they need.
func (s *Shades) SVG(w io.Writer) error {
	total := titleWidth(s.Title, 560)
	x, y := margin, margin
	if s.Title != "" {
		y += titleHeight
	}
	bottom := y
	var panels picture
	for i := range s.Panels {
		panel := &s.Panels[i]
		if err := panel.check(); err != nil {
			return err
		}
		l := panel.layout()
		if x > margin && x+l.width > widestShades {
			x, y = margin, bottom+panelGap
		}
		panel.draw(&panels, l, x, y)
		x += l.width + panelGap
		total, bottom = max(total, x-panelGap+margin), max(bottom, y+l.height)
	}
	var p picture
	p.title(total, s.Title)
	p.body.Write(panels.body.Bytes())
	return p.writeTo(w, s.Title, total, bottom+margin)
}

func (t *Panel) check() error {
	if t.Rows != nil && len(t.Rows) != len(t.Cells) {
		return fmt.Errorf("draw: panel %q has %d rows of cells for %d names", t.Name, len(t.Cells), len(t.Rows))
	}
	for i, row := range t.Cells {
		if len(row) != len(t.Cells[0]) || t.Columns != nil && len(row) != len(t.Columns) {
			return fmt.Errorf("draw: row %d of panel %q has %d cells, expected as many as there are columns", i+1, t.Name, len(row))
		}
	}
	return nil
}

// panelLayout is the sizes of a panel's parts.
type panelLayout struct {
	cellWidth, cellHeight float64
	left, top             float64 // room for names
	width, height         float64
}

const longestName = 150.0

func (t *Panel) layout() panelLayout {
	columns := 0
	if len(t.Cells) > 0 {
		columns = len(t.Cells[0])
	}
	var l panelLayout
	if t.Rows == nil && t.Columns == nil {
		l.cellWidth = min(max(math.Floor(200/float64(max(columns, 1))), 2), 16)
		l.cellHeight = l.cellWidth
	} else {
		l.cellWidth, l.cellHeight = 44, 18
		for _, name := range t.Rows {
			l.left = max(l.left, width(clip(name, longestName))+8)
		}
		for _, name := range t.Columns {
			l.cellWidth = max(l.cellWidth, min(width(name)+8, 90))
		}
		if t.Columns != nil {
			l.top = lineHeight + 4
		}
	}
	if t.Name != "" {
		l.top += lineHeight + 4
	}
	l.width = max(l.left+float64(columns)*l.cellWidth, min(width(t.Name), longestName))
	l.height = l.top + float64(len(t.Cells))*l.cellHeight
	return l
}

func (t *Panel) draw(p *picture, l panelLayout, x, y float64) {
	most := 0.0
	for _, row := range t.Cells {
		for _, v := range row {
			if a := math.Abs(v); a > most && !math.IsInf(a, 0) {
				most = a
			}
		}
	}
	p.text(x, y+12, "start", clip(t.Name, max(l.width, longestName)))
	named := t.Rows != nil || t.Columns != nil
	for j, name := range t.Columns {
		p.text(x+l.left+(float64(j)+0.5)*l.cellWidth, y+l.top-5, "middle", clip(name, l.cellWidth-4), "fill", soft)
	}
	for i, row := range t.Cells {
		top := y + l.top + float64(i)*l.cellHeight
		if t.Rows != nil {
			p.text(x+l.left-8, top+l.cellHeight/2+4, "end", clip(t.Rows[i], longestName))
		}
		for j, v := range row {
			left := x + l.left + float64(j)*l.cellWidth
			shade, depth := shadeOf(v, most)
			attributes := []any{"x", left, "y", top, "width", l.cellWidth, "height", l.cellHeight, "fill", shade}
			if !named {
				p.add("rect", attributes...)
				continue
			}
			p.add("rect", append(attributes, "stroke", faint)...)
			colour := ink
			if depth > 0.6 {
				colour = "#ffffff"
			}
			p.text(left+l.cellWidth/2, top+l.cellHeight/2+4, "middle", shadeText(v), "fill", colour, "font-size", 11.0)
		}
	}
	p.add("rect", "x", x+l.left, "y", y+l.top, "width", max(0, l.width-l.left), "height", l.height-l.top, "fill", "none", "stroke", neutral)
}

// shadeOf returns the colour of a number, and how deep it is, from 0 to 1.
func shadeOf(v, most float64) (rgb, float64) {
	if math.IsNaN(v) || most == 0 {
		return white, 0
	}
	depth := min(math.Abs(v)/most, 1)
	if v < 0 {
		return white.mix(negative, depth), depth
	}
	return white.mix(positive, depth), depth
}

// shadeText writes a number in two or three digits.
func shadeText(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return ""
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
