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
	Moves   []BoardMove
	// Lines and Columns name the lines and columns, where the board stands on a Sheet.
	Lines, Columns []string
}

// BoardMove is a move from one square to another, by line and column.
type BoardMove struct {
	From, To [2]int
	Value    float64
	Best     bool
}

// Square is a place on a board.
type Square struct {
	Value  float64 // NaN is none
	Arrows []int   // clockwise from the top: 0 up, 1 right, 2 down, 3 left
	Text   string  // a mark, such as that of a goal
	Solid  bool    // a wall
	Dark   bool    // a square of the darker colour
	Piece  int     // 1 of the mover, 2 of the other player; 0 is none
	King   bool    // the piece is one
}

// SVG writes the board.
func (b *Board) SVG(w io.Writer) error {
	if len(b.Squares) == 0 {
		return fmt.Errorf("draw: the board has no squares")
	}
	low, high, err := b.scale()
	if err != nil {
		return err
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
	for _, m := range b.Moves {
		if err := b.inside(m); err != nil {
			return err
		}
		p.move(m, margin, top, size)
	}
	return p.writeTo(w, b.Title, wide, top+size*float64(len(b.Squares))+margin)
}

// square draws one place.
func (p *picture) square(s *Square, x, y, size, low, high float64) {
	fill := white
	switch {
	case s.Solid:
		fill = rgb{0x55, 0x55, 0x55}
	case s.Dark:
		fill = rgb{0xdd, 0xdd, 0xdd}
	case finite(s.Value) && high > low:
		fill = white.mix(positive, 0.55*(s.Value-low)/(high-low))
	}
	p.open("g")
	value := ""
	if finite(s.Value) {
		value = short(s.Value, max(-low, high))
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
	if s.Piece > 0 {
		fill, mark := any(ink), any(white)
		if s.Piece == 2 {
			fill, mark = mark, fill
		}
		p.add("circle", "cx", x+size/2, "cy", y+size/2, "r", size*0.36, "fill", fill, "stroke", ink)
		if s.King {
			p.add("circle", "cx", x+size/2, "cy", y+size/2, "r", size*0.2, "fill", "none", "stroke", mark, "stroke-width", 2.0)
		}
	}
	if y += size/2 + 5; value != "" && size >= 36 {
		y -= 5
	}
	if w := width(s.Text); w > size-4 { // as small as it takes
		p.text(x+size/2, y, "middle", s.Text, "font-weight", "bold", "font-size", max(7, fontSize*(size-4)/w/1.1))
	} else {
		p.text(x+size/2, y, "middle", s.Text, "font-weight", "bold")
	}
	p.close("g")
}

// short is a value in three digits, and no finer than thousandths where others are
// much larger: there is no room for more.
func short(x, largest float64) string {
	if largest >= 0.1 {
		x = math.Round(x*1000) / 1000
	}
	return strconv.FormatFloat(x+0, 'g', 3, 64) // not −0
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

// inside tells whether a move is on the board.
func (b *Board) inside(m BoardMove) error {
	for _, at := range [][2]int{m.From, m.To} {
		if at[0] < 0 || at[1] < 0 || at[0] >= len(b.Squares) || at[1] >= len(b.Squares[0]) {
			return fmt.Errorf("draw: a move leads from %v to %v of a board of %d by %d", m.From, m.To, len(b.Squares), len(b.Squares[0]))
		}
	}
	return nil
}

// move draws an arrow from square to square, with what it is worth beside it.
func (p *picture) move(m BoardMove, left, top, size float64) {
	at := func(s [2]int) (x, y float64) {
		return left + size*(float64(s[1])+0.5), top + size*(float64(s[0])+0.5)
	}
	x, y := at(m.From)
	tx, ty := at(m.To)
	length := math.Hypot(tx-x, ty-y)
	if length == 0 {
		return
	}
	dx, dy := (tx-x)/length, (ty-y)/length
	colour, stroke := any(soft), 1.5
	if m.Best {
		colour, stroke = positive, 3.0
	}
	const head = 6.0
	tx, ty = tx-dx*size*0.12, ty-dy*size*0.12
	p.open("g")
	if finite(m.Value) {
		p.tooltip(strconv.FormatFloat(m.Value, 'g', -1, 64))
	}
	p.add("line", "x1", x, "y1", y, "x2", tx, "y2", ty, "stroke", colour, "stroke-width", stroke)
	p.add("path", "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", num(tx+dx*head/2), num(ty+dy*head/2),
		num(tx-dx*head-dy*head*0.8), num(ty-dy*head+dx*head*0.8), num(tx-dx*head+dy*head*0.8), num(ty-dy*head-dx*head*0.8)), "fill", colour)
	if finite(m.Value) && size >= 36 { // beside the line, where arrows to one square do not meet
		side, lower := math.Copysign(17, dx), 2+math.Copysign(8, dx)
		p.text((x+tx)/2+side, (y+ty)/2+lower, "middle", strconv.FormatFloat(m.Value, 'g', 3, 64), "font-size", 10.0)
	}
	p.close("g")
}
