package act

import "testing"

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
