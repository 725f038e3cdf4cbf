package policy

import (
	"context"
	"math"
	"strings"
	"testing"
)

// TestShownEpisodesAreFollowed: one episode that somebody shows, learnt from its end,
// is a way to the goal, where one by lot takes longer; afterwards it acts by itself.
func TestShownEpisodesAreFollowed(t *testing.T) {
	const grid = "gridworld:map=S.../..../..../...G"
	for _, values := range []string{"table", "tiles"} {
		l := &Learner{Shown: "right, right, right, down, down, down; down,down,down\n right,right,right", Episodes: 3, Order: "reverse", Values: values}
		m, err := l.LearnIn(context.Background(), grid, world(t, grid), 5)
		if err != nil {
			t.Fatal(err)
		}
		curve := m.(*Model).acted.Curve
		if first := curve.Sum[0]; math.Abs(first-59.049) > 1e-9 {
			t.Errorf("%s: the episode that was shown earned %v, expected 100·.9⁵", values, first)
		}
		if values == "table" {
			if q := m.(*Model).values.(*lookup).q; math.Abs(highest(q[:4])-59.049) > 1e-9 {
				t.Errorf("the first state is worth %v, expected 59.049", q[:4])
			}
		}
	}
	for shown, wrong := range map[string]string{"right,jump": `"jump"; known are up`, "right;up": `episode 2, step 1: setting shown: "up" cannot be done there`} {
		_, err := (&Learner{Shown: shown}).LearnIn(context.Background(), grid, world(t, grid), 5)
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v; expected %q in it", shown, err, wrong)
		}
	}
	for _, l := range []*Learner{{Shown: "right", Algorithm: "values"}, {Shown: "right", Values: "tree"}} {
		if _, err := l.LearnIn(context.Background(), grid, world(t, grid), 5); err == nil || !strings.Contains(err.Error(), "shown is for") {
			t.Errorf("shown=right for %s%s: %v", l.Algorithm, l.Values, err)
		}
	}
}
