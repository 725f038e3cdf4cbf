package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// batches is in how many parts a learner of numbers learns by acting: it acts, fits
// values to all steps so far, and acts by them (growing batches: Lange, Gabel and
// Riedmiller 2012).
const batches = 10

// newFitted is values of a learner of numbers that knows nothing yet.
func (m *Model) newFitted() (valuer, error) {
	if err := m.lesson.Settings.checkLearner(); err != nil {
		return nil, err
	}
	f := &fitted{state: m.state, schema: &table.Schema{Attributes: m.schema.Attributes[:m.target]}, actions: m.actions()}
	var err error
	f.advised, err = newAdviser(m.lesson.Settings.Advice, m.schema)
	f.heard = make([]float64, f.advised.units())
	return f, err
}

// batched returns the model after more episodes, in batches. All steps so far are
// kept, so that a policy that acts on forgets nothing.
func (m *Model) batched(ctx context.Context, e act.Environment) (*Model, error) {
	s := &m.lesson.Settings
	random := rand.New(rand.NewPCG(m.lesson.Seed, uint64(m.acted.Episodes)))
	heeding, release := enough.Heed(ctx, 0)
	defer release()
	for done := 0; done < s.Episodes; {
		learn.Report(ctx, float64(done)/float64(s.Episodes))
		n := min(max(1, s.Episodes/batches), s.Episodes-done)
		log, unended, stopped := act.Diary(heeding, e, n, s.Limit, random.Uint64(), m.trying(random))
		if stopped != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			n = 0
			if log != nil {
				n = len(log.SequenceNames)
			}
			stopped = fmt.Errorf("after %d episodes: %w", m.acted.Episodes+n, stopped)
			switch {
			case n == 0 && m.steps == nil:
				return nil, stopped
			case n == 0:
				return nil, &Stopped{stopped, m}
			}
		}
		done += n
		schema, err := schemaOf(e)
		if err != nil {
			return nil, err
		}
		m.schema = schema
		steps, err := m.experienced(quiet(ctx), log, unended, done < s.Episodes && stopped == nil)
		if err != nil {
			return nil, err
		}
		m.acted.count(log, n, s.Gamma)
		f := m.inOrder(steps.values.(*fitted))
		before := m.values.(*fitted)
		f.advised, f.heard = before.advised, slices.Clone(before.heard)
		f.follow(log)
		m.steps, m.values, m.summary, m.agrees = steps, f, steps.summary, steps.agrees
		if stopped != nil { // what was learnt before is worth keeping
			return nil, &Stopped{stopped, m}
		}
	}
	learn.Report(ctx, 1)
	return m, nil
}

// leastTried is how frequent an action must be, relative to the most frequent one in
// such states, to count for what follows: exploring takes all that are legal more often.
const leastTried = 0.005

// experienced is what a log of more steps makes of those before.
func (m *Model) experienced(ctx context.Context, log *table.Table, unended []bool, hasty bool) (*Model, error) {
	if m.steps == nil {
		s, none, few := &m.lesson.Settings, 0.0, leastTried
		l := &Learner{Gamma: &s.Gamma, Values: s.Values, OfValues: map[string]string{}, Wiring: s.Wiring, Hidden: s.Hidden, N: s.N, Reward: "reward", Penalty: &none, Support: &few,
			hasty: hasty, unended: &unended, on: m.explores()}
		for _, of := range s.ofValues() {
			l.OfValues["values."+of[0]] = of[1]
		}
		return onceUnended(l.Learn(ctx, learn.Task{Table: log, Target: Action, Seed: m.lesson.Seed}))
	}
	before := *m.steps
	before.lesson.Settings.hasty, before.lesson.Settings.unended, before.lesson.Settings.on = hasty, &unended, m.explores()
	log, _, err := table.Conform(log, before.schema, true)
	if err != nil {
		return nil, err
	}
	u, err := before.Begin(learn.Source{})
	if err == nil {
		err = u.Add(ctx, log)
	}
	if err != nil {
		return nil, err
	}
	return onceUnended(u.Freeze(ctx))
}

// onceUnended is a model of steps without what was said of the episodes of one log.
func onceUnended(m learn.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	steps := m.(*Model)
	steps.lesson.Settings.unended = nil
	return steps, nil
}

// inOrder is values with the columns and actions of the environment, in its order: a
// log has an order of its own.
func (m *Model) inOrder(f *fitted) *fitted {
	own := &fitted{state: m.state, schema: &table.Schema{Attributes: m.schema.Attributes[:m.target]}, actions: m.actions(), behaviour: f.behaviour, joint: f.joint, net: f.net, acts: f.acts}
	if f.models == nil {
		return own
	}
	for _, name := range own.actions {
		var model learn.Model
		if at := slices.Index(f.actions, name); at >= 0 {
			model = f.models[at]
		}
		own.models = append(own.models, model)
	}
	return own
}

// tries is how somebody explores whose own acts are to be valued.
type tries struct {
	explore       string
	epsilon, logK float64
}

// explores is how the next episode is explored, where values are those of doing so
// (sarsa); nil where they are those of the best actions.
func (m *Model) explores() *tries {
	s := &m.lesson.Settings
	if s.Algorithm != "sarsa" {
		return nil
	}
	calm := s.calm(m.acted.Episodes)
	return &tries{s.Explore, s.Epsilon * calm, math.Log(s.K) / calm}
}

// worth is what is expected of exploring by values (van Seijen and others 2009), NaN
// of actions that do not count.
func (t *tries) worth(q []float64) float64 {
	best, mean, n := highest(q), 0.0, 0.0
	for _, x := range q {
		if x == x {
			mean += x
			n++
		}
	}
	mean /= max(n, 1)
	switch t.explore {
	case "epsilon":
		return (1-t.epsilon)*best + t.epsilon*mean
	case "random":
		return mean
	case "boltzmann":
		p, sum := make([]float64, len(q)), 0.0
		if n > 0 {
			powers(q, t.logK, p)
		}
		for a, share := range p {
			if share > 0 {
				sum += share * q[a]
			}
		}
		return sum
	}
	return best
}

// trying explores by the values so far; actions of which nothing is known are worth
// what all begin with.
func (m *Model) trying(random *rand.Rand) act.Choose {
	s, known := &m.lesson.Settings, make([]float64, len(m.actions()))
	q := make([]float64, len(known))
	t := trainer{settings: s, random: random, hoped: make([]float64, len(q)), number: m.acted.Episodes}
	return func(cells []float64, legal []int) (int, error) {
		m.values.worth(cells, known)
		for a := range q {
			q[a] = math.NaN()
		}
		for _, a := range legal {
			if a >= len(q) {
				return 0, unexpected(a)
			}
			if q[a] = known[a]; math.IsNaN(q[a]) {
				q[a] = s.Start
			}
		}
		return int(t.try(q)), nil
	}
}

// count adds the episodes of a log to the history.
func (a *acted) count(log *table.Table, episodes int, gamma float64) {
	rewards := log.Columns[log.Schema.Index("reward")].Floats
	earned, weight := make([]float64, episodes), make([]float64, episodes)
	for i := range weight {
		weight[i] = 1
	}
	for row, r := range rewards {
		k := log.Sequence[row]
		earned[k] += weight[k] * r
		weight[k] *= gamma
	}
	for _, x := range earned {
		a.Curve.add(x)
	}
	a.Episodes += episodes
	a.Steps += len(rewards)
}
