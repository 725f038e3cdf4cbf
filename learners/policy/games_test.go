package policy

import (
	"testing"

	"github.com/accrete-ml/accrete/act"
)

// Learnt by playing against itself, x and o never lose, whatever the other does:
// every game is tried, with each of the moves that are best.
func TestSelfPlayNeverLoses(t *testing.T) {
	const name = "tictactoe:opponent=self"
	m := practised(t, &Learner{Gamma: ptr(1.0), Explore: "random", Order: "reverse", Episodes: 150000}, name, 1)
	place := world(t, name).(*act.Place)
	games := 0
	var play func(state, mover, policy int, cells, q, p []float64)
	play = func(state, mover, policy int, cells, q, p []float64) {
		for _, a := range place.Model.Legal(state) {
			if mover == policy {
				place.Cells(state, cells)
				m.Worth(cells, q)
				if decide(q, p); p[a] == 0 {
					continue
				}
			}
			o := place.Outcomes(state, a)[0]
			switch {
			case o.End && o.Reward == 1 && mover != policy:
				t.Fatalf("player %d loses", policy+1)
			case o.End:
				games++
			default:
				play(o.Next, 1-mover, policy, cells, q, p)
			}
		}
	}
	for policy := range 2 {
		play(place.Starts()[0], 0, policy, make([]float64, 9), make([]float64, 9), make([]float64, 9))
	}
	if games < 1000 {
		t.Errorf("%d games were tried", games)
	}
}
