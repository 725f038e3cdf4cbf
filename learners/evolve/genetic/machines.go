package genetic

import (
	"math/rand/v2"
	"slices"
)

// Machine is a finite-state machine over two symbols (Mealy 1955), the hypotheses
// of evolutionary programming (Fogel, Owens and Walsh 1966): in a state, a symbol
// makes it say another one and go to a next state.
type Machine struct {
	Start  int
	States []State
}

// State is what a machine says and where it goes, by the symbol that it reads.
type State struct {
	Say  [2]byte
	Next [2]int
}

// Predicts counts the symbols of a string that a machine says right, each on
// reading the one before it.
func (m Machine) Predicts(symbols Bits) (right int) {
	at := m.Start
	for i := range len(symbols) - 1 {
		s := &m.States[at]
		if s.Say[symbols[i]] == symbols[i+1] {
			right++
		}
		at = s.Next[symbols[i]]
	}
	return right
}

// MachineSpecies are machines of so many states at most that predict a string. A
// mutant says another symbol, goes to another state, begins in another one, or has a
// state more or less: the five mutations of the source.
func MachineSpecies(symbols Bits, most int) Species[Machine] {
	state := func(r *rand.Rand, states int) State {
		return State{[2]byte{byte(r.IntN(2)), byte(r.IntN(2))}, [2]int{r.IntN(states), r.IntN(states)}}
	}
	return Species[Machine]{
		Random: func(r *rand.Rand) Machine {
			n := 1 + r.IntN(most)
			m := Machine{Start: r.IntN(n)}
			for range n {
				m.States = append(m.States, state(r, n))
			}
			return m
		},
		Fitness: func(m Machine) float64 { return float64(m.Predicts(symbols)) },
		Mutate: func(r *rand.Rand, m Machine) Machine {
			m.States = slices.Clone(m.States)
			n := len(m.States)
			at, symbol := r.IntN(n), r.IntN(2)
			switch r.IntN(5) {
			case 0:
				m.States[at].Say[symbol] ^= 1
			case 1:
				m.States[at].Next[symbol] = r.IntN(n)
			case 2:
				m.Start = r.IntN(n)
			case 3:
				if n < most {
					m.States = append(m.States, state(r, n+1))
					m.States[at].Next[symbol] = n // somebody goes there
				}
			default:
				if n > 1 {
					m = m.without(at)
				}
			}
			return m
		},
	}
}

// without takes a state away; who went there goes to the first one.
func (m Machine) without(at int) Machine {
	m.States = slices.Delete(m.States, at, at+1)
	to := func(state int) int {
		switch {
		case state == at:
			return 0
		case state > at:
			return state - 1
		}
		return state
	}
	m.Start = to(m.Start)
	for i := range m.States {
		s := &m.States[i]
		s.Next = [2]int{to(s.Next[0]), to(s.Next[1])}
	}
	return m
}
