package tree

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Curves are those that CurveInFolds knows; units are nodes.
var Curves = []string{"nodes"}

// sizeStep is a tree on its way up or down: its nodes, and what it gets wrong.
type sizeStep struct {
	nodes            int
	learnt, heldBack float64 // error on rows learnt from and on unseen ones
}

// sizeCurve is what one fold shows: a tree that grows test by test, one that
// loses tests by reduced-error pruning, and the weights and errors of a single
// leaf that the errors are measured by.
type sizeCurve struct {
	growing, shrinking []sizeStep
	learnt, heldBack   float64
}

// CurveInFolds draws accuracy against the number of nodes (Mitchell 1997,
// figures 3.6 and 3.7): on the rows learnt from and on unseen ones as a tree
// grows level by level, and on unseen ones as reduced-error pruning, on a third
// of the rows learnt from, takes tests back. It is the mean over folds; for a
// numeric target it is the share of the variance that the tree explains.
func (l *Learner) CurveInFolds(ctx context.Context, what string, task learn.Task, folds int) (*draw.Chart, error) {
	if what != "nodes" && what != "units" {
		return nil, fmt.Errorf("no curve is called %q%s", what, spell.Hint(what, Curves))
	}
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	t, err := learnable(task.Table, target)
	if err != nil {
		return nil, err
	}
	v := kept.ViewOf(t)
	if folds < 2 || t.Rows() < 3*folds {
		return nil, fmt.Errorf("%d distinct rows with a target in %d folds; expected at least two folds of three rows", t.Rows(), folds)
	}
	g, err := newGrower(ctx, v, target, s, task.Seed)
	if err != nil {
		return nil, err
	}
	held, err := foldsOf(ctx, v, task.Seed, folds)
	if err != nil {
		return nil, err
	}
	var curves []sizeCurve
	for n := range held {
		c, err := g.curve(learn.WithProgress(ctx, func(float64) {}), v, held[n], task.Seed)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
		learn.Report(ctx, float64(n+1)/float64(folds))
	}
	return chartOf(curves, t.Schema.Attributes[target].Kind == table.Numeric), nil
}

// foldsOf shares the rows' weights out among folds, by the rows' hashes.
func foldsOf(ctx context.Context, v *kept.View, seed uint64, folds int) ([][]float64, error) {
	hashes, err := v.Hashes(ctx)
	if err != nil {
		return nil, err
	}
	held := make([][]float64, folds)
	for n := range held {
		held[n] = make([]float64, v.Rows())
	}
	for r, h := range hashes {
		left := v.Weight(r)
		for n := range held {
			held[n][r] = left
			if n < folds-1 {
				held[n][r] = kept.HoldOut(h, seed+uint64(n), left, 1/float64(folds-n))
			}
			left -= held[n][r]
		}
	}
	return held, nil
}

// lessHeld returns the rows' weights less those held back.
func lessHeld(v *kept.View, held []float64) []float64 {
	weights := make([]float64, v.Rows())
	for r := range weights {
		weights[r] = max(v.Weight(r)-held[r], 0)
	}
	return weights
}

// curve grows and prunes a tree from the rows that are not held back.
func (g *grower) curve(ctx context.Context, v *kept.View, held []float64, seed uint64) (sizeCurve, error) {
	var c sizeCurve
	learnt := lessHeld(v, held)
	root, err := g.grow(ctx, learnt)
	if err != nil {
		return c, err
	}
	errors := learningErrors(g.classes)
	top := review(root, g.examples, held, &g.settings)
	c.learnt, c.heldBack = root.n, sum(held)
	if g.classes == 0 {
		c.learnt, c.heldBack = errors(root), top.asLeaf
	}
	now := sizeStep{1, errors(root), top.asLeaf}
	c.growing = []sizeStep{now}
	for level := []*heldNode{top}; len(level) > 0; {
		var next []*heldNode
		for _, h := range level {
			if h.isLeaf() {
				continue
			}
			now.nodes += len(h.children)
			now.learnt -= errors(h.node)
			now.heldBack -= h.asLeaf
			for _, child := range h.children {
				now.learnt += errors(child.node)
				now.heldBack += child.asLeaf
				next = append(next, child)
			}
			c.growing = append(c.growing, now)
		}
		level = next
	}
	c.shrinking, err = g.shrinking(ctx, v, learnt, held, seed)
	return c, err
}

// shrinking grows a tree from two thirds of the rows learnt from and prunes it
// by the last; the steps are of the rows held back.
func (g *grower) shrinking(ctx context.Context, v *kept.View, learnt, held []float64, seed uint64) ([]sizeStep, error) {
	hashes, err := v.Hashes(ctx)
	if err != nil {
		return nil, err
	}
	grown, pruned := make([]float64, len(learnt)), make([]float64, len(learnt))
	for r, h := range hashes {
		pruned[r] = kept.HoldOut(h, seed^0x7072756e65, learnt[r], thirdHeldOut)
		grown[r] = learnt[r] - pruned[r]
	}
	if sum(grown) == 0 || sum(pruned) == 0 {
		return nil, nil
	}
	root, err := g.grow(ctx, grown)
	if err != nil {
		return nil, err
	}
	errors := learningErrors(g.classes)
	judge := map[*node]float64{} // error of each node as a leaf on the rows held back
	var note func(h *heldNode)
	note = func(h *heldNode) {
		judge[h.node] = h.asLeaf
		for _, child := range h.children {
			note(child)
		}
	}
	note(review(root, g.examples, held, &g.settings))
	top := review(root, g.examples, pruned, &g.settings)
	var steps []sizeStep
	step := func() {
		now := sizeStep{nodes: top.size}
		var add func(nd *node)
		add = func(nd *node) {
			if nd.isLeaf() {
				now.heldBack += judge[nd]
			}
			for _, kid := range nd.kids {
				add(kid)
			}
		}
		add(root)
		steps = append(steps, now)
	}
	step()
	reducedError(top, errors, step)
	return steps, nil
}

// chartOf draws the mean of folds at common numbers of nodes.
func chartOf(curves []sizeCurve, numeric bool) *draw.Chart {
	most := 1
	for _, c := range curves {
		most = max(most, c.growing[len(c.growing)-1].nodes)
	}
	chart := &draw.Chart{Title: "Accuracy by number of nodes", XLabel: "nodes", YLabel: "rows answered rightly", Percent: true}
	if numeric {
		chart.Title, chart.YLabel = "Variance explained by number of nodes", "share of the variance explained"
	}
	learnt, unseen := draw.Series{Name: "rows learnt from"}, draw.Series{Name: "unseen rows"}
	pruned := draw.Series{Name: "unseen rows, pruned", Kind: draw.Dashed}
	const points = 120
	last := 0
	for i := range points + 1 {
		nodes := 1 + (most-1)*i/points
		if nodes == last {
			continue
		}
		last = nodes
		var a, b, p float64
		shrunk := 0
		for _, c := range curves {
			at := c.growing[0]
			for _, s := range c.growing {
				if s.nodes <= nodes {
					at = s
				}
			}
			a += 1 - over(at.learnt, c.learnt)
			b += 1 - over(at.heldBack, c.heldBack)
			for _, s := range c.shrinking {
				if s.nodes <= nodes {
					p += 1 - over(s.heldBack, c.heldBack)
					shrunk++
					break
				}
			}
		}
		n := float64(len(curves))
		learnt.X, learnt.Y = append(learnt.X, float64(nodes)), append(learnt.Y, a/n)
		unseen.X, unseen.Y = append(unseen.X, float64(nodes)), append(unseen.Y, b/n)
		if shrunk == len(curves) {
			pruned.X, pruned.Y = append(pruned.X, float64(nodes)), append(pruned.Y, p/n)
		}
	}
	chart.Series = []draw.Series{learnt, unseen}
	if len(pruned.X) > 0 {
		chart.Series = append(chart.Series, pruned)
	}
	return chart
}
