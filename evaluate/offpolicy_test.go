package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A coin with two actions, one of which pays 1 and the other 0, logged evenly:
// somebody who always takes the first earns 1, by importance sampling to the digit
// and doubly robust whatever is believed of the actions.
func TestOffPolicyOfOneStep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, believed := range []float64{0, 1, -7} {
		var episodes [][]Visit
		for range 400 {
			v := Visit{V: believed, Q: believed}
			if random.IntN(2) == 0 {
				v.Reward, v.Ratio = 1, 2
			}
			episodes = append(episodes, []Visit{v})
		}
		o, err := NewOffPolicy(context.Background(), episodes, 0.9, 0.95, 1)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(o.Value-1) > 1e-9 || math.Abs(o.Estimates[1].Value-1) > 1e-9 || !o.Tells || o.Log.Value > 0.6 || o.Log.Low > 0.5 || o.Log.High < 0.5 {
			t.Errorf("believing %v: %+v", believed, o)
		}
		if o.Effective != o.EffectiveRows || math.Abs(o.Effective-400*o.Log.Value) > 1e-9 {
			t.Errorf("%v of 400 episodes speak for it", o.Effective)
		}
	}
}

// Two steps, discounted, with ratios that multiply: by hand.
func TestOffPolicyByHand(t *testing.T) {
	o, err := NewOffPolicy(context.Background(), [][]Visit{
		{{Reward: 1, Ratio: 2, Q: 1, V: 2}, {Reward: 4, Ratio: 0.5, Q: 3, V: 3}},
		{{Reward: 3, Ratio: 1, Q: 2, V: 2}},
	}, 0.5, 0.95, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Weights after the first step 2 and 1, after the second 1 and 1; the first
	// reward is as believed.
	sampled := 2./3*1 + 1./3*3 + 0.5*(1./2*4)
	robust := 1./2*2 + 0.5*(1./2*(4-3)+2./3*3) + 1./3*(3-2) + 1./2*2
	if math.Abs(o.Estimates[1].Value-sampled) > 1e-12 || math.Abs(o.Value-robust) > 1e-12 || o.Log.Value != (1+0.5*4+3)/2 {
		t.Errorf("%+v, expected %v and %v", o, sampled, robust)
	}
	if o.Tells || !strings.Contains(o.Notes[0], "the log cannot tell") {
		t.Errorf("two episodes tell: %v", o.Notes)
	}
	if _, err := NewOffPolicy(context.Background(), nil, 0.5, 0.95, 1); err == nil {
		t.Error("no episodes are judged")
	}
}
