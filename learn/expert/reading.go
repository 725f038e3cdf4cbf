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
	for i, s := range m.Standings() {
		part := part
		if m.believed[i] {
			part = "believed in what follows"
		}
		noted.Notes = append(noted.Notes, fmt.Sprintf("told by %s, %s: %v", cmp.Or(s.Expert.Name, "an expert"), part, s))
	}
	return &noted, nil
}

// mostTogether bounds how many regions Whole lists in which rules fire together.
const mostTogether = 1024

// Whole returns all that the answers depend on as one base: what was learnt,
// then what was told, [covered] being its N. What rules cover together follows
// as rules that are worth nothing, where it is less than each covers alone, so
// that of the rules which fire on a row the least [covered] is its N.
func (m *Told) Whole() (*rule.Base, error) {
	inner, err := ability[learn.Ruler](m, "be read as rules")
	if err != nil {
		return nil, err
	}
	learnt, err := inner.Rules()
	if err != nil {
		return nil, err
	}
	base := *learnt
	base.Rules = slices.Clone(learnt.Rules)
	if m.Listened() {
		m.heard(&base)
		return &base, nil
	}
	if base.Kind == rule.Ordered {
		base.Rules, base.Else = m.shareOut(base.Rules, base.Else)
	}
	if err := m.whole(&base); err != nil {
		return nil, err
	}
	return &base, nil
}

// shareOut makes rules that say how probable one class is say it of all, where told
// rules name a class that no row has had: what is left is that of the classes which
// rows have had, and a reader would give the new one a part of it.
func (m *Told) shareOut(rules []rule.Rule, last *rule.Rule) ([]rule.Rule, *rule.Rule) {
	target := m.inner.Target()
	had, all := m.inner.Schema().Attributes[target].Values, m.schema.Attributes[target].Values
	if len(had) == len(all) {
		return rules, last
	}
	share := func(r rule.Rule) rule.Rule {
		if r.With == nil || r.Then.Classes != nil {
			return r
		}
		shares := make([]rule.Share, len(all))
		for i, class := range all {
			shares[i].Value = class
			if class == r.Then.Value {
				shares[i].P = *r.With
			} else if slices.Contains(had, class) {
				shares[i].P = (1 - *r.With) / float64(len(had)-1)
			}
		}
		r.Then.Classes, r.Then.Value, r.With = shares, "", nil
		return r
	}
	for i := range rules {
		rules[i] = share(rules[i])
	}
	if last != nil {
		whole := share(*last)
		last = &whole
	}
	return rules, last
}

// region is where some of the told rules fire together.
type region struct {
	tests []rule.Test
	fired []byte
	last  int     // the last of the rules
	rows  float64 // weight of the rows there
	said  bool    // whether the base lists it
}

func (m *Told) whole(base *rule.Base) error {
	var regions []region
	add := func(r rule.Rule, g region) {
		g.rows, g.said = m.weigh(g.fired), true
		for _, wider := range regions {
			if *r.Worth == 0 && wider.said && wider.rows == g.rows && contains(string(g.fired), wider.fired) {
				g.said = false // a wider region says it already
			}
		}
		if g.said {
			r.If, r.Evidence = g.tests, rule.Evidence{Covered: &g.rows}
			base.Rules = append(base.Rules, r)
		}
		regions = append(regions, g)
	}
	for i := range m.rules {
		if m.believed[i] { // what was learnt says it
			continue
		}
		if m.fires[i] == nil || m.classes[i] < 0 {
			return fmt.Errorf("the rule %v speaks of what the model does not know", &m.rules[i].Rule)
		}
		fired := make([]byte, m.width())
		fired[i/8] |= 1 << (i % 8)
		add(m.rules[i].Rule, region{tests: m.rules[i].If, fired: fired, last: i})
	}
	nothing := 0.0
	for k := 0; k < len(regions); k++ {
		g := regions[k]
		for i := g.last + 1; i < len(m.rules); i++ {
			tests, some := rule.Overlap(g.tests, m.rules[i].If, m.schema)
			if !some || m.believed[i] {
				continue
			}
			fired := slices.Clone(g.fired)
			fired[i/8] |= 1 << (i % 8)
			if len(regions) > mostTogether {
				return fmt.Errorf("more than %d regions in which rules fire together: they do not fit in a text", mostTogether)
			}
			add(rule.Rule{Then: m.rules[i].Then, With: m.rules[i].With, Worth: &nothing}, region{tests: tests, fired: fired, last: i})
		}
	}
	return nil
}

// ability returns the model under the rules as one that can do something.
func ability[A any](m *Told, what string) (A, error) {
	able, ok := learn.Ability[A](m.inner)
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
	known, err := m.within(t)
	if err != nil {
		return nil, err
	}
	e, err := inner.Explain(known, row)
	if err != nil {
		return nil, err
	}
	one, out := t.Slice(row, row+1), learn.NewPredictions(m, 1)
	if err := m.predictWithin(context.Background(), one, out); err != nil {
		return nil, err
	}
	for len(e.Prior) < out.Classes { // a class that only rules know
		e.Prior = append(e.Prior, leastLog)
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
		Say(room, model, m.classes[i], *m.rules[i].With, 1)
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
	known, err := m.within(t)
	if err != nil {
		return nil, err
	}
	answer, err := inner.Ask(known, row, column)
	if err == nil && answer.P != nil {
		more := len(m.schema.Attributes[column].Values) - len(answer.P)
		answer.P = append(answer.P, make([]float64, more)...)
	}
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
	known, err := m.within(t)
	if err != nil {
		return nil, err
	}
	full, err := inner.Impute(ctx, known)
	if err != nil {
		return nil, err
	}
	if full, _, err = table.Conform(full, m.schema, true); err != nil {
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
