package life

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// met is a state of a policy whose values stand in a table.
type met struct {
	cells, values []float64
	best          []int
}

// states lists them, nil where there is no table.
func states(m policy) (all []met) {
	m.EachState(func(_ []rule.Test, best []int, values, cells []float64) {
		all = append(all, met{slices.Clone(cells), slices.Clone(values), slices.Clone(best)})
	})
	return all
}

// sheet draws a table of values as boards, where its states can be laid out so: the
// openings of a game, or a map, or two columns of numbers, for each of the values of
// the other columns. It is nil where they cannot.
func sheet(p *Part) *draw.Sheet {
	m, ok := learn.Ability[policy](p.Model)
	if !ok {
		return nil
	}
	all := states(m)
	if len(all) == 0 {
		return nil
	}
	if strings.HasPrefix(m.World(), "tictactoe") {
		return openings(p, m, all)
	}
	return layers(p, m, all)
}

// openings are the boards on which at most two moves were made, of those with two the
// ones that follow from the policy's own first.
func openings(p *Part, m policy, all []met) *draw.Sheet {
	stones := func(s met) (n int) {
		for _, x := range s.cells {
			if x > 0 {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b met) int {
		if d := stones(a) - stones(b); d != 0 {
			return d
		}
		return slices.Compare(b.cells, a.cells)
	})
	out := &draw.Sheet{Title: p.Version.Model + ": what moves are worth to the one whose turn it is", Across: 6}
	first := -1
	e := worldOf(m.World())
	for _, s := range all {
		n := stones(s)
		if n == 0 {
			first = s.best[0]
		}
		if n > 2 || n == 2 && (first < 0 || s.cells[first] == 0) || e == nil || len(out.Boards) == 24 {
			continue
		}
		b := nineSquares(e, s.cells, s.values, s.best[0])
		for _, a := range s.best {
			b.Squares[a/3][a%3].Text = "•"
		}
		b.Title = fmt.Sprintf("move %d: %s", n+1, strings.Join(named(m, s.best, 3), ", "))
		out.Boards = append(out.Boards, b)
	}
	if len(out.Boards) == 0 {
		return nil
	}
	return out
}

// named are the names of actions, as many as there is room for.
func named(m policy, actions []int, most int) (names []string) {
	for i, a := range actions {
		if i == most {
			return append(names, "…")
		}
		names = append(names, m.Schema().Attributes[m.Target()].Values[a])
	}
	return names
}

// axis is a column of states as lines or columns of a board.
type axis struct {
	cell   int // of states; −1 is none, one place
	values []float64
}

func (a axis) of(cells []float64) float64 {
	if a.cell < 0 {
		return 0
	}
	return cells[a.cell]
}

func (a axis) labels(name string) (texts []string) {
	if a.cell < 0 {
		return nil
	}
	for i, x := range a.values {
		if texts = append(texts, strconv.FormatFloat(x, 'g', 4, 64)); i == 0 {
			texts[0] = name + " " + texts[0]
		}
	}
	return texts
}

// layers is a board for each of the values of the columns that are no numbers.
func layers(p *Part, m policy, all []met) *draw.Sheet {
	const mostBoards, mostPlaces = 24, 30
	var columns []table.Attribute
	for _, j := range m.States() {
		columns = append(columns, m.Schema().Attributes[j])
	}
	var axes []axis
	for i, a := range columns {
		if a.Kind != table.Numeric {
			continue
		}
		x := axis{cell: i}
		for _, s := range all {
			x.values = append(x.values, s.cells[i])
		}
		slices.Sort(x.values)
		if x.values = slices.Compact(x.values); len(x.values) > mostPlaces || x.values[0] != x.values[0] || math.IsInf(x.values[0], 0) {
			return nil
		}
		axes = append(axes, x)
	}
	switch len(axes) {
	case 1:
		axes = []axis{{-1, []float64{0}}, axes[0]}
	case 2:
	default:
		return nil
	}
	down, across := axes[0], axes[1]
	out := &draw.Sheet{Title: p.Version.Model + ": the best action, and what it is worth"}
	boards := map[string]*draw.Board{}
	for _, s := range all {
		title := layerTitle(columns, s.cells, down.cell, across.cell)
		b := boards[title]
		if b == nil {
			if len(out.Boards) == mostBoards {
				continue
			}
			b = &draw.Board{Title: title, Columns: across.labels(columns[across.cell].Name)}
			if down.cell >= 0 {
				b.Lines = down.labels(columns[down.cell].Name)
			}
			for range down.values {
				line := make([]draw.Square, len(across.values))
				for i := range line {
					line[i].Value = math.NaN()
				}
				b.Squares = append(b.Squares, line)
			}
			boards[title], out.Boards = b, append(out.Boards, b)
		}
		i, _ := slices.BinarySearch(down.values, down.of(s.cells))
		j, _ := slices.BinarySearch(across.values, across.of(s.cells))
		b.Squares[i][j] = squareOf(m, s)
	}
	if len(boards) == mostBoards {
		out.Title += fmt.Sprintf(" (of the first %d)", mostBoards)
	}
	slices.SortFunc(out.Boards, func(a, b *draw.Board) int { return strings.Compare(a.Title, b.Title) })
	return out
}

// layerTitle says what the other columns are.
func layerTitle(columns []table.Attribute, cells []float64, axes ...int) string {
	var texts []string
	for i, a := range columns {
		if slices.Contains(axes, i) {
			continue
		}
		value := "?"
		if x := cells[i]; x >= 0 && int(x) < len(a.Values) {
			value = a.Values[int(x)]
		}
		texts = append(texts, a.Name+" = "+value)
	}
	return strings.Join(texts, ", ")
}

// squareOf has the best actions of a state, as arrows where they are directions.
func squareOf(m policy, s met) draw.Square {
	square := draw.Square{Value: s.values[s.best[0]]}
	for _, name := range named(m, s.best, len(s.best)) {
		if way := slices.Index([]string{"up", "right", "down", "left"}, name); way >= 0 {
			square.Arrows = append(square.Arrows, way)
		} else if square.Text == "" {
			square.Text = name
		}
	}
	if len(square.Arrows) > 0 {
		square.Text = ""
	}
	return square
}
