package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// climber learns weights by acting: what is expected of a step, less what was
// believed, moves the weights of what the states so far had, the later ones more
// (Sarsa(λ) and Q(λ) with replacing traces: Sutton 1996; Watkins 1989). Steps can
// also be learnt at the end of an episode and again later, as those of a table are:
// see passages.go. There is no promise that it converges (Baird 1995).
type climber struct {
	*settings
	e      act.Environment
	f      *weighted
	alpha  float64
	pcg    rand.PCG
	random *rand.Rand
	chance trainer // explores by values
	earned float64

	cells      []float64
	at, nextAt []int32
	much, more []float64
	q, nextQ   []float64
	trace      []float64 // of each weight, and behind them of each of a critic
	marked     []bool    // those that are traced
	traced     []int32

	path   []passage // of this episode, where they are learnt at its end
	memory memory
}

func newClimber(s *settings, e act.Environment, f *weighted) (*climber, error) {
	r, err := s.rate(false)
	if err != nil {
		return nil, err
	}
	c := &climber{settings: s, e: e, f: f, alpha: r.constant}
	if r.constant == 0 {
		if c.alpha = 0.1; f.tiles {
			c.alpha = 0.3
		}
	}
	c.random = rand.New(&c.pcg)
	c.chance = trainer{settings: s, random: c.random, hoped: make([]float64, f.actions), v: newLookup(0, f.actions)}
	if c.chance.shown, err = s.shownTo(e.Actions()); err != nil {
		return nil, err
	}
	c.cells, c.q, c.nextQ = make([]float64, len(f.low)), make([]float64, f.actions), make([]float64, f.actions)
	c.trace, c.marked = make([]float64, len(f.w)+len(f.base)), make([]bool, len(f.w)+len(f.base))
	return c, nil
}

// choose takes an action by what all are worth, mostly the best known.
func (c *climber) choose(at []int32, q []float64) int {
	if a, ok := c.chance.shown.next(q); ok {
		return a
	}
	switch {
	case c.Algorithm == "actorcritic":
		powers(q, 1, c.chance.hoped)
		return int(c.chance.drawn(c.chance.hoped))
	case c.Explore == "ucb":
		c.f.hope(at, q, c.Bound*c.calm(c.chance.number), c.chance.hoped)
		return int(c.chance.greedy(c.chance.hoped))
	}
	return int(c.chance.try(q))
}

// look fills in the features and values of the present state; actions that are
// not legal are worth NaN.
func (c *climber) look(at []int32, much []float64, q []float64) ([]int32, []float64, error) {
	if failed, ok := c.e.(interface{ Err() error }); ok && failed.Err() != nil {
		return at, much, failed.Err()
	}
	c.e.State(c.cells)
	at, much = c.f.of(c.cells, at, much)
	for a := range q {
		q[a] = math.NaN()
	}
	legal := c.e.Legal()
	for _, a := range legal {
		if a < 0 || a >= len(q) {
			return at, much, unexpected(a)
		}
		q[a] = c.f.value(a, at, much)
	}
	return at, much, nil
}

// unexpected is an action that came too late.
func unexpected(action int) error {
	return fmt.Errorf("action %d was not known when learning began; show all actions in the first states", action+1)
}

// episode acts until the end.
func (c *climber) episode(ctx context.Context, seed uint64, number int) (steps int, err error) {
	c.pcg.Seed(seed, uint64(number))
	c.e.Reset(c.pcg.Uint64())
	c.chance.number, c.earned = number, 0
	c.chance.shown.begin(number)
	c.forget()
	if c.at, c.much, err = c.look(c.at, c.much, c.q); err != nil {
		return 0, err
	}
	if len(c.e.Legal()) == 0 {
		return 0, errors.New("no action is legal, and the episode has not ended")
	}
	a := c.choose(c.at, c.q)
	for weight := 1.0; ; weight *= c.Gamma {
		if err := c.chance.shown.err(); err != nil {
			return steps, err
		}
		r, end, err := c.e.Step(a)
		if err != nil {
			return steps, err
		}
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return steps, fmt.Errorf("the reward is %v; expected a number", r)
		}
		c.earned += weight * r
		steps++
		p := passage{action: a, then: -1, reward: r, ends: end, cut: end && cut(c.e), first: steps == 1}
		if end && c.Algorithm == "rlearning" { // what follows an end is the next beginning
			var next rand.PCG
			next.Seed(seed, uint64(number+1))
			c.e.Reset(next.Uint64())
		}
		if !end || c.Algorithm == "rlearning" {
			if c.nextAt, c.more, err = c.look(c.nextAt, c.more, c.nextQ); err != nil {
				return steps, err
			}
		}
		if !end {
			p.then = c.choose(c.nextAt, c.nextQ)
		}
		c.take(&p)
		if end || steps >= c.Limit {
			c.review()
			return steps, nil
		}
		if steps%1024 == 0 && ctx.Err() != nil {
			return steps, ctx.Err()
		}
		c.at, c.nextAt, c.much, c.more = c.nextAt, c.at, c.more, c.much
		for b := range c.q { // weights have moved
			if c.q[b] = math.NaN(); !math.IsNaN(c.nextQ[b]) {
				c.q[b] = c.f.value(b, c.at, c.much)
			}
		}
		a = p.then
	}
}

// take learns a step, or keeps it until it is learnt.
func (c *climber) take(p *passage) {
	c.f.visit(p.action, c.at)
	switch {
	case c.Algorithm == "actorcritic":
		c.criticise(p)
	case c.Algorithm == "rlearning":
		c.average(p)
	case c.Algorithm == "dyna" || c.Algorithm == "sweeping":
		c.keep(p)
		c.plan()
	case c.late():
		c.keep(p)
	default:
		if c.online(p); c.Replay > 0 {
			c.keep(p)
		}
	}
}

// online learns a step as it was taken.
func (c *climber) online(p *passage) {
	believed := c.q[p.action]
	switch {
	case p.ends:
		c.mark(p.action)
		target := p.reward
		if p.cut { // what would have followed is worth about as much as this
			target += c.Gamma * believed
		}
		c.learn(target - believed)
	default:
		best := int(c.chance.greedy(c.nextQ))
		ahead := c.nextQ[best]
		if c.Algorithm == "sarsa" {
			ahead = c.nextQ[p.then]
		}
		if c.Gradient == "residual" {
			if c.Algorithm == "sarsa" {
				best = p.then
			}
			c.descend(p.action, c.at, c.much, best, c.nextAt, c.more, p.reward+c.Gamma*ahead-believed)
			return
		}
		c.mark(p.action)
		c.learn(p.reward + c.Gamma*ahead - believed)
		if c.Lambda == 0 || c.Algorithm != "sarsa" && c.nextQ[p.then] < c.nextQ[best] {
			c.forget()
		} else {
			c.fade()
		}
	}
}

// mark begins the traces of what the present state has, for the action taken.
func (c *climber) mark(action int) {
	for i, k := range c.at {
		at := int32(action*c.f.features) + k
		if c.follow(at); c.f.tiles {
			c.trace[at] = 1
		} else {
			c.trace[at] += c.much[i]
		}
	}
}

// follow puts a weight among those that are traced.
func (c *climber) follow(at int32) {
	if !c.marked[at] {
		c.marked[at] = true
		c.traced = append(c.traced, at)
	}
}

// learn moves the weights that are traced. Steps are relative to how much there is
// of the features.
func (c *climber) learn(surprise float64) {
	d := c.alpha * surprise / amount(c.much)
	for _, at := range c.traced {
		c.f.w[at] += d * c.trace[at]
	}
}

// amount is how much there is of features, 1 at least.
func amount(much []float64) float64 {
	norm := 0.0
	for _, x := range much {
		norm += x * x
	}
	return max(norm, 1)
}

// Descent is how far the weights of what was believed move, and those of what is
// expected next, by a surprise δ = r + γ·Q(s',a') − Q(s,a): along the gradient of the
// first alone, or along that of δ² (Baird 1995), which does not diverge.
func Descent(surprise, rate, gamma float64, residual bool) (here, next float64) {
	if !residual {
		return rate * surprise, 0
	}
	return rate * surprise, -rate * surprise * gamma
}

// descend moves the weights of two states along the whole gradient.
func (c *climber) descend(action int, at []int32, much []float64, then int, nextAt []int32, more []float64, surprise float64) {
	norm := 0.0
	for _, x := range much {
		norm += x * x
	}
	for _, x := range more {
		norm += c.Gamma * c.Gamma * x * x
	}
	here, next := Descent(surprise, c.alpha/max(norm, 1), c.Gamma, true)
	for i, k := range at {
		c.f.w[action*c.f.features+int(k)] += here * much[i]
	}
	for i, k := range nextAt {
		c.f.w[then*c.f.features+int(k)] += next * more[i]
	}
}

// fade lets traces fall by γλ; forget ends them.
func (c *climber) fade() {
	kept := c.traced[:0]
	for _, at := range c.traced {
		if c.trace[at] *= c.Gamma * c.Lambda; math.Abs(c.trace[at]) > 1e-3 {
			kept = append(kept, at)
			continue
		}
		c.trace[at], c.marked[at] = 0, false
	}
	c.traced = kept
}

func (c *climber) forget() {
	for _, at := range c.traced {
		c.trace[at], c.marked[at] = 0, false
	}
	c.traced = c.traced[:0]
}

var errBound = errors.New("values grow without bound; take a smaller alpha, or another gamma")

// finite reports whether all weights are numbers.
func (f *weighted) finite() bool {
	for _, x := range slices.Concat(f.w, f.base, []float64{f.rho}) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// climbed returns the model after more episodes of learning weights.
func (m *Model) climbed(ctx context.Context, e act.Environment) (*Model, error) {
	f := m.values.(*weighted).clone()
	m.values = f
	c, err := newClimber(&m.lesson.Settings, e, f)
	if err != nil {
		return nil, err
	}
	episodes := m.lesson.Settings.Episodes
	heeding, release := enough.Heed(ctx, 0)
	defer release()
	for n := range episodes {
		steps, err := 0, error(nil)
		if n%16 == 0 {
			err = heeding.Err()
			learn.Report(ctx, float64(n)/float64(episodes+1))
		}
		if err == nil {
			steps, err = c.episode(heeding, m.lesson.Seed, m.acted.Episodes)
		}
		if err == nil {
			for _, x := range [2]float64{c.q[0], c.earned} {
				if math.IsInf(x, 0) {
					err = errBound
				}
			}
		}
		if err != nil {
			err = fmt.Errorf("episode %d, step %d: %w", m.acted.Episodes+1, steps+1, err)
			if n > 0 && ctx.Err() == nil && f.finite() { // what was learnt before is worth keeping
				return nil, &Stopped{err, m}
			}
			return nil, err
		}
		m.acted.Episodes++
		m.acted.Steps += steps
		m.acted.Curve.add(c.earned)
	}
	if !f.finite() {
		return nil, errBound
	}
	if m.schema, err = schemaOf(e); err != nil {
		return nil, err
	}
	if err = m.look(ctx, e); err != nil && ctx.Err() == nil {
		return nil, &Stopped{err, m}
	}
	learn.Report(ctx, 1)
	return m, err
}

// shown is in how many episodes the states are met that rules speak of.
const shown = 10

// look acts as the policy does, and learns a tree of what it does, to be read.
func (m *Model) look(ctx context.Context, e act.Environment) error {
	q := make([]float64, len(m.actions()))
	log, err := act.Log(ctx, e, shown, 500, m.lesson.Seed, func(cells []float64, legal []int) (int, error) {
		m.values.worth(cells, q)
		best := legal[0]
		for _, a := range legal {
			if q[a] > q[best] {
				best = a
			}
		}
		return best, nil
	})
	if err != nil {
		return err
	}
	columns := make([]int, len(m.state))
	for i := range columns {
		columns[i] = i
	}
	states := log.Project(columns)
	states.Schema = &table.Schema{Attributes: states.Schema.Attributes}
	states.Sequence, states.SequenceNames = nil, nil
	return m.summarise(ctx, states, nil)
}
