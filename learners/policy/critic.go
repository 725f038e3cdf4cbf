package policy

// The actor and the critic learn apart (Barto, Sutton and Anderson 1983): the
// critic what states are worth, by the errors of its own predictions, and the actor
// by the same errors which actions to prefer. With λ both learn of the states and
// actions before, by traces that fall by γλ a step. What stands in the table of an
// actor are preferences, from which actions are drawn by e to their power; they say
// what to do, not what it is worth. R-learning (Schwartz 1993) values actions by how
// much more than the average they earn a step; what follows an end is the state in
// which the next episode begins.

// criticise learns a step with an actor and a critic:
//
//	δ = r + γ·V(s') − V(s),  e(s) ← e(s) + 1,  V ← V + α·δ·e
//	e(s,b) ← e(s,b) + [b = a] − P(b|s),  preferences ← preferences + η·δ·e(s,b)
func (t *trainer) criticise(m *move) {
	t.grow()
	v, n := t.v.base, t.v.actions
	surprise := m.r - v[m.s]
	if m.next >= 0 {
		surprise += t.Gamma * t.turn * v[m.next]
	}
	for len(t.trace) < len(v) {
		t.trace = append(t.trace, 0)
	}
	for len(t.leaning) < n*len(v) {
		t.leaning = append(t.leaning, 0)
	}
	if t.trace[m.s] == 0 {
		t.traced = append(t.traced, m.s)
	}
	t.trace[m.s]++
	at := int(m.s) * n
	t.v.visits[at+int(m.a)]++
	powers(t.v.of(m.s), 1, t.hoped)
	for b, p := range t.hoped {
		t.leaning[at+b] -= p
	}
	t.leaning[at+int(m.a)]++
	alpha, fade := t.step(t.v.visits[at+int(m.a)]), t.turn*t.Gamma*t.Lambda
	for _, s := range t.traced {
		v[s] += alpha * surprise * t.trace[s]
		q, lean := t.v.of(s), t.leaning[int(s)*n:][:n]
		for b := range q { // NaN stays
			q[b] = min(max(q[b]+t.Actor*surprise*lean[b], -steepest), steepest)
			lean[b] *= fade
		}
	}
	t.fade(fade)
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
	ahead := t.v.best(m.next)
	t.v.visits[at]++
	t.v.q[at] += t.step(t.v.visits[at]) * (m.r - t.v.rho + ahead - t.v.q[at])
	if greedy {
		t.v.rho += 0.01 * (m.r - t.v.rho + ahead - t.v.best(m.s))
	}
}
