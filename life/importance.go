package life

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
)

// fewUnseen is how many rows that a model has not learnt are enough to judge
// its columns by them alone.
const fewUnseen = 30

// Importance says how much a kept model needs each of its columns on data. Rows
// that it has learnt are left out where there are others enough.
func (h *Home) Importance(ctx context.Context, ref, data string, reading Reading, level float64) (*evaluate.Importances, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	if p.Target() == learn.NoTarget || p.Schema().Linked != "" {
		return nil, notJointTarget(p)
	}
	t, err := h.readAs(ctx, data, reading, p.Schema())
	if err != nil {
		return nil, err
	}
	learnt, err := h.learntOf(ctx, p, t)
	if err != nil {
		return nil, err
	}
	note := ""
	if learnt != nil {
		var unseen []int
		for r, known := range learnt {
			if !known {
				unseen = append(unseen, r)
			}
		}
		note = "on rows that the model has learnt: this says what it leans on, not what helps on new rows"
		if len(unseen) >= fewUnseen {
			note = fmt.Sprintf("%d rows that the model has learnt were left out", t.Rows()-len(unseen))
			t = t.Select(unseen)
		}
	}
	bar, done := h.progress("shuffling columns")
	defer done()
	x, err := evaluate.ImportanceOf(learn.WithProgress(ctx, bar), p.Model, t, evaluate.Spec{Data: data, Seed: h.Seed, Level: level})
	if err == nil && note != "" {
		x.Notes = append(x.Notes, note)
	}
	return x, err
}

// notJointTarget says that a model does not predict a column of a table.
func notJointTarget(p *Part) error {
	return cannot(p.Version.Learner, "tell which columns a prediction needs: it predicts no column of a table", func(c learn.Can) bool { return false })
}
