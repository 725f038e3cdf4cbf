package evaluate

import (
	"context"
	"fmt"
	"slices"
)

// Curve is how a measure changes with the number of training rows.
type Curve struct {
	Data    string       `json:"data,omitempty"`
	Target  *string      `json:"target"`
	Learner string       `json:"learner"`
	Folds   int          `json:"folds"`
	Seed    uint64       `json:"seed"`
	Measure string       `json:"measure"` // "accuracy", "rmse" or "nll"
	Points  []CurvePoint `json:"points"`
	Notes   []string     `json:"notes,omitempty"`
}

// Grows reports whether the models have units to count.
func (c *Curve) Grows() bool {
	return slices.ContainsFunc(c.Points, func(p CurvePoint) bool { return p.Units > 0 })
}

// CurvePoint is the measure at one number of training rows: on unseen rows
// with its interval, and on the rows learnt from, which shows overfitting.
type CurvePoint struct {
	Rows     int     `json:"rows"` // learnt from
	Value    float64 `json:"value"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Training float64 `json:"training"`
	Units    float64 `json:"units,omitempty"` // of a model, on average
}

// CurveOptions says where a learning curve is measured.
type CurveOptions struct {
	Folds int   // 0 means 5
	Sizes []int // numbers of training rows; none means up to ten, doubling up to all rows of a fold's training part
}

// LearningCurve measures a learner at growing numbers of training rows, by
// k-fold cross-validation in which each model sees only so many of its
// training rows. Samples are stratified and nested: a larger one contains the
// smaller.
func LearningCurve(ctx context.Context, spec Spec, options CurveOptions) (*Curve, error) {
	folds, sizes := options.Folds, options.Sizes
	if folds == 0 {
		folds = 5
	}
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	whole, err := spec.crossSplits(folds)
	if err != nil {
		return nil, err
	}
	first, _ := whole[0].rows()
	all := len(first) // the first fold is the largest, so that all have as many
	if len(sizes) == 0 {
		for n := all; n >= 8 && len(sizes) < 10; n /= 2 {
			sizes = append(sizes, n)
		}
		if len(sizes) == 0 {
			sizes = []int{all}
		}
	}
	sizes = slices.Clone(sizes)
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if sizes[0] < 1 || sizes[len(sizes)-1] > all {
		return nil, fmt.Errorf("evaluate: a learning curve from %d to %d rows; expected from 1 to %d, the rows of %d folds out of %d", sizes[0], sizes[len(sizes)-1], all, folds-1, folds)
	}
	var splits []split
	for _, n := range sizes {
		for _, w := range whole {
			splits = append(splits, split{
				rows: func() (train, test []int) {
					train, test = w.rows()
					train = proportional(spec.Table, spec.Target, train, w.seed)[:n]
					slices.Sort(train)
					return train, test
				},
				seed: w.seed,
			})
		}
	}
	trials, err := spec.try(ctx, splits, true)
	if err != nil {
		return nil, err
	}
	c := &Curve{
		Data: spec.Data, Target: targetName(spec.Table.Schema, spec.Target), Learner: spec.Learner,
		Folds: folds, Seed: spec.Seed, Measure: measure(trials[0].tally.kind),
	}
	for i, n := range sizes {
		of := trials[i*len(whole) : (i+1)*len(whole)]
		r := spec.result(of, float64(spec.repeats()))
		p := CurvePoint{Rows: n}
		value, low, high := r.figure(c.Measure)
		if value == nil || low == nil || high == nil {
			c.Notes = append(c.Notes, fmt.Sprintf("no %s at %d training rows", c.Measure, n))
			continue
		}
		p.Value, p.Low, p.High = *value, *low, *high
		training := of[0].training
		for _, t := range of[1:] {
			training.merge(t.training)
		}
		for _, t := range of {
			p.Units += float64(t.units) / float64(len(of))
		}
		var on Result
		on.judge(training, spec.level(), 1)
		if value, _, _ := on.figure(c.Measure); value != nil {
			p.Training = *value
		}
		c.Points = append(c.Points, p)
	}
	return c, nil
}

// figure returns a measure and its interval.
func (r *Result) figure(measure string) (value, low, high *float64) {
	switch measure {
	case "accuracy":
		return r.Accuracy, r.AccuracyLow, r.AccuracyHigh
	case "rmse":
		return r.RMSE, r.RMSELow, r.RMSEHigh
	}
	return r.NLL, r.NLLLow, r.NLLHigh
}
