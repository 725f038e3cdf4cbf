package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/act"
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
	return &fitted{state: m.state, schema: &table.Schema{Attributes: m.schema.Attributes[:m.target]}, actions: m.actions()}, nil
}

// batched returns the model after more episodes, in batches.
func (m *Model) batched(ctx context.Context, e act.Environment) (*Model, error) {
	s := &m.lesson.Settings
	none := 0.0
	learner := &Learner{Gamma: &s.Gamma, Values: s.Values, Wiring: s.Wiring, Hidden: s.Hidden, Reward: "reward", Penalty: &none, Support: &none}
	names := make([]string, s.Episodes)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	var log *table.Table
	random := rand.New(rand.NewPCG(m.lesson.Seed, uint64(m.acted.Episodes)))
	for done := 0; done < s.Episodes; {
		learn.Report(ctx, float64(done)/float64(s.Episodes))
		n := min(max(1, s.Episodes/batches), s.Episodes-done)
		t, err := act.Log(ctx, e, n, s.Limit, random.Uint64(), m.trying(random))
		if err != nil {
			return nil, fmt.Errorf("after %d episodes: %w", m.acted.Episodes, err)
		}
		m.acted.count(t, n, s.Gamma)
		number := make([]int32, t.Rows())
		for i := range number {
			number[i] = t.Sequence[i] + int32(done)
		}
		if t, err = t.InSequence("episode", number, names); err == nil && log != nil {
			t, err = table.Concat(log, t)
		}
		if err != nil {
			return nil, err
		}
		log = t
		done += n
		learnt, err := learner.Learn(quiet(ctx), learn.Task{Table: log, Target: Action, Seed: m.lesson.Seed})
		if err != nil {
			return nil, err
		}
		got := learnt.(*Model)
		m.values, m.summary, m.agrees = m.inOrder(got.values.(*fitted)), got.summary, got.agrees
	}
	learn.Report(ctx, 1)
	return m, nil
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

// trying takes the best action that is known, and now and then any.
func (m *Model) trying(random *rand.Rand) act.Choose {
	q := make([]float64, len(m.actions()))
	return func(cells []float64, legal []int) (int, error) {
		best := legal[random.IntN(len(legal))]
		if random.Float64() < m.lesson.Settings.Epsilon {
			return best, nil
		}
		m.values.worth(cells, q)
		for _, a := range legal {
			if q[a] > q[best] || q[best] != q[best] && q[a] == q[a] {
				best = a
			}
		}
		return best, nil
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
