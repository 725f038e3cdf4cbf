package genetic

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

const published = "(EQ (DU (MT CS) (NOT CS)) (DU (MS NN) (NOT NN)))"

// Section 9.5.2: the published program on every world, and variants of it.
func TestBlockStacking(t *testing.T) {
	worlds, tried := 0, 0
	type tally struct{ solved, moves int }
	programs := []Blocks{MustBlocks(published), MustBlocks("(EQ (DU (MT CS) (EQ CS TB)) (DU (MS NN) (NOT NN)))"), MustBlocks("(DU (MS NN) (NOT NN))")}
	tallies := make([]tally, len(programs))
	EachWorld(func(w World) {
		worlds++
		if worlds%50 > 0 && w.right() < w.high { // reproduce has all of them
			return
		}
		tried++
		for i, p := range programs {
			v := w
			if p.Run(&v); v.Solved() {
				tallies[i].solved++
				tallies[i].moves += v.Moves
			}
		}
	})
	if worlds != 986_410 {
		t.Errorf("%d worlds", worlds)
	}
	for i, want := range []int{tried, tried, 10} {
		if got := tallies[i]; got.solved != want {
			t.Errorf("%s solves %d worlds with %d moves, want %d", programs[i], got.solved, got.moves, want)
		}
	}
	if p := MustBlocks(published); p.String() != published || len(p) != 11 {
		t.Errorf("%s", p)
	}
}

// Exercise 9.3: subtrees of two copies are exchanged; nodes are counted in
// prefix order in the text.
func TestSubtreeCrossover(t *testing.T) {
	p := MustBlocks(published)
	postfix := func(prefix int) int { // of the node that is so-manyth when functions stand first
		var order []int
		var walk func(end int)
		walk = func(end int) {
			order = append(order, end)
			n := BlockArity(p[end])
			ends := make([]int, n)
			for k, at := n-1, end-1; k >= 0; k-- {
				ends[k] = at
				at = Subtree(p, BlockArity, at) - 1
			}
			for _, e := range ends {
				walk(e)
			}
		}
		walk(len(p) - 1)
		return order[prefix]
	}
	for _, w := range []struct {
		a, b          int
		first, second string
	}{
		{1, 6, "(EQ (DU (MS NN) (NOT NN)) (DU (MS NN) (NOT NN)))", "(EQ (DU (MT CS) (NOT CS)) (DU (MT CS) (NOT CS)))"},
		{2, 7, "(EQ (DU (MS NN) (NOT CS)) (DU (MS NN) (NOT NN)))", "(EQ (DU (MT CS) (NOT CS)) (DU (MT CS) (NOT NN)))"},
	} {
		c, d := SwapSubtrees(p, p, BlockArity, postfix(w.a), postfix(w.b))
		if Blocks(c).String() != w.first || Blocks(d).String() != w.second {
			t.Errorf("cuts %d and %d give %s and %s", w.a, w.b, Blocks(c), Blocks(d))
		}
	}
}

// Section 9.6.2: without learning nothing improves; with it wrong genes vanish
// and right ones rise.
func TestBaldwinEffect(t *testing.T) {
	with, err := HintonNowlan(context.Background(), 1000, 25, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	without, err := HintonNowlan(context.Background(), 1000, 25, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	first, last := with[0], with[len(with)-1]
	if !(first.Wrong > .23 && last.Wrong < .05 && last.Right > first.Right+.2 && last.Fitness > 5) {
		t.Errorf("with learning: %+v to %+v", first, last)
	}
	if end := without[len(without)-1]; end.Fitness > 1.1 {
		t.Errorf("without learning: %+v", end)
	}
}

func TestStrategies(t *testing.T) {
	for _, plus := range []bool{true, false} {
		s := Strategy{
			Plus: plus, Generations: 300, Enough: 1e-10,
			Start: func(r *rand.Rand) []float64 {
				return []float64{5 * r.NormFloat64(), 5 * r.NormFloat64(), 5 * r.NormFloat64()}
			},
			Error: func(x []float64) float64 { return x[0]*x[0] + 10*(x[1]-1)*(x[1]-1) + 100*(x[2]+2)*(x[2]+2) },
		}
		best, generations, err := s.Minimise(context.Background(), 1)
		if err != nil || best.Error > 1e-10 || math.Abs(best.X[2]+2) > 1e-4 {
			t.Errorf("plus %v: %+v after %d generations (%v)", plus, best, generations, err)
		}
	}
	s := ones(20)
	r, err := Program(context.Background(), &s, 30, 200, 20, 1)
	if err != nil || r.Fitness != 20 {
		t.Errorf("evolutionary programming: %v (%v)", r.Fitness, err)
	}
}

// A classifier system learns the multiplexer, and, where rules pay
// those before them, which of two doors leads to a reward.
func TestClassifierSystem(t *testing.T) {
	right, err := Multiplexer(context.Background(), 12_000, 1)
	if err != nil || right < .75 { // chance is 1/2, with a standard error of 1/16
		t.Errorf("%v of the multiplexer are right (%v)", right, err)
	}
	paid, err := Doors(context.Background(), 4000, true, 1)
	if err != nil || paid < .99 {
		t.Errorf("paid by those behind, %v of the doors are right (%v)", paid, err)
	}
	if text := NewClassifierSystem(20, 3, 2, 1).String(); !strings.Contains(text, "IF ") {
		t.Errorf("%q", text)
	}
}

// Exercise 9.4: the weights and the number of hidden units of a network evolve.
func TestNetworksEvolve(t *testing.T) {
	x := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	y := []float64{0, 1, 1, 0}
	task := &NetTask{Inputs: x, Outputs: 1, Most: 4, Cost: 1e-4, Loss: func(row int, sums []float64) float64 {
		d := 1/(1+math.Exp(-sums[0])) - y[row]
		return d * d
	}}
	ga := &GA[Net]{Species: task.Species(), Size: 60, Replaced: .5, Mutation: .6, Elite: 3, Generations: 100, Selection: Selection{Method: Tournament}}
	r, err := ga.Evolve(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if said := 1 / (1 + math.Exp(-r.Best.Answer(x[i], make([]float64, 1))[0])); math.Abs(said-y[i]) > .3 {
			t.Errorf("%v is answered %v by %d units", x[i], said, len(r.Best.Units))
		}
	}
	again := FromReals(r.Best.Reals(), 2, 1)
	if task.Error(again) != task.Error(r.Best) || again.Links() != r.Best.Links() {
		t.Errorf("%v written as numbers is %v", r.Best, again)
	}
}
