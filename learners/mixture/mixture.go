// Package mixture is mixtures of any of the densities that other learners make:
//
//	p(row) = Σ π_k · p_k(row)
//
// A hidden component k has made each row, and which one is found by EM (Dempster,
// Laird & Rubin 1977; Mitchell 1997, section 6.12.2, where the densities are
// Gaussians of known variance):
//
//	E: r_k = π_k·p_k(row) / Σ π_l·p_l(row)
//	M: each p_k is learnt again from all rows, each with the weight r_k
//
// The components are models of one learner, of=belief (with of.structure=tan a
// mixture of trees, Meilă & Jordan 2000) or of=markov, of which whole sequences
// are rows: clusters of sequences (Smyth 1997), or of=gaussian, each of which may be
// a mixture itself (of.units=1: one Gaussian each). A Gaussian mixture by itself is
// what package gaussian learns better and faster. With of=mixture the components are
// mixtures themselves: states whose sub-states have sub-states, in as many layers as
// are asked for (Tresp, Hollatz & Ahmad 1997, equations 7 and 8), as in
//
//	components=3 of=mixture of.components=2 of.of=gaussian of.of.units=1
//
// where the M step of a layer is EM of the layer below, and P(s*=j | s=i) the share
// that j has of the rows of i.
//
// EM starts from rows shared out at random, several times, and the start that makes
// the rows most probable is carried on. What a component learns may have a prior,
// or a graph of its own, so that a step may also lose: the best step is kept, and
// the first that gains less than the tolerance is the last. No row has less than
// 1e-6 of a component, so that all know all values.
//
// An update shares new rows out as they are found and has each component learn its
// own (one step of incremental EM, Neal & Hinton 1993): it promises nothing compared
// with finding all anew. Merging joins components that are most like each other.
// Forgetting drops a source from every component. Rows are
// kept if the components keep them.
//
// A step costs what the learner costs, times the components, and one pass of their
// densities.
package mixture

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "mixture"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "mixture of any densities by EM: clusters of rows (of=belief) or of sequences (of=markov)",
		Source:   "Dempster, Laird & Rubin 1977; Meilă & Jordan 2000; Smyth 1997",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Density: true, Sequences: true},
		Can:      learn.Can{Update: true, Merge: true, Forget: true, Density: true, Ask: true, Remark: true},
		Contract: learn.None,
		Keeps:    "what its components keep",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes mixtures. Its zero value is ready to use.
type Learner struct {
	Of         string            `set:"of" default:"belief; markov, where rows are in sequences" doc:"learner of the components: any that makes densities (belief, gaussian, markov)"`
	Components int               `set:"components" default:"2" doc:"number of components"`
	Starts     int               `set:"starts" default:"3" doc:"random beginnings, of which the best is carried on"`
	Iterations int               `set:"iterations" default:"100" doc:"steps of EM at most"`
	Tolerance  float64           `set:"tolerance" default:"1e-4" doc:"gain of log likelihood a row that is worth another step"`
	OfOf       map[string]string `set:"of.KEY" default:"the component learner's own" doc:"a setting of the components, as in of.structure=tan"`
}

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	Of         string      `cbor:"of"`
	Own        kept.Nested `cbor:"own"`
	Components int         `cbor:"components"`
	Starts     int         `cbor:"starts"`
	Iterations int         `cbor:"iterations"`
	Tolerance  float64     `cbor:"tolerance"`
}

// Check refuses settings that are not what they should be.
func (l *Learner) Check() error {
	_, err := l.settings("")
	return err
}

func (l *Learner) settings(sequence string) (settings, error) {
	of := "belief"
	if sequence != "" {
		of = "markov"
	}
	s := settings{Of: cmp.Or(l.Of, of), Components: cmp.Or(l.Components, 2), Starts: cmp.Or(l.Starts, 3), Iterations: cmp.Or(l.Iterations, 100), Tolerance: cmp.Or(l.Tolerance, 1e-4)}
	own, err := kept.NestedOf(l.OfOf, "of", "the components")
	if err != nil {
		return s, err
	}
	s.Own = own
	if l.Of == "" && s.Own != "" && sequence == "" {
		return s, s.checkNumbers() // whose they are is known when the rows are
	}
	return s, s.check()
}

const (
	mostComponents = 100
	mostStarts     = 1000
)

func (s *settings) checkNumbers() error {
	switch {
	case s.Components < 1 || s.Components > mostComponents:
		return fmt.Errorf("setting components=%d: expected 1 to %d", s.Components, mostComponents)
	case s.Starts < 1 || s.Starts > mostStarts:
		return fmt.Errorf("setting starts=%d: expected 1 to %d", s.Starts, mostStarts)
	case s.Iterations < 1 || s.Iterations > 100_000:
		return fmt.Errorf("setting iterations=%d: expected 1 to 100000", s.Iterations)
	case !(s.Tolerance > 0 && s.Tolerance <= 1e9):
		return fmt.Errorf("setting tolerance=%v: expected a number above 0", s.Tolerance)
	}
	return nil
}

func (s *settings) check() error {
	if err := s.checkNumbers(); err != nil {
		return err
	}
	_, err := s.learner()
	return err
}

// learner returns a new learner of components.
func (s *settings) learner() (learn.Learner, error) {
	info, err := learn.Lookup(s.Of)
	if err != nil {
		return nil, fmt.Errorf("of=%s: %w", s.Of, err)
	}
	switch {
	case !info.Takes.Density || !info.Can.Density:
		var names []string
		for _, other := range learn.All() {
			if other.Takes.Density && other.Can.Density {
				names = append(names, other.Name)
			}
		}
		return nil, fmt.Errorf("of=%s does not make densities; expected one of %s", s.Of, strings.Join(names, ", "))
	}
	return learn.New(s.Of, s.Own.Settings())
}

// Learn finds the components.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if !task.NoTarget {
		return nil, fmt.Errorf("mixture is a density of all columns and predicts none; learn it without a target, or take bayes, gaussian or belief")
	}
	s, err := l.settings(task.Table.Schema.Sequence)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	rows, _ := task.Table.WithoutText(learn.NoTarget)
	if err := table.Distinct(rows.Schema); err != nil {
		return nil, err
	}
	m, err := (&search{settings: &s, rows: rows, source: task.Source}).find(ctx, task.Seed)
	if err != nil {
		return nil, err
	}
	return m, nil
}
