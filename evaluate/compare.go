package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/table"
)

// Comparison is learners side by side, and which of them differ.
type Comparison struct {
	// Measure is what Difference speaks of: "accuracy", "rmse" or "nll".
	Measure     string       `json:"measure"`
	Level       float64      `json:"level"`
	Learners    []*Result    `json:"learners"`
	Differences []Difference `json:"differences"`
	Notes       []string     `json:"notes,omitempty"`
	// Criterion weighs each learner's errors on the rows against its differences
	// from a theory, if that was asked for.
	Criterion []Weighed `json:"criterion,omitempty"`
}

// Weighed is a learner's error on unseen rows, how often it differs from a theory on
// random ones, and what both cost together; Least is that no other's cost less.
type Weighed struct {
	Learner     string  `json:"learner"`
	ErrorRows   float64 `json:"error_rows"`
	ErrorTheory float64 `json:"error_theory"`
	Score       float64 `json:"score"`
	Least       bool    `json:"least"`
}

// Difference is the measure of a minus that of b: for accuracy a positive
// difference means that a is better, for rmse and nll a negative one.
type Difference struct {
	A string `json:"a"`
	B string `json:"b"`
	// The mean difference over folds, its interval, and the p-value of the
	// paired t test that there is none.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	P          float64 `json:"p"`
	// PHolm is P corrected for all the pairs that were looked at (Holm
	// 1979); the difference is significant if it is below 1 − level.
	PHolm       float64 `json:"p_holm"`
	Significant bool    `json:"significant"`
	Better      string  `json:"better,omitempty"` // a or b, if significant
	// McNemar tests the same on pooled predictions, for classes.
	McNemar   *McNemar   `json:"mcnemar,omitempty"`
	FiveByTwo *FiveByTwo `json:"five_by_two,omitempty"`
}

// McNemar is McNemar's test of two learners over the same rows.
type McNemar struct {
	OnlyA     float64 `json:"only_a"` // weight of rows that only a gets wrong
	OnlyB     float64 `json:"only_b"` // weight of rows that only b gets wrong
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
	PHolm     float64 `json:"p_holm"` // P corrected for all the pairs that were looked at
	Exact     bool    `json:"exact"`  // by the binomial distribution, since rows are few
}

// Compare cross-validates learners on the same folds and tests every pair: a
// paired t test over the folds (Mitchell 1997, table 5.5), and McNemar's test
// on the predictions of all rows (of the first repeat). With Spec.Repeats the
// t test is corrected for training sets that overlap (Nadeau and Bengio
// 2003). The specs have the same table and target; everything else but the
// learner is taken from the first.
func Compare(ctx context.Context, specs []Spec, folds int) (*Comparison, error) {
	if err := checkRivals(specs); err != nil {
		return nil, err
	}
	spec := &specs[0]
	splits, err := spec.crossSplits(folds)
	if err != nil {
		return nil, err
	}
	trials, err := tryAll(ctx, specs, splits, false)
	if err != nil {
		return nil, err
	}
	c := spec.comparison(specs, trials, folds)
	for a := range specs {
		for b := a + 1; b < len(specs); b++ {
			d, err := spec.difference(specs[a].Learner, specs[b].Learner, trials[a], trials[b], folds)
			if err != nil {
				return nil, err
			}
			c.Differences = append(c.Differences, d)
		}
	}
	c.decide()
	for _, t := range trials[0] {
		if n := len(t.test); n < stat.FewestCases {
			c.Notes = append(c.Notes, fmt.Sprintf("folds of %d rows; the t test asks for %d or more", n, stat.FewestCases))
			break
		}
	}
	if spec.repeats() > 1 {
		c.Notes = append(c.Notes, "repeats share their rows: the t test is corrected for that (Nadeau and Bengio 2003), and McNemar's test is of the first repeat")
	}
	return c, nil
}

// comparison sums up what each learner did.
func (s *Spec) comparison(specs []Spec, trials [][]trial, folds int) *Comparison {
	c := &Comparison{Measure: measure(trials[0][0].tally.kind), Level: s.level()}
	for i := range specs {
		spec := *s
		spec.Learner = specs[i].Learner
		r := spec.result(trials[i], float64(s.repeats()))
		r.setFolds(folds, s.repeats())
		c.Learners = append(c.Learners, r)
	}
	return c
}

// checkRivals refuses specs that cannot be compared.
func checkRivals(specs []Spec) error {
	if len(specs) < 2 {
		return fmt.Errorf("evaluate: %d learners to compare; expected at least 2", len(specs))
	}
	for i := range specs {
		if err := specs[i].checkLearner(); err != nil {
			return err
		}
		if specs[i].Table != specs[0].Table || specs[i].Target != specs[0].Target {
			return fmt.Errorf("evaluate: %s and %s have different tables or targets; expected the same to compare them", specs[0].Learner, specs[i].Learner)
		}
	}
	return nil
}

func measure(k question) string { return [...]string{"accuracy", "rmse", "nll"}[k] }

// differences returns the measure of a minus that of b on each split.
func differences(a, b []trial) ([]float64, error) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i].tally.loss() - b[i].tally.loss()
		if a[i].tally.kind == classes {
			d[i] = -d[i]
		}
		if math.IsNaN(d[i]) || math.IsInf(d[i], 0) {
			return nil, fmt.Errorf("evaluate: split %d of %d: a learner gives density 0 to a test row, and cannot be compared", i+1, len(a))
		}
	}
	return d, nil
}

// difference compares two learners over the same splits.
func (s *Spec) difference(nameA, nameB string, a, b []trial, folds int) (Difference, error) {
	over, err := differences(a, b)
	if err != nil {
		return Difference{}, err
	}
	e := stat.PairedT(over)
	if s.repeats() > 1 {
		e = stat.CorrectedT(over, 1/float64(folds-1))
	}
	i := e.Interval(s.level(), stat.TwoSided)
	d := Difference{A: nameA, B: nameB, Difference: e.Value, Low: i.Low, High: i.High, P: e.P()}
	if a[0].tally.kind == classes {
		d.McNemar = mcnemar(s.Table, a[:folds], b[:folds])
	}
	return d, nil
}

// mcnemar tests two learners on all rows that their trials have in common.
func mcnemar(t *table.Table, a, b []trial) *McNemar {
	onlyA, onlyB := 0.0, 0.0
	for k := range a {
		for j, row := range a[k].test {
			onlyA += t.Weight(row) * a[k].losses[j] * (1 - b[k].losses[j])
			onlyB += t.Weight(row) * b[k].losses[j] * (1 - a[k].losses[j])
		}
	}
	m := stat.McNemar(onlyA, onlyB)
	return &McNemar{OnlyA: onlyA, OnlyB: onlyB, Statistic: m.Statistic, P: m.P, PHolm: m.P, Exact: m.Exact}
}

// CompareOn compares classifiers on one test set (Mitchell 1997, §5.5 and
// equation 5.15). The interval and the p-value of a difference are those of
// errors measured apart, which is right but wider than need be on the same
// rows; McNemar's test makes use of their being the same. Nothing is said of
// how the learners would do with other training rows: that takes Compare.
func CompareOn(ctx context.Context, specs []Spec, test *table.Table) (*Comparison, error) {
	if err := checkRivals(specs); err != nil {
		return nil, err
	}
	c := &Comparison{Measure: "accuracy", Level: specs[0].level()}
	trials := make([]trial, len(specs))
	for i, s := range specs {
		s.Seed = specs[0].Seed
		r, t, err := s.trainTest(part(ctx, i, len(specs)), test)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Learner, err)
		}
		if t.tally.kind != classes {
			return nil, fmt.Errorf("evaluate: comparing on one test set takes classes, and %s predicts none; use folds", s.Learner)
		}
		c.Learners, trials[i] = append(c.Learners, r), *t
	}
	for a := range specs {
		for b := a + 1; b < len(specs); b++ {
			e := stat.Difference(trials[b].tally.errorRate(), trials[a].tally.errorRate())
			i := e.Interval(c.Level, stat.TwoSided)
			c.Differences = append(c.Differences, Difference{
				A: specs[a].Learner, B: specs[b].Learner, Difference: e.Value, Low: i.Low, High: i.High, P: e.P(),
				McNemar: mcnemar(test, trials[a:a+1], trials[b:b+1]),
			})
		}
	}
	c.decide()
	if n := len(trials[0].test); n < stat.FewestCases {
		c.Notes = append(c.Notes, fmt.Sprintf("%d test rows; the comparison asks for %d or more", n, stat.FewestCases))
	}
	return c, nil
}

// decide says which differences are significant among all that were looked at.
func (c *Comparison) decide() {
	var ps, mcnemar []float64
	for _, d := range c.Differences {
		ps = append(ps, d.P)
		if d.McNemar != nil {
			mcnemar = append(mcnemar, d.McNemar.P)
		}
	}
	for i, p := range stat.Holm(ps) {
		c.Differences[i].decide(p, c.Level, c.Measure)
	}
	for i, p := range stat.Holm(mcnemar) { // all pairs have it, or none
		c.Differences[i].McNemar.PHolm = p
	}
}

func (d *Difference) decide(p, level float64, measure string) {
	d.PHolm = p
	if d.Significant = p < 1-level; !d.Significant {
		return
	}
	d.Better = d.B
	if (d.Difference > 0) == (measure == "accuracy") {
		d.Better = d.A
	}
}

// FiveByTwo is Dietterich's 5×2 cross-validated paired t test of a pair.
type FiveByTwo struct {
	// Differences are the measure of a minus that of b for the two halves
	// of each of five random divisions.
	Differences [5][2]float64 `json:"differences"`
	T           float64       `json:"t"` // of the first difference; 5 degrees of freedom
	P           float64       `json:"p"`
}

// CompareFiveByTwo compares learners by Dietterich's 5×2cv test (1998), which
// errs less than the paired t over folds in calling chance a difference. Half
// of the rows learn and the other half test, then the reverse, five times.
// As in Compare the specs differ only in their learners. The test's deviation
// is that of one half's difference; a difference's interval lies so far around
// the mean of the ten, which is wider than need be.
func CompareFiveByTwo(ctx context.Context, specs []Spec) (*Comparison, error) {
	if err := checkRivals(specs); err != nil {
		return nil, err
	}
	spec := specs[0]
	if spec.Times != nil {
		return nil, fmt.Errorf("evaluate: rows in time cannot change places with their future; expected folds instead of five times two")
	}
	spec.Repeats = 5
	splits, err := spec.crossSplits(2)
	if err != nil {
		return nil, err
	}
	trials, err := tryAll(ctx, specs, splits, false)
	if err != nil {
		return nil, err
	}
	c := spec.comparison(specs, trials, 2)
	for a := range specs {
		for b := a + 1; b < len(specs); b++ {
			over, err := differences(trials[a], trials[b])
			if err != nil {
				return nil, err
			}
			c.Differences = append(c.Differences, fiveByTwo(specs[a].Learner, specs[b].Learner, over, spec.level()))
		}
	}
	c.decide()
	return c, nil
}

// fiveByTwo tests the ten differences of a pair.
func fiveByTwo(a, b string, over []float64, level float64) Difference {
	test := &FiveByTwo{}
	mean := 0.0
	for i, d := range over {
		test.Differences[i/2][i%2] = d
		mean += d / 10
	}
	e := stat.FiveByTwoT(test.Differences)
	test.T, test.P = e.Statistic(), e.P()
	if math.IsInf(test.T, 0) { // JSON has no infinity
		test.T = math.Copysign(math.MaxFloat64, test.T)
	}
	i := stat.Estimate{Value: mean, SD: e.SD, DF: e.DF}.Interval(level, stat.TwoSided)
	return Difference{A: a, B: b, Difference: mean, Low: i.Low, High: i.High, P: test.P, FiveByTwo: test}
}
