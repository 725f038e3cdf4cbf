package life

import (
	"context"
	"encoding/binary"
	"hash/fnv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A model remembers what it has learnt, so that being right on it says little.
// Rows are recognised by a hash of their cells (kept.HashRows): those that the
// model keeps, or that its recorded sources still hold. Rows in sequences are
// recognised as whole sequences: of a single one, such as a word with its tag, most
// have been seen, and little follows from that.

// mostRecognised is how many learnt rows are looked at.
const mostRecognised = 2_000_000

// learntOf says which rows of a table a model has learnt from; nil if none, or
// if it cannot be told.
func (h *Home) learntOf(ctx context.Context, p *Part, t *table.Table) ([]bool, error) {
	if p.Target() == learn.NoTarget || p.Size().Rows > mostRecognised || !h.HasRows(ctx, p) {
		return nil, nil
	}
	quiet := *h // what is to be said of the columns was said of the rows that are asked for
	quiet.Note = nil
	sources, err := quiet.LearntRows(ctx, p, nil)
	if err != nil {
		return nil, ctx.Err() // what cannot be read again is not recognised
	}
	known := map[uint64]struct{}{}
	for _, s := range sources {
		hashes, err := hashesOf(ctx, s.Table)
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
	hashes, err := hashesOf(ctx, rows)
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

// hashesOf returns a number for each row that is the same for rows that are; of rows
// in sequences, one that all rows of equal sequences have.
func hashesOf(ctx context.Context, t *table.Table) ([]uint64, error) {
	hashes, err := kept.HashRows(ctx, t)
	if err != nil || t.Schema.Sequence == "" {
		return hashes, err
	}
	t.Groups(func(from, to int) {
		whole := fnv.New64a()
		for _, x := range hashes[from:to] {
			_, _ = whole.Write(binary.LittleEndian.AppendUint64(nil, x))
		}
		for r := from; r < to; r++ {
			hashes[r] = whole.Sum64()
		}
	})
	return hashes, nil
}
