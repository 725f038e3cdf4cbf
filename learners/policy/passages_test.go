package policy

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// summing returns one who learns sums of three features, of which each state has one,
// by whole steps, and the walk below the goal of figure 13.2: 0, 0, 100.
func summing(t *testing.T, l *Learner) (*climber, []passage) {
	t.Helper()
	l.Alpha = "1"
	s, err := l.settings()
	if err != nil {
		t.Fatal(err)
	}
	f := &weighted{features: 3, plain: 3, actions: 2, tilings: 1, tiles: true, w: make([]float64, 6), low: []float64{0}}
	if s.Algorithm == "actorcritic" {
		f.base = make([]float64, 3)
	}
	c, err := newClimber(&s, world(t, "gridworld:map=...G"), f)
	if err != nil {
		t.Fatal(err)
	}
	var walk []passage
	for i := range int32(3) {
		p := passage{at: []int32{i}, much: []float64{1}, action: 1, then: 1, first: i == 0, number: int(i)}
		if p.nextAt, p.more, p.legal = []int32{i + 1}, []float64{1}, []int{0, 1}; i == 2 {
			p.reward, p.ends, p.then, p.nextAt, p.more, p.legal = 100, true, -1, nil, nil, nil
		}
		walk = append(walk, p)
	}
	return c, walk
}

// One walk from nothing, with sums of weights: by three steps, by λ, and from its end.
func TestWalksOfSums(t *testing.T) {
	for _, x := range []struct {
		l    Learner
		want []float64
	}{
		{Learner{N: 3}, []float64{81, 90, 100}},
		{Learner{N: 2}, []float64{0, 90, 100}},
		{Learner{Order: "reverse"}, []float64{81, 90, 100}},
		{Learner{Order: "reverse", Lambda: 0.5}, []float64{20.25, 45, 100}},
		{Learner{Order: "reverse", Algorithm: "sarsa"}, []float64{81, 90, 100}},
	} {
		c, walk := summing(t, &x.l)
		c.path = walk
		c.review()
		for i, want := range x.want {
			if got := c.f.w[3+i]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%+v: %v, expected %v", x.l, c.f.w, x.want)
				break
			}
		}
	}
}

// Prioritised sweeping passes what the last step brought back at once; Dyna when it
// happens to draw the steps before.
func TestSweepingSums(t *testing.T) {
	for _, l := range []Learner{{Algorithm: "sweeping", Planning: 2}, {Algorithm: "dyna", Planning: 100}} {
		c, walk := summing(t, &l)
		for _, p := range walk {
			c.memory.add(p)
			c.plan()
		}
		for i, want := range []float64{81, 90, 100} {
			if got := c.f.w[3+i]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %v", l.Algorithm, c.f.w)
				break
			}
		}
	}
}

// An actor with a critic, from nothing: the critic's weight moves by the surprise, the
// actor's by half of it for the action taken and against the other, both being as
// likely. The average reward follows what is more than it.
func TestCriticsOfSums(t *testing.T) {
	c, walk := summing(t, &Learner{Algorithm: "actorcritic", Actor: ptr(0.1)})
	c.at, c.much, c.q = walk[2].at, walk[2].much, []float64{0, 0}
	c.criticise(&walk[2])
	if want := []float64{0, 0, -5, 0, 0, 5}; !reflect.DeepEqual(c.f.w, want) || c.f.base[2] != 100 {
		t.Errorf("preferences %v, expected %v; the critic says %v", c.f.w, want, c.f.base)
	}
	c, walk = summing(t, &Learner{Algorithm: "rlearning"})
	c.at, c.much, c.q, c.nextQ = walk[2].at, walk[2].much, []float64{0, 0}, []float64{0, 20}
	c.average(&walk[2])
	if c.f.w[5] != 120 || c.f.rho != 0 {
		t.Errorf("%v, on average %v", c.f.w, c.f.rho)
	}
	c.alpha, c.q = 0.5, []float64{0, 0}
	c.f.w[5] = 0
	c.average(&walk[2])
	if c.f.w[5] != 60 || math.Abs(c.f.rho-0.6) > 1e-12 {
		t.Errorf("%v, on average %v", c.f.w, c.f.rho)
	}
}

// What is hoped of actions falls with their visits; one that was never taken is tried
// first.
func TestHopes(t *testing.T) {
	f := &weighted{features: 1, plain: 1, actions: 3, tilings: 1, tiles: true, visits: []float64{1, 4, 0}}
	hoped := make([]float64, 3)
	f.hope([]int32{0}, []float64{1, 1, math.NaN()}, 2, hoped)
	if root := math.Sqrt(math.Log(6)); math.Abs(hoped[0]-1-2*root) > 1e-12 || math.Abs(hoped[1]-1-root) > 1e-12 || hoped[2] == hoped[2] {
		t.Error(hoped)
	}
	if f.hope([]int32{0}, []float64{1, 1, 0}, 2, hoped); !math.IsInf(hoped[2], 1) {
		t.Error(hoped)
	}
}

// What exploring makes of values, of which one does not count.
func TestWorthOfExploring(t *testing.T) {
	q := []float64{1, 3, math.NaN()}
	for _, x := range []struct {
		tries
		want float64
	}{{tries{explore: "epsilon", epsilon: 0.1}, 2.9}, {tries{explore: "random"}, 2}, {tries{explore: "boltzmann", logK: math.Log(2)}, (1 + 3*4) / 5.0}, {tries{explore: "optimistic"}, 3}} {
		if got := x.worth(q); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%s: %v, expected %v", x.explore, got, x.want)
		}
	}
}

// Steps of a log may lead two rows on: their rewards add up until then.
func TestStepsOfSeveralRows(t *testing.T) {
	log, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "action", Kind: table.Nominal, Values: []string{"a"}}, {Name: "r", Kind: table.Numeric}}},
		[]table.Column{{Floats: []float64{1, 2, 3, 9}}, {Codes: []int32{0, 0, 0, 0}}, {Floats: []float64{1, 2, 4, table.NA}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if log, err = log.InSequence("e", []int32{0, 0, 0, 1}, []string{"e1", "e2"}); err != nil {
		t.Fatal(err)
	}
	s := settings{N: 2, Gamma: 0.5, Sequence: "e", Reward: "r"}
	steps, err := s.steps(log, 1)
	if err != nil {
		t.Fatal(err)
	}
	then, ends := steps.Columns[3].Floats, steps.Columns[4].Codes
	if !reflect.DeepEqual(steps.Columns[2].Floats, []float64{2, 4, 4, 0}) || then[0] != 3 || !table.IsMissing(then[1]) || !reflect.DeepEqual(ends, []int32{0, 1, 1, 1}) || s.later() != 0.25 {
		t.Errorf("%v, then %v, which ends %v, and counts for %v", steps.Columns[2].Floats, then, ends, s.later())
	}
}

// Every way to learn finds the way on a small map by tiles and by sums, is kept as it
// is, and goes on where it stopped, but for steps that are remembered.
func TestEveryWayWithSums(t *testing.T) {
	const name = "gridworld:map=S../.../..G"
	for _, values := range []string{"tiles", "linear"} {
		for _, l := range []Learner{
			{Algorithm: "actorcritic"}, {Algorithm: "actorcritic", Lambda: 0.7}, {Algorithm: "rlearning"}, {Algorithm: "dyna"}, {Algorithm: "sweeping"},
			{N: 3}, {Order: "reverse"}, {Replay: 30}, {Algorithm: "sarsa", N: 2}, {Explore: "ucb", Bound: ptr(20.0)}, {Gradient: "residual", Order: "reverse"},
		} {
			if l.Values = values; values == "linear" && l.Explore == "ucb" {
				continue
			}
			l.Tiles, l.Episodes, l.Limit, l.Epsilon = 3, 100, 100, ptr(0.2)
			half, whole := l, l
			whole.Episodes = 200
			first := practised(t, &half, name, 1)
			data, err := learn.Encode(first)
			if err != nil {
				t.Fatal(err)
			}
			again, err := learn.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			next, err := again.(*Model).Continue(context.Background(), world(t, name))
			if err != nil {
				t.Fatal(err)
			}
			m := next.(*Model)
			if got, most := earned(t, m, name, 0.9); got < 0.999*most {
				t.Errorf("%s, %+v: it earns %v of %v", values, l, got, most)
			}
			if l.Algorithm == "dyna" || l.Algorithm == "sweeping" || l.Replay > 0 {
				continue
			}
			if a, b := m.values.(*weighted), practised(t, &whole, name, 1).values.(*weighted); !same(a.w, b.w) || !same(a.base, b.base) || a.rho != b.rho {
				t.Errorf("%s, %+v: two halves differ from the whole", values, l)
			}
		}
	}
}

// Values by a learner of numbers are fitted to sums of several steps, and to what is
// expected of exploring.
func TestFittedToMore(t *testing.T) {
	const name = "gridworld:map=S../.../..G"
	for _, l := range []Learner{{N: 2}, {Algorithm: "sarsa"}, {Algorithm: "sarsa", Explore: "boltzmann", K: ptr(1.2), N: 2}} {
		l.Values, l.Episodes, l.Limit = "tree", 40, 100
		m := practised(t, &l, name, 1)
		if got, most := earned(t, m, name, 0.9); got < 0.999*most {
			t.Errorf("%+v: it earns %v of %v", l, got, most)
		}
	}
	for _, l := range []Learner{{Algorithm: "dyna"}, {Order: "reverse"}, {Lambda: 0.5}, {Explore: "ucb"}, {Gradient: "residual"}} {
		l.Values = "tree"
		if _, err := l.LearnIn(context.Background(), name, world(t, name), 1); err == nil {
			t.Errorf("%+v is learnt", l)
		}
	}
	for _, l := range []Learner{{Algorithm: "rlearning", Replay: 5}, {Gradient: "residual", N: 2}} {
		if l.Check() == nil {
			t.Errorf("%+v is learnt", l)
		}
	}
}
