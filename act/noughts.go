package act

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// noughts is tic-tac-toe as a game whose boards are judged by six numbers (Mitchell
// 1997, exercise 1.5): of either side the lines that are its own alone, with one,
// two and three marks. A state is the nine squares, and who is to move follows from
// them: x begins.
type noughts struct {
	board
	legal []int
	ended bool
}

func openNoughts(s settings) (Environment, error) {
	switch s["measures"] {
	case "none":
		m, err := ticTacToe(s["opponent"])
		if err != nil {
			return nil, err
		}
		return m.Environment(), nil
	case "six":
		return against(&noughts{ended: true}, s["opponent"], 1)
	}
	return nil, fmt.Errorf("measures=%s: expected none or six", s["measures"])
}

func (n *noughts) Schema() *table.Schema {
	s := &table.Schema{}
	for _, name := range n.Actions() {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Kind: table.Nominal, Values: []string{"_", "x", "o"}})
	}
	return s
}

func (n *noughts) Actions() []string {
	var names []string
	for i := range 9 {
		names = append(names, "c"+strconv.Itoa(i+1))
	}
	return names
}

// Reset clears the board. Chance has no part in the game.
func (n *noughts) Reset(uint64) {
	n.board = board{mover: 1}
	n.look()
}

// look finds what may be done.
func (n *noughts) look() {
	n.legal = append(n.legal[:0], n.empty()...)
	n.ended = len(n.legal) == 0
}

func (n *noughts) Mover() int { return int(n.mover) - 1 }

func (n *noughts) Legal() []int { return n.legal }

// Do puts the mover's mark on a square.
func (n *noughts) Do(action int) (reward float64, end bool) {
	mover := n.mover
	n.board = n.with(action)
	if n.look(); n.ended && n.won(mover) {
		return 1, true
	}
	return 0, n.ended
}

// Step takes a legal action.
func (n *noughts) Step(action int) (float64, bool, error) {
	if !slices.Contains(n.legal, action) {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	reward, end := n.Do(action)
	return reward, end, nil
}

func (n *noughts) State(cells []float64) {
	for i, s := range n.squares {
		cells[i] = float64(s)
	}
}

// Put sets up a board.
func (n *noughts) Put(cells []float64, _ int) error {
	var b board
	var marks [3]int
	for i := range b.squares {
		if i >= len(cells) || cells[i] != 0 && cells[i] != 1 && cells[i] != 2 {
			return errors.New("a board has nine squares, each of which is _, x or o")
		}
		b.squares[i] = byte(cells[i])
		marks[b.squares[i]]++
	}
	switch marks[1] - marks[2] {
	case 0:
		b.mover = 1
	case 1:
		b.mover = 2
	default:
		return fmt.Errorf("a board with %d x and %d o does not come up", marks[1], marks[2])
	}
	n.board = b
	n.look()
	return nil
}

func (n *noughts) Fork() Game {
	f := &noughts{}
	f.Copy(n)
	return f
}

func (n *noughts) Copy(from Game) {
	f := from.(*noughts)
	n.board, n.ended = f.board, f.ended
	n.legal = append(n.legal[:0], f.legal...)
}

func (n *noughts) Dice() bool { return false }

// Measures are the six numbers.
func (n *noughts) Measures() []string {
	return []string{"my-ones", "my-twos", "my-threes", "their-ones", "their-twos", "their-threes"}
}

// Measure counts lines for a player.
func (n *noughts) Measure(player int, x []float64) {
	clear(x)
	own := byte(player) + 1
	for _, l := range lines {
		mine, theirs := 0, 0
		for _, i := range l {
			switch n.squares[i] {
			case 0:
			case own:
				mine++
			default:
				theirs++
			}
		}
		switch {
		case mine > 0 && theirs == 0:
			x[mine-1]++
		case theirs > 0 && mine == 0:
			x[3+theirs-1]++
		}
	}
}

// Material is what somebody thinks of a board who does not learn.
func (n *noughts) Material(player int) float64 {
	var x [6]float64
	n.Measure(player, x[:])
	return x[0] + 5*x[1] + 100*x[2] - x[3] - 6*x[4] - 100*x[5]
}
