package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// CrossValidate tests every row once, by a model learnt from the other folds
// (Mitchell 1997, §5.6): k stratified folds, Spec.Repeats times over. With as
// many folds as rows it is leave-one-out. The accuracy's interval is that of
// the error over all rows together; repeats make the estimate steadier, but
// do not narrow the interval, since the rows stay the same.
func CrossValidate(ctx context.Context, spec Spec, folds int) (*Result, error) {
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	splits, err := spec.crossSplits(folds)
	if err != nil {
		return nil, err
	}
	trials, err := spec.try(ctx, splits, false)
	if err != nil {
		return nil, err
	}
	r := spec.result(trials, float64(spec.repeats()))
	r.setFolds(folds, spec.repeats())
	switch {
	case spec.Times != nil:
		r.How = fmt.Sprintf("in %d steps of time, each learnt from all before it", folds)
	case spec.Groups != nil:
		r.How = fmt.Sprintf("%d-fold cross-validation, groups kept together", folds)
	default:
		r.How = fmt.Sprintf("%d-fold cross-validation", folds)
	}
	return r, nil
}

// setFolds notes how the rows were divided.
func (r *Result) setFolds(folds, repeats int) {
	r.Folds = folds
	if repeats > 1 {
		r.Repeats = repeats
	}
}

// HoldOutOptions says how rows are held out.
type HoldOutOptions struct {
	TestShare float64 // of the rows; 0 means a third
	Repeats   int     // random divisions; 0 means 1
}

// HoldOut learns from a random part of the rows and tests on the rest,
// stratified, as often as wanted. Test sets of several divisions overlap, so
// that they say less than as many independent rows would: the interval is
// that of the mean error on a single test set, and the result says so.
func HoldOut(ctx context.Context, spec Spec, options HoldOutOptions) (*Result, error) {
	if options.TestShare == 0 {
		options.TestShare = 1. / 3
	}
	options.Repeats = max(options.Repeats, 1)
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	splits, err := spec.holdOutSplits(options.TestShare, options.Repeats)
	if err != nil {
		return nil, err
	}
	trials, err := spec.try(ctx, splits, false)
	if err != nil {
		return nil, err
	}
	r := spec.result(trials, float64(options.Repeats))
	if options.Repeats > 1 {
		r.Repeats = options.Repeats
		r.note("test sets of the %d divisions overlap: the interval is as wide as one test set's", options.Repeats)
	}
	if n := len(trials[0].test); n < stat.FewestCases {
		r.note("a test set has %d rows; %d or more are advised", n, stat.FewestCases)
	}
	return r, nil
}

// TrainTest learns from the spec's table and tests on another.
func TrainTest(ctx context.Context, spec Spec, test *table.Table) (*Result, error) {
	r, _, err := spec.trainTest(ctx, test)
	return r, err
}

func (s *Spec) trainTest(ctx context.Context, test *table.Table) (*Result, *trial, error) {
	if err := s.checkLearner(); err != nil {
		return nil, nil, err
	}
	var learnt trial
	m, err := s.learn(ctx, s.Table, s.Seed, &learnt)
	if err != nil {
		return nil, nil, err
	}
	r, t, err := s.testModel(ctx, m, test)
	if err != nil {
		return nil, nil, err
	}
	r.TrainRows = len(labelled(s.Table, s.Target))
	r.TrainSeconds = learnt.train.Seconds()
	r.Rows = r.TrainRows + r.TestRows
	if name := r.Target; name != nil {
		r.setBaseline(s.Table, s.Target, test, test.Schema.Index(*name), t.test)
	}
	r.Framework.Experience = experience(r.TrainRows, s.Data)
	return r, t, nil
}

// TestModel tests a model on a table, whose columns are found by name (see
// table.Conform). Of the spec only Data, Learner, Seed, Level and Bins count.
// The rows should be none that the model has learnt from.
func TestModel(ctx context.Context, m learn.Model, test *table.Table, spec Spec) (*Result, error) {
	r, _, err := spec.testModel(ctx, m, test)
	return r, err
}

func (s *Spec) testModel(ctx context.Context, m learn.Model, test *table.Table) (*Result, *trial, error) {
	target := m.Target()
	if target != learn.NoTarget && test.Schema != m.Schema() {
		a := &m.Schema().Attributes[target]
		if target = test.Schema.Index(a.Name); target < 0 {
			return nil, nil, fmt.Errorf("evaluate: the test rows have no column %q to compare predictions with", a.Name)
		}
		if kind := test.Schema.Attributes[target].Kind; kind != a.Kind {
			return nil, nil, fmt.Errorf("evaluate: column %q is %v in the test rows, and %v in the model", a.Name, kind, a.Kind)
		}
	}
	spec := *s
	spec.Table, spec.Target = test, target
	if err := spec.check(); err != nil {
		return nil, nil, err
	}
	rows := labelled(test, target)
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("evaluate: no test row has a known %q", test.Schema.Attributes[target].Name)
	}
	names := classNames(test, target, dictionary(m.Schema(), m.Target()), dictionary(test.Schema, target))
	t := &trial{test: rows, trainRows: int(math.Round(m.Size().Rows)), rules: m.Size().Rules}
	_, ruler := learn.Ability[learn.Ruler](m)
	t.readable = ruler || t.rules > 0
	t.tally = newTally(test.Schema, target, names, middle(test, target), spec.bins())
	t.tally.costs = spec.Costs
	if spec.ranked && t.tally.kind == classes {
		var err error
		if t.tally.watch, err = positiveClass(spec.positive, names, test, target); err != nil {
			return nil, nil, err
		}
	}
	start := spec.now()
	losses := make([]float64, test.Rows())
	if err := t.tally.test(ctx, m, test, target, losses); err != nil {
		return nil, nil, err
	}
	t.predict = spec.now().Sub(start)
	t.losses = make([]float64, len(rows))
	for i, r := range rows {
		t.losses[i] = losses[r]
	}
	if t.tally.weight == 0 {
		return nil, nil, errWeightless
	}
	if spec.Learner == "" {
		spec.Learner = m.Learner()
	}
	r := spec.result([]trial{*t}, 1)
	r.Framework.Experience = experience(t.trainRows, "")
	return r, t, nil
}
