package act

import (
	"context"
	"math"
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

// look fills in what the pairs of a state are worth if states are worth v, and
// returns the most; 0 of an absorbing state.
func (m *Model) look(state int, gamma float64, v, q []float64) float64 {
	best, gamma := math.Inf(-1), m.later(gamma)
	for pair := m.first[state]; pair < m.first[state+1]; pair++ {
		sum := 0.0
		for o := m.outcome[pair]; o < m.outcome[pair+1]; o++ {
			worth := m.reward[o]
			if !m.end[o] {
				worth += gamma * v[m.next[o]]
			}
			sum += m.p[o] * worth
		}
		q[pair] = sum
		best = max(best, sum)
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

// ValueIteration solves a model: states are worth what the best action brings,
// sweep after sweep over all of them, until no value can be further than the
// tolerance from the truth. With gamma = 1 that is until nothing changes by it,
// and every way of acting must end.
func (m *Model) ValueIteration(ctx context.Context, gamma, tolerance float64) (*Solution, error) {
	s := &Solution{model: m, Gamma: gamma, V: make([]float64, m.States()), Q: make([]float64, len(m.action))}
	within := tolerance
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
	}
	for state := range s.V {
		m.look(state, gamma, s.V, s.Q)
	}
	return s, nil
}

// PolicyValue returns what states are worth to somebody who takes policy[s] in
// state s, within a tolerance (equation 13.1).
func (m *Model) PolicyValue(ctx context.Context, policy []int, gamma, tolerance float64) ([]float64, error) {
	pairs := make([]int, m.States())
	for s := range pairs {
		pairs[s] = m.pair(s, policy[s])
	}
	v := make([]float64, m.States())
	later := m.later(gamma)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		change, largest := 0.0, 1.0
		for s, pair := range pairs {
			if pair < 0 {
				continue
			}
			sum := 0.0
			for o := m.outcome[pair]; o < m.outcome[pair+1]; o++ {
				worth := m.reward[o]
				if !m.end[o] {
					worth += later * v[m.next[o]]
				}
				sum += m.p[o] * worth
			}
			change, largest = max(change, math.Abs(sum-v[s])), max(largest, math.Abs(sum))
			v[s] = sum
		}
		if change*gamma <= tolerance*(1-min(gamma, 1-equal)) || change <= 4e-16*largest {
			return v, nil
		}
	}
}

// PolicyIteration solves a model by improving a way of acting until no state has
// a better action than its own (Howard 1960).
func (m *Model) PolicyIteration(ctx context.Context, gamma, tolerance float64) (*Solution, error) {
	s := &Solution{model: m, Gamma: gamma, Q: make([]float64, len(m.action))}
	policy := make([]int, m.States())
	for state := range policy {
		policy[state] = -1
		if m.first[state] < m.first[state+1] {
			policy[state] = int(m.action[m.first[state]])
		}
	}
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
