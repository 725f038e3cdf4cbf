package act

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Game is an environment of two players, in which somebody can look ahead: what
// follows from an action can be seen in a copy of the position. States are those of
// whoever is to move, seen from their side, and a reward is that of the one who
// moved. One turn may take several actions, such as jumps in a row.
type Game interface {
	Environment
	// Mover is who is to move, 0 or 1; 0 begins.
	Mover() int
	// Put sets up the position of a state, with that player to move.
	Put(cells []float64, mover int) error
	// Do takes an action that is known to be legal. In a copy, no dice are
	// thrown.
	Do(action int) (reward float64, end bool)
	// Fork is a copy to look ahead in; Copy becomes the position of another
	// game of the same kind.
	Fork() Game
	Copy(from Game)
	// Measures names the numbers that judge a position; Measure fills them in,
	// as one player sees them.
	Measures() []string
	Measure(player int, x []float64)
	// Material is what a player has more than the other, in pieces.
	Material(player int) float64
	// Dice reports whether chance decides what may be done.
	Dice() bool
}

// Judge says what a position is worth to the player who has moved last.
type Judge func(g Game, player int) float64

// Search looks ahead: so many turns, each player taking what is best for them, and
// what the judge says of the boards where it stops. Where Quiet is set it stops at
// no board on which the next player has only one action, as where something must be taken.
type Search struct {
	Turns int
	Quiet bool
	Judge Judge

	forks []Game
	legal [][]int
	root  []int
	good  []int // of each level, the action that was good enough last
}

// fork returns the copy of a level, which holds until the next one of that level.
func (s *Search) fork(level int, g Game) Game {
	if level == len(s.forks) {
		s.forks = append(s.forks, g.Fork())
		s.legal, s.good = append(s.legal, nil), append(s.good, -1)
	}
	s.forks[level].Copy(g)
	return s.forks[level]
}

// Values fills in what the legal actions of a position are worth to whoever is to
// move, and NaN for the others.
func (s *Search) Values(g Game, q []float64) {
	for a := range q {
		q[a] = math.NaN()
	}
	player := g.Mover()
	s.root = append(s.root[:0], g.Legal()...)
	for _, a := range s.root {
		q[a] = s.after(0, g, a, player, s.Turns, math.Inf(-1), math.Inf(1))
	}
}

// ending is how much more the end of a game counts than what a judge may say of
// boards before it; an early one counts for more than a late one.
const ending = 1000

// deepest is how many actions are looked ahead at most.
const deepest = 64

// after is what an action is worth to the player, who takes it: minimax, cut off
// where one of the players has something better (alpha and beta).
func (s *Search) after(level int, g Game, action, player, turns int, alpha, beta float64) float64 {
	next := s.fork(level, g)
	reward, end := next.Do(action)
	if end {
		return reward * (ending - float64(level))
	}
	if next.Mover() == player { // the turn goes on
		return s.best(level+1, next, player, turns, alpha, beta)
	}
	if turns == 1 {
		if !s.Quiet || level >= deepest || len(next.Legal()) > 1 {
			return s.Judge(next, player)
		}
		turns = 2
	}
	return -s.best(level+1, next, 1-player, turns-1, -beta, -alpha)
}

// best is what the best action of a position is worth. What was good enough on
// another board of its level is tried first: it often is again.
func (s *Search) best(level int, g Game, player, turns int, alpha, beta float64) float64 {
	best := math.Inf(-1)
	legal := s.actions(level, g)
	if i := slices.Index(legal, s.good[level]); i > 0 {
		copy(legal[1:], legal[:i])
		legal[0] = s.good[level]
	}
	for _, a := range legal {
		best = max(best, s.after(level, g, a, player, turns, max(alpha, best), beta))
		if best >= beta {
			s.good[level] = a
			break
		}
	}
	return best
}

// actions are the legal ones of a position, for as long as a level lasts.
func (s *Search) actions(level int, g Game) []int {
	for level >= len(s.forks) {
		s.forks = append(s.forks, g.Fork())
		s.legal, s.good = append(s.legal, nil), append(s.good, -1)
	}
	s.legal[level] = append(s.legal[level][:0], g.Legal()...)
	return s.legal[level]
}

// Best returns an action that is worth most, by lot where several are, or the first
// of them where there is no lot; −1 if none is legal. It looks at the others no
// longer than it takes to see that they are worse.
func (s *Search) Best(g Game, random *rand.Rand) int {
	player := g.Mover()
	best, most, ties := -1, math.Inf(-1), 0
	s.root = append(s.root[:0], g.Legal()...)
	for _, a := range s.root {
		switch x := s.after(0, g, a, player, s.Turns, math.Nextafter(most, math.Inf(-1)), math.Inf(1)); {
		case best < 0 || x > most:
			best, most, ties = a, x, 1
		case x == most:
			if ties++; random != nil && random.IntN(ties) == 0 {
				best = a
			}
		}
	}
	return best
}

// Player takes an action in a game.
type Player func(g Game, random *rand.Rand) int

// fixed returns a player who does not learn.
func fixed(name string, turns int, g Game) (Player, error) {
	switch name {
	case "random":
		return func(g Game, random *rand.Rand) int {
			legal := g.Legal()
			return legal[random.IntN(len(legal))]
		}, nil
	case "material":
		s := Search{Turns: turns, Judge: func(g Game, player int) float64 { return g.Material(player) }}
		if g.Dice() && turns > 1 {
			return nil, fmt.Errorf("depth=%d: behind the dice nobody looks; take depth=1", turns)
		}
		return s.Best, nil
	}
	return nil, fmt.Errorf("opponent %q is not known; expected self, random or material", name)
}

// Match is a game against somebody who does not learn: the other side moves by
// itself. Who begins is drawn by lot with each episode.
type Match struct {
	Game
	opponent Player
	you      int
	random   *rand.Rand
	end      bool
}

// against is a game in which the other side is played by somebody, or by nobody if
// it is "self".
func against(g Game, opponent string, turns int) (Environment, error) {
	if opponent == "self" {
		return g, nil
	}
	p, err := fixed(opponent, turns, g)
	return &Match{Game: g, opponent: p}, err
}

// Reset begins a game, and lets the opponent move if they begin.
func (m *Match) Reset(seed uint64) {
	m.random = begin(seed)
	m.you = m.random.IntN(2)
	m.Game.Reset(m.random.Uint64())
	m.end = false
	m.reply()
}

// reply lets the opponent move until it is your turn.
func (m *Match) reply() (reward float64) {
	for !m.end && m.Game.Mover() != m.you {
		reward, m.end = m.Game.Do(m.opponent(m.Game, m.random))
	}
	return reward
}

// Mover is you: nobody else has to choose.
func (m *Match) Mover() int { return 0 }

// Legal returns the actions that may be taken.
func (m *Match) Legal() []int {
	if m.end {
		return nil
	}
	return m.Game.Legal()
}

// Step takes an action, and the opponent's.
func (m *Match) Step(action int) (float64, bool, error) {
	reward, end, err := m.Game.Step(action)
	if m.end = end; end || err != nil {
		return reward, end, err
	}
	if lost := m.reply(); m.end {
		return -lost, true, nil
	}
	return 0, false, nil
}

// GameOf returns the game of an environment: itself, or that of a match; nil if it
// is none.
func GameOf(e Environment) Game {
	switch g := e.(type) {
	case *Match:
		return g.Game
	case Game:
		return g
	}
	return nil
}

// Opponent is who moves for the other side of an environment; nil where a policy
// plays both.
func Opponent(e Environment) Player {
	if m, ok := e.(*Match); ok {
		return m.opponent
	}
	return nil
}

// Mover is who acts after so many steps: 0, but where two take turns.
func Mover(e Environment, steps int) int {
	switch g := e.(type) {
	case Game:
		return g.Mover()
	case interface{ Alternates() bool }:
		if g.Alternates() {
			return steps % 2
		}
	}
	return 0
}

// Turns reports whether two take turns in an environment, both of whom have to
// choose.
func Turns(e Environment) bool {
	switch g := e.(type) {
	case *Match:
		return false
	case Game:
		return true
	case interface{ Alternates() bool }:
		return g.Alternates()
	}
	return false
}

// Counted is what the player who only counts counts in a game.
func Counted(g Game) string {
	if _, lines := g.(*noughts); lines {
		return "lines"
	}
	if g.Dice() {
		return "pips"
	}
	return "pieces"
}

// Rival is a match of a game against the player who counts pieces, looking two
// turns ahead, or one behind which are dice: somebody to judge a policy by.
func Rival(g Game) *Match {
	turns := 2
	if g.Dice() {
		turns = 1
	}
	p, _ := fixed("material", turns, g) // it is known
	return &Match{Game: g, opponent: p}
}
