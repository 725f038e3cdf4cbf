package life

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// FirstBoard asks for the position that a game begins with.
const FirstBoard = "-"

// curves draws how learning went over seeds.
func (h *Home) curves(ctx context.Context, p *Part, seeds int) (func(io.Writer) error, error) {
	m, ok := learn.Ability[interface {
		CurveOverSeeds(ctx context.Context, seeds int) (*draw.Chart, error)
	}](p.Model)
	if !ok {
		return nil, remedy.Misusef("seeds are of a policy that learnt by acting, and %s is a model of %s", p.Name, p.Version.Learner)
	}
	bar, done := h.progress("acting again")
	chart, err := m.CurveOverSeeds(learn.WithProgress(ctx, bar), seeds)
	done()
	if err != nil {
		return nil, err
	}
	return chart.SVG, nil
}

// position draws a board of a game, and what a policy finds moves worth on it.
func (h *Home) position(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	m, err := policyOf(p)
	if err != nil {
		return nil, err
	}
	e := worldOf(m.World())
	layout := layouts[strings.SplitN(m.World(), ":", 2)[0]]
	if e == nil || layout == nil {
		return nil, remedy.Misusef("%s was not learnt in a game with a board, such as tictactoe, checkers or backgammon", p.Name)
	}
	cells := make([]float64, len(e.Schema().Attributes))
	if what.Board == FirstBoard {
		e.Reset(h.Seed)
		e.State(cells)
	} else {
		rows, err := h.rowsFor(ctx, what.Board, p, what)
		if err != nil {
			return nil, err
		}
		if rows.Rows() == 0 {
			return nil, fmt.Errorf("%s has no row to draw", what.Board)
		}
		cells = stateOf(m, rows, 0)
	}
	for _, x := range cells {
		if !(x >= -15 && x <= 255) {
			return nil, fmt.Errorf("a square of the board is not known; give each of %s a value", strings.Join(e.Schema().Names(), ", "))
		}
	}
	q := make([]float64, len(m.Schema().Attributes[m.Target()].Values))
	m.Worth(cells, q)
	best := -1
	for a, x := range q {
		if x == x && (best < 0 || x > q[best]) {
			best = a
		}
	}
	b := layout(e, cells, q, best)
	if b.Title = p.Version.Model + ": no move is known"; best >= 0 {
		b.Title = fmt.Sprintf("%s: %s is worth %.3g", p.Version.Model, m.Schema().Attributes[m.Target()].Values[best], q[best])
	}
	return b.SVG, nil
}

// stateOf is the state of a row of a policy's columns.
func stateOf(m policy, t *table.Table, row int) []float64 {
	cells := []float64{}
	for _, j := range m.States() {
		switch c := &t.Columns[j]; {
		case c.Floats != nil:
			cells = append(cells, c.Floats[row])
		case c.Codes[row] == table.Missing:
			cells = append(cells, math.NaN())
		default:
			cells = append(cells, float64(c.Codes[row]))
		}
	}
	return cells
}

// layouts are how games look: their squares by the cells of a state, and what moves
// are worth.
var layouts = map[string]func(e act.Environment, cells, q []float64, best int) *draw.Board{
	"tictactoe": nineSquares, "checkers": checkerBoard, "backgammon": points,
}

// nineSquares has the worth of a move where it would be made.
func nineSquares(e act.Environment, cells, q []float64, _ int) *draw.Board {
	b := &draw.Board{}
	for i, x := range cells[:9] {
		if i%3 == 0 {
			b.Squares = append(b.Squares, nil)
		}
		s := draw.Square{Value: q[i]}
		if x > 0 {
			s.Text = e.Schema().Attributes[i].Values[int(x)]
		}
		b.Squares[i/3] = append(b.Squares[i/3], s)
	}
	return b
}

// checkerBoard has the mover's home below, as it is shown when one plays, and the
// moves as arrows.
func checkerBoard(e act.Environment, cells, q []float64, best int) *draw.Board {
	b := &draw.Board{}
	for row := range 8 {
		line := make([]draw.Square, 8)
		for col := range line {
			line[col] = draw.Square{Value: math.NaN(), Dark: (row+col)%2 == 1}
		}
		b.Squares = append(b.Squares, line)
	}
	at := func(square int) [2]int { // from 0
		row := square / 4
		return [2]int{7 - row, 7 - (2*(square%4) + 1 - row%2)}
	}
	for i, x := range cells[:32] {
		if piece := int(x) % 5; piece > 0 {
			p := at(i)
			s := &b.Squares[p[0]][p[1]]
			s.Piece, s.King = (piece+1)/2, piece%2 == 0
		}
	}
	for a, worth := range q {
		from, to, ok := strings.Cut(strings.ReplaceAll(e.Actions()[a], "x", "-"), "-")
		i, err := strconv.Atoi(from)
		j, also := strconv.Atoi(to)
		if ok && err == nil && also == nil && worth == worth {
			b.Moves = append(b.Moves, draw.BoardMove{From: at(i - 1), To: at(j - 1), Value: worth, Best: a == best})
		}
	}
	return b
}

// points are the 24 of backgammon, from the mover's home below on the right.
func points(_ act.Environment, cells, _ []float64, _ int) *draw.Board {
	b := &draw.Board{Squares: [][]draw.Square{make([]draw.Square, 12), make([]draw.Square, 12)}}
	for i := range 24 {
		s := draw.Square{Value: math.NaN(), Dark: i%2 == 0}
		if n := int(cells[i]); n != 0 {
			s.Text = fmt.Sprintf("%d x", n)
			if n < 0 {
				s.Text = fmt.Sprintf("%d o", -n)
			}
		}
		if i < 12 {
			b.Squares[1][11-i] = s
		} else {
			b.Squares[0][i-12] = s
		}
	}
	return b
}
