package ensemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model is the sessions so far. It is immutable.
//
// The score of a class is the votes for it, divided by the votes of all
// members that have seen the class (or, plain, of all members); its
// probability is proportional to e^(sharpness·score). How sharp that is was
// judged on rows of each session by members that had not learnt from them.
type Model struct {
	settings *settings
	seed     uint64
	sessions []*session

	crowd               // of all members
	seen      []float64 // by class, what votes are divided by
	prior     []float64 // by class, what is added to the score
	sharpness float64
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Remarker  = (*Model)(nil)
	_ learn.Committee = (*Model)(nil)
)

// Learner returns "learnpp".
func (m *Model) Learner() string { return Name }

// Size counts the rows of all sessions and the members' units.
func (m *Model) Size() learn.Size {
	var size learn.Size
	for _, s := range m.sessions {
		size.Rows += s.weight
		for i := range s.members {
			size.Units += s.members[i].model.Size().Units
		}
	}
	return size
}

// with returns the model of these sessions, ready to answer.
func (m *Model) with(sessions []*session) (*Model, error) {
	if len(sessions) == 0 {
		return nil, fmt.Errorf("no session is left to answer from")
	}
	next := &Model{settings: m.settings, seed: m.seed, sessions: sessions, crowd: crowd{target: m.target}}
	schemas := make([]*table.Schema, len(sessions))
	for i, s := range sessions {
		schemas[i] = s.rows.Schema
	}
	var err error
	if next.schema, err = table.Union(schemas...); err != nil {
		return nil, err
	}
	for i := range next.schema.Attributes {
		table.SortValues(next.schema.Attributes[i].Values)
	}
	if err := next.weigh(); err != nil {
		return nil, err
	}
	return next, nil
}

// weigh computes what answers are made with.
func (m *Model) weigh() error {
	names := m.classes()
	m.seen, m.prior = make([]float64, len(names)), make([]float64, len(names))
	met := make([]bool, len(names))
	rows, total := 0.0, 0.0
	var losses [len(sharpnesses)]float64
	for _, s := range m.sessions {
		rows += s.weight
		for i := range s.losses {
			losses[i] += s.losses[i]
		}
		for i := range s.members {
			if err := m.enlist(&s.members[i]); err != nil {
				return err
			}
			total += s.members[i].vote
			for _, name := range s.members[i].seen {
				if c := slices.Index(names, name); c >= 0 {
					m.seen[c] += s.members[i].vote
					met[c] = true
				}
			}
		}
	}
	for c := range names {
		if !met[c] { // declared, never seen: one row in all there were and one of each class
			m.prior[c] = -math.Log(rows + float64(len(names)))
		}
		if m.settings.Plain {
			m.seen[c] = total
		}
	}
	m.sharpness = sharpest(losses)
	return nil
}

// Predict lets all members vote.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	classes := len(m.classes())
	return m.split(ctx, t.Rows(), func(lo, hi int) error {
		p := out.P[lo*classes : hi*classes]
		clear(p)
		if err := m.vote(ctx, stretch(t, lo, hi), p); err != nil {
			return err
		}
		for r := range hi - lo {
			m.answer(p[r*classes : (r+1)*classes])
		}
		return nil
	})
}

// Ballots adds the members' votes.
func (m *Model) Ballots(ctx context.Context, t *table.Table, votes []float64) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	return m.vote(ctx, t, votes)
}

// answer makes probabilities of a row's votes.
func (m *Model) answer(p []float64) {
	for c := range p {
		p[c] = share(p[c], m.seen[c])
	}
	softmax(p, m.prior, m.sharpness)
}

// vote adds the members' votes for the rows of a table, a number for each row
// and class.
func (m *Model) vote(ctx context.Context, t *table.Table, votes []float64) error {
	classes := len(m.classes())
	return m.each(ctx, t, func(of *member, row, class int) {
		votes[row*classes+class] += of.vote
	})
}

// ballot adds the votes for the rows of any table, and what they are to be
// divided by, under the names of classes that may be more than the model's.
func (m *Model) ballot(ctx context.Context, t *table.Table, names []string, votes, seen []float64) error {
	fitted, _, err := table.Conform(t, m.schema, false)
	if err != nil {
		return err
	}
	own := make([]float64, t.Rows()*len(m.classes()))
	if err := m.vote(ctx, fitted, own); err != nil {
		return err
	}
	for c, name := range m.classes() {
		to := slices.Index(names, name)
		for r := range t.Rows() {
			votes[r*len(names)+to] += own[r*len(m.classes())+c]
			seen[r*len(names)+to] += m.seen[c]
		}
	}
	return nil
}

// right returns which rows of a table, whose schema may be any, the model
// answers with their class.
func (m *Model) right(ctx context.Context, t *table.Table) ([]bool, error) {
	said, err := say(ctx, m, t)
	if err != nil {
		return nil, err
	}
	right := make([]bool, len(said))
	for r, c := range t.Columns[m.target].Codes {
		right[r] = c == said[r]
	}
	return right, nil
}

// weightOf adds up the weight of rows.
func weightOf(t *table.Table, which []bool) float64 {
	sum := 0.0
	for r := range t.Rows() {
		if which == nil || which[r] {
			sum += t.Weight(r)
		}
	}
	return sum
}
