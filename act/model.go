package act

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Model is a Markov decision process with finitely many states, all of whose
// transitions are known. States without legal actions are absorbing. A Model is
// immutable; Environment returns a place to act in it.
type Model struct {
	schema  *table.Schema
	actions []string
	cells   []float64 // of each state, column by column
	starts  []int32   // where episodes begin, each as probable as the others; some are there several times

	// Legal pairs of a state s are first[s] to first[s+1]; the outcomes of a
	// pair are outcome[pair] to outcome[pair+1].
	first   []int32
	action  []int32
	outcome []int32
	p       []float64 // their probabilities, which add up to 1 for a pair
	next    []int32
	reward  []float64
	end     []bool

	sketch []string // of a map
	turns  bool     // two players take turns: what is won next is lost
}

// Alternates reports whether two players take turns in the world, each reward being
// that of the one who moves: a state is worth to the one what it costs the other.
func (m *Model) Alternates() bool { return m.turns }

// later is what a state that follows counts for.
func (m *Model) later(gamma float64) float64 {
	if m.turns {
		return -gamma
	}
	return gamma
}

// Outcome is what may follow from an action in a state of type S.
type Outcome[S any] struct {
	P      float64
	Next   S
	Reward float64
	End    bool
}

// rules are those of a world whose states are of type S: what Build numbers.
type rules[S comparable] struct {
	schema  *table.Schema
	actions []string
	starts  []S
	cells   func(s S, cells []float64)
	legal   func(s S) []int
	act     func(s S, action int) []Outcome[S]
	turns   bool
}

// most is how many states a model may have.
const most = 1 << 22

// build numbers the states that can be reached, in the order in which they are
// found, and writes down all transitions.
func (r rules[S]) build() (*Model, error) {
	m := &Model{schema: r.schema, actions: r.actions, turns: r.turns, first: []int32{0}, outcome: []int32{0}}
	number := map[S]int32{}
	var states []S
	find := func(s S) int32 {
		n, known := number[s]
		if !known {
			n = int32(len(states))
			number[s] = n
			states = append(states, s)
		}
		return n
	}
	for _, s := range r.starts {
		m.starts = append(m.starts, find(s))
	}
	cells := make([]float64, len(r.schema.Attributes))
	for at := 0; at < len(states); at++ {
		if at > most {
			return nil, fmt.Errorf("the world has more than %d states; make it smaller", most)
		}
		s := states[at]
		r.cells(s, cells)
		m.cells = append(m.cells, cells...)
		for _, a := range r.legal(s) {
			m.action = append(m.action, int32(a))
			for _, o := range r.act(s, a) {
				if o.P == 0 {
					continue
				}
				m.p, m.reward, m.end = append(m.p, o.P), append(m.reward, o.Reward), append(m.end, o.End)
				m.next = append(m.next, find(o.Next))
			}
			m.outcome = append(m.outcome, int32(len(m.p)))
		}
		m.first = append(m.first, int32(len(m.action)))
	}
	return m, nil
}

// States is the number of states.
func (m *Model) States() int { return len(m.first) - 1 }

// Schema describes states.
func (m *Model) Schema() *table.Schema { return m.schema }

// Actions names all actions.
func (m *Model) Actions() []string { return m.actions }

// Cells fills in the cells of a state.
func (m *Model) Cells(state int, cells []float64) {
	d := len(m.schema.Attributes)
	copy(cells, m.cells[state*d:(state+1)*d])
}

// Find returns the state with these cells, −1 if there is none.
func (m *Model) Find(cells []float64) int {
	d := len(m.schema.Attributes)
	for s := range m.States() {
		if slices.Equal(m.cells[s*d:(s+1)*d], cells) {
			return s
		}
	}
	return -1
}

// Legal returns the actions of a state.
func (m *Model) Legal(state int) []int {
	legal := make([]int, 0, len(m.actions))
	for pair := m.first[state]; pair < m.first[state+1]; pair++ {
		legal = append(legal, int(m.action[pair]))
	}
	return legal
}

// pair returns where the transitions of a legal action are, −1 if it is not
// legal.
func (m *Model) pair(state, action int) int {
	for pair := m.first[state]; pair < m.first[state+1]; pair++ {
		if int(m.action[pair]) == action {
			return int(pair)
		}
	}
	return -1
}

// Outcomes returns what may follow from a legal action, none if it is not legal.
func (m *Model) Outcomes(state, action int) []Outcome[int] {
	pair := m.pair(state, action)
	if pair < 0 {
		return nil
	}
	var out []Outcome[int]
	for o := m.outcome[pair]; o < m.outcome[pair+1]; o++ {
		out = append(out, Outcome[int]{m.p[o], int(m.next[o]), m.reward[o], m.end[o]})
	}
	return out
}

// Place is somebody who acts in a model.
type Place struct {
	*Model
	at     int32
	ended  bool
	random *rand.Rand
	legal  []int
}

var _ Environment = (*Place)(nil)

// Environment returns a place in the model.
func (m *Model) Environment() *Place { return &Place{Model: m, ended: true} }

// Reset begins at one of the starts.
func (p *Place) Reset(seed uint64) {
	p.random = begin(seed)
	p.at, p.ended = p.starts[p.random.IntN(len(p.starts))], false
}

// At is the present state's number.
func (p *Place) At() int { return int(p.at) }

// State fills in the cells of the present state.
func (p *Place) State(cells []float64) { p.Cells(int(p.at), cells) }

// Legal returns the actions of the present state.
func (p *Place) Legal() []int {
	p.legal = p.legal[:0]
	if p.ended {
		return p.legal
	}
	for pair := p.first[p.at]; pair < p.first[p.at+1]; pair++ {
		p.legal = append(p.legal, int(p.action[pair]))
	}
	return p.legal
}

// Step takes a legal action.
func (p *Place) Step(action int) (reward float64, end bool, err error) {
	pair := p.pair(int(p.at), action)
	if p.ended || pair < 0 {
		return 0, false, fmt.Errorf("action %d is not legal here; legal are %v", action, p.Legal())
	}
	from, to := p.outcome[pair], p.outcome[pair+1]
	if to-from > 1 {
		for x := p.random.Float64(); from < to-1 && x >= p.p[from]; from++ {
			x -= p.p[from]
		}
	}
	p.at = p.next[from]
	p.ended = p.end[from] || p.first[p.at] == p.first[p.at+1]
	return p.reward[from], p.ended, nil
}

// Certain reports whether no action depends on chance.
func (m *Model) Certain() bool { return len(m.p) == len(m.action) }

// Sketch is the map of a world that has one, line by line: # is a wall, G a goal,
// H a hole; nil of others.
func (m *Model) Sketch() []string { return m.sketch }

// Starts are the states in which episodes begin, each as probable as the others; one
// that is more probable is there several times.
func (m *Model) Starts() []int {
	starts := make([]int, len(m.starts))
	for i, s := range m.starts {
		starts[i] = int(s)
	}
	return starts
}
