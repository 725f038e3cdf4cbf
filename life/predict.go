package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Predict answers for each row of data, in its order: batch by batch, row
// counts the rows before the batch. It returns how well the model did where
// the answer is known.
func (h *Home) Predict(ctx context.Context, p *Part, d *Data, batch func(row int, t *table.Table, out *learn.Predictions) error) (*Score, error) {
	return h.predict(ctx, p, d, nil, batch)
}

// predict is Predict where classes are chosen in a way of their own.
func (h *Home) predict(ctx context.Context, p *Part, d *Data, decide decision, batch func(row int, t *table.Table, out *learn.Predictions) error) (*Score, error) {
	m, err := Answerer(p)
	if err != nil {
		return nil, err
	}
	bar, done := h.progress("predicting")
	defer done()
	score, row := &Score{model: p.Model, decide: decide}, 0
	undefined, _ := learn.Ability[undefiner](p.Model)
	none, beyond := 0, &impossibles{model: p.Model, wanted: p.Target()}
	err = h.batches(ctx, m, d, bar, func(t *table.Table) error {
		out := learn.NewPredictions(m, t.Rows())
		if err := m.Predict(ctx, t, out); err != nil {
			return err
		}
		if p.Target() != learn.NoTarget {
			score.count(t, out)
		}
		if undefined != nil {
			none += undefined.Undefined(t)
		}
		beyond.count(t)
		row += t.Rows()
		return batch(row-t.Rows(), t, out)
	})
	if none > 0 {
		h.remark(Note{Text: fmt.Sprintf("the formula has no value for %d of %d rows (it divides by zero or overflows there); they are answered by the mean and the range of the rows that it was learnt from", none, row)})
	}
	beyond.say(h)
	score.Learnt = d.hash != "" && slices.ContainsFunc(live(p.Model, p.Versions), func(v store.Version) bool { return v.Source.Hash == d.hash })
	return score, err
}

// Densities tells how dense a model finds each row of data, in its order, batch
// by batch: the natural log of the density of what is known of the row.
func (h *Home) Densities(ctx context.Context, p *Part, d *Data, batch func(logs []float64) error) error {
	m, ok := learn.Ability[learn.Density](p.Model)
	if !ok {
		return remedy.Misusef("%s does not know how dense rows are; learn one with gaussian and no target", modelOf(p.Version.Learner))
	}
	bar, done := h.progress("measuring")
	defer done()
	return h.batches(ctx, m, d, bar, func(t *table.Table) error {
		logs := make([]float64, t.Rows())
		if err := m.LogDensity(ctx, t, logs); err != nil {
			return err
		}
		return batch(logs)
	})
}

// errEnough ends the reading of batches before the last one.
var errEnough = errors.New("enough was read")

// batches reads data as rows of a model's columns, until there are no more or
// use says that it has enough. No sequence is cut.
func (h *Home) batches(ctx context.Context, m learn.Model, d *Data, progress func(float64), use func(t *table.Table) error) error {
	o := d.options()
	o.Progress = progress
	o.Schema, o.Target = reading(m)
	if acts, ok := learn.Ability[policy](m); ok && acts.Rewards() >= 0 { // what will be earned is not known yet
		o.Optional = []string{m.Schema().Attributes[acts.Rewards()].Name}
	}
	asked := m
	if h, ok := m.(*hidden); ok {
		asked = h.sequencer
	}
	if n, ok := asked.(interface{ Novel() []int }); ok {
		o.Extend = n.Novel() != nil
	}
	stream, err := d.source(ctx, o)
	if err != nil {
		return err
	}
	defer stream.Close()
	w := &whole{use: use}
	if o.Extend {
		w.use = func(t *table.Table) error {
			fitted, err := evaluate.Fit(asked, t)
			if err != nil {
				return err
			}
			return use(fitted)
		}
	}
	for err == nil {
		var t *table.Table
		if t, err = stream.Next(); err == nil {
			err = w.add(t)
		}
	}
	if errors.Is(err, io.EOF) {
		if last := w.end(); last != nil {
			err = last
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, errEnough) {
		return err
	}
	h.note(stream.Report().Notes...)
	if m.Schema().Linked != "" && !d.isLinked() {
		h.note("the rows come alone; what they point at is looked up in what was learnt")
	}
	d.hash = stream.Report().Hash
	return nil
}

// undefiner is a model that has no value of its own for some rows, and counts them.
type undefiner interface{ Undefined(t *table.Table) int }

// refuter is a model under which rows may be that cannot be, and names them.
type refuter interface {
	Impossible(t *table.Table, wanted int) []int
}

// impossibles counts such rows.
type impossibles struct {
	model             learn.Model
	wanted            int
	first, rows, seen int // first counts from 1
}

func (c *impossibles) count(t *table.Table) {
	if r, ok := learn.Ability[refuter](c.model); ok {
		found := r.Impossible(t, c.wanted)
		if c.rows == 0 && len(found) > 0 {
			c.first = c.seen + found[0] + 1
		}
		c.rows += len(found)
	}
	c.seen += t.Rows()
}

// say tells of them, if there are any.
func (c *impossibles) say(h *Home) {
	if c.rows > 0 {
		h.remark(Note{Text: fmt.Sprintf("%s cannot be (the first is row %d): what is known there has the probability 0 in this network; answered as if nothing were known of it", plural(c.rows, "row"), c.first)})
	}
}

// Predicted is the answer for one row. Prediction is nil where the model says
// that it does not know. NoValue is a formula that divides by zero or overflows
// there: what is usual in the rows that it was learnt from answers instead.
type Predicted struct {
	Row           int                `json:"row"`
	Prediction    any                `json:"prediction"`
	Votes         map[string]float64 `json:"votes,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Low           *float64           `json:"low,omitempty"`
	High          *float64           `json:"high,omitempty"`
	NoValue       bool               `json:"no_value,omitempty"`
	Impossible    bool               `json:"impossible,omitempty"` // what is known has the probability 0: answered as if nothing were
	Columns       map[string]any     `json:"columns,omitempty"`    // of the data, where they were asked for
}

// NewPredicted returns the answer for the i-th row of a table, which is the
// row-th of the data, counted from 1.
func NewPredicted(m learn.Model, row int, t *table.Table, out *learn.Predictions, i int) Predicted {
	a := &m.Schema().Attributes[m.Target()]
	u, may := learn.Ability[undefiner](m)
	none := may && u.Undefined(t.Slice(i, i+1)) > 0
	if a.Kind == table.Numeric {
		return Predicted{Row: row, Prediction: out.Mean[i], Low: &out.Low[i], High: &out.High[i], NoValue: none}
	}
	p := out.Row(i)
	answer := Predicted{Row: row, Prediction: a.Values[learn.Best(p, a.Values)], Probabilities: byClass(a, p), NoValue: none}
	if r, ok := learn.Ability[refuter](m); ok {
		answer.Impossible = len(r.Impossible(t.Slice(i, i+1), m.Target())) > 0
	}
	if v, ok := learn.Ability[learn.Voter](m); ok {
		answer.Votes = byClass(a, v.Votes(t, i))
	}
	if Undecided(m, t, i) {
		answer.Prediction = nil
	}
	return answer
}

// Undecided reports whether a model says of a row that it does not know. One
// that was told rules answers by them, unless it believes them all.
func Undecided(m learn.Model, t *table.Table, row int) bool {
	v, ok := expert.Settled(m).(learn.Voter)
	return ok && !v.Decides(t, row)
}

// byClass names numbers, one a class; nil stays nil.
func byClass(a *table.Attribute, numbers []float64) map[string]float64 {
	if numbers == nil {
		return nil
	}
	named := make(map[string]float64, len(numbers))
	for c, x := range numbers {
		named[a.Values[c]] = x
	}
	return named
}
