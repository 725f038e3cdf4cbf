package policy

import "math"

// The actor and the critic learn apart (Barto, Sutton and Anderson 1983): the
// critic what states are worth, by the errors of its own predictions, and the actor
// by the same errors which actions to prefer. What stands in the table of an actor
// are preferences, from which actions are drawn by e to their power; they say what
// to do, not what it is worth. R-learning (Schwartz 1993) values actions by how
// much more than the average they earn a step, for tasks without an end.

// criticise learns a step with an actor and a critic.
func (t *trainer) criticise(m *move) {
	t.grow()
	v := t.v.base
	ahead := 0.0
	if m.next >= 0 {
		ahead = v[m.next]
	}
	surprise := m.r + t.Gamma*ahead - v[m.s]
	at := int(m.s)*t.v.actions + int(m.a)
	t.v.visits[at]++
	alpha := t.step(t.v.visits[at])
	v[m.s] += alpha * surprise
	q := t.v.of(m.s)
	powers(q, 1, t.hoped)
	for b := range q {
		switch {
		case math.IsNaN(q[b]):
		case b == int(m.a):
			q[b] += t.Actor * surprise * (1 - t.hoped[b])
		default:
			q[b] -= t.Actor * surprise * t.hoped[b]
		}
		q[b] = min(max(q[b], -steepest), steepest) // NaN stays
	}
}

// steepest is how large a preference may be: e to its power is a number.
const steepest = 300

// grow gives states that are new a value.
func (t *trainer) grow() {
	for len(t.v.base) < t.v.states() {
		t.v.base = append(t.v.base, t.Start)
	}
}

// average learns a step relative to the average reward, which is learnt from the
// steps on which the best action was taken.
func (t *trainer) average(m *move) {
	best := t.v.best(m.s)
	at := int(m.s)*t.v.actions + int(m.a)
	greedy := t.v.q[at] == best
	if m.next < 0 {
		return // what follows an end says nothing of the average
	}
	ahead := t.v.best(m.next)
	t.v.visits[at]++
	t.v.q[at] += t.step(t.v.visits[at]) * (m.r - t.v.rho + ahead - t.v.q[at])
	if greedy {
		t.v.rho += 0.01 * (m.r - t.v.rho + ahead - t.v.best(m.s))
	}
}
