package neural

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Curves are those that CurveInFolds knows; units are epochs.
var Curves = []string{"epochs"}

// CurveInFolds draws the error against the epochs of training (Mitchell 1997,
// figure 4.9): on the rows that are learnt from and on those that are held out,
// the mean over folds. Training does not stop before the last epoch, so that one
// sees what it would have missed.
func (l *Learner) CurveInFolds(ctx context.Context, what string, task learn.Task, folds int) (*draw.Chart, error) {
	if what != "epochs" && what != "units" {
		return nil, fmt.Errorf("no curve is called %q%s", what, spell.Hint(what, Curves))
	}
	if l.Algorithm != "" && l.Algorithm != backpropagation {
		return nil, fmt.Errorf("algorithm=%s tells its epochs one by one, and is not drawn; back-propagation is", l.Algorithm)
	}
	the, err := l.prepare(ctx, task)
	if err != nil {
		return nil, err
	}
	s := *the.model.settings
	s.Folds, s.Restarts, s.Committee, s.Prune, s.Patience = folds, 1, 1, 0, math.MaxInt
	the.model.settings = &s
	seen := make([]epochs, folds)
	if err := the.watched(ctx, &s, seen); err != nil {
		return nil, err
	}
	loss := "cross entropy"
	switch {
	case the.sample.class == nil:
		loss = "squared error, of standard deviations"
	case s.Loss == "squared":
		loss = "squared error"
	}
	return chartOf(seen, loss), nil
}

// epochs are the errors of a network after each, on the rows that it learns from
// and on those that are held out.
type epochs struct{ learnt, held []float64 }

// watched trains a network for each fold and looks at it after every epoch.
func (the *preparation) watched(ctx context.Context, s *settings, seen []epochs) error {
	hashes, err := kept.HashRows(ctx, the.rows)
	if err != nil {
		return err
	}
	divisions := divide(the.rows, hashes, the.model.seed, s)
	for n, d := range divisions {
		if d.judging == nil {
			return fmt.Errorf("%d rows are too few to hold some out", the.rows.Rows())
		}
		seed := the.model.seed*0x9e3779b97f4a7c15 + uint64(n)
		net := the.start(0, seed)
		learnt := newJudge(net, the.sample, d.trained, s.Loss == "squared", 1)
		held := newJudge(net, the.sample, d.judging, s.Loss == "squared", 1)
		d.watch = func(net *dense, _ int) {
			seen[n].learnt = append(seen[n].learnt, learnt.loss(net))
			seen[n].held = append(seen[n].held, held.loss(net))
		}
		d.watch(net, 0)
		if _, err := train(learn.WithProgress(ctx, func(float64) {}), net, the.sample, d, s, seed); err != nil {
			return err
		}
		learn.Report(ctx, float64(n+1)/float64(len(divisions)))
	}
	return nil
}

// chartOf draws the mean over folds.
func chartOf(seen []epochs, loss string) *draw.Chart {
	learnt, held := draw.Series{Name: "rows learnt from"}, draw.Series{Name: "rows held out"}
	best, least := 0, math.Inf(1)
	for epoch := 0; ; epoch++ {
		var a, b, n float64
		for _, e := range seen {
			if epoch < len(e.learnt) {
				a, b, n = a+e.learnt[epoch], b+e.held[epoch], n+1
			}
		}
		if n == 0 {
			break
		}
		learnt.X, learnt.Y = append(learnt.X, float64(epoch)), append(learnt.Y, a/n)
		held.X, held.Y = append(held.X, float64(epoch)), append(held.Y, b/n)
		if b/n < least {
			best, least = epoch, b/n
		}
	}
	at := draw.Series{Name: fmt.Sprintf("least after %d epochs", best), Kind: draw.Points, X: []float64{float64(best)}, Y: []float64{least}}
	return &draw.Chart{Title: "error against epochs of training", XLabel: "epochs", YLabel: loss, Series: []draw.Series{learnt, held, at}}
}
