package act

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// cell is a place on a map, from 0 at the top left.
type cell struct{ row, col int }

// moves of grids, clockwise from the top.
var moves = []string{"up", "right", "down", "left"}

var ways = []cell{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}

// grid is a map on which somebody walks: the grid worlds of figure 13.2 and
// exercise 13.2 of Mitchell 1997, and all that are drawn as text.
type grid struct {
	rows, cols   int
	walls, goals map[cell]bool
	holes        map[cell]bool // an episode ends there with nothing
	starts       []cell
	goal, step   float64 // rewards of entering a goal, and of any step
	slip         float64 // how often one slides to either side instead
	wind         []int   // of each column: rows by which one who leaves it is blown up
	bump         bool    // moves off the map are legal, and stay
}

// parseGrid reads a map: # is a wall, . is free, S a start, G a goal, H a hole.
// Without a start, every free cell is one.
func parseGrid(text string) (*grid, error) {
	g := &grid{walls: map[cell]bool{}, goals: map[cell]bool{}, holes: map[cell]bool{}, goal: 100}
	var free []cell
	for row, line := range strings.Split(strings.TrimRight(text, "\r\n"), "\n") {
		line = strings.TrimRight(line, "\r")
		if row == 0 {
			g.cols = len(line)
		}
		if len(line) != g.cols || g.cols == 0 {
			return nil, fmt.Errorf("line %d of the map has %d cells, expected %d as in line 1", row+1, len(line), g.cols)
		}
		g.rows++
		for col, mark := range []byte(line) {
			at := cell{row, col}
			switch mark {
			case '#':
				g.walls[at] = true
			case '.':
				free = append(free, at)
			case 'S':
				g.starts = append(g.starts, at)
			case 'G':
				g.goals[at] = true
			case 'H':
				g.holes[at] = true
			default:
				return nil, fmt.Errorf("line %d, column %d of the map is %q; expected # (wall), . (free), S (start), G (goal) or H (hole)", row+1, col+1, mark)
			}
		}
	}
	if len(g.goals) == 0 {
		return nil, fmt.Errorf("the map has no goal; mark one with G")
	}
	if len(g.starts) == 0 {
		g.starts = free
	}
	if len(g.starts) == 0 {
		return nil, fmt.Errorf("the map has no free cell to start from; mark one with S or with a dot")
	}
	return g, nil
}

// open says whether one can stand on a cell.
func (g *grid) open(at cell) bool {
	return at.row >= 0 && at.col >= 0 && at.row < g.rows && at.col < g.cols && !g.walls[at]
}

// to returns where a move leads; one that cannot be made leads nowhere. The wind is
// that of the column in which one stood (Sutton and Barto 1998, example 6.5).
func (g *grid) to(from cell, way int) cell {
	at := cell{from.row + ways[way].row, from.col + ways[way].col}
	if !g.open(at) {
		at = from
	}
	if g.wind != nil {
		for range g.wind[from.col] {
			if up := (cell{at.row - 1, at.col}); g.open(up) {
				at = up
			}
		}
	}
	return at
}

// model numbers the cells.
func (g *grid) model() (*Model, error) {
	return rules[cell]{
		schema: &table.Schema{Attributes: []table.Attribute{
			{Name: "row", Kind: table.Numeric}, {Name: "col", Kind: table.Numeric},
		}},
		actions: moves,
		starts:  g.starts,
		cells:   func(s cell, cells []float64) { cells[0], cells[1] = float64(s.row), float64(s.col) },
		legal:   g.legal,
		act:     g.act,
	}.build()
}

func (g *grid) legal(s cell) []int {
	if g.goals[s] || g.holes[s] {
		return nil
	}
	var legal []int
	for way := range moves {
		if g.bump || g.open(cell{s.row + ways[way].row, s.col + ways[way].col}) {
			legal = append(legal, way)
		}
	}
	if legal == nil { // walled in: one may push against the walls
		return []int{0, 1, 2, 3}
	}
	return legal
}

func (g *grid) act(s cell, way int) []Outcome[cell] {
	var out []Outcome[cell]
	for _, slide := range []struct {
		turn int
		p    float64
	}{{0, 1 - g.slip}, {1, g.slip / 2}, {3, g.slip / 2}} {
		at := g.to(s, (way+slide.turn)%4)
		o := Outcome[cell]{P: slide.p, Next: at, Reward: g.step, End: g.goals[at] || g.holes[at]}
		if g.goals[at] {
			o.Reward += g.goal
		}
		out = append(out, o)
	}
	return out
}

// sketch draws the map: # is a wall, G a goal, H a hole, . anything else.
func (g *grid) sketch() []string {
	rows := make([]string, g.rows)
	for row := range rows {
		line := make([]byte, g.cols)
		for col := range line {
			switch at := (cell{row, col}); {
			case g.walls[at]:
				line[col] = '#'
			case g.goals[at]:
				line[col] = 'G'
			case g.holes[at]:
				line[col] = 'H'
			default:
				line[col] = '.'
			}
		}
		rows[row] = string(line)
	}
	return rows
}
