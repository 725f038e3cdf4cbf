package act

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Solution is what the states and actions of a model are worth, in discounted
// reward, to somebody who acts as well as can be (equations 13.4 to 13.6 of
// Mitchell 1997; Bellman 1957).
type Solution struct {
	model  *Model
	Gamma  float64
	V      []float64 // of each state
	Q      []float64 // of each pair, in the order of Model's pairs
	Sweeps int       // over all states, that it took
}

// Value returns what an action in a state is worth; NaN if it is not legal.
func (s *Solution) Value(state, action int) float64 {
	if pair := s.model.pair(state, action); pair >= 0 {
		return s.Q[pair]
	}
	return math.NaN()
}

// Best returns the actions that are worth most in a state, none if it is
// absorbing. Values that differ by less than the tolerance of the solution are
// equal.
func (s *Solution) Best(state int) []int {
	var best []int
	for pair := s.model.first[state]; pair < s.model.first[state+1]; pair++ {
		if s.V[state]-s.Q[pair] <= equal*max(1, math.Abs(s.V[state])) {
			best = append(best, int(s.model.action[pair]))
		}
	}
	return best
}

// equal is how near values of one size are that count as the same.
const equal = 1e-9

// worth is what a pair comes to if states are worth v (equation 13.9).
func (m *Model) worth(pair int32, gamma float64, v []float64) (sum float64) {
	gamma = m.later(gamma)
	for o := m.outcome[pair]; o < m.outcome[pair+1]; o++ {
		worth := m.reward[o]
		if !m.end[o] {
			worth += gamma * v[m.next[o]]
		}
		sum += m.p[o] * worth
	}
	return sum
}

// look fills in what the pairs of a state are worth if states are worth v, and
// returns the most; 0 of an absorbing state.
func (m *Model) look(state int, gamma float64, v, q []float64) float64 {
	best := math.Inf(-1)
	for pair := m.first[state]; pair < m.first[state+1]; pair++ {
		q[pair] = m.worth(pair, gamma, v)
		best = max(best, q[pair])
	}
	if m.first[state] == m.first[state+1] {
		return 0
	}
	return best
}

// Ahead fills in what actions are worth in a state by what v says of the states that
// follow (equation 13.3), NaN of those that are not legal.
func (m *Model) Ahead(state int, gamma float64, v func(state int) float64, q []float64) {
	for a := range q {
		q[a] = math.NaN()
	}
	gamma = m.later(gamma)
	for pair := m.first[state]; pair < m.first[state+1]; pair++ {
		sum := 0.0
		for o := m.outcome[pair]; o < m.outcome[pair+1]; o++ {
			worth := m.reward[o]
			if next := m.next[o]; !m.end[o] && m.first[next] < m.first[next+1] {
				worth += gamma * v(int(next))
			}
			sum += m.p[o] * worth
		}
		q[m.action[pair]] = sum
	}
}

var errEndless = errors.New("values grow without bound: without a discount (gamma=1) acting must come to an end; take gamma below 1, or costs that make it end")

// endless notices that values grow without bound, sweep after sweep, where later
// rewards count as much: changes never grow, and where they do not shrink either,
// long after all states have heard of each other, they never will.
type endless struct {
	states, sweeps, check int
	change                float64
}

// after is told how much the last sweep changed.
func (e *endless) after(change float64) error {
	if e.sweeps++; e.check == 0 {
		e.check, e.change = 2*e.states+1000, math.Inf(1)
	}
	if e.sweeps < e.check {
		return nil
	}
	if change >= e.change*(1-1e-6) {
		return errEndless
	}
	e.check, e.change = 2*e.sweeps, change
	return nil
}

// ValueIteration solves a model: states are worth what the best action brings,
// sweep after sweep over all of them, until no value can be further than the
// tolerance from the truth. With gamma = 1 that is until nothing changes by it;
// where acting well never ends, that is an error.
func (m *Model) ValueIteration(ctx context.Context, gamma, tolerance float64) (*Solution, error) {
	s := &Solution{model: m, Gamma: gamma, V: make([]float64, m.States()), Q: make([]float64, len(m.action))}
	within, grows := tolerance, endless{states: m.States()}
	if gamma < 1 && gamma > 0 {
		within = tolerance * (1 - gamma) / gamma
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Sweeps++
		change, largest := 0.0, 1.0
		for state := range s.V {
			v := m.look(state, gamma, s.V, s.Q)
			change, largest = max(change, math.Abs(v-s.V[state])), max(largest, math.Abs(v))
			s.V[state] = v
		}
		if change <= within || change <= 4e-16*largest {
			break
		}
		if err := grows.after(change); gamma == 1 && err != nil {
			return nil, err
		}
	}
	for state := range s.V {
		m.look(state, gamma, s.V, s.Q)
	}
	return s, nil
}

// ShortestPaths solves a world without chance as a graph whose steps cost what they
// do not earn: the distance of a state from an end is the least that one of its steps
// costs and is left from there,
//
//	d(v) ← min over u of cost(v,u) + d(u),
//
// in as many sweeps as there are states, at most (Bellman 1958; Ford 1956). A state is
// worth minus its distance, in rewards that are not discounted; NaN if no end can be
// reached from it. A way in a circle that earns more each time is an error.
func (m *Model) ShortestPaths(ctx context.Context) (*Solution, error) {
	if !m.Certain() || m.turns {
		return nil, errors.New("shortest ways are those of a world without chance and without an opponent; take algorithm=values")
	}
	s := &Solution{model: m, Gamma: 1, V: make([]float64, m.States()), Q: make([]float64, len(m.action))}
	for state := range s.V {
		if m.first[state] < m.first[state+1] {
			s.V[state] = math.Inf(-1)
		}
	}
	for changed := true; changed; s.Sweeps++ {
		switch err := ctx.Err(); {
		case err != nil:
			return nil, err
		case s.Sweeps > m.States():
			return nil, errors.New("there is a way in a circle that earns more each time: the longer, the better, without end; take algorithm=values with gamma below 1")
		}
		changed = false
		for state, known := range s.V {
			if v := m.look(state, 1, s.V, s.Q); v > known+equal*max(1, math.Abs(v))/float64(m.States()) {
				s.V[state], changed = v, true
			}
		}
	}
	for _, values := range [][]float64{s.V, s.Q} {
		for i, x := range values {
			if math.IsInf(x, -1) {
				values[i] = math.NaN()
			}
		}
	}
	return s, nil
}

// PolicyValue returns what states are worth to somebody who takes policy[s] in
// state s, any legal action by lot where that is −1, within a tolerance (equation
// 13.1).
func (m *Model) PolicyValue(ctx context.Context, policy []int, gamma, tolerance float64) ([]float64, error) {
	all := make([]int, m.States())
	for s := range all {
		all[s] = s
	}
	return m.follow(ctx, all, policy, gamma, tolerance)
}

// Expected returns what somebody earns in an episode on average, discounted, who acts
// as PolicyValue says. States that such an episode does not come to play no part.
func (m *Model) Expected(ctx context.Context, policy []int, gamma, tolerance float64) (float64, error) {
	v, err := m.follow(ctx, m.reached(policy), policy, gamma, tolerance)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, s := range m.starts {
		sum += v[s]
	}
	return sum / float64(len(m.starts)), nil
}

// taken are the pairs of a state that somebody may take.
func (m *Model) taken(policy []int, state int) (first, after int32) {
	if pair := m.pair(state, policy[state]); pair >= 0 {
		return int32(pair), int32(pair) + 1
	}
	return m.first[state], m.first[state+1]
}

// reached are the states that may come up, the last ones that are found first: so that
// what an end brings is soon known where episodes begin.
func (m *Model) reached(policy []int) []int {
	seen := make([]bool, m.States())
	var states []int
	find := func(s int32) {
		if !seen[s] {
			seen[s] = true
			states = append(states, int(s))
		}
	}
	for _, s := range m.starts {
		find(s)
	}
	for i := 0; i < len(states); i++ {
		first, after := m.taken(policy, states[i])
		for o := m.outcome[first]; o < m.outcome[after]; o++ {
			find(m.next[o])
		}
	}
	slices.Reverse(states)
	return states
}

// follow computes what states are worth, of which none leads to others.
func (m *Model) follow(ctx context.Context, states, policy []int, gamma, tolerance float64) ([]float64, error) {
	v, grows := make([]float64, m.States()), endless{states: len(states)}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		change, largest := 0.0, 1.0
		for _, s := range states {
			first, after := m.taken(policy, s)
			sum := 0.0
			for pair := first; pair < after; pair++ {
				sum += m.worth(pair, gamma, v) / float64(after-first)
			}
			change, largest = max(change, math.Abs(sum-v[s])), max(largest, math.Abs(sum))
			v[s] = sum
		}
		if change*gamma <= tolerance*(1-min(gamma, 1-equal)) || change <= 4e-16*largest {
			return v, nil
		}
		if err := grows.after(change); gamma == 1 && err != nil {
			return nil, err
		}
	}
}

// ending is a way of acting that ends wherever one can: each state takes an action
// that may lead nearer to an end.
func (m *Model) ending() []int {
	policy, near := make([]int, m.States()), make([]bool, m.States())
	for state := range policy {
		policy[state] = -1
		if near[state] = m.first[state] == m.first[state+1]; !near[state] {
			policy[state] = int(m.action[m.first[state]])
		}
	}
	for changed := true; changed; {
		changed = false
		for state := range policy {
			for pair := m.first[state]; pair < m.first[state+1] && !near[state]; pair++ {
				for o := m.outcome[pair]; o < m.outcome[pair+1] && !near[state]; o++ {
					if m.p[o] > 0 && (m.end[o] || near[m.next[o]]) {
						policy[state], near[state], changed = int(m.action[pair]), true, true
					}
				}
			}
		}
	}
	return policy
}

// PolicyIteration solves a model by improving a way of acting until no state has
// a better action than its own (Howard 1960).
func (m *Model) PolicyIteration(ctx context.Context, gamma, tolerance float64) (*Solution, error) {
	s := &Solution{model: m, Gamma: gamma, Q: make([]float64, len(m.action))}
	policy := m.ending()
	for {
		v, err := m.PolicyValue(ctx, policy, gamma, tolerance)
		if err != nil {
			return nil, err
		}
		s.V = v
		s.Sweeps++
		stable := true
		for state := range policy {
			best := m.look(state, gamma, v, s.Q)
			if policy[state] < 0 || best-s.Q[m.pair(state, policy[state])] <= equal*max(1, math.Abs(best)) {
				continue
			}
			stable = false
			for pair := m.first[state]; pair < m.first[state+1]; pair++ {
				if s.Q[pair] == best {
					policy[state] = int(m.action[pair])
					break
				}
			}
		}
		if stable {
			return s, nil
		}
	}
}
