// Package experts is mixtures of experts (Jacobs, Jordan, Nowlan & Hinton 1991;
// Tresp, Hollatz & Ahmad 1997, section 7.1, equation 22): several models share the
// space of the inputs, and gates say how far each is to be heard at a row,
//
//	y(x) = Σ n_i(x)·o_i(x),   n_i(x) = π_i·G_i(x) / Σ π_k·G_k(x)
//
// The gates are normalised Gaussian basis functions: G_i is a Gaussian with
// axis-parallel widths over numbers, times a multinomial over names, and a missing
// cell says nothing. The experts are models of one learner: constants (base=prior),
// linear (base=linear), networks (base=mlp), or any other that predicts the target;
// base=experts is the hierarchy of Jordan & Jacobs (1994), of any depth:
//
//	base=experts base.base=linear base.experts=2
//
// Gates and experts are found together by EM over the joint density of inputs and
// target (Xu, Jordan & Hinton 1995), where the step of the gates is closed:
//
//	E: r_i = π_i·G_i(x)·p_i(y|x) / Σ π_k·G_k(x)·p_k(y|x)
//	M: π_i, G_i by weighted means; each expert learns all rows, each with weight r_i
//
// p_i is the expert's probability of the class, or a normal density around its
// answer, as wide as it errs. An expert that is no closed form, a network, is trained
// by gradient within the M step, so that a step may lose: the best step is kept, and
// the first that gains less than the tolerance is the last. EM begins from clusters
// of the inputs alone.
//
// Rows are kept and learnt again by updates, which are exact. Learning costs what the
// base costs, times the experts, times the steps; an answer costs one of each expert.
// Its neighbour gaussian is the joint density whose experts are constants, or lines
// with covariance=full.
package experts

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "experts"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "mixture of experts: constants, lines, networks or experts again, each heard where its Gaussian gate says",
		Source:   "Jacobs, Jordan, Nowlan & Hinton 1991; Jordan & Jacobs 1994; Tresp, Hollatz & Ahmad 1997",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes mixtures of experts. Its zero value is ready to use.
type Learner struct {
	Base       string            `set:"base" default:"linear" doc:"learner of the experts: prior (constants), linear, mlp (networks), experts (a hierarchy), or any other that predicts the target"`
	Experts    int               `set:"experts" default:"3" doc:"number of experts"`
	Iterations int               `set:"iterations" default:"20" doc:"steps of EM at most"`
	Tolerance  float64           `set:"tolerance" default:"1e-3" doc:"gain of log likelihood a row that is worth another step"`
	Floor      float64           `set:"floor" default:"0.2" doc:"least width of a gate, in deviations of its column"`
	OfBase     map[string]string `set:"base.KEY" default:"the base's own" doc:"a setting of the experts, as in base.hidden=5"`
}

// settings are a learner's parameters with nothing left open.
type settings struct {
	Base       string      `cbor:"base"`
	Experts    int         `cbor:"experts"`
	Iterations int         `cbor:"iterations"`
	Tolerance  float64     `cbor:"tolerance"`
	Floor      float64     `cbor:"floor"`
	OfBase     kept.Nested `cbor:"of-base,omitempty"`
}

const mostExperts = 100

// resolve fills in the defaults and checks what is left.
func (l *Learner) resolve() (settings, error) {
	s := settings{Base: cmp.Or(l.Base, "linear"), Experts: cmp.Or(l.Experts, 3), Iterations: cmp.Or(l.Iterations, 20), Tolerance: cmp.Or(l.Tolerance, 1e-3), Floor: cmp.Or(l.Floor, 0.2)}
	own, err := kept.NestedOf(l.OfBase, "base", "the experts")
	if err != nil {
		return s, err
	}
	s.OfBase = own
	return s, s.check()
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	switch {
	case s.Experts < 1 || s.Experts > mostExperts:
		return fmt.Errorf("setting experts=%d: expected 1 to %d", s.Experts, mostExperts)
	case s.Iterations < 1 || s.Iterations > 100_000:
		return fmt.Errorf("setting iterations=%d: expected 1 to 100000", s.Iterations)
	case !(s.Tolerance > 0 && s.Tolerance <= 1e9):
		return fmt.Errorf("setting tolerance=%v: expected a number above 0", s.Tolerance)
	case !(s.Floor > 0 && s.Floor <= 1e3):
		return fmt.Errorf("setting floor=%v: expected a number above 0, of at most 1000", s.Floor)
	}
	_, err := s.OfBase.Base(s.Base, true, true)
	return err
}

// Check tells settings that do not go together.
func (l *Learner) Check() error {
	_, err := l.resolve()
	return err
}

// lesson is what a model is made by, besides its rows.
type lesson = kept.Lesson[settings]

// Learn keeps the task's rows, and learns them.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal, table.Numeric)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target})
}

// learnRows is a function of the rows, the settings and the seed.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m, err := blank(t.Schema, l)
	if err != nil {
		return nil, err
	}
	m.rows = rows
	s := &search{Model: m, table: t}
	for r := range t.Rows() {
		m.weight += t.Weight(r)
	}
	if !(m.weight > 0 && m.weight <= 1e15) {
		return nil, fmt.Errorf("target %q is missing in all rows, or they weigh too much (%v); there is nothing to learn from", l.Target, m.weight)
	}
	for _, y := range t.Columns[m.target].Floats {
		if math.IsInf(y, 0) {
			return nil, fmt.Errorf("target %q: it is infinite in some rows (%v); leave them out or empty the cells", l.Target, y)
		}
	}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}
