package life

import (
	"context"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
)

// AsTree returns a model read out as a tree that answers as it does, from the
// rows of data or else those that it learnt, and says how far the two agree.
func (h *Home) AsTree(ctx context.Context, p *Part, d *Data) (tree *Part, fidelity float64, err error) {
	m, err := Answerer(p)
	if err != nil {
		return nil, 0, err
	}
	rows, err := h.readOutRows(ctx, p, d)
	if err != nil {
		return nil, 0, err
	}
	bar, done := h.progress("asking the model")
	r, err := knowledge.TreeOf(learn.WithProgress(ctx, bar), m, rows, p.Version.Seed)
	done()
	if err != nil {
		return nil, 0, err
	}
	h.remark(Note{Text: r.String()})
	stands := *p
	stands.Model = r.Tree
	return &stands, r.Fidelity, nil
}
