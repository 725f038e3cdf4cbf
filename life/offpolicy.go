package life

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// logged is a policy that was learnt from a log.
type logged interface {
	policy
	// Values fills in what the actions of each row are worth.
	Values(ctx context.Context, t *table.Table, q []float64) error
	// Cut reports whether the last row of an episode does not end it.
	Cut() bool
}

// IsLogged reports whether a model was learnt from a log with rewards: it knows what
// the columns of such logs are.
func IsLogged(p *Part) bool {
	m, ok := learn.Ability[logged](p.Model)
	return ok && m.Rewards() >= 0
}

// LogJudging says by what columns of a log a model is judged that does not know them.
type LogJudging struct {
	Reading Reading // its sequence is the column of episodes
	Reward  string
	Cut     bool
	Level   float64
}

// defendant is a model whose answers are actions, and a log of somebody else's.
type defendant struct {
	learn.Model
	schema *table.Schema // of the log: the model's columns come first
	gamma  float64
	reward int
	cut    bool
	looks  []int                                                        // the columns that a policy tells states apart by
	worth  func(ctx context.Context, t *table.Table, q []float64) error // nil if it knows no values
}

// OffPolicy judges a policy by a log of acts that it has not seen. Any model is one
// whose answers are the actions.
func (h *Home) OffPolicy(ctx context.Context, p *Part, data string, by LogJudging) (*evaluate.OffPolicy, error) {
	j, err := newDefendant(p, by)
	if err != nil {
		return nil, err
	}
	d, err := h.Find(data, by.Reading)
	if err != nil {
		return nil, err
	}
	o := d.options()
	o.Schema, o.Extend = j.schema, true
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	for _, v := range p.Versions {
		if v.Source.Hash != "" && v.Source.Hash == report.Hash {
			h.note(fmt.Sprintf("%s learnt from %s: what it seems to earn there is too good; judge it by a log that it has not seen", p.Name, data))
		}
	}
	episodes, left, err := j.visits(ctx, t, h.Seed)
	if err != nil {
		return nil, err
	}
	if left > 0 {
		h.note(plural(left, "row") + " without an action left out")
	}
	return evaluate.NewOffPolicy(ctx, episodes, j.gamma, by.Level, h.Seed)
}

// newDefendant finds out what a model knows of logs, and what else it is judged by.
func newDefendant(p *Part, by LogJudging) (*defendant, error) {
	m := p.Model
	schema := m.Schema()
	if m.Target() < 0 || schema.Attributes[m.Target()].Kind != table.Nominal {
		return nil, remedy.Misusef("%s does not say what to do: its answers are no actions", p.Name)
	}
	j := &defendant{Model: m, schema: schema, gamma: 1, reward: -1, cut: by.Cut}
	if l, ok := learn.Ability[logged](m); ok {
		j.gamma, j.cut, j.looks = l.Gamma(), by.Cut || l.Cut(), l.States()
		if l.Rewards() >= 0 {
			j.reward, j.worth = l.Rewards(), l.Values
			return j, nil
		}
		if l.World() != "" {
			j.worth = l.Values
		}
	}
	if by.Reward == "" {
		return nil, remedy.Misusef("%s was not learnt from a log with rewards; say which column they are in, and which one says what rows belong together", p.Name)
	}
	if schema.Index(by.Reward) >= 0 {
		return nil, remedy.New(Remedy{Kind: remedy.LeaveColumn, What: by.Reward}, "%s takes the rewards %q for a part of what it sees before it acts; learn it without them", p.Name, by.Reward)
	}
	j.reward, j.schema = len(schema.Attributes), table.CopySchema(schema)
	j.schema.Attributes = append(j.schema.Attributes, table.Attribute{Name: by.Reward, Kind: table.Numeric})
	j.schema.Sequence = by.Reading.Sequence
	return j, nil
}

// visits reads a log as the policy sees it, and counts the rows without an action.
func (j *defendant) visits(ctx context.Context, t *table.Table, seed uint64) (episodes [][]evaluate.Visit, left int, err error) {
	rows := make([]int, 0, t.Rows())
	for row, a := range t.Columns[j.Target()].Codes {
		if a >= 0 {
			rows = append(rows, row)
		}
	}
	if left = t.Rows() - len(rows); left > 0 {
		t = t.Select(rows)
	}
	if t.Rows() == 0 {
		return nil, 0, fmt.Errorf("no row of the log has an action")
	}
	own, _, err := table.Conform(t, j.Schema(), false)
	if err != nil {
		return nil, 0, err
	}
	n, actions := t.Rows(), len(j.Schema().Attributes[j.Target()].Values)
	out, q, mu := learn.NewPredictions(j.Model, n), make([]float64, n*actions), make([]float64, n)
	if err := j.Predict(ctx, own, out); err != nil {
		return nil, 0, err
	}
	for i := range q {
		q[i] = math.NaN()
	}
	if j.worth != nil {
		if err := j.worth(ctx, own, q); err != nil {
			return nil, 0, err
		}
	}
	states, err := j.frequencies(ctx, t, mu, seed)
	if err != nil {
		return nil, 0, err
	}
	seen := make([]evaluate.Visit, n)
	for row := range seen {
		a := int(t.Columns[j.Target()].Codes[row])
		v := &seen[row]
		if r := t.Columns[j.reward].Floats[row]; !table.IsMissing(r) {
			v.Reward = r
		}
		v.Action, v.Cut, v.Q = int32(a), j.cut, math.NaN()
		if a < actions { // of others the policy knows nothing, and does not take them
			v.P, v.Q = out.Row(row)[a], q[row*actions+a]
			v.Ratio = v.P / mu[row]
		}
		if states != nil {
			v.State = states[row]
		}
		for b, p := range out.Row(row) {
			if x := q[row*actions+b]; p > 0 && !math.IsNaN(x) {
				v.V += p * x
			}
		}
		if math.IsNaN(v.Q) {
			v.Q = v.V
		}
	}
	t.Groups(func(from, to int) { episodes = append(episodes, seen[from:to:to]) })
	return episodes, left, nil
}

// frequencies fills in how probable the action of each row was in the log, in
// states like its own: counted where states are few, by a tree elsewhere. Where they
// are few, or are as the policy tells them apart, it numbers them, from 1.
func (j *defendant) frequencies(ctx context.Context, t *table.Table, mu []float64, seed uint64) (states []int32, err error) {
	var state []int
	for k := range j.schema.Attributes {
		if k != j.Target() && k != j.reward {
			state = append(state, k)
		}
	}
	states, few := numberStates(t, state)
	if !few {
		if err := j.frequenciesByTree(ctx, t, mu, state, seed); err != nil || len(j.looks) == 0 || len(j.looks) >= len(state) {
			return nil, err
		}
		if states, few = numberStates(t, j.looks); !few {
			return nil, nil
		}
		return states, nil
	}
	type pair struct{ state, action int32 }
	all, each := map[int32]float64{}, map[pair]float64{}
	acts := t.Columns[j.Target()].Codes
	for row, k := range states {
		all[k]++
		each[pair{k, acts[row]}]++
	}
	for row, k := range states {
		mu[row] = each[pair{k, acts[row]}] / all[k]
	}
	return states, nil
}

// numberStates numbers the states of rows by some columns, from 1, and reports whether
// they are few.
func numberStates(t *table.Table, columns []int) (states []int32, few bool) {
	numbers := map[string]int32{}
	states = make([]int32, t.Rows())
	for row := range states {
		key := ""
		for _, column := range columns {
			key += t.Text(row, column) + "\x00"
		}
		k := numbers[key]
		if k == 0 {
			k = int32(len(numbers) + 1)
			numbers[key] = k
		}
		states[row] = k
	}
	return states, len(numbers)*10 <= len(states) || len(columns) == 0
}

// frequenciesByTree asks a tree of the log's own acts.
func (j *defendant) frequenciesByTree(ctx context.Context, t *table.Table, mu []float64, state []int, seed uint64) error {
	action, acts := t.Schema.Attributes[j.Target()], t.Columns[j.Target()].Codes
	l, err := learn.New("tree", nil)
	if err != nil {
		return err
	}
	columns := append(append([]int{}, state...), j.Target())
	own := t.Project(columns)
	plain := &table.Schema{Attributes: own.Schema.Attributes}
	if own, err = table.New(plain, own.Columns, t.Weights); err != nil {
		return err
	}
	b, err := l.Learn(ctx, learn.Task{Table: own, Target: action.Name, Seed: seed})
	if err != nil {
		return err
	}
	fitted, _, err := table.Conform(own, b.Schema(), false)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(b, fitted.Rows())
	if err := b.Predict(ctx, fitted, out); err != nil {
		return err
	}
	code := map[string]int{}
	for c, name := range b.Schema().Attributes[b.Target()].Values {
		code[name] = c
	}
	for row := range mu {
		c, ok := code[action.Values[acts[row]]]
		if mu[row] = 1; ok {
			mu[row] = max(out.Row(row)[c], 1e-3)
		}
	}
	return nil
}
