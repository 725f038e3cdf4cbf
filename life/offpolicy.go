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

// logged is a policy that was learnt from a log with rewards.
type logged interface {
	policy
	// Values fills in what the actions of each row are worth.
	Values(ctx context.Context, t *table.Table, q []float64) error
	// Cut reports whether the last row of an episode does not end it.
	Cut() bool
}

// IsLogged reports whether a model is a policy that a log can judge.
func IsLogged(p *Part) bool {
	m, ok := learn.Ability[logged](p.Model)
	return ok && m.Rewards() >= 0
}

// OffPolicy judges a policy by a log of acts that it has not seen.
func (h *Home) OffPolicy(ctx context.Context, p *Part, data string, reading Reading, level float64) (*evaluate.OffPolicy, error) {
	m, ok := learn.Ability[logged](p.Model)
	if !ok || m.Rewards() < 0 {
		return nil, remedy.Misusef("%s was not learnt from a log with rewards", p.Name)
	}
	d, err := h.Find(data, reading)
	if err != nil {
		return nil, err
	}
	o := d.options()
	o.Schema = m.Schema()
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
	episodes, err := visits(ctx, m, t, h.Seed)
	if err != nil {
		return nil, err
	}
	return evaluate.NewOffPolicy(ctx, episodes, m.Gamma(), level, h.Seed)
}

// visits reads a log as the policy sees it.
func visits(ctx context.Context, m logged, t *table.Table, seed uint64) ([][]evaluate.Visit, error) {
	rows := make([]int, 0, t.Rows())
	for row, a := range t.Columns[m.Target()].Codes {
		if a >= 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) < t.Rows() {
		t = t.Select(rows)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("no row of the log has an action that the policy knows")
	}
	n, actions := t.Rows(), len(m.Schema().Attributes[m.Target()].Values)
	out, q, mu := learn.NewPredictions(m, n), make([]float64, n*actions), make([]float64, n)
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	if err := m.Values(ctx, t, q); err != nil {
		return nil, err
	}
	states, err := frequencies(ctx, m, t, mu, seed)
	if err != nil {
		return nil, err
	}
	seen := make([]evaluate.Visit, n)
	for row := range seen {
		a := int(t.Columns[m.Target()].Codes[row])
		v := &seen[row]
		if r := t.Columns[m.Rewards()].Floats[row]; !table.IsMissing(r) {
			v.Reward = r
		}
		v.P, v.Action, v.Cut = out.Row(row)[a], int32(a), m.Cut()
		v.Ratio = v.P / mu[row]
		if states != nil {
			v.State = states[row]
		}
		for b, p := range out.Row(row) {
			if x := q[row*actions+b]; p > 0 && !math.IsNaN(x) {
				v.V += p * x
			}
		}
		if v.Q = q[row*actions+a]; math.IsNaN(v.Q) {
			v.Q = v.V
		}
	}
	var episodes [][]evaluate.Visit
	t.Groups(func(from, to int) { episodes = append(episodes, seen[from:to:to]) })
	return episodes, nil
}

// frequencies fills in how probable the action of each row was in the log, in
// states like its own: counted where states are few, by a tree elsewhere. Where they
// are few it numbers them, from 1.
func frequencies(ctx context.Context, m logged, t *table.Table, mu []float64, seed uint64) (states []int32, err error) {
	schema := m.Schema()
	var state []int
	for j := range schema.Attributes {
		if j != m.Target() && j != m.Rewards() {
			state = append(state, j)
		}
	}
	type pair struct{ state, action int32 }
	numbers, all, each := map[string]int32{}, []float64{0}, map[pair]float64{}
	acts := t.Columns[m.Target()].Codes
	states = make([]int32, len(mu))
	for row := range mu {
		key := ""
		for _, j := range state {
			key += t.Text(row, j) + "\x00"
		}
		k := numbers[key]
		if k == 0 {
			k = int32(len(all))
			numbers[key], all = k, append(all, 0)
		}
		states[row] = k
		all[k]++
		each[pair{k, acts[row]}]++
	}
	if len(numbers)*10 <= len(mu) || len(state) == 0 {
		for row, k := range states {
			mu[row] = each[pair{k, acts[row]}] / all[k]
		}
		return states, nil
	}
	return nil, frequenciesByTree(ctx, m, t, mu, state, seed)
}

// frequenciesByTree asks a tree of the log's own acts.
func frequenciesByTree(ctx context.Context, m logged, t *table.Table, mu []float64, state []int, seed uint64) error {
	schema, acts := m.Schema(), t.Columns[m.Target()].Codes
	l, err := learn.New("tree", nil)
	if err != nil {
		return err
	}
	columns := append(append([]int{}, state...), m.Target())
	own := t.Project(columns)
	plain := &table.Schema{Attributes: own.Schema.Attributes}
	if own, err = table.New(plain, own.Columns, t.Weights); err != nil {
		return err
	}
	b, err := l.Learn(ctx, learn.Task{Table: own, Target: schema.Attributes[m.Target()].Name, Seed: seed})
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
		c, ok := code[schema.Attributes[m.Target()].Values[acts[row]]]
		if mu[row] = 1; ok {
			mu[row] = max(out.Row(row)[c], 1e-3)
		}
	}
	return nil
}
