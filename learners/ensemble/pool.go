package ensemble

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Pool is a set of models that answer as one. It is immutable.
type Pool struct {
	crowd
	name    string    // of its learner
	names   []string  // of the members' learners
	members []member  // with their weights as votes
	rows    float64   // weight of the rows learnt from
	score   Majority  // of a committee: no rows
	credit  []float64 // rows credited to each member; in a committee 0

	vote     string    // of a committee: "", voteBayes or voteGibbs
	seed     uint64    // of the draws of voteGibbs
	evidence []float64 // of each member, ln P(rows | member); nil without a vote
}

var (
	_ learn.Updater   = (*Pool)(nil)
	_ learn.Explainer = (*Pool)(nil)
	_ learn.Remarker  = (*Pool)(nil)
)

// Of returns a pool of any models of the same columns and the same target,
// whose learner is majority, halving or committee; beta is for majority.
func Of(name string, beta float64, models ...learn.Model) (*Pool, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("%s: there are no models", name)
	}
	m := &Pool{name: name, score: Majority{Beta: beta, Mistakes: make([]float64, len(models))}, credit: make([]float64, len(models))}
	schemas := make([]*table.Schema, len(models))
	for i, model := range models {
		m.names, schemas[i] = append(m.names, model.Learner()), model.Schema()
		m.rows = max(m.rows, model.Size().Rows)
	}
	switch {
	case name == HalvingName:
		m.score.Beta = 0
	case name == CommitteeName:
		m.score.Beta = 1
	case name != MajorityName:
		return nil, fmt.Errorf("unknown pool %q; expected %s, %s or %s", name, MajorityName, HalvingName, CommitteeName)
	case !(beta >= 0 && beta < 1):
		return nil, fmt.Errorf("beta=%v: expected 0 or more and less than 1", beta)
	}
	schema, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	if m.target = models[0].Target(); m.target == learn.NoTarget {
		return nil, fmt.Errorf("%s: the first model has no target", name)
	}
	if name != CommitteeName && schema.Attributes[m.target].Kind == table.Numeric {
		return nil, fmt.Errorf("%s answers with classes; the target %q is a number", name, schema.Attributes[m.target].Name)
	}
	return m.with(models, schema)
}

// with returns the pool with other models.
func (m *Pool) with(models []learn.Model, schema *table.Schema) (*Pool, error) {
	next := *m
	next.crowd = crowd{schema: schema, target: m.target}
	next.members = make([]member, len(models))
	weights, share := m.score.Weights(), shares(m.credit)
	if m.vote != "" {
		share = posterior(m.evidence)
	}
	for i, model := range models {
		next.members[i] = member{model: model, vote: weights[i], share: share[i]}
		if err := next.enlist(&next.members[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", m.names[i], err)
		}
	}
	return &next, nil
}

// judge lets the members answer rows, keeps the score, and notes what the
// members thought of what was true.
func (m *Pool) judge(ctx context.Context, t *table.Table, score *Majority, notes *trial) error {
	if m.name == CommitteeName && m.vote == "" {
		return nil
	}
	fitted, _, err := table.Conform(t, m.schema, false)
	if err != nil {
		return err
	}
	n := len(m.members)
	said, given := make([]int, t.Rows()*n), make([]float64, t.Rows()*n)
	codes := fitted.Columns[m.target].Codes
	err = m.ask(ctx, fitted, func(g *group, of *member, out *learn.Predictions) {
		names, i := g.schema.Attributes[m.target].Values, m.index(of)
		own := make([]int, len(m.classes())) // the member's code of each class
		for c := range own {
			own[c] = slices.Index(g.classes, c)
		}
		for r, truth := range codes {
			said[r*n+i] = g.classes[learn.Best(out.Row(r), names)]
			if truth >= 0 && own[truth] >= 0 {
				given[r*n+i] = out.Row(r)[own[truth]]
			}
		}
	})
	if err != nil {
		return err
	}
	for r, truth := range codes {
		// A class that nobody knows yet is everybody's mistake.
		if m.vote == "" {
			score.Learn(said[r*n:(r+1)*n], int(truth), t.Weight(r), m.classes())
		}
		notes.weights = append(notes.weights, t.Weight(r))
	}
	notes.given = append(notes.given, given...)
	return ctx.Err()
}

// index returns the place of a member.
func (m *Pool) index(of *member) int {
	for i := range m.members {
		if &m.members[i] == of {
			return i
		}
	}
	return -1 // never: groups are made of the members
}

// Learner returns the name of the pool's learner.
func (m *Pool) Learner() string { return m.name }

// Size counts the rows, and the members' units.
func (m *Pool) Size() learn.Size {
	size := learn.Size{Rows: m.rows}
	for i := range m.members {
		size.Units += m.members[i].model.Size().Units
	}
	return size
}

// Predict takes the mean of what the members say, or, where they vote, the
// mixture of it that their credit gives, and lets the vote decide.
func (m *Pool) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	return m.split(ctx, t.Rows(), func(lo, hi int) error { return m.predict(ctx, stretch(t, lo, hi), lo, out) })
}

func (m *Pool) predict(ctx context.Context, t *table.Table, lo int, out *learn.Predictions) error {
	hi := lo + t.Rows()
	if m.schema.Attributes[m.target].Kind == table.Numeric {
		clear(out.Mean[lo:hi])
		clear(out.Low[lo:hi])
		clear(out.High[lo:hi])
		return m.ask(ctx, t, func(_ *group, of *member, said *learn.Predictions) {
			for r := range t.Rows() {
				out.Mean[lo+r] += said.Mean[r] * of.share
				out.Low[lo+r] += said.Low[r] * of.share
				out.High[lo+r] += said.High[r] * of.share
			}
		})
	}
	classes := len(m.classes())
	p := out.P[lo*classes : hi*classes]
	clear(p)
	var votes []float64
	if m.name != CommitteeName {
		votes = make([]float64, len(p))
	}
	var heard []int // of each row, the only member
	if m.vote == voteGibbs {
		var err error
		if heard, err = m.draw(ctx, t); err != nil {
			return err
		}
	}
	err := m.ask(ctx, t, func(g *group, of *member, said *learn.Predictions) {
		names, i := g.schema.Attributes[m.target].Values, m.index(of)
		for r := range t.Rows() {
			row, share := said.Row(r), of.share
			if heard != nil {
				if share = 1; heard[r] != i {
					continue
				}
			}
			for c, q := range row {
				p[r*classes+g.classes[c]] += q * share
			}
			if votes != nil {
				votes[r*classes+g.classes[learn.Best(row, names)]] += of.vote
			}
		}
	})
	for i := 0; i < len(votes); i += classes {
		m.elect(p[i:i+classes], votes[i:i+classes])
	}
	return err
}

// Ballots adds a vote a member, weighed by its credit in a committee and by
// its score elsewhere. Members that predict numbers give none.
func (m *Pool) Ballots(ctx context.Context, t *table.Table, votes []float64) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	classes := len(m.classes())
	if classes == 0 {
		return nil
	}
	return m.ask(ctx, t, func(g *group, of *member, said *learn.Predictions) {
		names, weight := g.schema.Attributes[m.target].Values, of.vote
		if m.name == CommitteeName {
			weight = of.share
		}
		for r := range t.Rows() {
			votes[r*classes+g.classes[learn.Best(said.Row(r), names)]] += weight
		}
	})
}

// elect makes the class with most votes the most probable, by a hair where the
// members' probabilities speak for another. What no member thinks possible may
// still happen once in the rows that there were.
func (m *Pool) elect(p, votes []float64) {
	spare := 1 / (m.rows + float64(len(p)))
	for c := range p {
		p[c] = p[c]*(1-spare) + spare/float64(len(p))
	}
	elected, likeliest := learn.Best(votes, m.classes()), learn.Best(p, m.classes())
	if elected == likeliest {
		return
	}
	raised := p[likeliest] * (1 + 1e-9)
	total := 1 + raised - p[elected]
	p[elected] = raised
	for c := range p {
		p[c] /= total
	}
}

// Explain says what each member says, and with what weight: its share of the
// votes or, in a committee, what it adds to the probability of the answer or
// to the number.
func (m *Pool) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	one := t.Slice(row, row+1)
	target := &m.schema.Attributes[m.target]
	total := 0.0
	for i := range m.members {
		total += m.members[i].vote
	}
	var heard []int
	if m.vote == voteGibbs {
		var err error
		if heard, err = m.draw(context.Background(), one); err != nil {
			return nil, err
		}
	}
	e := &learn.Explanation{Prior: make([]float64, max(1, len(target.Values))), Additive: target.Kind == table.Numeric}
	err := m.ask(context.Background(), one, func(g *group, of *member, said *learn.Predictions) {
		i := m.index(of)
		who := fmt.Sprintf("%s (member %d)", m.names[i], i+1)
		v := learn.Evidence{Weight: of.vote / total}
		switch {
		case heard != nil && heard[0] != i:
			return
		case heard != nil:
			v.Weight = 1
		case m.vote != "":
			v.Weight = of.share
		}
		answer := ""
		if said.Classes == 0 {
			v.Weight *= said.Mean[0]
			answer = target.Format(said.Mean[0])
		} else {
			best := learn.Best(said.Row(0), g.schema.Attributes[m.target].Values)
			v.Class = g.classes[best]
			answer = target.Values[v.Class]
			if m.name == CommitteeName {
				v.Weight *= said.Row(0)[best]
			}
		}
		v.Text = rule.Test{Op: rule.Eq, Column: who, Value: answer}.String()
		e.Evidence = append(e.Evidence, v)
	})
	return e, err
}

// Remarks gives the score, and that of each member.
func (m *Pool) Remarks() ([]fmt.Stringer, error) {
	if m.vote != "" {
		return m.heard(), nil
	}
	if m.score.Rows == 0 {
		return nil, nil
	}
	best := m.score.Best()
	s := Score{Rows: m.score.Rows, Mistakes: m.score.Made, Best: m.names[best], Fewest: m.score.Mistakes[best]}
	if bound := m.score.Bound(); bound-bound == 0 {
		s.Bound = &bound
	}
	weights := m.score.Weights()
	for i, name := range m.names {
		s.Members = append(s.Members, Fared{name, m.score.Mistakes[i], weights[i]})
	}
	remarks := []fmt.Stringer{s}
	for _, f := range s.Members {
		remarks = append(remarks, f)
	}
	return remarks, nil
}
