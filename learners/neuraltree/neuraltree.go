// Package neuraltree grows trees of perceptrons that are networks at the same
// time (Golea and Marchand, A Growth Algorithm for Neural Network Decision
// Trees, Europhysics Letters 12, 1990).
//
// A node of the tree is a perceptron: a plane that parts the rows that come
// to it. It is trained by the pocket algorithm (Gallant 1986) to get as much
// of both classes right as one plane can. The rows on its positive side go to
// a right offspring, those on its negative side to a left one, each of which
// sees nothing but these rows, until every region holds one class. Rows get
// fewer at each step, so growth ends, and a table that does not contradict
// itself is learnt without an error: any Boolean function, parity of N bits
// with N units.
//
// The tree is a network (Model.Network) if each unit also listens to its
// ancestors, with weights so large that a unit is silent for rows that are not
// its own: then one output unit, a perceptron over the units, answers.
//
// Beyond the paper: columns of numbers and of many values, missing cells, more
// than two classes (each unit parts the classes along the principal axis of
// their means, as Sirat and Nadal 1990 do), rows that contradict each other
// (the majority counts), and pruning: what was grown to the last row is cut
// back as far as held-out folds ask for (cost-complexity, Breiman et al.
// 1984). A complete truth table has no rows outside it that could tell, and is
// left as it was grown.
//
// Every unit comes with a certificate of its growth (Model.Growth): which rows
// it got, which errors it removed, and why growth stopped there.
//
// Updates are exact because the model keeps its rows, counted (kept.Rows),
// and learns again: what is learnt depends on the multiset of rows and the
// seed alone. Cost: each unit takes a number of presentations that grows with
// its rows up to a limit, and a few passes through them.
package neuraltree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "neuraltree"

// Learner grows trees of perceptrons. Its zero value is ready to use.
type Learner struct {
	Criterion     string   `set:"criterion" default:"error" oneof:"error|entropy|cluster" doc:"what a unit makes small: the share of wrong rows of both classes, the entropy of its sides, or what lies outside the largest region of one class"`
	Presentations int      `set:"presentations" most:"1000000000" default:"20 for each row of a unit, 1000 to 10000" doc:"rows that the pocket algorithm is shown in one run"`
	Restarts      int      `set:"restarts" default:"10 for a complete truth table, 1 for over 3000 distinct rows, else 2" doc:"runs of the pocket algorithm for each unit, of which the best counts"`
	Prune         string   `set:"prune" default:"folds" oneof:"folds|none" doc:"cut back what held-out folds do not confirm"`
	Folds         int      `set:"folds" default:"5, or 1 for over 3000 distinct rows" doc:"parts of the rows that are held out in turn for pruning; 1 holds out a third once"`
	Margin        *float64 `set:"margin" default:"1" doc:"standard errors by which held-out rows may be worse than at best, for a smaller tree"`
	MaxDepth      int      `set:"max-depth" default:"none" doc:"units on a path at most"`
	M             *float64 `set:"m" default:"2" doc:"rows of all classes in equal parts that are added to a region's own for its probabilities"`
	Keep          string   `set:"keep" default:"rows" oneof:"rows|nothing" doc:"keep the rows, for update, merge and forget"`
}

// settings are a learner's parameters with the words filled in. Zero numbers
// stand for defaults that depend on the rows.
type settings struct {
	Criterion     string  `cbor:"criterion"`
	Presentations int     `cbor:"presentations"`
	Restarts      int     `cbor:"restarts"`
	Prune         string  `cbor:"prune"`
	Folds         int     `cbor:"folds"`
	Margin        float64 `cbor:"margin"`
	MaxDepth      int     `cbor:"max-depth"`
	M             float64 `cbor:"m"`
	Keep          string  `cbor:"keep"`
}

// The defaults of what may be 0. On nine small sets by cross-validation, a
// margin of 0, ½ or 1 gave mean accuracies of 0.885, 0.885 and 0.884; 1 gave the
// lowest log losses and the smallest trees, and alone found nothing to learn in
// 100,000 rows of pure noise.
const (
	defaultM      = 2
	defaultMargin = 1
)

func (l *Learner) resolve() (settings, error) {
	s := settings{
		Criterion: l.Criterion, Presentations: l.Presentations, Restarts: l.Restarts,
		Prune: l.Prune, Folds: l.Folds, MaxDepth: l.MaxDepth, M: defaultM, Margin: defaultMargin, Keep: l.Keep,
	}
	if l.Margin != nil {
		s.Margin = *l.Margin
	}
	if l.M != nil {
		s.M = *l.M
	}
	for field, word := range map[*string]string{&s.Criterion: "error", &s.Prune: "folds", &s.Keep: "rows"} {
		if *field == "" {
			*field = word
		}
	}
	return s, s.check()
}

// The most that settings may ask for, so that a typing error does not run for
// days.
const (
	mostPresentations = 1e9
	mostRestarts      = 1e6
	mostFolds         = 1000
)

// check refuses settings that make no sense.
func (s *settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		value, isChoice := map[string]string{"criterion": s.Criterion, "prune": s.Prune, "keep": s.Keep}[o.Key]
		if isChoice && !slices.Contains(o.Choices, value) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	for _, n := range []struct {
		key         string
		value, most int
	}{
		{"presentations", s.Presentations, mostPresentations},
		{"restarts", s.Restarts, mostRestarts},
		{"folds", s.Folds, mostFolds},
	} {
		if n.value < 0 || n.value > n.most {
			return fmt.Errorf("setting %s=%d: expected 1 to %d, or 0 for the default", n.key, n.value, n.most)
		}
	}
	switch {
	case s.MaxDepth < 0:
		return fmt.Errorf("setting max-depth=%d: expected 0 (no limit) or more", s.MaxDepth)
	case !(s.Margin >= 0 && s.Margin <= 1e6):
		return fmt.Errorf("setting margin=%v: expected 0 or more", s.Margin)
	case !(s.M >= 0 && s.M <= 1e300):
		return fmt.Errorf("setting m=%v: expected 0 or more", s.M)
	}
	return nil
}

// keeps checks the settings and reports whether rows are kept.
func (s *settings) keeps() (bool, error) { return s.Keep == "rows", s.check() }

// Learn grows a tree from the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, task.Target, task.Seed, s)
}

// learnRows grows a tree from rows that were gathered.
func learnRows(ctx context.Context, rows *kept.Rows, target string, seed uint64, s settings) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: seed, rows: rows, schema: t.Schema, target: t.Schema.Index(target)}
	if m.target < 0 || t.Schema.Attributes[m.target].Kind != table.Nominal {
		return nil, fmt.Errorf("no source has the target %q with classes", target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	if err := m.grow(ctx, t); err != nil {
		return nil, err
	}
	if s.Keep == "nothing" {
		m.rows = nil
	}
	learn.Report(ctx, 1)
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "trees of perceptrons that grow until the task is done, and are networks",
		Source:   "Golea & Marchand 1990; pocket algorithm: Gallant 1986",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Keep: true, Grow: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (keep=nothing: only the tree)",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}
