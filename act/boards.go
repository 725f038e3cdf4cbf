package act

import (
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// board is a game of tic-tac-toe: the mark of each of nine squares in reading
// order, and who is to move.
type board struct {
	squares [9]byte // 0 empty, 1 x, 2 o
	mover   byte
}

var lines = [8][3]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}

// won says whether a player has three in a line.
func (b *board) won(player byte) bool {
	for _, l := range lines {
		if b.squares[l[0]] == player && b.squares[l[1]] == player && b.squares[l[2]] == player {
			return true
		}
	}
	return false
}

// empty returns the squares that are free, none when the game is over.
func (b board) empty() []int {
	if b.won(1) || b.won(2) {
		return nil
	}
	var free []int
	for i, s := range b.squares {
		if s == 0 {
			free = append(free, i)
		}
	}
	return free
}

// with returns the board after a move.
func (b board) with(square int) board {
	b.squares[square] = b.mover
	b.mover = 3 - b.mover
	return b
}

// opponents are those who play o, each as moves and their probabilities.
var opponents = map[string]func(b board) map[int]float64{
	"random":  func(b board) map[int]float64 { return evenly(b.empty()) },
	"forced":  forced,
	"perfect": perfect,
}

func evenly(moves []int) map[int]float64 {
	p := map[int]float64{}
	for _, m := range moves {
		p[m] = 1 / float64(len(moves))
	}
	return p
}

// forced wins where that is possible, else keeps the other from winning, and
// else moves at random (exercise 13.3 of Mitchell 1997).
func forced(b board) map[int]float64 {
	for _, player := range []byte{b.mover, 3 - b.mover} {
		var urgent []int
		for _, m := range b.empty() {
			after := b
			after.squares[m] = player
			if after.won(player) {
				urgent = append(urgent, m)
			}
		}
		if urgent != nil {
			return evenly(urgent)
		}
	}
	return evenly(b.empty())
}

// perfect takes any of the moves that are best against one who is perfect too.
func perfect(b board) map[int]float64 {
	known := map[board]int{}
	var best []int
	most := -2
	for _, m := range b.empty() {
		switch v := -minimax(b.with(m), known); {
		case v > most:
			best, most = []int{m}, v
		case v == most:
			best = append(best, m)
		}
	}
	return evenly(best)
}

// minimax is 1, 0 or −1 for whoever is to move.
func minimax(b board, known map[board]int) int {
	if v, ok := known[b]; ok {
		return v
	}
	v := 0
	if b.won(3 - b.mover) {
		v = -1
	} else if moves := b.empty(); moves != nil {
		v = -1
		for _, m := range moves {
			v = max(v, -minimax(b.with(m), known))
		}
	}
	known[b] = v
	return v
}

// ticTacToe is the game as a model. Against itself, states are those of both
// players, and the reward is that of the one who moves; against an opponent,
// what follows from a move is the opponent's answer.
func ticTacToe(opponent string) (*Model, error) {
	r := rules[board]{schema: &table.Schema{}, starts: []board{{mover: 1}}, legal: board.empty, cells: func(b board, cells []float64) {
		for i, s := range b.squares {
			cells[i] = float64(s)
		}
	}}
	for i := range 9 {
		name := "c" + strconv.Itoa(i+1)
		r.actions = append(r.actions, name)
		r.schema.Attributes = append(r.schema.Attributes, table.Attribute{Name: name, Kind: table.Nominal, Values: []string{"_", "x", "o"}})
	}
	if opponent == "self" {
		r.turns = true
		r.act = func(b board, move int) []Outcome[board] {
			after := b.with(move)
			o := Outcome[board]{P: 1, Next: after, End: after.empty() == nil}
			if after.won(b.mover) {
				o.Reward = 1
			}
			return []Outcome[board]{o}
		}
		return r.build()
	}
	answer, known := opponents[opponent]
	if !known {
		return nil, fmt.Errorf("opponent %q is not known; expected self, random, forced or perfect", opponent)
	}
	r.act = func(b board, move int) []Outcome[board] {
		b = b.with(move)
		switch {
		case b.won(1):
			return []Outcome[board]{{P: 1, Next: b, Reward: 1, End: true}}
		case b.empty() == nil:
			return []Outcome[board]{{P: 1, Next: b, End: true}}
		}
		var out []Outcome[board]
		replies := answer(b)
		for square := range 9 {
			if p := replies[square]; p > 0 {
				after := b.with(square)
				o := Outcome[board]{P: p, Next: after, End: after.empty() == nil}
				if after.won(2) {
					o.Reward = -1
				}
				out = append(out, o)
			}
		}
		return out
	}
	return r.build()
}
