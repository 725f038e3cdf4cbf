package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Who learns what boards are worth by playing has four modules, which hand their
// results around (Mitchell 1997, figure 1.1, after Samuel 1959):
//
//	experiment generator → problem → performance system → trace of a game
//	      ↑                                                    ↓
//	  hypothesis V̂  ←  generaliser  ←  training examples  ←  critic
//
// The generator sets up a board to begin with; the performance system plays on from
// there, both sides by V̂ or one against an opponent; the critic says what each board
// should have been worth by what came after it; the generaliser moves V̂ there.
type design struct {
	generator   generator
	performance performance
	critic      critic
	generaliser generaliser
}

// trace is a game as its players saw it.
type trace struct {
	boards [2][][]float64 // measures of the boards after the turns of each player
	result [2]float64     // of either; 0 is a draw
	turns  int
	states [][]float64 // in which V̂ moved, from the first board of the game on
	moves  []int
}

// example is a board and what it should be worth.
type example struct {
	x []float64
	v float64
}

// evaluation is a hypothesis: V̂ of a board by its measures.
type evaluation interface {
	value(x []float64) float64
	// learn moves V̂ towards the examples, in their order.
	learn(examples []example, rate float64)
	clone() evaluation
	// form says what V̂ is, say what it has become.
	form(measures int) string
	say(measures []string) string
	graph(measures []string) *draw.Graph
}

// performance plays by V̂: each player takes what leads to the best board, looking
// some turns ahead, and now and then anything.
type performance struct {
	game     act.Game
	opponent act.Player // nil: V̂ plays both sides
	search   act.Search
	random   *rand.Rand
	epsilon  float64
	limit    int

	q    []float64
	yet  int // boards in use
	room [][]float64
}

// judgeBy looks at boards through V̂.
func judgeBy(v evaluation, measures int) act.Judge {
	x := make([]float64, measures)
	return func(g act.Game, player int) float64 {
		g.Measure(player, x)
		return v.value(x)
	}
}

// board returns the measures of the present position as a player sees it.
func (p *performance) board(player int) []float64 {
	if p.yet == len(p.room) {
		p.room = append(p.room, make([]float64, len(p.game.Measures())))
	}
	x := p.room[p.yet]
	p.yet++
	p.game.Measure(player, x)
	return x
}

// play plays on from a problem, and adds to the trace, which has what led there; you are the side that V̂
// plays where there is an opponent.
func (p *performance) play(you int, t *trace) error {
	p.yet = 0
	*t = trace{boards: [2][][]float64{t.boards[0][:0], t.boards[1][:0]}, states: t.states, moves: t.moves}
	width := len(p.game.Schema().Attributes)
	for t.turns = 0; t.turns < p.limit; {
		legal := p.game.Legal()
		if len(legal) == 0 {
			return errors.New("no action is legal, and the game has not ended")
		}
		mover := p.game.Mover()
		theirs := p.opponent != nil && mover != you
		a := legal[0]
		switch {
		case theirs:
			a = p.opponent(p.game, p.random)
		case p.random.Float64() < p.epsilon:
			a = legal[p.random.IntN(len(legal))]
		case len(legal) > 1:
			a = p.search.Best(p.game, p.random)
		}
		if !theirs {
			state := make([]float64, width)
			p.game.State(state)
			t.states, t.moves = append(t.states, state), append(t.moves, a)
		}
		reward, end := p.game.Do(a)
		if end || p.game.Mover() != mover {
			t.turns++
			if !theirs {
				t.boards[mover] = append(t.boards[mover], p.board(mover))
			}
		}
		if end {
			t.result[mover], t.result[1-mover] = reward, -reward
			return nil
		}
	}
	return nil
}

// critic turns the trace of a game into training examples:
//
//	V_train(b) ← V̂(Successor(b))      (1.1)
//
// where the successor of a board is the next one that its player brought about; the
// last one is worth what the game came to. With λ, what came later counts too.
type critic struct {
	v      evaluation
	gamma  float64
	lambda float64
}

func (c *critic) examples(t *trace, to []example) []example {
	for player, boards := range t.boards {
		from := len(to)
		target := t.result[player]
		for i := len(boards) - 1; i >= 0; i-- {
			to = append(to, example{boards[i], target})
			target = c.gamma * ((1-c.lambda)*c.v.value(boards[i]) + c.lambda*target)
		}
		slices.Reverse(to[from:])
	}
	return to
}

// generaliser moves V̂ towards what the critic says.
type generaliser struct {
	v    evaluation
	rate float64
}

func (g *generaliser) learn(examples []example) { g.v.learn(examples, g.rate) }

// generator sets up problems: boards to begin with (exercise 1.4).
type generator struct {
	kind   string // start, random, unplayed or doubtful
	random *rand.Rand
	last   *trace // the game before, and then what leads to the problem
	v      *performance
}

// problem sets up a board.
func (g *generator) problem(game act.Game) error {
	game.Reset(g.random.Uint64())
	switch g.kind {
	case "random": // any position that may come up
		act.Shuffle(game, g.random.IntN(80), g.random)
	case "unplayed": // one of the last game's, and a move that was not played there
		if n := len(g.last.states); n > 0 {
			i := g.random.IntN(n)
			if err := game.Put(g.last.states[i], 0); err != nil {
				return err
			}
			var other []int
			for _, a := range game.Legal() {
				if a != g.last.moves[i] {
					other = append(other, a)
				}
			}
			if other == nil { // the move was the only one
				g.last.cut(i)
				return nil
			}
			a := other[g.random.IntN(len(other))]
			g.last.cut(i + 1)
			g.last.moves[i] = a
			if _, end := game.Do(a); !end {
				return nil
			}
			game.Reset(g.random.Uint64())
		}
	case "doubtful": // that of the last game in which the best two moves were nearest
		if i := g.doubtful(game); i >= 0 {
			state := g.last.states[i]
			g.last.cut(i)
			return game.Put(state, 0)
		}
	}
	g.last.cut(0)
	return nil
}

// cut leaves the first moves of a game, which a further one shares: were they lost,
// games that begin within games would grow shorter and shorter.
func (t *trace) cut(moves int) { t.states, t.moves = t.states[:moves], t.moves[:moves] }

// doubtful is the state of the last game, of eight looked at, whose best two
// actions are nearest to each other; −1 if there is none.
func (g *generator) doubtful(game act.Game) int {
	best, least := -1, math.Inf(1)
	for range min(8, len(g.last.states)) {
		i := g.random.IntN(len(g.last.states))
		if game.Put(g.last.states[i], 0) != nil {
			continue
		}
		g.v.search.Values(game, g.v.q)
		first, second := math.Inf(-1), math.Inf(-1)
		for _, x := range g.v.q {
			switch {
			case x > first:
				first, second = x, first
			case x > second:
				second = x
			}
		}
		if d := first - second; d < least {
			best, least = i, d
		}
	}
	return best
}

// newDesign puts the modules together around a hypothesis.
func newDesign(s *settings, e act.Environment, v evaluation) *design {
	game := act.GameOf(e)
	d := &design{}
	d.performance = performance{game: game, opponent: act.Opponent(e), epsilon: s.Epsilon, limit: s.Limit, q: make([]float64, len(game.Actions()))}
	d.performance.search = act.Search{Turns: s.Depth, Quiet: !game.Dice(), Judge: judgeBy(v, len(game.Measures()))}
	d.critic = critic{v, s.Gamma, s.Lambda}
	d.generaliser = generaliser{v: v}
	d.generator = generator{kind: s.Experiments, last: &trace{}, v: &d.performance}
	return d
}

// contest is one game and what is learnt from it.
func (d *design) contest(seed uint64, number int, examples []example) ([]example, error) {
	var pcg rand.PCG
	pcg.Seed(seed, uint64(number))
	random := rand.New(&pcg)
	d.generator.random, d.performance.random = random, random
	if err := d.generator.problem(d.performance.game); err != nil {
		return examples, err
	}
	if err := d.performance.play(random.IntN(2), d.generator.last); err != nil {
		return examples, err
	}
	examples = d.critic.examples(d.generator.last, examples[:0])
	d.generaliser.learn(examples)
	return examples, nil
}

// contested returns the model after more games.
func (m *Model) contested(ctx context.Context, e act.Environment) (*Model, error) {
	s := &m.lesson.Settings
	was := m.values.(*judge)
	v := was.v.clone()
	m.values = was.with(v)
	d := newDesign(s, e, v)
	r, err := s.rate(false)
	if err != nil {
		return nil, err
	}
	var examples []example
	heeding, release := enough.Heed(ctx, 0)
	defer release()
	var stopped error
	every := max(min(250, s.Episodes/leastTests), s.Episodes/tests, 1) // games between two tests
	for n := range s.Episodes {
		if n%16 == 0 {
			if err := heeding.Err(); err != nil && (n == 0 || ctx.Err() != nil) {
				return nil, err
			} else if err != nil {
				stopped = &Stopped{err, m}
				break
			}
			learn.Report(ctx, float64(n)/float64(s.Episodes))
		}
		if d.generaliser.rate = r.constant; r.constant == 0 {
			d.generaliser.rate = 0.05 / (1 + float64(m.acted.Episodes)/1000)
		}
		if examples, err = d.contest(m.lesson.Seed, m.acted.Episodes, examples); err != nil {
			return nil, fmt.Errorf("game %d: %w", m.acted.Episodes+1, err)
		}
		m.acted.Episodes++
		m.acted.Steps += d.generator.last.turns
		m.acted.Examples += len(examples)
		m.acted.Curve.add(d.generator.last.result[0])
		if d.performance.opponent == nil && (n+1)%every == 0 {
			m.acted.Matches = append(m.acted.Matches, d.test(m.lesson.Seed, m.acted.Episodes))
		}
	}
	if m.summary, err = readBoards(ctx, was.game.Measures(), d, m.lesson.Seed); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, stopped
}

// readGames are the games whose boards a tree is learnt from, to read V̂ by.
const readGames = 10

// readBoards learns a tree of what V̂ says of boards.
func readBoards(ctx context.Context, measures []string, d *design, seed uint64) (learn.Model, error) {
	schema, columns := &table.Schema{}, make([]table.Column, len(measures))
	for _, name := range measures {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
	}
	var worth table.Column
	p, random := d.performance, rand.New(rand.NewPCG(seed, 0xb0a4d))
	p.random, p.epsilon = random, 0.2
	var t trace
	for range readGames {
		p.game.Reset(random.Uint64())
		t.cut(0)
		if err := p.play(0, &t); err != nil {
			return nil, err
		}
		for _, boards := range t.boards {
			for _, x := range boards {
				for i := range x {
					columns[i].Floats = append(columns[i].Floats, x[i])
				}
				worth.Floats = append(worth.Floats, d.critic.v.value(x))
			}
		}
	}
	states, err := table.New(schema, columns, nil)
	if err != nil {
		return nil, err
	}
	return learned(ctx, behaviourName, states, table.Attribute{Name: worthColumn, Kind: table.Numeric}, worth, nil, seed, [2]string{"max-depth", "4"}, [2]string{"min-rows", "20"})
}

// Who plays against itself is tested on the way by games against the player who
// counts pieces, looking no further than while learning.
const (
	leastTests = 5 // so that few games make a curve, too
	tests      = 20
	testGames  = 40
)

// matches are how games against a rival ended after so many games of learning.
type matches struct {
	After int `cbor:"after"`
	Won   int `cbor:"won"`
	Drawn int `cbor:"drawn"`
	Lost  int `cbor:"lost"`
}

// test plays against the rival, each side in half of the games.
func (d *design) test(seed uint64, after int) matches {
	r := matches{After: after}
	p := d.performance
	rival := act.Rival(p.game)
	p.opponent, p.epsilon, p.random = act.Opponent(rival), 0, rand.New(rand.NewPCG(seed, uint64(after)^0x7e57))
	var t trace
	for i := range testGames {
		p.game.Reset(p.random.Uint64())
		t.cut(0)
		if p.play(i%2, &t) != nil {
			continue
		}
		switch result := t.result[i%2]; {
		case result > 0:
			r.Won++
		case result < 0:
			r.Lost++
		default:
			r.Drawn++
		}
	}
	return r
}
