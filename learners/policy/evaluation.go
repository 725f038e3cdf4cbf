package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// judge is a valuer that knows the rules of a game: an action is worth what V̂ says
// of the boards that it leads to.
type judge struct {
	game    act.Game // copied by those who look
	v       evaluation
	depth   int
	actions int
}

func (j *judge) with(v evaluation) *judge { return &judge{j.game, v, j.depth, j.actions} }

// looker is somebody who looks ahead, alone.
func (j *judge) looker() (act.Game, *act.Search) {
	return j.game.Fork(), &act.Search{Turns: j.depth, Quiet: !j.game.Dice(), Judge: judgeBy(j.v, len(j.game.Measures()))}
}

func (j *judge) worth(cells, q []float64) {
	g, s := j.looker()
	j.look(g, s, cells, q)
}

// decide is the first of the actions that are worth most; −1 where none is legal.
func (j *judge) decide(cells []float64) int {
	g, s := j.looker()
	if slices.ContainsFunc(cells, math.IsNaN) || g.Put(cells, 0) != nil {
		return -1
	}
	return s.Best(g, nil)
}

func (j *judge) look(g act.Game, s *act.Search, cells, q []float64) {
	for a := range q {
		q[a] = math.NaN()
	}
	if !slices.ContainsFunc(cells, math.IsNaN) && g.Put(cells, 0) == nil {
		s.Values(g, q)
	}
}

func (j *judge) worths(ctx context.Context, m *Model, t *table.Table, q []float64) error {
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		g, s := j.looker()
		cells := make([]float64, len(m.state))
		for row := lo; row < hi; row++ {
			m.cellsOf(t, row, cells)
			j.look(g, s, cells, q[row*j.actions:][:j.actions])
		}
	})
}

// newJudge begins with a V̂ that knows nothing.
func newJudge(s *settings, e act.Environment, seed uint64) (*judge, error) {
	game := act.GameOf(e)
	if game == nil {
		return nil, fmt.Errorf("algorithm=%s learns what boards of a game are worth by measures of them, as checkers has, or tictactoe:measures=six", s.Algorithm)
	}
	if game.Dice() && max(s.Depth, s.Lookahead) > 1 {
		return nil, fmt.Errorf("depth=%d lookahead=%d: behind the dice nobody looks; take 1", s.Depth, s.Lookahead)
	}
	j := &judge{game: game.Fork(), depth: s.Lookahead, actions: len(game.Actions())}
	switch n := len(game.Measures()); s.Values {
	case "auto", "linear":
		s.Values = "linear"
		t := &terms{W: make([]float64, n+1)}
		if s.Algorithm == "td" {
			t.Scale = scaleOf(game, seed)
		}
		j.v = t
	case "mlp":
		j.v = newNet(scaleOf(game, seed), s.Hidden, seed)
	default:
		return nil, fmt.Errorf("values=%s: boards are judged by linear or mlp", s.Values)
	}
	return j, nil
}

// scale is what measures are on the boards of random games: their means and
// standard deviations. Relative to these, none of them drowns the others.
type scale struct {
	Mean      []float64 `cbor:"mean"`
	Deviation []float64 `cbor:"deviation"`
}

// randomGames show what measures are.
const randomGames = 100

// scaleOf looks at random games.
func scaleOf(game act.Game, seed uint64) *scale {
	random := rand.New(rand.NewPCG(seed, 0x5ca1e))
	g := game.Fork()
	x := make([]float64, len(g.Measures()))
	s := &scale{make([]float64, len(x)), make([]float64, len(x))}
	n := 0.0
	for i := range randomGames {
		for turns := range 60 {
			act.Shuffle(g, (i*60+turns)%90, random)
			g.Measure(g.Mover(), x)
			n++
			for k := range x { // Welford 1962
				d := x[k] - s.Mean[k]
				s.Mean[k] += d / n
				s.Deviation[k] += d * (x[k] - s.Mean[k])
			}
		}
	}
	for k := range x {
		s.Deviation[k] = math.Sqrt(s.Deviation[k]/n) + 0.01
	}
	return s
}

// of is a measure relative to what is usual.
func (s *scale) of(x []float64, i int) float64 {
	if s == nil {
		return x[i]
	}
	return (x[i] - s.Mean[i]) / s.Deviation[i]
}

// terms is V̂ as a sum: w0 + w1·x1 + …, which LMS moves.
type terms struct {
	W     []float64 `cbor:"w"`
	Scale *scale    `cbor:"scale,omitempty"`
}

func (t *terms) value(x []float64) float64 {
	sum := t.W[0]
	for i, w := range t.W[1:] {
		sum += w * t.Scale.of(x, i)
	}
	return sum
}

// lms moves weights by w_i ← w_i + η·(V_train(b) − V̂(b))·x_i.
func (t *terms) lms(x []float64, target, rate float64) {
	d := rate * (target - t.value(x))
	t.W[0] += d
	for i := range x {
		t.W[i+1] += d * t.Scale.of(x, i)
	}
}

// learn takes steps relative to the size of a board, for which η below 2 is safe.
func (t *terms) learn(examples []example, rate float64) {
	for _, e := range examples {
		size := 1.0
		for i := range e.x {
			x := t.Scale.of(e.x, i)
			size += x * x
		}
		t.lms(e.x, e.v, rate/size)
	}
}

func (t *terms) clone() evaluation { return &terms{append([]float64(nil), t.W...), t.Scale} }

// net is V̂ as a network of one layer of hidden units, after TD-Gammon (Tesauro
// 1992, 1995): V̂ = 100·tanh(Σ vⱼ·tanh(Σ wⱼᵢ·xᵢ)).
type net struct {
	Scale *scale    `cbor:"scale"`
	W     []float64 `cbor:"w"` // of each hidden unit, the threshold first
	V     []float64 `cbor:"v"` // of the output, the threshold first
}

// bound is the most that a network says: what winning is worth.
const bound = 100.

func newNet(s *scale, hidden int, seed uint64) *net {
	random := rand.New(rand.NewPCG(seed, 0x7d))
	inputs := len(s.Mean)
	n := &net{Scale: s, W: make([]float64, hidden*(inputs+1)), V: make([]float64, hidden+1)}
	for i := range n.W {
		n.W[i] = random.NormFloat64() / math.Sqrt(float64(inputs+1))
	}
	return n
}

func (n *net) value(x []float64) float64 {
	var room [64]float64
	return bound * math.Tanh(n.forward(n.Scale.all(x, room[:0]), nil))
}

// all are all measures relative to what is usual.
func (s *scale) all(x, z []float64) []float64 {
	for i, y := range x {
		z = append(z, (y-s.Mean[i])/s.Deviation[i])
	}
	return z
}

// forward is the sum at the output; hidden values are left in h, if there is any.
func (n *net) forward(z, h []float64) float64 {
	sum := n.V[0]
	for j, v := range n.V[1:] {
		w := n.W[j*(len(z)+1):][:len(z)+1]
		s := w[0]
		for i, y := range z {
			s += w[i+1] * y
		}
		s = math.Tanh(s)
		if h != nil {
			h[j] = s
		}
		sum += v * s
	}
	return sum
}

// learn is back-propagation of the squared error.
func (n *net) learn(examples []example, rate float64) {
	h, z := make([]float64, len(n.V)-1), make([]float64, 0, len(n.Scale.Mean))
	for _, e := range examples {
		z = n.Scale.all(e.x, z[:0])
		y := math.Tanh(n.forward(z, h))
		d := rate * (e.v/bound - y) * (1 - y*y)
		n.V[0] += d
		for j, h := range h {
			back := d * n.V[j+1] * (1 - h*h)
			n.V[j+1] += d * h
			w := n.W[j*(len(z)+1):][:len(z)+1]
			w[0] += back
			for i, x := range z {
				w[i+1] += back * x
			}
		}
	}
}

func (n *net) clone() evaluation {
	return &net{Scale: n.Scale, W: append([]float64(nil), n.W...), V: append([]float64(nil), n.V...)}
}

// savedJudge is its saved form.
type savedJudge struct {
	Terms *terms `cbor:"terms,omitempty"`
	Net   *net   `cbor:"net,omitempty"`
}

func (j *judge) saved() *savedJudge {
	switch v := j.v.(type) {
	case *terms:
		return &savedJudge{Terms: v}
	case *net:
		return &savedJudge{Net: v}
	}
	return nil
}

// load checks what is read against the world that it was learnt in.
func (s *savedJudge) load(world string, depth, width, actions int) (*judge, error) {
	e, err := act.Lookup(world)
	if err != nil {
		return nil, err
	}
	game := act.GameOf(e)
	if game == nil || len(game.Schema().Attributes) != width || len(game.Actions()) != actions {
		return nil, errors.New("the policy judges boards of another game")
	}
	n := len(game.Measures())
	j := &judge{game: game.Fork(), depth: depth, actions: actions}
	var weights []float64
	switch {
	case s.Terms != nil && len(s.Terms.W) == n+1 && (s.Terms.Scale == nil || s.Terms.Scale.sound(n)):
		j.v, weights = s.Terms, s.Terms.W
	case s.Net != nil && s.Net.Scale.sound(n) && len(s.Net.V) > 1 && len(s.Net.W) == (len(s.Net.V)-1)*(n+1):
		j.v, weights = s.Net, append(append(weights, s.Net.W...), s.Net.V...)
	default:
		return nil, errors.New("the weights are of other boards")
	}
	for _, w := range weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("a weight is %v", w)
		}
	}
	return j, nil
}

// sound reports whether a scale is one of so many measures.
func (s *scale) sound(measures int) bool {
	if s == nil || len(s.Mean) != measures || len(s.Deviation) != measures {
		return false
	}
	for i, d := range s.Deviation {
		if !(d > 0) || math.IsInf(d, 0) || math.IsNaN(s.Mean[i]) || math.IsInf(s.Mean[i], 0) {
			return false
		}
	}
	return true
}
