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

// criticise is the same for sums of weights: the critic's are of what states have,
// the actor's also of the action.
func (c *climber) criticise(p *passage) {
	v := weigh(c.f.base, c.at, c.much)
	surprise := p.reward - v
	switch {
	case p.cut: // what would have followed is worth about as much as this
		surprise += c.Gamma * v
	case !p.ends:
		surprise += c.Gamma * weigh(c.f.base, c.nextAt, c.more)
	}
	likely, critic := c.chance.hoped, int32(len(c.f.w))
	powers(c.q, 1, likely)
	likely[p.action]--
	for i, k := range c.at {
		if c.follow(critic + k); c.f.tiles {
			c.trace[critic+k] = 1
		} else {
			c.trace[critic+k] += c.much[i]
		}
		for a, x := range likely {
			if x != 0 {
				at := int32(a*c.f.features) + k
				c.follow(at)
				c.trace[at] -= x * c.much[i]
			}
		}
	}
	d := surprise / amount(c.much)
	for _, at := range c.traced {
		if at >= critic {
			c.f.base[at-critic] += c.alpha * d * c.trace[at]
		} else {
			c.f.w[at] = min(max(c.f.w[at]+c.Actor*d*c.trace[at], -steepest), steepest)
		}
	}
	c.fade()
}

// average is R-learning for sums of weights.
func (c *climber) average(p *passage) {
	greedy, ahead := c.q[p.action] == highest(c.q), highest(c.nextQ)
	p.at, p.much = c.at, c.much
	c.move(p, p.reward-c.f.rho+ahead-c.q[p.action])
	if greedy {
		c.q[p.action] = c.f.value(p.action, c.at, c.much)
		c.f.rho += 0.01 * (p.reward - c.f.rho + ahead - highest(c.q))
	}
}
