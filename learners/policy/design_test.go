package policy

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// LMS on the board of section 1.2.4 that black has won, again and again.
func TestLMSByHand(t *testing.T) {
	board := []float64{3, 0, 1, 0, 0, 0}
	for _, c := range []struct {
		rate float64
		want [][3]float64 // w0, w1, w3
	}{
		{0.1, [][3]float64{{10, 30, 10}, {9, 27, 9}, {9.1, 27.3, 9.1}}},
		{0.01, [][3]float64{{1, 3, 1}, {1.89, 5.67, 1.89}, {2.6821, 8.0463, 2.6821}}},
	} {
		v := &terms{W: make([]float64, 7)}
		for i, want := range c.want {
			v.lms(board, 100, c.rate)
			for k, at := range []int{0, 1, 3} {
				if math.Abs(v.W[at]-want[k]) > 1e-9 {
					t.Errorf("η = %v, step %d: w%d is %v, expected %v", c.rate, i+1, at, v.W[at], want[k])
				}
			}
			if v.W[2] != 0 || v.W[4] != 0 || v.W[5] != 0 || v.W[6] != 0 {
				t.Errorf("weights of what is not there have moved: %v", v.W)
			}
		}
	}
}

// The critic's examples of a game of three turns, one player's, with V̂ = x1.
func TestCriticByHand(t *testing.T) {
	v := &terms{W: []float64{0, 1}}
	game := &trace{boards: [2][][]float64{{{10}, {20}, {40}}, {}}, result: [2]float64{100, -100}}
	for lambda, want := range map[float64][]float64{0: {20, 40, 100}, 1: {100, 100, 100}, 0.5: {45, 70, 100}} {
		c := critic{v, 1, lambda}
		for i, e := range c.examples(game, nil) {
			if e.x[0] != []float64{10, 20, 40}[i] || math.Abs(e.v-want[i]) > 1e-12 {
				t.Errorf("λ = %v: board %d should be worth %v, expected %v", lambda, i+1, e.v, want[i])
			}
		}
	}
}

// Games teach what pieces are worth, a saved policy plays as the one that was
// learnt, and every experiment generator and both kinds of V̂ lead there.
func TestCheckersIsLearnt(t *testing.T) {
	ctx := context.Background()
	for _, l := range []*Learner{
		{Algorithm: "lms", Experiments: "start"}, {Algorithm: "td", Lambda: 0.7, Experiments: "unplayed"},
		{Algorithm: "td", Values: "mlp", Hidden: 5, Lambda: 0.7, Experiments: "random"}, {Algorithm: "td", Experiments: "doubtful"},
	} {
		l.Episodes, l.Gamma, l.Alpha = 150, ptr(0.99), "0.05"
		const name = "checkers:measures=six"
		m := practised(t, l, name, 1)
		data, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		j := m.values.(*judge)
		ahead, behind := j.v.value([]float64{8, 4, 1, 0, 0, 0}), j.v.value([]float64{4, 8, 0, 1, 0, 0})
		if !(ahead > behind) {
			t.Errorf("%s, %s: a board that is ahead is worth %v, one that is behind %v", l.Algorithm, l.Experiments, ahead, behind)
		}
		e := world(t, name)
		e.Reset(1)
		cells := make([]float64, len(e.Schema().Attributes))
		e.State(cells)
		q, p := make([]float64, len(e.Actions())), make([]float64, len(e.Actions()))
		m.Worth(cells, q)
		again.(*Model).Worth(cells, p)
		legal := 0
		for a := range q {
			if q[a] == q[a] {
				legal++
			}
			if q[a] != p[a] && (q[a] == q[a] || p[a] == p[a]) {
				t.Errorf("%s is worth %v, after saving %v", e.Actions()[a], q[a], p[a])
			}
		}
		if legal != 7 {
			t.Errorf("%d first moves, expected 7", legal)
		}
		if _, err := m.Rules(); err != nil {
			t.Error(err)
		}
		more, err := m.Continue(ctx, world(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if episodes, _ := more.(*Model).Practice(); episodes != 300 {
			t.Errorf("%d games in all, expected 300", episodes)
		}
	}
	_, err := (&Learner{Algorithm: "lms"}).LearnIn(ctx, "gridworld", world(t, "gridworld"), 1)
	if err == nil || !strings.Contains(err.Error(), "boards of a game") {
		t.Errorf("a map is no game: %v", err)
	}
	if act.GameOf(world(t, "gridworld")) != nil {
		t.Error("a map is a game")
	}
}

// Two states whose values are w and 2w, the first of which leads to the second: the
// direct gradient makes w grow by 8 % a step, the whole one makes it fall by 6.4 %.
func TestResidualGradientByHand(t *testing.T) {
	for residual, want := range map[bool]float64{false: 2.1589249972727877, true: 0.5161} {
		w := 1.0
		for range 10 {
			here, next := Descent(0.9*2*w-w, 0.1, 0.9, residual)
			w += here*1 + next*2
		}
		if math.Abs(w-want) > 5e-5 {
			t.Errorf("residual %v: w is %v after ten steps, expected %v", residual, w, want)
		}
	}
}

// Advice that is told later is worth what the rates of learning leave of it.
func TestAdviceToOneWhoHasActed(t *testing.T) {
	m := practised(t, &Learner{Episodes: 20, Alpha: "visits"}, "gridworld", 1)
	rules, err := rule.Parse("advice", []byte("IF row < 3 THEN action = down WORTH 20\n"))
	if err != nil {
		t.Fatal(err)
	}
	next, heard, err := m.Advised(rules, learn.Source{ID: "expert"})
	if err != nil {
		t.Fatal(err)
	}
	before, after := m.values.(*lookup), next.(*Model).values.(*lookup)
	states := 0
	for s := range before.states() {
		const down = 2
		was, is, n := before.of(int32(s))[down], after.of(int32(s))[down], before.visits[s*before.actions+down]
		if before.cells[2*s] >= 3 {
			if is != was && is == is {
				t.Errorf("state %d was not spoken of and has changed", s)
			}
			continue
		}
		states++
		if want := was + 20/(n+1); math.Abs(is-want) > 1e-9 { // Π (1 − 1/(1+k)) = 1/(n+1)
			t.Errorf("after %v visits %v became %v, expected %v", n, was, is, want)
		}
	}
	if heard[0][0] != states || states == 0 {
		t.Errorf("%d states, heard %v", states, heard)
	}
	if _, err := next.(*Model).Continue(context.Background(), world(t, "gridworld")); err != nil {
		t.Error(err)
	}
}

// Advice is forgotten exactly: what is left is the policy that was never told, or that
// was told what others said, when they said it.
func TestAdviceIsForgotten(t *testing.T) {
	ctx := context.Background()
	told := func(m *Model, id, text string) *Model {
		base, err := rule.Parse("advice", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := m.Advised(base, learn.Source{ID: id, Name: id})
		if err != nil {
			t.Fatal(err)
		}
		return next.(*Model)
	}
	on := func(m *Model) *Model {
		next, err := m.Continue(ctx, world(t, "frozenlake"))
		if err != nil {
			t.Fatal(err)
		}
		return next.(*Model)
	}
	const good, bad = "IF row < 2 THEN action = down WORTH 0.5\n", "IF ALWAYS THEN action = up WORTH 3\n"
	begin := practised(t, &Learner{Episodes: 50}, "frozenlake", 4)
	all := on(told(on(told(begin, "ann", good)), "bob", bad))
	for _, x := range []struct {
		ids  []string
		want *Model
	}{{[]string{"bob"}, on(on(told(begin, "ann", good)))}, {[]string{"ann"}, on(told(on(begin), "bob", bad))}, {[]string{"bob", "ann"}, on(on(begin))}} {
		data, err := learn.Encode(all)
		if err != nil {
			t.Fatal(err)
		}
		read, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.(*Model).Forget(ctx, x.ids...)
		if err != nil {
			t.Fatal(err)
		}
		left := got.(*Model)
		if a, b := left.values.(*lookup), x.want.values.(*lookup); !same(a.q, b.q) || !same(a.visits, b.visits) || left.acted.Steps != x.want.acted.Steps || left.lesson.Settings.Advice != x.want.lesson.Settings.Advice {
			t.Errorf("without %v it is not as if they had said nothing", x.ids)
		}
		if n := len(left.Sources()); n != 2-len(x.ids) {
			t.Errorf("without %v %d are left who gave advice", x.ids, n)
		}
	}
	if _, err := all.Forget(ctx, "carl"); err == nil {
		t.Error("carl is forgotten")
	}
}

// Learners of numbers stand for a table while acting, and are kept.
func TestAnyLearnerOfNumbersActs(t *testing.T) {
	for _, values := range []string{"tree"} {
		m := practised(t, &Learner{Values: values, Episodes: 60, Limit: 200, Epsilon: ptr(0.3)}, "gridworld", 1)
		if got := earns(t, m, "gridworld", 20); got < 90 {
			t.Errorf("values=%s: it earns %v, expected 100 in nearly every episode", values, got)
		}
		data, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		q, p := make([]float64, 4), make([]float64, 4)
		m.Worth([]float64{1, 1}, q)
		if again.(*Model).Worth([]float64{1, 1}, p); !slices.Equal(q, p) {
			t.Errorf("values=%s: %v became %v", values, q, p)
		}
	}
}
