package life

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A model remembers what it has learnt, so that being right on it says little.
// Rows are recognised by a hash of their cells (kept.HashRows): those that the
// model keeps, or that its recorded sources still hold.

// mostRecognised is how many learnt rows are looked at.
const mostRecognised = 2_000_000

// learntOf says which rows of a table a model has learnt from; nil if none, or
// if it cannot be told.
func (h *Home) learntOf(ctx context.Context, p *Part, t *table.Table) ([]bool, error) {
	if p.Target() == learn.NoTarget || p.Size().Rows > mostRecognised || !h.HasRows(ctx, p) {
		return nil, nil
	}
	sources, err := h.LearntRows(ctx, p, nil)
	if err != nil {
		return nil, ctx.Err() // what cannot be read again is not recognised
	}
	known := map[uint64]struct{}{}
	for _, s := range sources {
		hashes, err := kept.HashRows(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		for _, x := range hashes {
			known[x] = struct{}{}
		}
	}
	rows, _, err := table.Conform(t, p.Schema(), false)
	if err != nil {
		return nil, err
	}
	hashes, err := kept.HashRows(ctx, rows)
	if err != nil {
		return nil, err
	}
	learnt, some := make([]bool, len(hashes)), false
	for i, x := range hashes {
		if _, ok := known[x]; ok {
			learnt[i], some = true, true
		}
	}
	if !some {
		return nil, nil
	}
	return learnt, nil
}
