package act

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// backgammon is the game on 24 points, by default with three pieces a side
// (hypergammon), which begin on the three points farthest from home. The mover goes
// from 24 to 1; a piece alone on a point is hit and begins again from the bar; who
// has all pieces in the last six points bears them off, and who has none left has
// won. Both dice are used if that is possible, else the larger one; doubles count
// four times. Who cannot move is passed over.
type backgammon struct {
	gammon
	pieces int
	random *rand.Rand // nil in copies, which throw no dice
	legal  []int
	ended  bool
}

// gammon is a position as the mover sees it.
type gammon struct {
	points [24]int8 // the mover's pieces, less than 0 the other's
	bar    [2]int8  // the mover's, and the other's
	off    [2]int8
	dice   [4]int8 // that are left, the larger first; 0 is none
	mover  int8
}

const barPoint = 24 // as a place to come from

func openBackgammon(s settings) (Environment, error) {
	n, err := s.count("pieces", 1, 15)
	if err != nil {
		return nil, err
	}
	return against(&backgammon{pieces: n, ended: true}, s["opponent"], 1)
}

func (b *backgammon) Schema() *table.Schema {
	var names []string
	for i := range 24 {
		names = append(names, "p"+strconv.Itoa(i+1))
	}
	return numbers(append(names, "my-bar", "their-bar", "my-off", "their-off", "die-1", "die-2", "die-3", "die-4")...)
}

var gammonActions = func() (names []string) {
	for from := range 25 {
		for die := 1; die <= 6; die++ {
			place := strconv.Itoa(from + 1)
			if from == barPoint {
				place = "bar"
			}
			names = append(names, place+"-by-"+strconv.Itoa(die))
		}
	}
	return names
}()

func (b *backgammon) Actions() []string { return slices.Clone(gammonActions) }

// Reset sets up the first board: three pieces a side stand on three points, fifteen
// as they do in the full game, others two by two from the far end.
func (b *backgammon) Reset(seed uint64) {
	b.random = begin(seed)
	b.gammon = gammon{}
	place := func(point, n int) {
		b.points[point-1] += int8(n)
		b.points[24-point] -= int8(n)
	}
	switch {
	case b.pieces == 15:
		place(24, 2)
		place(13, 5)
		place(8, 3)
		place(6, 5)
	case b.pieces <= 3:
		for i := range b.pieces {
			place(24-i, 1)
		}
	default:
		for i := range b.pieces {
			place(24-i/2, 1)
		}
	}
	b.ended = false
	b.roll()
}

// roll throws the dice until somebody can move.
func (b *backgammon) roll() {
	for b.legal = b.legal[:0]; ; b.pass() {
		if b.random == nil {
			return
		}
		b.throw(int8(b.random.IntN(6)+1), int8(b.random.IntN(6)+1))
		if b.find(); len(b.legal) > 0 {
			return
		}
	}
}

func (g *gammon) throw(one, two int8) {
	if g.dice = [4]int8{max(one, two), min(one, two)}; one == two {
		g.dice = [4]int8{one, one, one, one}
	}
}

// pass turns the board around.
func (g *gammon) pass() {
	for i := range 12 {
		g.points[i], g.points[23-i] = -g.points[23-i], -g.points[i]
	}
	g.bar[0], g.bar[1] = g.bar[1], g.bar[0]
	g.off[0], g.off[1] = g.off[1], g.off[0]
	g.dice = [4]int8{}
	g.mover = 1 - g.mover
}

func (b *backgammon) Mover() int { return int(b.mover) }
func (b *backgammon) Dice() bool { return true }

func (b *backgammon) Legal() []int {
	if b.ended {
		return nil
	}
	return b.legal
}

// may reports whether the mover may move a piece from a place by a die.
func (g *gammon) may(from int, die int8) bool {
	if from == barPoint {
		return g.bar[0] > 0 && g.points[24-die] >= -1
	}
	if g.bar[0] > 0 || g.points[from] <= 0 {
		return false
	}
	if to := from - int(die); to >= 0 {
		return g.points[to] >= -1
	}
	for i := 23; i >= 6; i-- { // all are home
		if g.points[i] > 0 {
			return false
		}
	}
	for i := 5; i > from && from-int(die) < -1; i-- { // a larger die takes the farthest
		if g.points[i] > 0 {
			return false
		}
	}
	return true
}

// find finds the legal actions: with two dice that differ, those that leave the other
// one a use, if there are such; else the larger die is used if it can be.
func (b *backgammon) find() {
	b.legal = b.legal[:0]
	for k, die := range b.dice {
		if die == 0 || k > 0 && die == b.dice[k-1] {
			continue
		}
		for from := range 25 {
			if b.may(from, die) {
				b.legal = append(b.legal, from*6+int(die)-1)
			}
		}
	}
	if one, two := b.dice[0], b.dice[1]; two == 0 || one == two || len(b.legal) < 2 {
		return
	}
	keep := func(wanted func(a int) bool) {
		if slices.ContainsFunc(b.legal, wanted) {
			b.legal = slices.DeleteFunc(b.legal, func(a int) bool { return !wanted(a) })
		}
	}
	both := func(a int) bool {
		g := b.gammon
		g.move(a)
		return slices.ContainsFunc(everywhere, func(from int) bool { return g.may(from, g.dice[0]) }) || g.off[0] == int8(b.pieces)
	}
	if slices.ContainsFunc(b.legal, both) {
		keep(both)
	} else {
		keep(func(a int) bool { return int8(a%6+1) == b.dice[0] })
	}
}

var everywhere = func() (all []int) {
	for i := range 25 {
		all = append(all, i)
	}
	return all
}()

// move moves a piece and uses the die up.
func (g *gammon) move(action int) {
	from, die := action/6, int8(action%6+1)
	to := from - int(die)
	if from == barPoint {
		g.bar[0]--
	} else {
		g.points[from]--
	}
	switch {
	case to < 0:
		g.off[0]++
	case g.points[to] == -1: // it is hit
		g.points[to] = 1
		g.bar[1]++
	default:
		g.points[to]++
	}
	at := slices.Index(g.dice[:], die)
	copy(g.dice[at:], g.dice[at+1:])
	g.dice[3] = 0
}

// Do moves a piece; where no die can be used any more, the turn passes.
func (b *backgammon) Do(action int) (reward float64, end bool) {
	b.move(action)
	if int(b.off[0]) == b.pieces {
		b.ended = true
		return won, true
	}
	if b.dice[0] > 0 {
		if b.find(); len(b.legal) > 0 {
			return 0, false
		}
	}
	b.pass()
	b.roll()
	return 0, false
}

// Step takes a legal action.
func (b *backgammon) Step(action int) (float64, bool, error) {
	if b.ended || !slices.Contains(b.legal, action) {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	reward, end := b.Do(action)
	return reward, end, nil
}

func (b *backgammon) State(cells []float64) {
	for i, n := range b.points {
		cells[i] = float64(n)
	}
	for i := range 2 {
		cells[24+i], cells[26+i] = float64(b.bar[i]), float64(b.off[i])
	}
	for i, d := range b.dice {
		cells[28+i] = float64(d)
	}
}

// Put sets up a board.
func (b *backgammon) Put(cells []float64, mover int) error {
	g := gammon{mover: int8(mover)}
	count := func(x float64, low, high int) (int8, error) {
		if !(x >= float64(low) && x <= float64(high)) || x != float64(int8(x)) {
			return 0, fmt.Errorf("%v pieces or points are no part of a board", x)
		}
		return int8(x), nil
	}
	var err error
	for i := range g.points {
		if g.points[i], err = count(cells[i], -b.pieces, b.pieces); err != nil {
			return err
		}
	}
	for i := range 2 {
		if g.bar[i], err = count(cells[24+i], 0, b.pieces); err != nil {
			return err
		}
		if g.off[i], err = count(cells[26+i], 0, b.pieces); err != nil {
			return err
		}
	}
	for i := range g.dice {
		if g.dice[i], err = count(cells[28+i], 0, 6); err != nil {
			return err
		}
	}
	slices.SortFunc(g.dice[:], func(x, y int8) int { return int(y) - int(x) })
	b.gammon, b.ended = g, int(max(g.off[0], g.off[1])) >= b.pieces
	b.find()
	return nil
}

func (b *backgammon) Fork() Game {
	f := &backgammon{pieces: b.pieces}
	f.Copy(b)
	return f
}

func (b *backgammon) Copy(from Game) {
	f := from.(*backgammon)
	b.gammon, b.ended = f.gammon, f.ended
	b.legal = append(b.legal[:0], f.legal...)
}

// pips is how far the pieces of the mover have to go.
func (g *gammon) pips() (sum float64) {
	for i, n := range g.points {
		sum += float64(max(0, n)) * float64(i+1)
	}
	return sum + 25*float64(g.bar[0])
}

// Material is the lead in pips.
func (b *backgammon) Material(player int) float64 {
	g, other := b.seen(player), b.seen(1-player)
	return other.pips() - g.pips()
}

// seen is the position as a player sees it.
func (b *backgammon) seen(player int) gammon {
	g := b.gammon
	if player != int(g.mover) {
		g.pass()
	}
	return g
}

// Measures are the board itself: the pieces of either side on each point, on the bar
// and off, how far they have to go, and how often they can be hit.
func (b *backgammon) Measures() []string {
	var names []string
	for i := range 24 {
		names = append(names, "mine-"+strconv.Itoa(i+1), "theirs-"+strconv.Itoa(i+1))
	}
	return append(names, "my-bar", "their-bar", "my-off", "their-off", "my-pips", "their-pips", "my-exposed", "their-exposed")
}

func (b *backgammon) Measure(player int, x []float64) {
	g := b.seen(player)
	for i, n := range g.points {
		x[2*i], x[2*i+1] = float64(max(0, n)), float64(max(0, -n))
	}
	x[48], x[49], x[50], x[51] = float64(g.bar[0]), float64(g.bar[1]), float64(g.off[0]), float64(g.off[1])
	x[52], x[54] = g.pips(), g.exposed()
	g.pass()
	x[53], x[55] = g.pips(), g.exposed()
}

// exposed counts, for each piece of the mover that is alone on a point, the other's
// pieces that one die brings there.
func (g *gammon) exposed() (sum float64) {
	for i, n := range g.points {
		if n != 1 {
			continue
		}
		for k := max(-1, i-6); k < i; k++ {
			switch {
			case k < 0:
				sum += float64(g.bar[1])
			case g.points[k] < 0:
				sum -= float64(g.points[k])
			}
		}
	}
	return sum
}

// Show is a board in a line for people.
func (b *backgammon) Show(cells []float64) string {
	var parts []string
	for i := 23; i >= 0; i-- {
		switch n := int(cells[i]); {
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d:%s", i+1, strings.Repeat("x", n)))
		case n < 0:
			parts = append(parts, fmt.Sprintf("%d:%s", i+1, strings.Repeat("o", -n)))
		}
	}
	dice := ""
	for _, d := range cells[28:32] {
		if d > 0 {
			dice += fmt.Sprintf(" %.0f", d)
		}
	}
	return fmt.Sprintf("%s, bar x %.0f o %.0f, off x %.0f o %.0f, dice%s", strings.Join(parts, " "), cells[24], cells[25], cells[26], cells[27], dice)
}
