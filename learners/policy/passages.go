package policy

import (
	"math"
	"slices"
)

// Steps of sums of weights are learnt as those of a table are, also at the end of an
// episode, by sums of n steps or from the last to the first, and again later. What
// was seen of the world are the steps themselves, of which the last so many are kept:
// Dyna draws them by lot, prioritised sweeping begins where values are furthest off
// and goes on with the step that led there (with sums: Sutton, Szepesvári, Geramifard
// and Bowling 2008). Who goes on acting later begins with none.

// mostPassages is how many steps are kept.
const mostPassages = 50_000

// passage is a step that was taken, by what its states have.
type passage struct {
	at, nextAt   []int32
	much, more   []float64
	action, then int   // then is what was done next, −1 at the end
	legal        []int // in the state that it led to
	reward       float64
	ends, cut    bool
	first        bool // of its episode
	number       int  // of all steps
}

// memory is the steps that are kept, in a ring.
type memory struct {
	steps []passage
	seen  int
	waits
}

func (m *memory) add(p passage) {
	if p.number = m.seen; len(m.steps) < mostPassages {
		m.steps = append(m.steps, p)
	} else {
		m.steps[m.seen%mostPassages] = p
	}
	m.seen++
}

// before is where the step is kept that led to one, −1 if nowhere.
func (m *memory) before(p *passage) int {
	at := (p.number - 1) % mostPassages
	if p.first || m.steps[at].number != p.number-1 {
		return -1
	}
	return at
}

// keep keeps a step to be learnt later.
func (c *climber) keep(p *passage) {
	p.at, p.much = slices.Clone(c.at), slices.Clone(c.much)
	if !p.ends {
		p.nextAt, p.more = slices.Clone(c.nextAt), slices.Clone(c.more)
		for a, x := range c.nextQ {
			if x == x {
				p.legal = append(p.legal, a)
			}
		}
	}
	if c.late() {
		c.path = append(c.path, *p)
	}
	if c.Replay > 0 || c.Algorithm == "dyna" || c.Algorithm == "sweeping" {
		c.memory.add(*p)
	}
}

// late reports whether steps are learnt at the end of an episode.
func (c *climber) late() bool { return c.N > 1 || c.Order == "reverse" }

// ahead is what is believed of the state that a step led to, and by which action.
func (c *climber) ahead(p *passage) (worth float64, action int) {
	switch {
	case p.cut: // what would have followed is worth about as much as this
		return c.f.value(p.action, p.at, p.much), -1
	case p.ends:
		return 0, -1
	case c.Algorithm == "sarsa":
		return c.f.value(p.then, p.nextAt, p.more), p.then
	}
	worth = math.Inf(-1)
	for _, a := range p.legal {
		if x := c.f.value(a, p.nextAt, p.more); x > worth {
			worth, action = x, a
		}
	}
	return worth, action
}

// surprise is what a step came to, by what is believed now, less what its action is
// believed to be worth.
func (c *climber) surprise(p *passage) float64 {
	ahead, _ := c.ahead(p)
	return p.reward + c.Gamma*ahead - c.f.value(p.action, p.at, p.much)
}

// relearn learns a step by what is believed now.
func (c *climber) relearn(p *passage) {
	if surprise := c.surprise(p); c.Gradient == "residual" && !p.ends {
		_, best := c.ahead(p)
		c.descend(p.action, p.at, p.much, best, p.nextAt, p.more, surprise)
	} else {
		c.move(p, surprise)
	}
}

// move moves the weights of what a step's state has.
func (c *climber) move(p *passage, surprise float64) {
	d := c.alpha * surprise / amount(p.much)
	for i, k := range p.at {
		c.f.w[p.action*c.f.features+int(k)] += d * p.much[i]
	}
}

// plan learns the step that was kept last, and then others again: by lot, or those
// whose values are furthest off, beginning with the one that led there.
func (c *climber) plan() {
	m := &c.memory
	at := (m.seen - 1) % mostPassages
	c.relearn(&m.steps[at])
	if c.Algorithm == "dyna" {
		for range c.Planning {
			c.relearn(&m.steps[c.random.IntN(len(m.steps))])
		}
		return
	}
	for range c.Planning {
		if before := m.before(&m.steps[at]); before >= 0 {
			m.push(pair{int32(before), 0}, math.Abs(c.surprise(&m.steps[before])))
		}
		next, ok := m.pop()
		if !ok {
			return
		}
		at = int(next.s)
		c.relearn(&m.steps[at])
	}
}

// review learns the steps of an episode at its end, and others again.
func (c *climber) review() {
	n := len(c.path)
	if c.Order == "reverse" && c.Lambda == 0 && c.N == 1 {
		for i := n - 1; i >= 0; i-- {
			c.relearn(&c.path[i])
		}
	} else {
		targets := make([]float64, n)
		c.returns(targets, 1, func(i int) float64 { return c.path[i].reward }, func(i int) float64 {
			ahead, _ := c.ahead(&c.path[i])
			return ahead
		})
		for i := range targets {
			if c.Order == "reverse" {
				i = n - 1 - i
			}
			p := &c.path[i]
			c.move(p, targets[i]-c.f.value(p.action, p.at, p.much))
		}
	}
	c.path = c.path[:0]
	for range min(c.Replay, c.Replay*len(c.memory.steps)) {
		c.relearn(&c.memory.steps[c.random.IntN(len(c.memory.steps))])
	}
}
