package life

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
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
	o.Schema = schema
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	return t, nil
}

// Score judges a kept model on data that it has not seen. Positive is the class
// that rows are ranked by, "" the rarest; level is the confidence, 0 for 0.95.
func (h *Home) Score(ctx context.Context, ref, data string, reading Reading, positive string, level float64) (*evaluate.Scores, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	t, err := h.readAs(ctx, data, reading, p.Model.Schema())
	if err != nil {
		return nil, err
	}
	return evaluate.ScoreModel(ctx, p.Model, t, evaluate.Spec{Data: data, Learner: p.Model.Learner(), Seed: h.Seed, Level: level, Clock: h.now}, positive)
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
	specs := []evaluate.Spec{h.Spec(d.Arg, l)}
	specs[0].Level = level
	err = h.Divide(specs, by)
	return specs[0], err
}

// Division is how rows are divided between learning and testing: those with one
// value of the column Group together, or in the order of the column Time.
type Division struct{ Group, Time string }

// Reading is how data is to be read so that the division can be made.
func (d Division) Reading(r Reading) Reading {
	if d.Group != "" {
		r.Nominal = append(append([]string{}, r.Nominal...), d.Group)
	}
	return r
}

// Divide makes the specs, which share a table, keep rows together or in time.
// The column that says so is not learnt from.
func (h *Home) Divide(specs []evaluate.Spec, d Division) error {
	name := d.Group + d.Time
	if name == "" {
		return nil
	}
	if d.Group != "" && d.Time != "" {
		return remedy.Misusef("rows are kept together or in time; expected one of %q and %q", d.Group, d.Time)
	}
	t, target := specs[0].Table, specs[0].Target
	col := t.Schema.Index(name)
	switch {
	case col < 0:
		return remedy.Misusef("there is no column %q to divide rows by%s", name, spell.Hint(name, t.Schema.Names()))
	case col == target:
		return remedy.Misusef("%q is the column to predict; expected another one to divide rows by", name)
	}
	var groups []int
	var times []float64
	var err error
	if d.Group != "" {
		groups, err = evaluate.Groups(t, col)
	} else {
		times, err = evaluate.Times(t, col)
	}
	if err != nil {
		return err
	}
	rest := evaluate.Without(t, col)
	if target != learn.NoTarget && target > col {
		target--
	}
	for i := range specs {
		specs[i].Table, specs[i].Target, specs[i].Groups, specs[i].Times = rest, target, groups, times
	}
	h.note(fmt.Sprintf("column %q divides the rows, and is not learnt from", name))
	return nil
}
