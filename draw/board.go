package draw

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Board is a map of squares, each with a value, arrows in the directions that are
// best there, and a mark. Values are shaded from the least to the most.
type Board struct {
	Title   string
	Squares [][]Square // lines of one length
}

// Square is a place on a board.
type Square struct {
	Value  float64 // NaN is none
	Arrows []int   // clockwise from the top: 0 up, 1 right, 2 down, 3 left
	Text   string  // a mark, such as that of a goal
	Solid  bool    // a wall
}

// SVG writes the board.
func (b *Board) SVG(w io.Writer) error {
	if len(b.Squares) == 0 {
		return fmt.Errorf("draw: the board has no squares")
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, line := range b.Squares {
		if len(line) != len(b.Squares[0]) {
			return fmt.Errorf("draw: line %d of the board has %d squares, expected %d", i+1, len(line), len(b.Squares[0]))
		}
		for _, s := range line {
			if finite(s.Value) {
				low, high = min(low, s.Value), max(high, s.Value)
			}
		}
	}
	size := min(64, max(12, 900/float64(max(len(b.Squares), len(b.Squares[0])))))
	wide := max(2*margin+size*float64(len(b.Squares[0])), titleWidth(b.Title, 560))
	top := margin
	if b.Title != "" {
		top += titleHeight
	}
	var p picture
	p.title(wide, b.Title)
	for i, line := range b.Squares {
		for j := range line {
			p.square(&line[j], margin+size*float64(j), top+size*float64(i), size, low, high)
		}
	}
	return p.writeTo(w, b.Title, wide, top+size*float64(len(b.Squares))+margin)
}

// square draws one place.
func (p *picture) square(s *Square, x, y, size, low, high float64) {
	fill := white
	switch {
	case s.Solid:
		fill = rgb{0x55, 0x55, 0x55}
	case finite(s.Value) && high > low:
		fill = white.mix(positive, 0.55*(s.Value-low)/(high-low))
	}
	p.open("g")
	value := ""
	if finite(s.Value) {
		value = strconv.FormatFloat(s.Value, 'g', 3, 64)
		p.tooltip(strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	p.add("rect", "x", x, "y", y, "width", size, "height", size, "fill", fill, "stroke", soft)
	middle := y + size/2
	if size >= 36 && value != "" {
		p.text(x+size/2, y+size-6, "middle", value, "font-size", 11.0)
		middle = y + size/2 - 7
	}
	for _, a := range s.Arrows {
		p.arrow(x+size/2, middle, size*0.3, a)
	}
	p.text(x+size/2, y+size/2+5, "middle", s.Text, "font-weight", "bold")
	p.close("g")
}

// arrow points from a place in one of four directions.
func (p *picture) arrow(x, y, length float64, way int) {
	dx, dy := [4]float64{0, 1, 0, -1}[way&3], [4]float64{-1, 0, 1, 0}[way&3]
	tx, ty := x+dx*length, y+dy*length
	p.add("line", "x1", x, "y1", y, "x2", tx, "y2", ty, "stroke", ink, "stroke-width", 1.5)
	const head = 4.0
	p.add("path", "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", num(tx+dx*2), num(ty+dy*2),
		num(tx-dx*head-dy*head*0.8), num(ty-dy*head+dx*head*0.8), num(tx-dx*head+dy*head*0.8), num(ty-dy*head-dx*head*0.8)), "fill", ink)
}
