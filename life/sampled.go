package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// tableShare is which share of the memory a table may have, and sampleShare a
// sample of one that needs more: learners need a table several times over.
const (
	tableShare  = 4
	sampleShare = 8
)

// leastSample is how many rows a sample has at least.
const leastSample = 1000

// readSample reads as many rows of a table as there is memory for, chosen by a hash
// of their number, and says what that costs.
func (h *Home) readSample(ctx context.Context, d *Data, o table.Options, over *table.MemoryError) (*table.Table, *table.Report, error) {
	source, err := d.source(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer source.Close()
	width := int64(0)
	for i := range source.Schema().Attributes {
		width += 4
		if source.Schema().Attributes[i].Kind != table.Nominal {
			width += 4
		}
	}
	s := &sample{seed: h.Seed, below: math.MaxUint64, most: int(h.Memory / sampleShare / max(1, width))}
	if s.most < leastSample {
		return nil, nil, over
	}
	rows := 0
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		rows += batch.Rows()
		s.take(batch)
	}
	t, err := s.rows()
	if err != nil || t == nil {
		return nil, nil, errors.Join(err, over)
	}
	h.remark(Note{
		Text: fmt.Sprintf("%d rows do not fit into %s of memory: learnt from are %d of them (%.1f %%), chosen by a hash of their number; what is estimated from them is as uncertain as %d rows are, %.1f times as much as all would be",
			rows, console.Bytes(h.Memory), t.Rows(), 100*float64(t.Rows())/float64(rows), t.Rows(), math.Sqrt(float64(rows)/float64(t.Rows()))),
		Remedy: Remedy{Kind: remedy.AllowMemory},
	})
	return t, source.Report(), nil
}

// within works on the rows of a lesson. Where that needs more memory than there may
// be, it works on some of them instead, chosen by a hash of their number, and says
// so. How much a learner needs is known once it has learnt an eighth of the rows; if
// all take more than eight times that, half of them are left out, and so on.
func (h *Home) within(ctx context.Context, l *Lesson, work func(ctx context.Context) error) error {
	all, divisible := l.Table.Rows(), l.Table.Linked == nil && l.Table.Sequence == nil
	seed := h.Seed
	if divisible && h.Memory > 0 && size(l.Table) > h.Memory/probeShare && all >= probed*leastSample {
		fits, err := h.probe(l, func() error { return work(ctx) })
		if err != nil {
			return err
		}
		if fits < 1 && fits*float64(all) >= leastSample {
			l.Table, seed = share(l.Table, fits, seed), seed+1
			h.thinned(l, all)
		}
	}
	for ; ; seed++ {
		attempt, done := console.Attempt(ctx)
		err := work(attempt)
		over := (*console.MemoryLimit)(nil)
		ended := err != nil && errors.As(context.Cause(attempt), &over)
		done()
		if !ended {
			return err
		}
		if !divisible || l.Table.Rows() < 2*leastSample {
			return remedy.New(Remedy{Kind: remedy.AllowMemory}, "%w", over)
		}
		l.Table = share(l.Table, 0.5, seed)
		h.thinned(l, all)
	}
}

// probe works on an eighth of a lesson's rows, and returns which share of them all
// there is memory for, in sixteenths.
func (h *Home) probe(l *Lesson, work func() error) (fits float64, err error) {
	all := l.Table
	defer func() { l.Table = all }()
	l.Table = share(all, 1./probed, h.Seed)
	held, err := console.Held(work)
	if err != nil {
		return 0, err
	}
	perRow := max(1, float64(held)/float64(l.Table.Rows()))
	l.Table = nil
	room := float64(console.Room(h.Memory))
	return min(1, max(1, math.Floor(16*room/perRow/float64(all.Rows())))/16), nil
}

// Tables that need more than this share of the memory are tried with an eighth of
// their rows first.
const (
	probeShare = 32
	probed     = 8
)

// thinned says that a lesson has fewer rows than there were.
func (h *Home) thinned(l *Lesson, all int) {
	if n := l.Table.Rows(); n < all {
		h.remark(Note{
			Text: fmt.Sprintf("%s of %d rows needs more than %s of memory: it gets %d of them (%.1f %%), chosen by a hash of their number; what is estimated from them is %.1f times as uncertain as from all",
				l.Info.Name, all, console.Bytes(h.Memory), n, 100*float64(n)/float64(all), math.Sqrt(float64(all)/float64(n))),
			Remedy: Remedy{Kind: remedy.AllowMemory},
		})
	}
}

// size is how many bytes the cells of a table need.
func size(t *table.Table) (n int64) {
	for _, c := range t.Columns {
		n += int64(8*len(c.Floats) + 4*len(c.Codes))
	}
	return n
}

// share is about a share of a table's rows.
func share(t *table.Table, share float64, seed uint64) *table.Table {
	rows := make([]int, 0, int(share*float64(t.Rows())))
	for r := range t.Rows() {
		if float64(mix(seed^mix(uint64(r)))) < share*math.MaxUint64 {
			rows = append(rows, r)
		}
	}
	return t.Select(rows)
}
