package evaluate

import (
	"context"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// BiasVariance takes the error of a learner apart (Geman, Bienenstock and
// Doursat 1992 for numbers, Kohavi and Wolpert 1996 for classes): what its mean
// answer over many training sets is wrong by, and how far the answers of single
// training sets lie around it. What the rows themselves leave open, their noise,
// counts as bias: each is known with one answer only.
type BiasVariance struct {
	Data    string  `json:"data,omitempty"`
	Target  *string `json:"target"`
	Learner string  `json:"learner"`
	Measure string  `json:"measure"` // "error" of classes, or "squared error"
	// Sets is how many training sets there were, of Rows rows each.
	Sets     int        `json:"training_sets"`
	Rows     int        `json:"train_rows"`
	TestRows int        `json:"test_rows"`
	Seed     uint64     `json:"seed"`
	Error    Decomposed `json:"error"`
	Bias     Decomposed `json:"bias"`
	Variance Decomposed `json:"variance"`
}

// Decomposed is a part of the error with its interval over the test rows.
type Decomposed struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// BiasVarianceSets is how many training sets are learnt unless told otherwise.
const BiasVarianceSets = 30

// DecomposeError holds out a third of the rows and learns many random halves of
// the others. Error = bias + variance for every test row.
func DecomposeError(ctx context.Context, spec Spec, sets int) (*BiasVariance, error) {
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	if spec.Target < 0 {
		return nil, fmt.Errorf("evaluate: a density of all columns has no error to take apart")
	}
	if sets == 0 {
		sets = BiasVarianceSets
	}
	if sets < 2 {
		return nil, fmt.Errorf("evaluate: %d training set; expected two or more, whose answers can differ", sets)
	}
	splits, err := spec.holdOutSplits(1./3, 1)
	if err != nil {
		return nil, err
	}
	pool, testRows := splits[0].rows()
	half := len(pool) / 2
	if half == 0 {
		return nil, fmt.Errorf("evaluate: %d rows are too few to learn halves of", len(pool))
	}
	test := spec.Table.Select(testRows)
	said := make([]saying, sets)
	progress := newProgress(ctx, sets)
	err = parallel(ctx, sets, func(ctx context.Context, i int) error {
		seed := derive(splits[0].seed, i)
		drawn := proportional(spec.Table, spec.Target, pool, seed)[:half]
		var err error
		said[i], err = spec.say(progress.part(ctx, i), sorted(drawn), test, seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	b := &BiasVariance{
		Data: spec.Data, Target: targetName(spec.Table.Schema, spec.Target), Learner: spec.Learner, Measure: "error",
		Sets: sets, Rows: half, TestRows: len(testRows), Seed: spec.Seed,
	}
	b.sum(said, test, spec.Target, spec.level())
	return b, nil
}

// saying is what one model answers to the test rows: classes by the codes of the
// test rows' dictionary, -1 if it has no such, or numbers.
type saying struct {
	classes []int
	numbers []float64
}

func (s *Spec) say(ctx context.Context, rows []int, test *table.Table, seed uint64) (saying, error) {
	var t trial
	var said saying
	m, err := s.learn(ctx, s.Table.Select(rows), seed, &t)
	if err != nil {
		return said, err
	}
	fitted, err := conform(test, m)
	if err != nil {
		return said, err
	}
	out := learn.NewPredictions(m, fitted.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		return said, err
	}
	if out.Classes == 0 {
		said.numbers = out.Mean
		return said, nil
	}
	codes := make(map[string]int)
	for code, name := range test.Schema.Attributes[s.Target].Values {
		codes[name] = code
	}
	names := m.Schema().Attributes[m.Target()].Values
	for r := range fitted.Rows() {
		code, known := codes[names[learn.Best(out.Row(r), names)]]
		if !known {
			code = -1
		}
		said.classes = append(said.classes, code)
	}
	return said, nil
}

// sum takes the error of each test row apart, and means over them.
func (b *BiasVariance) sum(said []saying, test *table.Table, target int, level float64) {
	errors, bias, variance := make([]float64, b.TestRows), make([]float64, b.TestRows), make([]float64, b.TestRows)
	column := &test.Columns[target]
	for r := range b.TestRows {
		if column.Codes != nil {
			errors[r], variance[r] = b.ofClasses(said, r, int(column.Codes[r]), len(test.Schema.Attributes[target].Values))
		} else {
			b.Measure = "squared error"
			errors[r], variance[r] = b.ofNumbers(said, r, column.Floats[r])
		}
		bias[r] = errors[r] - variance[r]
	}
	part := func(values []float64) Decomposed {
		mean, low, high := around(values, level)
		return Decomposed{mean, low, high}
	}
	b.Error, b.Bias, b.Variance = part(errors), part(bias), part(variance)
	b.Error.Low, b.Variance.Low = max(b.Error.Low, 0), max(b.Variance.Low, 0)
}

// ofClasses: with P the share of training sets that answer a class, the variance
// is ½(1 − ΣP²), its mean over sets of that size without the sets' own chance.
func (b *BiasVariance) ofClasses(said []saying, row, truth, classes int) (wrong, variance float64) {
	n := float64(len(said))
	counts := make([]float64, classes+1)
	for i := range said {
		code := said[i].classes[row]
		if code < 0 {
			code = classes
		}
		counts[code]++
	}
	squares := 0.0
	for _, c := range counts {
		squares += c * (c - 1)
	}
	return 1 - counts[truth]/n, (1 - squares/(n*(n-1))) / 2
}

func (b *BiasVariance) ofNumbers(said []saying, row int, truth float64) (wrong, variance float64) {
	n := float64(len(said))
	mean := 0.0
	for i := range said {
		mean += said[i].numbers[row] / n
	}
	for i := range said {
		x := said[i].numbers[row]
		wrong += (x - truth) * (x - truth) / n
		variance += (x - mean) * (x - mean) / (n - 1)
	}
	return wrong, variance
}

// Write writes the parts, and which of them a person should work on.
func (b *BiasVariance) Write(w io.Writer) {
	write := console.Percent
	if b.Measure != "error" {
		write = console.Number
	}
	fmt.Fprintf(w, "%s on %s%s: %s of %d training sets of %d rows, on %d unseen rows\n\n", b.Learner, b.Data, OfTarget(b.Target), b.Measure, b.Sets, b.Rows, b.TestRows)
	var rows [][]string
	for _, part := range []struct {
		name string
		Decomposed
	}{{b.Measure, b.Error}, {"bias", b.Bias}, {"variance", b.Variance}} {
		rows = append(rows, []string{part.name, write(part.Value), write(part.Low) + " to " + write(part.High)})
	}
	console.Table(w, []string{"part", "mean", ""}, rows)
	verdict := "bias and variance alike: more rows, and more columns or another learner"
	switch {
	case !(b.Error.Value > 0):
		verdict = "no error to take apart"
	case b.Bias.Value > 2*b.Variance.Value:
		verdict = "mostly bias: another learner, or more columns, would help more than more rows"
	case b.Variance.Value > 2*b.Bias.Value:
		verdict = "mostly variance: more rows, a simpler model, or many of them (bagging) would help"
	}
	fmt.Fprintln(w, "\n"+verdict)
}
