package life

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
)

// Verified is a model beside one that learnt everything at once.
type Verified struct {
	Contract      string  `json:"contract"`
	MaxDifference float64 `json:"max_difference"`
	RulesDiffer   int     `json:"rules_differ"`
	Holds         bool    `json:"holds"`
	Sources       int     `json:"sources"`
	// Of a bounded contract: its bound, by what it is measured, what was
	// measured, and the standard error of it.
	Bound   *float64 `json:"bound,omitempty"`
	Measure string   `json:"measure,omitempty"`
	Value   *float64 `json:"value,omitempty"`
	SE      *float64 `json:"se,omitempty"`
	// What the model makes out itself of that number, from the last rows that it
	// keeps, and the standard error of it.
	Estimate     *float64 `json:"estimate,omitempty"`
	EstimateSE   *float64 `json:"estimate_se,omitempty"`
	EstimateRows int      `json:"estimate_rows,omitempty"`

	Notes []string `json:"notes,omitempty"` // what a stranger who reads all sources at once sees otherwise

	Part  *Part            `json:"-"`
	Proof *knowledge.Proof `json:"-"`
}

// Verify learns all that a model has learnt once more, without touching the
// store, and compares.
func (h *Home) Verify(ctx context.Context, ref string, at Elsewhere) (*Verified, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	v, err := h.verify(ctx, p, at)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be verified: %w", ref, err)
	}
	return v, nil
}

// rehearser is a policy that acts again as it did.
type rehearser interface {
	policy
	Again(ctx context.Context) (learn.Model, error)
	Differs(other learn.Model) (largest float64, states int, err error)
}

// rehearse compares a policy with one that acts once more from the beginning.
func (h *Home) rehearse(ctx context.Context, p *Part, m rehearser) (*Verified, error) {
	if worldOf(m.World()) == nil {
		return nil, fmt.Errorf("%s was learnt by acting in %s, and there are no rows to go back to; learn it again, with rules from the beginning", p.Name, m.World())
	}
	bar, done := h.progress("acting again")
	defer done()
	again, err := m.Again(learn.WithProgress(ctx, bar))
	if err != nil {
		return nil, err
	}
	v := &Verified{Contract: learn.Exact.String(), Sources: 1, Part: p}
	if v.MaxDifference, v.RulesDiffer, err = m.Differs(again); err != nil {
		return nil, err
	}
	episodes, steps := m.Practice()
	v.Holds = v.MaxDifference == 0 && v.RulesDiffer == 0
	v.Notes = append(v.Notes, fmt.Sprintf("it acted again in %s: %s, %s; differences are of what actions are worth", m.World(), plural(episodes, "episode"), plural(steps, "step")))
	return v, nil
}

func (h *Home) verify(ctx context.Context, p *Part, at Elsewhere) (*Verified, error) {
	if m, ok := learn.Ability[rehearser](p.Model); ok && m.World() != "" {
		return h.rehearse(ctx, p, m)
	}
	rows, notes, err := h.strangersRows(ctx, p, at)
	if err != nil {
		return nil, err
	}
	l, err := h.learnerAgain(ctx, p, at)
	if err != nil {
		return nil, err
	}
	info, err := learn.Lookup(p.Version.Learner)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].Table, _, _, err = suit(info, rows[i].Table, learn.NoTarget); err != nil {
			return nil, err
		}
	}
	bar, done := h.progress("learning again")
	defer done()
	proof, err := knowledge.Verify(learn.WithProgress(ctx, bar), p.Model, l, rows, p.Version.Seed)
	if err != nil {
		return nil, err
	}
	v := &Verified{Contract: proof.Contract.String(), MaxDifference: proof.MaxDifference, RulesDiffer: proof.RulesDiffer, Holds: proof.Holds, Sources: len(rows), Notes: notes, Part: p, Proof: proof}
	if proof.Contract == learn.Bounded {
		v.Bound, v.Measure, v.Value, v.SE = &proof.Bound, string(proof.Measure), &proof.Value, &proof.SE
		if v.EstimateRows = proof.EstimateRows; v.EstimateRows > 0 {
			v.Estimate, v.EstimateSE = &proof.Estimate, &proof.EstimateSE
		}
	}
	return v, nil
}

// toldClauses is a model that keeps the clauses, or the virtual cases, that it was told.
type toldClauses interface {
	IsTold() bool
	// ToldAs returns the model with what another one was told.
	ToldAs(ctx context.Context, other learn.Model) (learn.Model, error)
}

// retold is a learner whose models are told what another one was.
type retold struct {
	learn.Learner
	as learn.Model
}

func (l *retold) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	m, err := l.Learner.Learn(ctx, task)
	if t, ok := m.(toldClauses); ok && err == nil {
		return t.ToldAs(ctx, l.as)
	}
	return m, err
}

// learnerAgain returns the learner that made a model, with the rules that it
// took into the learning itself. Rules that stand next to what was learnt are
// part of the model.
func (h *Home) learnerAgain(ctx context.Context, p *Part, at Elsewhere) (learn.Learner, error) {
	settings := learnerSettings(p.Version)
	if e, ok := learn.Ability[earlier](p.Model); ok {
		if key, value := e.Earlier(); value != "" {
			settings = maps.Clone(settings)
			settings[key] = value
		}
	}
	l, err := newLearner(p.Version.Learner, settings)
	if err != nil {
		return nil, err
	}
	info, err := learn.Lookup(p.Version.Learner)
	if err != nil {
		return nil, err
	}
	if t, ok := plain(p.Model).(toldClauses); ok && t.IsTold() {
		return &retold{l, plain(p.Model)}, nil
	}
	again := &advisedLater{Learner: l}
	first := true
	if t, ok := learn.Ability[reasoner](p.Model); ok {
		if t.Theory() == nil {
			return again, nil
		}
		again.Learner, err = expert.Advised(info, l, learn.Advice{Theory: t.Theory()})
		return again, err
	}
	var beside []learn.Source
	if told, ok := p.Model.(*expert.Told); ok {
		beside, _ = told.Experts()
	}
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind != store.Tell || hasSource(beside, v.Source.ID) {
			continue
		}
		rules := Rules{File: cmp.Or(at.find(v.Source), v.Source.Path)}
		if worth := v.Settings[worthSetting]; worth != "" {
			if rules.Worth, err = strconv.ParseFloat(worth, 64); err != nil {
				return nil, err
			}
		}
		if waits(rules.File) {
			return nil, fmt.Errorf("%s is not a regular file", rules.File)
		}
		base, source, err := rules.read(ctx, h, p.Schema())
		if err != nil {
			return nil, err
		}
		if source.Hash != v.Source.Hash {
			return nil, fmt.Errorf("%s is not the file of rules that version %d was told", rules.File, p.Version.Number)
		}
		if v.Number > 0 || !first {
			again.later = append(again.later, adviceOf(base, v.Source))
			continue
		}
		// The rules came with the rows.
		if again.Learner, err = expert.Advised(info, l, adviceOf(base, v.Source)); err != nil {
			return nil, err
		}
		first = false
	}
	return again, nil
}
