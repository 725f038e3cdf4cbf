package tree

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is a tree, or the list of rules that rule post-pruning made of one. It
// is immutable.
type Model struct {
	settings settings
	seed     uint64
	rows     *kept.Rows // nil: not kept
	schema   *table.Schema
	target   int
	tree     *compact // nil: it is a list
	grown    int      // tests before pruning; 0: not known
	list     *list
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ kept.Shedder    = (*Model)(nil)
)

// thirdHeldOut is the share of rows that pruning on held-out rows keeps from
// growing.
const thirdHeldOut = 1.0 / 3

// grow grows and prunes the model's tree from its rows' table.
func (m *Model) grow(ctx context.Context, v *kept.View) error {
	s := &m.settings
	prune := s.pruning(v, m.target)
	labels := v.Schema.Attributes[m.target].Values
	weights := v.Weights
	var heldOut []float64
	if prune == "error" || prune == "cost" || prune == "rules" && s.Estimate == "validation" {
		var err error
		if weights, heldOut, err = m.holdOut(ctx, v); err != nil {
			return err
		}
	}
	growing := ctx
	if prune == "cost" && heldOut != nil {
		growing = stage(ctx, 0, 0.4) // the first of two trees
	}
	g, err := newGrower(ctx, v, m.target, *s, m.seed)
	if err != nil {
		return err
	}
	var root *node
	switch {
	case s.Search == "bfs":
		root, err = g.simplest(ctx, v)
	case prune == "cv":
		root, m.grown, err = g.crossValidate(ctx, v, m.seed)
	default:
		root, err = g.grow(growing, weights)
	}
	if err != nil {
		return err
	}
	x := g.examples
	m.grown = max(m.grown, root.tests())
	errors := learningErrors(x.classes)
	switch prune {
	case "pessimistic":
		pessimistic(root, s.expectation(root, x.classes))
	case "mdl":
		shortest(root, x.classes)
	case "error":
		if heldOut != nil {
			reducedError(review(root, x, heldOut, s), errors)
			readmit(root, x, heldOut, s, labels)
		}
	case "cost":
		if heldOut != nil {
			alpha := bestAlpha(review(root, x, heldOut, s), root.n, errors)
			if root, err = g.grow(stage(ctx, 0.4, 1), v.Weights); err != nil {
				return err
			}
			m.grown = root.tests()
			costComplexity(root, alpha*root.n, errors)
		}
	case "rules":
		estimateOn := v.Weights
		if heldOut != nil {
			estimateOn = heldOut
		}
		m.list, err = postPrune(ctx, root, x, estimateOn, v.Weights, s)
		return err
	}
	m.tree = flatten(root, x, s, labels, g.ways)
	return nil
}

// stage returns a context in which all of the progress is a stretch of it.
func stage(ctx context.Context, from, to float64) context.Context {
	return learn.WithProgress(ctx, func(done float64) { learn.Report(ctx, from+done*(to-from)) })
}

// holdOut divides the rows' weights: two thirds to grow from, one to prune by.
// Of so few rows that one of the two is empty nothing is held out.
func (m *Model) holdOut(ctx context.Context, v *kept.View) (weights, heldOut []float64, err error) {
	hashes, err := v.Hashes(ctx)
	if err != nil {
		return nil, nil, err
	}
	weights, heldOut = make([]float64, v.Rows()), make([]float64, v.Rows())
	total, out := 0.0, 0.0
	for r, h := range hashes {
		w := v.Weight(r)
		heldOut[r] = kept.HoldOut(h, m.seed, w, thirdHeldOut)
		weights[r] = w - heldOut[r]
		total += weights[r]
		out += heldOut[r]
	}
	if total == 0 || out == 0 {
		return v.Weights, nil, nil
	}
	return weights, heldOut, nil
}

// Learner returns "tree".
func (m *Model) Learner() string { return "tree" }

// Unstable says that a few other rows may make another tree (Breiman 1996), so
// that a committee of trees tells where it is in doubt.
func (m *Model) Unstable() {}

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the leaves, or the rules of a list with its ELSE, and the tests.
func (m *Model) Size() learn.Size {
	if m.list != nil {
		return learn.Size{Rows: sum(m.list.root), Rules: len(m.list.rules) + 1, Units: m.list.conditions()}
	}
	tests := m.tree.tests()
	return learn.Size{Rows: m.tree.weight(0), Rules: len(m.tree.nodes) - tests, Units: tests}
}

// Nodes returns the number of nodes, leaves included. The values of a test
// that no row had share a leaf. A list of rules has none.
func (m *Model) Nodes() int {
	if m.tree == nil {
		return 0
	}
	return len(m.tree.nodes)
}

// Depth returns the number of tests on the longest path, or of the longest
// rule.
func (m *Model) Depth() int {
	if m.tree != nil {
		return m.tree.depth()
	}
	longest := 0
	for i := range m.list.rules {
		longest = max(longest, len(m.list.rules[i].conditions))
	}
	return longest
}

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows := t.Rows()
	classes := len(m.schema.Attributes[m.target].Values)
	if m.schema.Attributes[m.target].Kind == table.Nominal {
		if out.Classes != classes || len(out.P) < rows*classes {
			return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*classes, classes)
		}
	} else if len(out.Mean) < rows || len(out.Low) < rows || len(out.High) < rows {
		return fmt.Errorf("room for %d predictions, expected %d", min(len(out.Mean), len(out.Low), len(out.High)), rows)
	}
	if rows <= 1024 { // without the closure that sharing out costs
		m.predict(t, out, 0, rows)
		return ctx.Err()
	}
	return learn.Split(ctx, rows, func(lo, hi int) { m.predict(t, out, lo, hi) })
}

func (m *Model) predict(t *table.Table, out *learn.Predictions, lo, hi int) {
	switch {
	case m.list != nil:
		for r := lo; r < hi; r++ {
			copy(out.Row(r), m.list.probabilities(m.list.match(t.Columns, r)))
		}
	case m.tree.classes > 0:
		for r := lo; r < hi; r++ {
			m.tree.classify(t.Columns, r, out.Row(r))
		}
	default:
		for r := lo; r < hi; r++ {
			out.Mean[r], out.Low[r], out.High[r] = m.tree.regress(t.Columns, r)
		}
	}
}
