package act

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// perft counts the games of so many turns; jumps in a row are one turn.
func perft(g Game, turns int) (n int) {
	if turns == 0 {
		return 1
	}
	fork := g.Fork()
	for _, a := range g.Legal() {
		fork.Copy(g)
		if _, end := fork.Do(a); end {
			n++ // none so early
			continue
		}
		left := turns - 1
		if fork.Mover() == g.Mover() {
			left = turns
		}
		n += perft(fork, left)
	}
	return n
}

// The numbers of games of English draughts are known (A. Bik, perft for checkers).
func TestCheckersHasTheKnownNumberOfGames(t *testing.T) {
	e, err := Lookup("checkers")
	if err != nil {
		t.Fatal(err)
	}
	e.Reset(1)
	for turns, want := range []int{1, 7, 49, 302, 1469, 7361, 36768, 179740} {
		if got := perft(e.(Game), turns); got != want {
			t.Errorf("%d turns: %d games, expected %d", turns, got, want)
		}
	}
}

// Who looks only for the best action finds one that is worth most.
func TestBestIsWorthMost(t *testing.T) {
	e, err := Lookup("checkers")
	if err != nil {
		t.Fatal(err)
	}
	g, random := e.(Game), rand.New(rand.NewPCG(18, 1))
	judge := func(g Game, player int) float64 {
		x := make([]float64, len(g.Measures()))
		g.Measure(player, x)
		return g.Material(player) + x[6]/16 // ties are rarer than among pieces
	}
	q := make([]float64, len(g.Actions()))
	for turns := range 200 {
		Shuffle(g, turns%80, random)
		s := Search{Turns: 1 + turns%3, Quiet: true, Judge: judge}
		s.Values(g, q)
		most, first := slices.MaxFunc(g.Legal(), func(a, b int) int { return cmp.Compare(q[a], q[b]) }), s.Best(g, nil)
		if first != most || q[s.Best(g, random)] != q[most] {
			t.Fatalf("%s is worth %v, %s %v", notation[most], q[most], notation[first], q[first])
		}
	}
}

// Rules of backgammon that are easy to get wrong, by hand.
func TestBackgammonByHand(t *testing.T) {
	e, err := Lookup("backgammon")
	if err != nil {
		t.Fatal(err)
	}
	g := e.(*backgammon)
	legal := func(what string, dice [4]int8, set func(g *gammon), want ...string) {
		t.Helper()
		g.Reset(1)
		g.gammon = gammon{dice: dice}
		set(&g.gammon)
		g.find()
		var got []string
		for _, a := range g.Legal() {
			got = append(got, gammonActions[a])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, expected %q", what, got, want)
		}
	}
	legal("from the bar first", [4]int8{5, 3}, func(g *gammon) { g.bar[0], g.points[19], g.points[21], g.points[10] = 1, -2, 0, 1 }, "bar-by-3")
	legal("both dice if possible", [4]int8{6, 5}, func(g *gammon) { g.points[11], g.points[6] = 1, -2 }, "12-by-6")
	legal("the larger die if only one", [4]int8{6, 5}, func(g *gammon) { g.points[12], g.points[1] = 1, -2 }, "13-by-6")
	legal("off with the exact die", [4]int8{2}, func(g *gammon) { g.points[1], g.points[4] = 2, 1 }, "2-by-2", "5-by-2")
	legal("off the farthest with a larger one", [4]int8{6}, func(g *gammon) { g.points[1], g.points[3] = 1, 1 }, "4-by-6")
	legal("not off before all are home", [4]int8{3}, func(g *gammon) { g.points[2], g.points[6] = 1, 1 }, "7-by-3")
	legal("not onto two of theirs", [4]int8{4}, func(g *gammon) { g.points[9], g.points[5] = 1, -2 })
	g.gammon = gammon{dice: [4]int8{4}}
	g.points[9], g.points[5], g.off[0] = 1, -1, 1
	g.move(9*6 + 3)
	if g.bar[1] != 1 || g.points[5] != 1 || g.points[9] != 0 {
		t.Errorf("a piece alone is hit: %+v", g.gammon)
	}
}

// Random games of all kinds come to an end, and copies are the same position.
func TestGamesEnd(t *testing.T) {
	for _, name := range []string{"checkers", "backgammon", "backgammon:pieces=15", "checkers:opponent=material,depth=1", "backgammon:opponent=material", "tictactoe:measures=six", "tictactoe:measures=six,opponent=material"} {
		e, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		cells, again := make([]float64, len(e.Schema().Attributes)), make([]float64, len(e.Schema().Attributes))
		for seed := range uint64(5) {
			random := rand.New(rand.NewPCG(seed, 1))
			steps := 0
			_, _, err := Play(context.Background(), e, seed, 5000, 1, func(_ []float64, legal []int) (int, error) {
				g := GameOf(e)
				g.State(cells)
				copied := g.Fork()
				if err := copied.Put(cells, g.Mover()); err != nil {
					return 0, err
				}
				copied.State(again)
				if !slices.Equal(cells, again) || !slices.Equal(copied.Legal(), legal) {
					t.Fatalf("%s: the position is not its state: %v, %v", name, cells, again)
				}
				return legal[random.IntN(len(legal))], nil
			}, func(Step) error { steps++; return nil })
			if err != nil || steps == 5000 {
				t.Errorf("%s: %d steps, %v", name, steps, err)
			}
		}
	}
}

// The six measures of a board by hand: lines of x alone and of o alone.
func TestNoughtsByHand(t *testing.T) {
	e, err := Lookup("tictactoe:measures=six")
	if err != nil {
		t.Fatal(err)
	}
	g, x := e.(Game), make([]float64, 6)
	if got := perft(g, 3); got != 0 {
		t.Errorf("%d games before the first board", got)
	}
	g.Reset(1)
	if got := perft(g, 4); got != 9*8*7*6 {
		t.Errorf("%d games of four turns, expected 3024", got)
	}
	// x x _ / _ o _ / _ _ _, o is to move
	if err := g.Put([]float64{1, 1, 0, 0, 2, 0, 0, 0, 0}, 0); err != nil || g.Mover() != 1 {
		t.Fatal(err, g.Mover())
	}
	if g.Measure(0, x); !slices.Equal(x, []float64{1, 1, 0, 2, 0, 0}) || g.Material(0) != 4 || g.Material(1) != -5 {
		t.Errorf("%v, %v, %v", x, g.Material(0), g.Material(1))
	}
	if err := g.Put([]float64{1, 1, 0, 0, 0, 0, 0, 0, 0}, 0); err == nil || !strings.Contains(err.Error(), "does not come up") {
		t.Error(err)
	}
}

// Three blocks have 13 piles; the longest way to the tower is told by its worth.
func TestBlocks(t *testing.T) {
	m := world(t, "blocks:step=-1,goal=0")
	s := solve(t, m, 1)
	least := 0.0
	for _, v := range s.V {
		least = min(least, v)
	}
	if m.States() != 13 || least != -4 {
		t.Errorf("%d piles, the farthest %v moves away", m.States(), -least)
	}
}
