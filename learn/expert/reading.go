package expert

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns what the model learnt from rows. The experts' rules, which act
// on top of it, stand in the notes; where they are units of the model they
// follow the others. See Standings.
func (m *Told) Rules() (*rule.Base, error) {
	inner, err := ability[learn.Ruler](m, "be read as rules")
	if err != nil {
		return nil, err
	}
	base, err := inner.Rules()
	if err != nil {
		return nil, err
	}
	noted := *base
	noted.Notes = slices.Clone(base.Notes)
	part := "not part of what follows"
	if m.Listened() {
		noted.Rules = slices.Clone(base.Rules)
		m.heard(&noted)
		part = "at the end of what follows"
	}
	for _, s := range m.Standings() {
		noted.Notes = append(noted.Notes, fmt.Sprintf("told by %s, %s: %v", cmp.Or(s.Expert.Name, "an expert"), part, s))
	}
	return &noted, nil
}

// ability returns the model under the rules as one that can do something.
func ability[A any](m *Told, what string) (A, error) {
	able, ok := m.inner.(A)
	if !ok {
		return able, fmt.Errorf("a %s model cannot %s", m.inner.Learner(), what)
	}
	return able, nil
}

// leastLog stands for the logarithm of 0.
const leastLog = -1000

func logOf(p float64) float64 { return max(math.Log(p), leastLog) }

// Explain adds to the model's reasons what each rule that fires does to each
// class, one after the other in the order in which they were told.
func (m *Told) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	inner, err := ability[learn.Explainer](m, "explain its answers")
	if err != nil {
		return nil, err
	}
	e, err := inner.Explain(t, row)
	if err != nil {
		return nil, err
	}
	one, out := t.Slice(row, row+1), learn.NewPredictions(m, 1)
	if err := m.inner.Predict(context.Background(), one, out); err != nil {
		return nil, err
	}
	p, fired := out.P, make([]byte, m.width())
	switch some := fire(m.fires, one, 0, fired); {
	case some && m.Listened():
		m.blend(p, fired, make([]float64, len(p)))
		m.account(e, fired)
	case some:
		m.explain(e, p, fired)
	}
	best := p[learn.Best(p, m.schema.Attributes[m.Target()].Values)]
	anyFired := slices.ContainsFunc(fired, func(b byte) bool { return b != 0 })
	for i := range e.Missing {
		// What could fire, or move what did, could do anything.
		column := e.Missing[i].Column
		if anyFired || slices.ContainsFunc(m.rules, func(r toldRule) bool { return testsColumn(r.If, column) }) {
			e.Missing[i].CouldMove = max(best, 1-best)
		}
	}
	return e, nil
}

// explain appends the evidence of the rules that fired, and leaves in p what
// they make of it.
func (m *Told) explain(e *learn.Explanation, p []float64, fired []byte) {
	logs := make([]float64, len(p))
	for c := range p {
		logs[c] = logOf(p[c])
	}
	if e.Additive {
		for c := range logs {
			logs[c] = e.Prior[c] - e.Normaliser
		}
		for _, v := range e.Evidence {
			logs[v.Class] += v.Weight
		}
	}
	n := m.weigh(fired)
	model, said, room := slices.Clone(p), make([]float64, len(p)), make([]float64, len(p))
	worth := 0.0
	for i := range m.rules {
		if !has(fired, i) || m.classes[i] < 0 || *m.rules[i].Worth == 0 {
			continue
		}
		clear(room)
		say(room, model, m.classes[i], *m.rules[i].With, 1)
		before := n + worth
		worth += *m.rules[i].Worth
		for c := range p {
			said[c] = said[c]*((before-n)/worth) + room[c]*(*m.rules[i].Worth/worth)
			p[c] = n/(n+worth)*model[c] + worth/(n+worth)*said[c]
			e.Evidence = append(e.Evidence, learn.Evidence{ID: m.rules[i].ID(), Text: m.rules[i].String(), Class: c, Weight: logOf(p[c]) - logs[c]})
			logs[c] = logOf(p[c])
		}
	}
}

// Ask answers as the model does; asked for the class, it takes the rules into
// account.
func (m *Told) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	inner, err := ability[learn.Asker](m, "be asked for any column")
	if err != nil {
		return nil, err
	}
	answer, err := inner.Ask(t, row, column)
	if fired := make([]byte, m.width()); err == nil && column == m.Target() && fire(m.fires, t, row, fired) {
		m.blend(answer.P, fired, make([]float64, len(answer.P)))
	}
	return answer, err
}

// Impute fills in as the model does; a missing class is the one that Predict
// finds most probable.
func (m *Told) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	inner, err := ability[learn.Imputer](m, "fill in missing cells")
	if err != nil {
		return nil, err
	}
	full, err := inner.Impute(ctx, t)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	codes := slices.Clone(full.Columns[m.Target()].Codes)
	for row, code := range t.Columns[m.Target()].Codes {
		if code == table.Missing {
			codes[row] = int32(learn.Best(out.Row(row), m.schema.Attributes[m.Target()].Values))
		}
	}
	columns := slices.Clone(full.Columns)
	columns[m.Target()].Codes = codes
	return table.New(full.Schema, columns, full.Weights)
}
