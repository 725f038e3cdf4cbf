package life

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Predict answers for each row of data, in its order: batch by batch, row
// counts the rows before the batch. It returns how well the model did where
// the answer is known.
func (h *Home) Predict(ctx context.Context, p *Part, d *Data, batch func(row int, out *learn.Predictions, rows int) error) (*Score, error) {
	if p.Target() == learn.NoTarget {
		return nil, fmt.Errorf("%s is a density of all columns and has no target to predict", p.Name)
	}
	bar, done := h.progress("predicting")
	defer done()
	score, row := &Score{model: p.Model}, 0
	err := h.batches(ctx, p.Model, d, bar, func(t *table.Table) error {
		out := learn.NewPredictions(p.Model, t.Rows())
		if err := p.Predict(ctx, t, out); err != nil {
			return err
		}
		score.count(t, out)
		row += t.Rows()
		return batch(row-t.Rows(), out, t.Rows())
	})
	return score, err
}

// enough ends the reading of batches before the last one.
var enough = errors.New("enough was read")

// batches reads data as rows of a model's columns, until there are no more or
// use says that it has enough.
func (h *Home) batches(ctx context.Context, m learn.Model, d *Data, progress func(float64), use func(t *table.Table) error) error {
	o := d.options()
	o.Schema, o.Target, o.Progress = m.Schema(), m.Schema().Attributes[m.Target()].Name, progress
	stream, closeStream, err := d.stream(ctx, o)
	if err != nil {
		return err
	}
	defer closeStream()
	for err == nil {
		var t *table.Table
		if t, err = stream.Next(); err == nil {
			err = use(t)
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, enough) {
		return err
	}
	h.note(stream.Report().Notes...)
	return nil
}

// Predicted is the answer for one row.
type Predicted struct {
	Row           int                `json:"row"`
	Prediction    any                `json:"prediction"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Low           *float64           `json:"low,omitempty"`
	High          *float64           `json:"high,omitempty"`
}

// NewPredicted returns the answer for a row, counted from 1, which is the
// i-th of out.
func NewPredicted(m learn.Model, row int, out *learn.Predictions, i int) Predicted {
	a := &m.Schema().Attributes[m.Target()]
	if a.Kind == table.Numeric {
		return Predicted{Row: row, Prediction: out.Mean[i], Low: &out.Low[i], High: &out.High[i]}
	}
	p := out.Row(i)
	probabilities := make(map[string]float64, len(p))
	for c, x := range p {
		probabilities[a.Values[c]] = x
	}
	return Predicted{Row: row, Prediction: a.Values[learn.Best(p, a.Values)], Probabilities: probabilities}
}
