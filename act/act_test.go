package act

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
)

func world(t testing.TB, name string) *Model {
	t.Helper()
	e, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*Place).Model
}

func solve(t testing.TB, m *Model, gamma float64) *Solution {
	t.Helper()
	s, err := m.ValueIteration(context.Background(), gamma, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Figure 13.2 of Mitchell 1997, with the exact 72.9 where it draws 72.
func TestFigure132(t *testing.T) {
	m := world(t, "gridworld:map=..G/...")
	s := solve(t, m, 0.9)
	v := map[cell]float64{{0, 0}: 90, {0, 1}: 100, {0, 2}: 0, {1, 0}: 81, {1, 1}: 90, {1, 2}: 100}
	q := map[cell][]float64{ // up, right, down, left
		{0, 0}: {-1, 90, 72.9, -1}, {0, 1}: {-1, 100, 81, 81}, {1, 0}: {81, 81, -1, -1}, {1, 1}: {90, 90, -1, 72.9}, {1, 2}: {100, -1, -1, 81},
	}
	best := map[cell][]int{{0, 0}: {1}, {0, 1}: {1}, {1, 0}: {0, 1}, {1, 1}: {0, 1}, {1, 2}: {0}, {0, 2}: nil}
	for at, want := range v {
		state := m.Find([]float64{float64(at.row), float64(at.col)})
		if state < 0 || math.Abs(s.V[state]-want) > 1e-9 {
			t.Errorf("V%v is %v, expected %v", at, s.V[state], want)
		}
		for way, want := range q[at] {
			got := s.Value(state, way)
			if want < 0 && !math.IsNaN(got) || want >= 0 && math.Abs(got-want) > 1e-9 {
				t.Errorf("Q(%v, %s) is %v, expected %v", at, moves[way], got, want)
			}
		}
		if got := s.Best(state); !slices.Equal(got, best[at]) {
			t.Errorf("best in %v: %v, expected %v", at, got, best[at])
		}
	}
}

// Exercise 13.2, with the goal in the middle of the lower row.
func TestExercise132(t *testing.T) {
	m := world(t, "gridworld:map=.../.G.,goal=10")
	s := solve(t, m, 0.8)
	for at, want := range map[cell]float64{{0, 0}: 8, {0, 1}: 10, {0, 2}: 8, {1, 0}: 10, {1, 2}: 10, {1, 1}: 0} {
		if state := m.Find([]float64{float64(at.row), float64(at.col)}); math.Abs(s.V[state]-want) > 1e-9 {
			t.Errorf("V%v is %v, expected %v", at, s.V[state], want)
		}
	}
}

// Exercise 13.3: the worth of a first move to a corner, to an edge and to the
// middle against one who wins or blocks where that is possible.
func TestTicTacToe(t *testing.T) {
	m := world(t, "tictactoe:opponent=forced")
	s := solve(t, m, 1)
	for move, want := range map[int]float64{0: 89.0 / 96, 2: 89.0 / 96, 1: 163.0 / 192, 4: 5.0 / 6} {
		if got := s.Value(int(m.starts[0]), move); math.Abs(got-want) > 1e-12 {
			t.Errorf("a first move to square %d is worth %v, expected %v", move+1, got, want)
		}
	}
	if got := solve(t, world(t, "tictactoe:opponent=perfect"), 1).V[0]; got != 0 {
		t.Errorf("against a perfect opponent the game is worth %v, expected 0", got)
	}
}

// Against itself the game is worth nothing to either, from every opening.
func TestSelfPlay(t *testing.T) {
	m := world(t, "tictactoe:opponent=self")
	for name, s := range map[string]*Solution{"values": solve(t, m, 1), "policy": policySolution(t, m, 1)} {
		if !m.Alternates() || m.States() != 5478 || s.V[m.starts[0]] != 0 || len(s.Best(int(m.starts[0]))) != 9 {
			t.Errorf("%s: %d states, worth %v, best %v", name, m.States(), s.V[m.starts[0]], s.Best(int(m.starts[0])))
		}
		if state := m.Find([]float64{1, 2, 0, 0, 0, 0, 0, 0, 0}); s.V[state] != 1 { // x in a corner, o beside it
			t.Errorf("%s: o beside a corner loses, and is worth %v", name, s.V[state])
		}
	}
}

// A state with an action that may come back to it: Q = 1/.55 and .5.
func TestTwoActions(t *testing.T) {
	m, err := rules[int]{
		schema: numbers("s"), actions: []string{"a", "b"}, starts: []int{0},
		cells: func(s int, c []float64) { c[0] = float64(s) },
		legal: func(s int) []int { return []int{0, 1}[:2*(1-s)] },
		act: func(s, a int) []Outcome[int] {
			if a == 0 {
				return []Outcome[int]{{0.5, 0, 1, false}, {0.5, 1, 1, true}}
			}
			return []Outcome[int]{{1, 1, 0.5, true}}
		},
	}.build()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Solution{"values": solve(t, m, 0.9), "policy": policySolution(t, m, 0.9)} {
		if math.Abs(s.Value(0, 0)-1/0.55) > 1e-9 || s.Value(0, 1) != 0.5 {
			t.Errorf("%s: %v", name, s.Q)
		}
	}
}

func policySolution(t testing.TB, m *Model, gamma float64) *Solution {
	t.Helper()
	s, err := m.PolicyIteration(context.Background(), gamma, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Value and policy iteration agree, on slippery maps that are drawn at random.
func TestIterationsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.IntRange(1, 4).Draw(rt, "rows"), rapid.IntRange(2, 4).Draw(rt, "cols")
		text := ""
		for r := range rows {
			for range cols {
				text += rapid.SampledFrom([]string{".", ".", ".", "#", "H"}).Draw(rt, "cell")
			}
			if r < rows-1 {
				text += "\n"
			}
		}
		text = "S" + text[1:len(text)-1] + "G"
		g, err := parseGrid(text)
		if err != nil {
			rt.Fatal(err)
		}
		g.slip = rapid.Float64Range(0, 1).Draw(rt, "slip")
		m, err := g.model()
		if err != nil {
			rt.Fatal(err)
		}
		a, b := solve(t, m, 0.9), policySolution(t, m, 0.9)
		for s := range a.V {
			if math.Abs(a.V[s]-b.V[s]) > 1e-7 {
				rt.Fatalf("state %d: %v by values, %v by policies, on\n%s", s, a.V[s], b.V[s], text)
			}
		}
	})
}

// Without a discount what ends is solved, by values and by policies, and what need
// not end is an error.
func TestWithoutDiscount(t *testing.T) {
	m := world(t, "gridworld:step=-1,goal=0")
	for s, v := range policySolution(t, m, 1).V {
		cells := make([]float64, 2)
		m.Cells(s, cells)
		if want := max(-6, cells[0]+cells[1]-6); v != want && len(m.Legal(s)) > 0 {
			t.Errorf("%v is worth %v, expected %v", cells, v, want)
		}
	}
	m = world(t, "gridworld:step=1")
	for _, solve := range []func(context.Context, float64, float64) (*Solution, error){m.ValueIteration, m.PolicyIteration} {
		if _, err := solve(context.Background(), 1, 1e-12); err == nil {
			t.Error("who is paid for walking is worth something")
		}
	}
}

// Shortest ways are what values without a discount come to, in fewer sweeps than
// there are states; from where no end is reached there is none.
func TestShortestPaths(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"gridworld:map=S.#../....G,step=-1,goal=0", "gridworld:size=9,step=-2,goal=7", "taxi", "blocks:step=-1,goal=0", "jobshop"} {
		m := world(t, name)
		s, err := m.ShortestPaths(ctx)
		if err != nil {
			t.Fatal(name, err)
		}
		want := solve(t, m, 1)
		for i := range s.Q {
			if math.Abs(s.Q[i]-want.Q[i]) > 1e-9 {
				t.Fatalf("%s: pair %d is worth %v, expected %v", name, i, s.Q[i], want.Q[i])
			}
		}
		if s.Sweeps > m.States() {
			t.Errorf("%s: %d sweeps over %d states", name, s.Sweeps, m.States())
		}
	}
	m := world(t, "gridworld:map=S.#G/..#.,step=-1")
	s, err := m.ShortestPaths(ctx)
	if err != nil || !math.IsNaN(s.V[0]) || s.Best(0) != nil {
		t.Errorf("behind a wall the goal is worth %v (%v)", s.V[0], err)
	}
	for name, want := range map[string]string{"gridworld:step=1": "circle", "frozenlake": "without chance", "tictactoe": "opponent"} {
		if _, err := world(t, name).ShortestPaths(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
	}
}

// What somebody earns is known by equations: by lot on the walk in one of two cases; on
// the grid of figure 13.2 as the figure says, whatever is done in states that do not
// come up; at cards, acting as well as can be, a little less than nothing.
func TestExpected(t *testing.T) {
	earned := func(m *Model, policy []int, gamma float64) float64 {
		t.Helper()
		x, err := m.Expected(context.Background(), policy, gamma, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	best := func(m *Model, gamma float64) []int {
		s, policy := solve(t, m, gamma), make([]int, m.States())
		for i := range policy {
			if policy[i] = -1; len(s.Best(i)) > 0 {
				policy[i] = s.Best(i)[0]
			}
		}
		return policy
	}
	lot := func(m *Model) []int { return slices.Repeat([]int{-1}, m.States()) }
	if got := earned(world(t, "randomwalk"), lot(world(t, "randomwalk")), 1); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("a random walk earns %v, expected 0.5", got)
	}
	m := world(t, "gridworld:map=S.G/...,step=-1,goal=0")
	policy := best(m, 1)
	const left = 3
	policy[m.Find([]float64{1, 1})], policy[m.Find([]float64{1, 0})] = left, 1 // back and forth, for ever
	if got := earned(m, policy, 1); got != -2 {
		t.Errorf("the way earns %v, expected -2", got)
	}
	if got := earned(world(t, "gridworld:map=S.G/..."), best(m, 1), 0.9); math.Abs(got-90) > 1e-9 {
		t.Errorf("the figure's way earns %v, expected 90", got)
	}
	cards := world(t, "blackjack")
	if got := earned(cards, best(cards, 1), 1); math.Abs(got+0.0466) > 1e-4 {
		t.Errorf("a game of cards earns %v, expected -0.0466", got)
	}
}

// In every world whose model is known, values are those of Bellman's equation to
// 1e-9, by values and by policies.
func TestSmallWorldsAreSolved(t *testing.T) {
	for _, w := range Worlds() {
		e, err := Lookup(w.Name)
		if err != nil {
			t.Fatal(err)
		}
		place, ok := e.(*Place)
		if !ok {
			continue
		}
		const gamma = 0.9
		a, b := solve(t, place.Model, gamma), policySolution(t, place.Model, gamma)
		q := make([]float64, len(a.Q))
		for s := range a.V {
			most := place.look(s, gamma, a.V, q)
			if math.Abs(a.V[s]-b.V[s]) > 1e-9 || math.Abs(most-a.V[s]) > 1e-9 {
				t.Errorf("%s, state %d: %v by values, %v by policies, %v by the equation", w.Name, s, a.V[s], b.V[s], most)
			}
		}
	}
}

// Whatever is done, an episode is the same for the same seed, its states fit the
// schema, and illegal actions are refused.
func TestEnvironmentsAreLawful(t *testing.T) {
	for _, w := range Worlds() {
		e, err := Lookup(w.Name)
		if err != nil {
			t.Fatal(err)
		}
		walk := func() (sum float64, cells []float64) {
			cells = make([]float64, len(e.Schema().Attributes))
			e.Reset(7)
			for step := range 300 {
				legal := e.Legal()
				if len(legal) == 0 {
					t.Fatalf("%s: nothing is legal before the end", w.Name)
				}
				if _, _, err := e.Step(len(e.Actions())); err == nil {
					t.Errorf("%s takes an action that it has not", w.Name)
				}
				reward, end, err := e.Step(legal[step%len(legal)])
				if err != nil {
					t.Fatal(err)
				}
				e.State(cells)
				for i, a := range e.Schema().Attributes {
					if len(a.Values) > 0 && (cells[i] < 0 || int(cells[i]) >= len(a.Values)) {
						t.Fatalf("%s: %s has the code %v", w.Name, a.Name, cells[i])
					}
				}
				if sum += reward; end {
					if len(e.Legal()) != 0 {
						t.Errorf("%s: %v are legal after the end", w.Name, e.Legal())
					}
					break
				}
			}
			return sum, cells
		}
		sum, cells := walk()
		if again, at := walk(); again != sum || !slices.Equal(at, cells) {
			t.Errorf("%s: one seed, two episodes: %v %v, %v %v", w.Name, sum, cells, again, at)
		}
	}
}

func TestLookupSaysWhatIsWrong(t *testing.T) {
	for name, want := range map[string]string{
		"gridwrold":                               `there is no environment "gridwrold"; did you mean "gridworld"?`,
		"gridworld:map=..":                        "gridworld: the map has no goal; mark one with G",
		"gridworld:map=.G/.":                      "gridworld: line 2 of the map has 1 cells, expected 2 as in line 1",
		"gridworld:map=.?G":                       "gridworld: line 1, column 2 of the map is '?'; expected # (wall), . (free), S (start), G (goal) or H (hole)",
		"gridworld:size=1e9":                      "gridworld: size=1e9: expected a whole number from 2 to 1000",
		"gridworld:slip=NaN":                      "gridworld: slip=NaN: expected a number from 0 to 1",
		"gridworld:wind=00":                       "gridworld: wind=00: expected 4 digits, one for each column of the map",
		"frozenlake:size=5":                       "frozenlake: size=5: expected 4 or 8",
		"tictactoe:measures=two":                  "tictactoe: measures=two: expected none or six",
		"tictactoe:measures=six,opponent=perfect": `tictactoe: opponent "perfect" is not known; expected self, random or material`,
		"tictactoe:opponent=karla":                `tictactoe: opponent "karla" is not known; expected self, random, forced or perfect`,
	} {
		if _, err := Lookup(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
}

// The usual lake of 4 by 4 cells: a perfect walker without discount gets across
// in 14 of 17 tries.
func TestFrozenLake(t *testing.T) {
	s := solve(t, world(t, "frozenlake"), 1)
	if want := 14.0 / 17; math.Abs(s.V[0]-want) > 1e-6 {
		t.Errorf("the lake is worth %v, expected %v", s.V[0], want)
	}
}

// Taxi is worth 7.93 a ride on average over all starts; blackjack by sticking on 20 and taking a card on 12 against a ten
// (Sutton and Barto 1998, figure 5.2); a shop orders up to the level of Scarf's
// (s, S) policies: from a low stock to one level, from a high one nothing.
func TestWorldsOfTables(t *testing.T) {
	m := world(t, "taxi")
	s := solve(t, m, 1)
	sum := 0.0
	for _, at := range m.starts {
		sum += s.V[at]
	}
	if mean := sum / float64(len(m.starts)); math.Abs(mean-7.93) > 0.03 || m.States() != 25*5*4 {
		t.Errorf("a ride is worth %v on average over %d states, expected 7.93 over 500", mean, m.States())
	}
	m = world(t, "blackjack")
	s = solve(t, m, 1)
	for _, x := range []struct {
		cells []float64
		best  int
	}{{[]float64{20, 0, 10}, 0}, {[]float64{12, 0, 10}, 1}, {[]float64{12, 0, 4}, 0}, {[]float64{12, 0, 3}, 1}, {[]float64{18, 1, 9}, 1}, {[]float64{18, 1, 8}, 0}} {
		if got := s.Best(m.Find(x.cells)); !slices.Equal(got, []int{x.best}) {
			t.Errorf("blackjack at %v: %v, expected %d", x.cells, got, x.best)
		}
	}
	m = world(t, "inventory")
	s = solve(t, m, 0.95)
	level := 0
	for stock := range 11 {
		best := s.Best(m.Find([]float64{float64(stock)}))[0]
		switch {
		case stock == 0:
			level = best
		case best != 0 && stock+best != level:
			t.Errorf("with %d it orders %d, not up to %d", stock, best, level)
		}
	}
	if level < 3 || level > 10 {
		t.Errorf("it orders up to %d", level)
	}
	m = world(t, "queue")
	s = solve(t, m, 0.95)
	if s.Best(m.Find([]float64{0}))[0] != 0 || s.Best(m.Find([]float64{10}))[0] != 1 {
		t.Error("the fast clerk serves an empty counter, or the slow one a full one")
	}
	// The best plan of the three jobs takes 11 (it is the example that schedulers
	// come with); no machine alone needs as much.
	m = world(t, "jobshop")
	if v := solve(t, m, 1).V[m.Starts()[0]]; v != -11 {
		t.Errorf("the best plan is worth %v, expected -11", v)
	}
	m = world(t, "elevator")
	s = solve(t, m, 0.95)
	// With somebody aboard and nobody waiting one goes down, and opens in the street.
	const up, down, open = 0, 1, 2
	if a, b := s.Best(m.Find([]float64{3, 2, 0, 0, 0, 0}))[0], s.Best(m.Find([]float64{0, 2, 0, 0, 0, 0}))[0]; a != down || b != open {
		t.Errorf("the elevator does %d on its way and %d in the street", a, b)
	}
	if a := s.Best(m.Find([]float64{2, 0, 0, 0, 0, 1}))[0]; a != up {
		t.Errorf("somebody waits above, and the elevator does %d", a)
	}
}

func BenchmarkSteps(b *testing.B) {
	e, err := Lookup("gridworld:size=10")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	e.Reset(1)
	for i := 0; b.Loop(); i++ {
		legal := e.Legal()
		if len(legal) == 0 {
			e.Reset(uint64(i))
			continue
		}
		_, _, _ = e.Step(legal[i%len(legal)])
	}
}

// Maps of any text are read or refused, in time that grows with the text.
func FuzzGrid(f *testing.F) {
	f.Add("..G\n...")
	f.Add("S.#\r\n.HG\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		g, err := parseGrid(text)
		if err != nil {
			return
		}
		m, err := g.model()
		if err != nil {
			t.Fatal(err)
		}
		e := m.Environment()
		e.Reset(1)
		for legal := e.Legal(); len(legal) > 0 && m.States() > 0; legal = e.Legal() {
			if _, end, err := e.Step(legal[0]); err != nil || end || e.random.IntN(100) == 0 {
				break
			}
		}
	})
}
