package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// sampleShare is which share of the memory a sample may have: learners need a
// table several times over.
const sampleShare = 8

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
		Text: fmt.Sprintf("%d rows do not fit into %.1f GiB of memory: learnt from are %d of them (%.1f %%), chosen by a hash of their number; what is estimated from them is as uncertain as %d rows are, %.1f times as much as all would be",
			rows, float64(h.Memory)/(1<<30), t.Rows(), 100*float64(t.Rows())/float64(rows), t.Rows(), math.Sqrt(float64(rows)/float64(t.Rows()))),
		Remedy: Remedy{Kind: remedy.AllowMemory},
	})
	return t, source.Report(), nil
}
