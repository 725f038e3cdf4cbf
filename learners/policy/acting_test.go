package policy

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// coached returns a trainer of a world, its table, and a way to learn a move of
// cells.
func coached(t testing.TB, world_ string, l *Learner) (*trainer, func(cells ...float64) int32) {
	t.Helper()
	s, err := l.settings()
	if err != nil {
		t.Fatal(err)
	}
	e := world(t, world_)
	v := newLookup(len(e.Schema().Attributes), len(e.Actions()))
	tr, err := newTrainer(&s, e, v)
	if err != nil {
		t.Fatal(err)
	}
	place := e.(*act.Place)
	cells := make([]float64, v.width)
	for s := range place.States() {
		place.Cells(s, cells)
		at := v.add(cells)
		for _, a := range place.Model.Legal(s) {
			v.of(at)[a] = 0
		}
	}
	return tr, func(cells ...float64) int32 { return v.add(cells) }
}

// Figure 13.3: r = 0, the next state's values are 66, 81 and 100, and Q becomes 90.
func TestFigure133(t *testing.T) {
	tr, at := coached(t, "gridworld:map=..G/...", &Learner{})
	copy(tr.v.of(at(0, 1)), []float64{math.NaN(), 100, 81, 66})
	tr.v.of(at(0, 0))[right] = 72.9
	m := move{at(0, 0), right, 0, at(0, 1), -1}
	tr.learn(&m, m.r+tr.Gamma*tr.ahead(&m))
	if got := tr.v.of(at(0, 0))[right]; got != 90 {
		t.Errorf("Q is %v, expected 90", got)
	}
}

// k^Q, section 13.3.5.
func TestProbabilitiesOfExploration(t *testing.T) {
	for _, x := range []struct {
		q    []float64
		k    float64
		want []float64
	}{
		{[]float64{1, 2, 3}, 2, []float64{1. / 7, 2. / 7, 4. / 7}},
		{[]float64{66, 81, 100}, 1.02, []float64{0.232205, 0.312517, 0.455278}},
		{[]float64{66, 81, 100}, 1.1, []float64{0.032547, 0.135956, 0.831497}},
		{[]float64{66, math.NaN(), 100}, 1, []float64{0.5, 0, 0.5}},
		{[]float64{-1e308, 1e300}, 1e9, []float64{0, 1}},
	} {
		p := make([]float64, len(x.q))
		powers(x.q, math.Log(x.k), p)
		for a := range p {
			if !(math.Abs(p[a]-x.want[a]) < 5e-7) {
				t.Errorf("k=%v, Q %v: %v, expected %v", x.k, x.q, p, x.want)
				break
			}
		}
	}
}

// Equation 13.10 with α = 1/(1+visits): rewards 10, 20, 30, 0 into an end give 5,
// 10, 15, 12; and the rule without chance does not settle.
func TestNondeterministicUpdates(t *testing.T) {
	tr, at := coached(t, "gridworld:map=..G/...", &Learner{Alpha: "visits"})
	m := move{at(1, 2), up, 0, -1, -1}
	for i, want := range []float64{5, 10, 15, 12} {
		m.r = []float64{10, 20, 30, 0}[i]
		tr.learn(&m, m.r+tr.Gamma*tr.ahead(&m))
		if got := tr.v.of(m.s)[up]; math.Abs(got-want) > 1e-12 {
			t.Errorf("after %v: %v, expected %v", m.r, got, want)
		}
	}
}

// Qλ along the lower row and up to the goal: 81λ², 90λ and 100 from nothing; 45,
// 58.95 and 81 from beliefs 50 and 80; and the sums of n steps.
func TestLambdaReturns(t *testing.T) {
	walk := func(tr *trainer, at func(...float64) int32) []float64 {
		tr.moves = []move{{at(1, 0), right, 0, at(1, 1), -1}, {at(1, 1), right, 0, at(1, 2), -1}, {at(1, 2), up, 100, -1, -1}}
		tr.targets = make([]float64, 3)
		tr.foresee()
		return tr.targets
	}
	for _, lambda := range []float64{0, 0.25, 0.5, 0.7, 0.9, 1} {
		tr, at := coached(t, "gridworld:map=..G/...", &Learner{Lambda: lambda})
		got := walk(tr, at)
		for i, want := range []float64{81 * lambda * lambda, 90 * lambda, 100} {
			if math.Abs(got[i]-want) > 1e-9 {
				t.Errorf("λ=%v: %v", lambda, got)
				break
			}
		}
	}
	for _, x := range []struct {
		lambda float64
		n      int
		want   float64
	}{{0, 1, 45}, {0.5, 1, 58.95}, {1, 1, 81}, {0, 2, 64.8}, {0, 3, 81}} {
		tr, at := coached(t, "gridworld:map=..G/...", &Learner{Lambda: x.lambda, N: x.n})
		tr.v.of(at(1, 1))[up], tr.v.of(at(1, 2))[left] = 50, 80
		if got := walk(tr, at)[0]; math.Abs(got-x.want) > 1e-9 {
			t.Errorf("λ=%v, n=%d: %v, expected %v", x.lambda, x.n, got, x.want)
		}
	}
}

// Exercise 13.2 (c): the walk around, forwards, carries the reward back a step an
// episode; backwards, all at once.
func TestExercise132Walk(t *testing.T) {
	walk := func(order string, episodes int) []float64 {
		tr, at := coached(t, "gridworld:map=.../.G.,goal=10", &Learner{Gamma: ptr(0.8), Order: order})
		moves := []move{
			{at(1, 0), up, 0, at(0, 0), -1}, {at(0, 0), right, 0, at(0, 1), -1}, {at(0, 1), right, 0, at(0, 2), -1},
			{at(0, 2), down, 0, at(1, 2), -1}, {at(1, 2), left, 10, -1, -1},
		}
		for range episodes {
			if order == "reverse" {
				tr.moves = moves
				tr.review()
				continue
			}
			for i := range moves {
				tr.learn(&moves[i], moves[i].r+tr.Gamma*tr.ahead(&moves[i]))
			}
		}
		var q []float64
		for _, m := range moves {
			q = append(q, tr.v.of(m.s)[m.a])
		}
		return q
	}
	for episodes, want := range map[int][]float64{1: {0, 0, 0, 0, 10}, 2: {0, 0, 0, 8, 10}, 3: {0, 0, 6.4, 8, 10}, 4: {0, 5.12, 6.4, 8, 10}, 5: {4.096, 5.12, 6.4, 8, 10}} {
		for i, q := range walk("forward", episodes) {
			if math.Abs(q-want[i]) > 1e-9 {
				t.Errorf("%d episodes: step %d is worth %v, expected %v", episodes, i+1, q, want[i])
			}
		}
	}
	if got := walk("reverse", 1); math.Abs(got[0]-4.096) > 1e-9 || got[4] != 10 {
		t.Errorf("backwards: %v", got)
	}
}

// Without chance, with rewards from 0 up and values from 0: values never fall and
// never pass the truth; and each time all pairs were tried, the largest error has
// shrunk by γ at least (theorem 13.1), on maps drawn at random.
func TestConvergenceBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 3).Draw(rt, "rows") {
			for range 3 {
				text += rapid.SampledFrom([]string{".", ".", "#", "H"}).Draw(rt, "cell")
			}
			text += "/"
		}
		name := "gridworld:map=" + text + "S.G"
		tr, _ := coached(t, name, &Learner{Gamma: ptr(rapid.Float64Range(0, 0.95).Draw(rt, "gamma"))})
		place := tr.place
		truth, err := place.ValueIteration(context.Background(), tr.Gamma, 1e-12)
		if err != nil {
			rt.Fatal(err)
		}
		largest := func() (worst float64) {
			for s := range place.States() {
				for _, a := range place.Model.Legal(s) {
					q, want := tr.v.of(int32(s))[a], truth.Value(s, a)
					if q > want+1e-9 {
						rt.Fatalf("%v is above the truth %v", q, want)
					}
					worst = max(worst, want-q)
				}
			}
			return worst
		}
		before := largest()
		for range 5 {
			for s := range place.States() {
				for _, a := range place.Model.Legal(s) {
					o := place.Outcomes(s, a)[0]
					m := move{int32(s), int32(a), o.Reward, int32(o.Next), -1}
					if o.End {
						m.next = -1
					}
					was := tr.v.of(m.s)[a]
					tr.learn(&m, m.r+tr.Gamma*tr.ahead(&m))
					if tr.v.of(m.s)[a] < was-1e-12 {
						rt.Fatalf("a value fell from %v to %v", was, tr.v.of(m.s)[a])
					}
				}
			}
			if after := largest(); after > tr.Gamma*before+1e-9 {
				rt.Fatalf("the error went from %v to %v with γ = %v", before, after, tr.Gamma)
			} else {
				before = after
			}
		}
	})
}

// Dyna, prioritised sweeping and replay know more after two episodes than Q
// learning does.
func TestPlanning(t *testing.T) {
	const name = "gridworld:size=6"
	truth := practised(t, &Learner{Algorithm: "values"}, name, 1)
	wrong := func(l Learner) float64 {
		sum, n := 0.0, 0.0
		l.Episodes, l.Explore = 2, "random"
		m := practised(t, &l, name, 1)
		q, want := make([]float64, 4), make([]float64, 4)
		m.EachState(func(_ []rule.Test, _ []int, _, cells []float64) {
			m.Worth(cells, q)
			truth.Worth(cells, want)
			for a := range q {
				if q[a] == q[a] {
					sum += math.Abs(q[a] - want[a])
					n++
				}
			}
		})
		return sum / n
	}
	plain := wrong(Learner{})
	for _, l := range []Learner{{Algorithm: "dyna", Planning: 50}, {Algorithm: "sweeping"}, {Replay: 20000}} {
		if got := wrong(l); got > plain/2 || plain < 1 {
			t.Errorf("%+v is wrong by %v after two episodes, Q learning by %v", l, got, plain)
		}
	}
}

// An actor with a critic finds the way on the grid, with traces and without, and so
// does R-learning, where what follows the goal is the next start; it also finds the
// fast clerk for a long queue and the slow one for an empty one.
func TestActorsAndAverages(t *testing.T) {
	q, p := make([]float64, 4), make([]float64, 4)
	for _, l := range []Learner{{Algorithm: "actorcritic", Episodes: 3000}, {Algorithm: "actorcritic", Lambda: 0.8, Actor: ptr(0.01), Episodes: 3000}, {Algorithm: "rlearning", Alpha: "0.1", Episodes: 3000}, {Algorithm: "brigade", Episodes: 3000}} {
		m := practised(t, &l, "gridworld:map=..G/...", 1)
		for _, x := range []struct {
			cells []float64
			best  int
		}{{[]float64{0, 0}, right}, {[]float64{0, 1}, right}, {[]float64{1, 2}, up}} {
			m.Worth(x.cells, q)
			if decide(q, p); p[x.best] != 1 {
				t.Errorf("%s, λ = %v: in %v it prefers %v", l.Algorithm, l.Lambda, x.cells, q)
			}
		}
	}
	m := practised(t, &Learner{Algorithm: "rlearning", Episodes: 20, Limit: 5000, Alpha: "0.05"}, "queue:last=0", 1)
	q = make([]float64, 2)
	m.Worth([]float64{0}, q)
	empty := q[0] > q[1]
	m.Worth([]float64{8}, q)
	if !empty || q[1] <= q[0] {
		t.Errorf("by the average reward: slow when empty %v, with eight waiting %v", empty, q)
	}
}

// 60 episodes and 60 more are 120.
func TestActingGoesOn(t *testing.T) {
	const name = "frozenlake"
	for _, l := range []Learner{{}, {Algorithm: "sarsa", Lambda: 0.5}, {Order: "reverse"}, {N: 3, Explore: "boltzmann"}, {Explore: "ucb"}, {Algorithm: "dyna"}, {Algorithm: "sweeping"}, {Algorithm: "actorcritic"}, {Algorithm: "actorcritic", Lambda: 0.8}, {Algorithm: "rlearning"}, {Algorithm: "td", Lambda: 0.5}, {Algorithm: "brigade"}} {
		half, whole := l, l
		half.Episodes, whole.Episodes = 60, 120
		m, err := practised(t, &half, name, 3).Continue(context.Background(), world(t, name))
		if err != nil {
			t.Fatal(err)
		}
		a, b := m.(*Model), practised(t, &whole, name, 3)
		if !same(a.values.(*lookup).q, b.values.(*lookup).q) || !reflect.DeepEqual(a.acted, b.acted) {
			t.Errorf("%+v: two halves differ from the whole", l)
		}
	}
}

func same(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// On a slippery map values converge (theorem 13.2). Targets have a deviation below
// 50, and after some 10,000 tries of a pair with αₙ = n^−0.77, below 10⁻³, values one
// of √(α/2)·50 ≈ 1: five of these are allowed.
func TestSlipperyValuesConverge(t *testing.T) {
	const name = "gridworld:map=..G,slip=0.5"
	want := practised(t, &Learner{Algorithm: "values"}, name, 1)
	got := practised(t, &Learner{Explore: "random", Episodes: 20000}, name, 1)
	for _, cells := range [][]float64{{0, 0}, {0, 1}} {
		q, truth := make([]float64, 4), make([]float64, 4)
		got.Worth(cells, q)
		want.Worth(cells, truth)
		for a := range q {
			if math.IsNaN(q[a]) != math.IsNaN(truth[a]) || math.Abs(q[a]-truth[a]) > 5 {
				t.Errorf("%v, action %d: %v, expected %v", cells, a, q[a], truth[a])
			}
		}
	}
}

func BenchmarkActing(b *testing.B) {
	l := &Learner{Episodes: 2000}
	steps := 0
	for b.Loop() {
		m := practised(b, l, "gridworld:size=10", 1)
		steps += m.acted.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

// Advice is followed where nothing is known, and outvoted by experience: good advice
// finds the goal in the first episode by the shortest way, and bad advice leaves the
// same values in the end.
func TestAdvice(t *testing.T) {
	const corner = "gridworld:map=S.../..../...G"
	advised := func(text string, episodes int) *Model {
		base, err := rule.Parse("advice", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		l := &Learner{Episodes: episodes, Epsilon: ptr(0.05)}
		if err := l.Advise(base, learn.Source{}); err != nil {
			t.Fatal(err)
		}
		if episodes == 1 {
			l.Epsilon = ptr(0.0)
		}
		return practised(t, l, corner, 1)
	}
	if m := advised("IF row < 2 THEN action = down WORTH 20\nIF row = 2 THEN action = right WORTH 20", 1); m.acted.Steps != 5 {
		t.Errorf("with good advice the first episode takes %d steps, expected 5", m.acted.Steps)
	}
	m := advised("IF ALWAYS THEN action = up WORTH 20\nIF ALWAYS THEN action = left WORTH 20", 2000)
	q := make([]float64, 4)
	if m.Worth([]float64{0, 0}, q); math.Abs(max(q[right], q[down])-65.61) > 1e-9 {
		t.Errorf("after bad advice the first step is worth %v, expected 65.61", q)
	}
	if _, err := (&Learner{Algorithm: "values", advice: "IF ALWAYS THEN action = up WORTH 1"}).LearnIn(context.Background(), corner, world(t, corner), 1); err == nil {
		t.Error("who solves a world takes advice")
	}
}

// Advice is a feature of its own in tiles and sums, whose weight begins as what it is
// said to be worth: it is followed at once, told before or after acting, kept with the
// model, and outvoted.
func TestAdviceInSums(t *testing.T) {
	const corner = "gridworld:map=S.../..../...G"
	good, err := rule.Parse("advice", []byte("IF row < 2 THEN action = down WORTH 20\nIF row = 2 THEN action = right WORTH 20"))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := rule.Parse("advice", []byte("IF ALWAYS THEN action = up WORTH 20\nIF ALWAYS THEN action = left WORTH 20"))
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []string{"tiles", "linear", "tree"} {
		l := &Learner{Episodes: 1, Epsilon: ptr(0.0), Values: values, Tiles: 4, Alpha: "0.1"}
		if err := l.Advise(good, learn.Source{ID: "e1"}); err != nil {
			t.Fatal(err)
		}
		m := practised(t, l, corner, 1)
		if m.acted.Steps != 5 {
			t.Errorf("%s: with good advice the first episode takes %d steps, expected 5", values, m.acted.Steps)
		}
		q := make([]float64, 4)
		blank := practised(t, &Learner{Episodes: 1, Epsilon: ptr(0.0), Values: values, Tiles: 4, Alpha: "0.1", Limit: 1}, corner, 1)
		told, heard, err := blank.Advised(good, learn.Source{ID: "e2"})
		if err != nil || heard[0][0] == 0 || heard[0][1] != heard[0][0] {
			t.Fatalf("%s: heard %v, %v", values, heard, err)
		}
		if told.(*Model).Worth([]float64{0, 0}, q); q[down] <= q[right]+15 || q[down] != q[down] {
			t.Errorf("%s: told later, actions are worth %v", values, q)
		}
		parts, err := told.(*Model).Parts()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(parts)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]float64, 4)
		if again.(*Model).Worth([]float64{0, 0}, kept); !slices.EqualFunc(q, kept, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s: %v became %v", values, q, kept)
		}
	}
	l := &Learner{Episodes: 2000, Epsilon: ptr(0.1), Values: "tiles", Tiles: 4, Alpha: "0.2"}
	if err := l.Advise(bad, learn.Source{ID: "e3"}); err != nil {
		t.Fatal(err)
	}
	m := practised(t, l, corner, 1)
	if got, most := earned(t, m, corner, 0.9); got < 0.99*most {
		t.Errorf("after bad advice it earns %v of %v", got, most)
	}
}
