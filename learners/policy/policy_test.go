package policy

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn/learntest"
	_ "github.com/accrete-ml/accrete/learners/tree"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

func world(t testing.TB, name string) act.Environment {
	t.Helper()
	e, err := act.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func practised(t testing.TB, l *Learner, name string, seed uint64) *Model {
	t.Helper()
	m, err := l.LearnIn(context.Background(), name, world(t, name), seed)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func ptr[T any](x T) *T { return &x }

const up, right, down, left = 0, 1, 2, 3

// Figure 13.2 of Mitchell 1997 by table 13.1, and by iteration: values to the
// digit (72.9 where it draws 72).
func TestFigure132(t *testing.T) {
	want := map[[2]float64][4]float64{ // up, right, down, left; −1 is not legal
		{0, 0}: {-1, 90, 72.9, -1}, {0, 1}: {-1, 100, 81, 81}, {1, 0}: {81, 81, -1, -1}, {1, 1}: {90, 90, -1, 72.9}, {1, 2}: {100, -1, -1, 81},
	}
	for name, l := range map[string]*Learner{
		"q": {Explore: "random"}, "reverse": {Explore: "random", Order: "reverse", Episodes: 200}, "values": {Algorithm: "values"}, "policy": {Algorithm: "policy"},
		"boltzmann": {Explore: "boltzmann", K: ptr(1.02)}, "optimistic": {Explore: "optimistic", Start: ptr(200.0), Epsilon: ptr(0.0)},
	} {
		m := practised(t, l, "gridworld:map=..G/...", 1)
		q := make([]float64, 4)
		for cells, values := range want {
			m.Worth(cells[:], q)
			for a, v := range values {
				if v < 0 && !math.IsNaN(q[a]) || v >= 0 && !(math.Abs(q[a]-v) < 1e-9 || name == "optimistic" && q[a] >= v) {
					t.Errorf("%s: Q(%v, %d) is %v, expected %v", name, cells, a, q[a], v)
				}
			}
		}
	}
}
