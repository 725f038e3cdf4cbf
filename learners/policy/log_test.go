package policy

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
)

// logOf is a log of random acts.
func logOf(t testing.TB, name string, episodes int, seed uint64, settings map[string]string) *Model {
	t.Helper()
	rows, err := act.Log(context.Background(), world(t, name), episodes, 200, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	settings["reward"] = "reward"
	l, err := learn.New(Name, settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "action", Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// share is what a policy earns in a world whose model is known, relative to the
// best: the discounted value over the starts, or in all states.
func share(t testing.TB, m *Model, name string, gamma float64) float64 {
	t.Helper()
	got, most := earned(t, m, name, gamma)
	return got / most
}

// earned is the sum of what a policy earns from the starts of a world, and the most
// that can be.
func earned(t testing.TB, m *Model, name string, gamma float64) (got, most float64) {
	t.Helper()
	place := world(t, name).(*act.Place)
	best, err := place.ValueIteration(context.Background(), gamma, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	policy := make([]int, place.States())
	cells, q := make([]float64, len(m.state)), make([]float64, len(m.actions()))
	for s := range policy {
		policy[s] = -1
		place.Cells(s, cells)
		m.Worth(cells, q)
		best := math.NaN()
		for _, a := range place.Model.Legal(s) {
			own := slices.Index(m.actions(), place.Actions()[a])
			if policy[s] < 0 || own >= 0 && !math.IsNaN(q[own]) && !(q[own] <= best) {
				if policy[s] = a; own >= 0 {
					best = q[own]
				}
			}
		}
	}
	v, err := place.PolicyValue(context.Background(), policy, gamma, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range place.Starts() {
		got += v[s]
		most += best.V[s]
	}
	return got, most
}

// From a log of a random policy at least 95 % of what can be earned, on the lake
// and in the shop, as the settings are where none are given, and where values are
// fitted.
func TestLogsOfRandomActs(t *testing.T) {
	for _, x := range []struct {
		name     string
		episodes int
		seeds    uint64
		settings map[string]string
	}{
		{"frozenlake", 10000, 3, map[string]string{}},
		{"inventory", 300, 3, map[string]string{}},
		{"inventory", 500, 1, map[string]string{"gamma": "0.95", "values": "tree"}},
	} {
		for seed := range x.seeds {
			m := logOf(t, x.name, x.episodes, seed+1, x.settings)
			got := share(t, m, x.name, m.Gamma())
			t.Logf("%s, seed %d, %v: %.3f of the best", x.name, seed+1, x.settings, got)
			if got < 0.95 {
				t.Errorf("%s, seed %d, %v: %.3f of the best", x.name, seed+1, x.settings, got)
			}
		}
	}
}
