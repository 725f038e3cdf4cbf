package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// corridor is a log of n episodes of somebody who walks by lot on places 1…k: to the
// right of the last is 1, to the left of the first the end. The policy goes right.
func corridor(n, k int, seed uint64) [][]Visit {
	random := rand.New(rand.NewPCG(seed, 7))
	episodes := make([][]Visit, n)
	for i := range episodes {
		for at := 1 + random.IntN(k); at >= 1 && at <= k; {
			v := Visit{State: int32(at), Q: 0.5, V: 0.5}
			if at--; random.IntN(2) == 0 {
				v.Action, v.P, v.Ratio, at = 1, 1, 2, at+2
			}
			if at > k {
				v.Reward = 1
			}
			episodes[i] = append(episodes[i], v)
		}
	}
	return episodes
}

// Who goes right in a corridor without chance earns γ to the number of steps before
// the last: to the digit, though in few episodes of the log somebody goes right all
// the way.
func TestStepsArePutTogether(t *testing.T) {
	const k, gamma = 12, 0.9
	episodes := corridor(60, k, 1)
	want := 0.0
	for _, visits := range episodes {
		want += math.Pow(gamma, float64(k-visits[0].State)) / float64(len(episodes))
	}
	o, err := NewOffPolicy(context.Background(), episodes, gamma, 0.95, 1)
	if err != nil {
		t.Fatal(err)
	}
	if o.Method != FittedValues || !o.Tells || math.Abs(o.Value-want) > 1e-8 || !(o.Low < want && want < o.High) || o.EffectiveRows < enoughRows {
		t.Errorf("%+v, expected %v", o, want)
	}
	if !strings.Contains(o.Notes[0], "put together") {
		t.Errorf("it does not say how: %v", o.Notes)
	}
}

// A log in which nobody ever went right from one place cannot tell what becomes of who
// does, nor can one that was cut before anything came of it.
func TestWhatALogNeverShows(t *testing.T) {
	episodes := corridor(60, 12, 2)
	var without [][]Visit
	for _, visits := range episodes {
		shown := true
		for _, v := range visits {
			shown = shown && !(v.State == 6 && v.Action == 1)
		}
		if shown {
			without = append(without, visits)
		}
	}
	o, err := NewOffPolicy(context.Background(), without, 0.9, 0.95, 1)
	if err != nil || o.Tells || !strings.Contains(strings.Join(o.Notes, " "), "it never shows") {
		t.Errorf("%+v, %v", o, err)
	}
	c := newChain([][]Visit{{{State: 1, P: 1, Ratio: 1, Reward: 5}, {State: 2, P: 1, Ratio: 1, Reward: 7, Cut: true}}}, 1)
	if value, _ := c.estimate([]float64{1}, 1e-9); value != 12 || len(c.pairs) != 1 {
		t.Errorf("%v of a log that was cut, %d pairs", value, len(c.pairs))
	}
	if newChain([][]Visit{{{P: 1}}}, 1) != nil {
		t.Error("steps without states are put together")
	}
}
