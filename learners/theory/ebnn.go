package theory

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// EBNNName is what explanation-based neural networks are registered as.
const EBNNName = "ebnn"

// EBNN learns a network from rows and from earlier models that explain them
// (Mitchell & Thrun 1993; Thrun 1996; Mitchell 1997, section 12.4.4). The earlier
// models answer for each row, and how their answer would change with each cell is
// what the new network's should too:
//
//	E = Σ_i [ Σ_k (f_k − f̂_k)² + μ_i Σ_j Σ_k (∂A_k/∂x_j − ∂f̂_k/∂x_j)² ],
//
// where μ_i = 1 − |A − f|/c trusts an explanation as far as its answer was right.
// The earlier models chain: one may predict a column that another reads and that
// the rows do not have. A theory of rules is made a network first, as kbann does.
// Any model will do: its slopes are taken from it where it tells them, and else
// found by moving cells.
//
// An epoch costs for each row a pass for the value and one for each column's
// slope, which is a few inputs wide.
type EBNN struct {
	Theory string   `set:"theory" model:"true" default:"none" doc:"earlier models that explain the rows, as in stable,cup: each predicts the target, or a column that another reads"`
	Hidden *int     `set:"hidden" default:"10" doc:"hidden units"`
	Mu     *float64 `set:"mu" default:"1" doc:"how much slopes count, times how far each explanation is trusted"`
	Decay  *float64 `set:"decay" default:"0.01" doc:"half of this times the squared weights is added to the error"`
	Epochs *int     `set:"epochs" default:"200" doc:"times that the rows are gone through at most"`
}

// ebnnSettings are the settings with nothing left open; Theory has the models
// themselves, Rules a theory in the rule language.
type ebnnSettings struct {
	Theory string  `cbor:"theory,omitempty"`
	Rules  string  `cbor:"rules,omitempty"`
	Hidden int     `cbor:"hidden"`
	Mu     float64 `cbor:"mu"`
	Decay  float64 `cbor:"decay"`
	Epochs int     `cbor:"epochs"`
}

func (l *EBNN) resolve() (ebnnSettings, error) {
	s := ebnnSettings{Theory: l.Theory, Hidden: setting.Or(l.Hidden, 10), Mu: setting.Or(l.Mu, 1), Decay: setting.Or(l.Decay, 0.01), Epochs: setting.Or(l.Epochs, 200)}
	return s, s.check()
}

func (s *ebnnSettings) check() error {
	switch {
	case s.Hidden < 1 || s.Hidden > 10_000:
		return fmt.Errorf("setting hidden=%d: expected 1 to 10000", s.Hidden)
	case !(s.Mu >= 0 && s.Mu <= 1e9):
		return fmt.Errorf("setting mu=%v: expected a number from 0", s.Mu)
	case !(s.Decay >= 0 && s.Decay <= 1e9):
		return fmt.Errorf("setting decay=%v: expected a number from 0", s.Decay)
	case s.Epochs < 0 || s.Epochs > 1_000_000:
		return fmt.Errorf("setting epochs=%d: expected 0 to 1000000", s.Epochs)
	}
	return nil
}

// Learn trains a network on the task's rows and their explanations.
func (l *EBNN) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	if theory := task.Advice.Theory; theory != nil {
		s.Rules = (&rule.Base{Rules: theory.Rules}).String()
	}
	rows, err := kept.Gather(ctx, task, EBNNName, table.Nominal, table.Numeric)
	if err != nil {
		return nil, err
	}
	return explainRows(ctx, rows, ebnnLesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target})
}

type ebnnLesson = kept.Lesson[ebnnSettings]

// models decodes the earlier models.
func (s *ebnnSettings) models() ([]learn.Model, error) {
	lines := strings.Split(s.Theory, "\n")
	if s.Theory != "" && len(lines) < 2 {
		return nil, fmt.Errorf("setting theory=%s names models without bringing them", s.Theory)
	}
	var all []learn.Model
	for _, line := range lines[1:] {
		data, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return nil, fmt.Errorf("setting theory: %w", err)
		}
		m, err := learn.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("setting theory: %w", err)
		}
		if m.Target() == learn.NoTarget {
			return nil, errors.New("setting theory: a model of all columns together predicts none; name models of one column")
		}
		all = append(all, m)
	}
	return all, nil
}

// explainRows learns from rows and explanations: a function of the rows, the
// settings and the seed.
func explainRows(ctx context.Context, rows *kept.Rows, l ebnnLesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Explained{lesson: l, rows: rows, schema: t.Schema, target: t.Schema.Index(l.Target)}
	if m.target < 0 {
		return nil, fmt.Errorf("no source has the target %q", l.Target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", l.Target)
	}
	m.found = lookAt(t, m.target)
	m.lay()
	m.weigh(t)
	if !(m.weight > 0) || math.IsInf(m.spread, 0) {
		return nil, fmt.Errorf("target %q: its values are infinite, or weigh %v", l.Target, m.weight)
	}
	theory, err := newExplainer(ctx, &l, rows, m)
	if err != nil {
		return nil, err
	}
	lessons, err := m.lessons(ctx, t, theory)
	if err != nil {
		return nil, err
	}
	m.initialise(l.Seed)
	if err := m.train(ctx, lessons); err != nil {
		return nil, err
	}
	m.judge(lessons)
	learn.Report(ctx, 1)
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     EBNNName,
		Summary:  "a network that learns from rows and from how earlier models, or rules, explain them",
		Source:   "Mitchell & Thrun 1993; Thrun 1996; Mitchell 1997, section 12.4.4",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true, Theory: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source, and the earlier models",
		New:      func() learn.Learner { return &EBNN{} },
		Decode:   decodeExplained,
	})
}
