package draw

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Sheet is boards side by side, each under its own title, with one scale of shades.
type Sheet struct {
	Title  string
	Boards []*Board
	Across int // boards of a line; 0 is as many as there is room for
}

// SVG writes the sheet.
func (s *Sheet) SVG(w io.Writer) error {
	if len(s.Boards) == 0 {
		return errors.New("draw: the sheet has no boards")
	}
	const room, caption, label = 1080.0, 20.0, 14.0
	low, high := math.Inf(1), math.Inf(-1)
	lines, columns, left, titles := 0, 0, 0.0, 0.0
	for n, b := range s.Boards {
		if len(b.Squares) == 0 {
			return fmt.Errorf("draw: board %d has no squares", n+1)
		}
		l, h, err := b.scale()
		if err != nil {
			return err
		}
		low, high = min(low, l), max(high, h)
		lines, columns, titles = max(lines, len(b.Squares)), max(columns, len(b.Squares[0])), max(titles, width(b.Title))
		for _, text := range b.Lines {
			left = max(left, width(text)+6)
		}
	}
	across := s.Across
	size := 44.0
	if across == 0 {
		for across = len(s.Boards); across > 1 && float64(across)*(max(titles, left+size*float64(columns))+margin)+margin > room; across-- {
		}
	}
	size = min(64, max(14, (room-margin)/float64(across)/float64(columns)-(left+margin)/float64(columns)))
	if len(s.Boards) > 1 {
		size = min(size, 44)
	}
	cellWide := max(titles, left+size*float64(columns)) + margin
	cellHigh := caption + label + size*float64(lines) + margin
	wide := max(margin+cellWide*float64(across), titleWidth(s.Title, 560))
	top := margin
	if s.Title != "" {
		top += titleHeight
	}
	var p picture
	p.title(wide, s.Title)
	for n, b := range s.Boards {
		x, y := margin+cellWide*float64(n%across), top+cellHigh*float64(n/across)
		p.text(x, y+caption-6, "start", b.Title)
		x, y = x+left, y+caption+label
		for j, text := range b.Columns {
			p.text(x+size*(float64(j)+0.5), y-3, "middle", text, "font-size", 10.0)
		}
		for i, text := range b.Lines {
			p.text(x-4, y+size*(float64(i)+0.5)+4, "end", text, "font-size", 10.0)
		}
		for i, line := range b.Squares {
			for j := range line {
				p.square(&line[j], x+size*float64(j), y+size*float64(i), size, low, high)
			}
		}
		for _, m := range b.Moves {
			if err := b.inside(m); err != nil {
				return err
			}
			p.move(m, x, y, size)
		}
	}
	return p.writeTo(w, s.Title, wide, top+cellHigh*math.Ceil(float64(len(s.Boards))/float64(across)))
}

// scale is the least and the most value of a board, whose lines must be of one length.
func (b *Board) scale() (low, high float64, err error) {
	low, high = math.Inf(1), math.Inf(-1)
	for i, line := range b.Squares {
		if len(line) != len(b.Squares[0]) {
			return low, high, fmt.Errorf("draw: line %d of the board has %d squares, expected %d", i+1, len(line), len(b.Squares[0]))
		}
		for _, s := range line {
			if finite(s.Value) {
				low, high = min(low, s.Value), max(high, s.Value)
			}
		}
	}
	return low, high, nil
}
