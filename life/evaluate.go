package life

import (
	"context"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/table"
)

// TrainTest learns as the spec says and tests on other data, read as the
// spec's columns.
func (h *Home) TrainTest(ctx context.Context, spec evaluate.Spec, test string, reading Reading) (*evaluate.Result, error) {
	t, err := h.readAs(ctx, test, reading, spec.Table.Schema)
	if err != nil {
		return nil, err
	}
	return evaluate.TrainTest(ctx, spec, t)
}

// CompareOn compares learners on other data, read as the specs' columns.
func (h *Home) CompareOn(ctx context.Context, specs []evaluate.Spec, test string, reading Reading) (*evaluate.Comparison, error) {
	t, err := h.readAs(ctx, test, reading, specs[0].Table.Schema)
	if err != nil {
		return nil, err
	}
	return evaluate.CompareOn(ctx, specs, t)
}

// readAs reads data with the columns of a schema.
func (h *Home) readAs(ctx context.Context, data string, reading Reading, schema *table.Schema) (*table.Table, error) {
	d, err := h.Find(data, reading)
	if err != nil {
		return nil, err
	}
	o := d.options()
	// Names that were not seen are kept of linked tables, where rows that others point at
	// have names of their own, and of sequences, where a model may look at what words
	// look like.
	o.Schema, o.Extend = schema, schema.Linked != "" || schema.Sequence != ""
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	return t, nil
}

// Judging says how a model is judged on rows of their own.
type Judging struct {
	Reading  Reading
	Positive string  // the class that rows are ranked by, "" for the rarest
	Costs    string  // of wrong answers, as said:true=cost; "" for none
	Level    float64 // of confidence, 0 for 0.95
}

// Score judges a kept model on data. Rows that it has learnt are recognised,
// where it keeps them or they can be read again.
func (h *Home) Score(ctx context.Context, ref, data string, how Judging) (*evaluate.Scores, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	t, err := h.readAs(ctx, data, how.Reading, p.Model.Schema())
	if err != nil {
		return nil, err
	}
	o := evaluate.ScoreOptions{Positive: how.Positive}
	if o.Costs, err = costsOf(how.Costs, p.Model); err != nil {
		return nil, err
	}
	if o.Learnt, err = h.learntOf(ctx, p, t); err != nil {
		return nil, err
	}
	return evaluate.ScoreModel(ctx, p.Model, t, evaluate.Spec{Data: data, Learner: p.Model.Learner(), Seed: h.Seed, Level: how.Level, Clock: h.now}, o)
}

// SpecOf reads data and chooses the learner, for an estimate of its error at a
// level of confidence, rows divided as asked for.
func (h *Home) SpecOf(ctx context.Context, data string, reading Reading, target string, c Choice, by Division, level float64) (evaluate.Spec, error) {
	d, err := h.Find(data, by.Reading(reading))
	if err != nil {
		return evaluate.Spec{}, err
	}
	l, err := h.Lesson(ctx, d, target, c)
	if err != nil {
		return evaluate.Spec{}, err
	}
	specs := []evaluate.Spec{h.Spec(d.called(), l)}
	specs[0].Level = level
	err = h.Divide(specs, by)
	return specs[0], err
}
