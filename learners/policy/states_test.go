package policy

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
)

// TD(λ) by hand, from V = 0 with α = .5, γ = .9, λ = .5 along bottom left, middle,
// right to the goal: only the last step surprises, by 100, and moves V by 50, by 50·.45
// and by 50·.45² of the states before it.
func TestTDLambdaByHand(t *testing.T) {
	tr, at := coached(t, "gridworld:map=..G/...", &Learner{Algorithm: "td", Alpha: "0.5", Lambda: 0.5})
	path := []int32{at(1, 0), at(1, 1), at(1, 2)}
	tr.predict(&move{path[0], right, 0, path[1], -1})
	tr.predict(&move{path[1], right, 0, path[2], -1})
	tr.predict(&move{path[2], up, 100, -1, -1})
	for i, want := range []float64{10.125, 22.5, 50} {
		if got := tr.v.base[path[i]]; math.Abs(got-want) > 1e-12 {
			t.Errorf("V of place %d is %v, expected %v", i, got, want)
		}
	}
}

// On the random walk V of place k is k/6. After 2,000 walks with α = .01 the standard
// deviation of what is learnt is about √(α/2)·½ ≈ .035: four of these are allowed.
// Other worlds are walked by what their own models say follows.
func TestTDPredicts(t *testing.T) {
	m := practised(t, &Learner{Algorithm: "td", Gamma: ptr(1.0), Lambda: 0.3, Alpha: "0.01", Start: ptr(0.5), Episodes: 2000}, "randomwalk", 1)
	for place := 1.0; place <= 5; place++ {
		q := []float64{0}
		if m.Worth([]float64{place}, q); math.Abs(q[0]-place/6) > 0.14 {
			t.Errorf("place %v is worth %v, expected %v", place, q[0], place/6)
		}
	}
	m = practised(t, &Learner{Algorithm: "td", Lambda: 0.7, Anneal: 50}, "gridworld", 1)
	if got := share(t, m, "gridworld", 0.9); got < 0.99 {
		t.Errorf("it earns %.3f of the best", got)
	}
	const pole = "cartpole"
	if _, err := (&Learner{Algorithm: "td"}).LearnIn(context.Background(), pole, world(t, pole), 1); err == nil {
		t.Error("nobody knows what follows in cartpole")
	}
}

// What an episode brought is passed back over regions: values are exact in the end,
// and known of more states than anybody was in.
func TestExplanations(t *testing.T) {
	const name = "gridworld:map=S......./......../......../......../.......G"
	truth := practised(t, &Learner{Algorithm: "values"}, name, 1)
	known := func(m *Model) (right int) {
		place := world(t, name).(*act.Place)
		cells, q, want := make([]float64, 2), make([]float64, 4), make([]float64, 4)
		for s := range place.States() {
			place.Cells(s, cells)
			m.Worth(cells, q)
			truth.Worth(cells, want)
			if math.Abs(most(q)-most(want)) < 1e-9 {
				right++
			}
		}
		return right
	}
	explained := practised(t, &Learner{Algorithm: "explain", Episodes: 10}, name, 3)
	plain := practised(t, &Learner{Order: "reverse", Episodes: 10}, name, 3)
	if a, b := known(explained), known(plain); a < 2*b || a < 20 {
		t.Errorf("values of %d states are right after ten episodes, of %d without explanations", a, b)
	}
	if got := known(practised(t, &Learner{Algorithm: "explain", Episodes: 300}, name, 3)); got != 39 {
		t.Errorf("values of %d of 39 states are right in the end", got)
	}
	const slippery = "gridworld:slip=0.1"
	if _, err := (&Learner{Algorithm: "explain"}).LearnIn(context.Background(), slippery, world(t, slippery), 1); err == nil {
		t.Error("chance is explained")
	}
}

// most is what the best action is worth; NaN if nothing is known.
func most(q []float64) float64 {
	best := math.NaN()
	for _, x := range q {
		if !(x <= best) && x == x {
			best = x
		}
	}
	return best
}

// The three ways to wire actions and values find what to do, and are kept as they are.
func TestWirings(t *testing.T) {
	for _, x := range []struct{ values, wiring string }{{"tree", "action"}, {"tree", "input"}, {"mlp", "outputs"}} {
		m := logOf(t, "inventory:capacity=4", 150, 1, map[string]string{"gamma": "0.8", "values": x.values, "wiring": x.wiring, "penalty": "0"})
		if got := share(t, m, "inventory:capacity=4", 0.8); got < 0.9 {
			t.Errorf("%v: %.3f of the best", x, got)
		}
		data, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		q, p := make([]float64, len(m.actions())), make([]float64, len(m.actions()))
		m.Worth([]float64{1}, q)
		again.(*Model).Worth([]float64{1}, p)
		if fmt.Sprint(q) != fmt.Sprint(p) {
			t.Errorf("%v: %v, and %v once it is read", x, q, p)
		}
	}
	if _, err := learn.New(Name, map[string]string{"wiring": "outputs"}); err == nil {
		t.Error("a table has outputs")
	}
}
