package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// leastProbability is what a smaller probability of the true class counts as
// in the log loss, so that one impossible row does not make it infinite.
const leastProbability = 1e-15

// unseenClass stands for actual classes that are in no dictionary.
const unseenClass = "(unseen)"

// question is what kind of answer is judged.
type question uint8

const (
	classes question = iota
	numbers
	densities
)

// tally sums up, in one pass over predictions, what all measures need. Sums
// run in the order of rows, and tallies merge in the order of folds, so that
// figures do not depend on the number of cores.
type tally struct {
	kind    question
	weight  float64 // of the tested rows
	skipped int     // rows whose target is missing

	// A nominal target.
	names         []string // actual and predicted classes
	right         float64
	logLoss       float64
	clipped       float64
	brier         float64
	counts        []float64 // actual × predicted
	binWeight     []float64
	binConfidence []float64
	binRight      []float64
	watch         string       // a class whose probabilities are kept, or ""
	scores        []scored     // of the rows tested, in their order
	costs         *Costs       // of wrong answers, or nil
	cost          stat.Moments // of saying what is most probable, and what costs least
	costLeast     stat.Moments
	unpriced      float64 // rows of classes that have no costs

	// A numeric target y and its error e. Powers of y are of y − origin,
	// a number near the mean, which keeps their sums accurate.
	square, absolute stat.Moments
	covered          float64
	origin           float64
	y                [5]float64 // Σ w yᵏ
	e2y              [3]float64 // Σ w e² yᵏ
	e4               float64    // Σ w e⁴
	shown            sample     // of the answers, for pictures

	nll        stat.Moments
	impossible float64 // weight of rows to which the model gives density 0
}

// newTally returns an empty tally for a target of a schema. Names are the
// classes that can occur, actual or predicted.
func newTally(schema *table.Schema, target int, names []string, origin float64, bins int) *tally {
	switch {
	case target == learn.NoTarget:
		return &tally{kind: densities}
	case schema.Attributes[target].Kind == table.Numeric:
		return &tally{kind: numbers, origin: origin}
	}
	return &tally{
		kind: classes, names: names, counts: make([]float64, len(names)*len(names)),
		binWeight: make([]float64, bins), binConfidence: make([]float64, bins), binRight: make([]float64, bins),
	}
}

// classNames returns the classes of several dictionaries, each once, and
// unseenClass if the target's cells have such.
func classNames(t *table.Table, target int, dictionaries ...[]string) []string {
	var names []string
	have := map[string]bool{}
	add := func(v string) {
		if !have[v] {
			have[v] = true
			names = append(names, v)
		}
	}
	for _, d := range dictionaries {
		for _, v := range d {
			add(v)
		}
	}
	if target != learn.NoTarget && slices.Contains(t.Columns[target].Codes, table.Unseen) {
		add(unseenClass)
	}
	return names
}

// middle returns the weighted mean of a numeric target, 0 for others: where
// a tally's powers are centred.
func middle(t *table.Table, target int) float64 {
	if target == learn.NoTarget || t.Columns[target].Floats == nil {
		return 0
	}
	var m stat.Moments
	for r, y := range t.Columns[target].Floats {
		if !table.IsMissing(y) && !math.IsInf(y, 0) {
			m.Add(y, t.Weight(r))
		}
	}
	return m.Mean
}

// test predicts the rows of a table with a model and counts what comes out.
// The table's schema may be another than the model's; target is the column of
// the table. losses, unless nil, gets a number for each row with a known target:
// whether a class is wrong, 0 or 1, or the squared error of a number.
func (t *tally) test(ctx context.Context, m learn.Model, rows *table.Table, target int, losses []float64) error {
	seen, err := conform(rows, m)
	if err != nil {
		return err
	}
	if t.kind == densities {
		return t.testDensity(ctx, m, seen)
	}
	out := learn.NewPredictions(m, seen.Rows())
	if err := m.Predict(ctx, seen, out); err != nil {
		return err
	}
	if t.kind == numbers {
		return t.addNumbers(rows, target, out, losses)
	}
	return t.addClasses(rows, target, out, m.Schema().Attributes[m.Target()].Values, losses)
}

// conform returns the table as the model's methods ask for it.
func conform(t *table.Table, m learn.Model) (*table.Table, error) {
	if t.Schema == m.Schema() {
		return t, nil
	}
	seen, err := Fit(m, t)
	return seen, err
}

// addClasses counts predictions of classes.
func (t *tally) addClasses(rows *table.Table, target int, out *learn.Predictions, predicted []string, losses []float64) error {
	if out.Classes == 0 {
		return fmt.Errorf("the model knows no class of %q", rows.Schema.Attributes[target].Name)
	}
	nameOf, err := positions(predicted, t.names)
	if err != nil {
		return err
	}
	values := rows.Schema.Attributes[target].Values
	actualName, err := positions(values, t.names)
	if err != nil {
		return err
	}
	actualClass := make([]int, len(values)) // in the model's dictionary, or −1
	for v, value := range values {
		actualClass[v] = slices.Index(predicted, value)
	}
	unseen := slices.Index(t.names, unseenClass)
	watched := slices.Index(predicted, t.watch)
	bins := len(t.binWeight)
	costs := t.costs.of(predicted)
	for r, code := range rows.Columns[target].Codes {
		if code == table.Missing {
			t.skipped++
			continue
		}
		name, class := unseen, -1
		if code >= 0 {
			name, class = actualName[code], actualClass[code]
		}
		w := rows.Weight(r)
		p := out.Row(r)
		square, truth := 0.0, 0.0
		for c, pc := range p {
			if !(pc >= 0 && pc <= 1+1e-9) {
				return fmt.Errorf("row %d: the model gives class %q the probability %v; expected a fraction", r+1, predicted[c], pc)
			}
			if c == class {
				truth = pc
				square += (1 - pc) * (1 - pc)
			} else {
				square += pc * pc
			}
		}
		if class < 0 {
			square++ // the true class got probability 0
		}
		if t.watch != "" {
			score := scored{weight: w, positive: t.names[name] == t.watch}
			if watched >= 0 {
				score.p = p[watched]
			}
			t.scores = append(t.scores, score)
		}
		best := learn.Best(p, predicted)
		right := best == class
		if costs != nil {
			t.addCosts(costs, p, best, class, w)
		}
		t.weight += w
		t.brier += w * square
		t.logLoss -= w * math.Log(min(max(truth, leastProbability), 1))
		if truth < leastProbability {
			t.clipped += w
		}
		t.counts[name*len(t.names)+nameOf[best]] += w
		bin := min(max(int(math.Ceil(p[best]*float64(bins)))-1, 0), bins-1)
		t.binWeight[bin] += w
		t.binConfidence[bin] += w * p[best]
		if right {
			t.right += w
			t.binRight[bin] += w
		}
		if losses != nil && !right {
			losses[r] = 1
		}
	}
	return nil
}

// positions returns where each value stands among the names.
func positions(values, names []string) ([]int, error) {
	index := make(map[string]int, len(names))
	for i, n := range names {
		index[n] = i
	}
	at := make([]int, len(values))
	for v, value := range values {
		i, ok := index[value]
		if !ok {
			return nil, fmt.Errorf("the model has a class %q that is not in the data's dictionary", value)
		}
		at[v] = i
	}
	return at, nil
}

// addNumbers counts predictions of numbers.
func (t *tally) addNumbers(rows *table.Table, target int, out *learn.Predictions, losses []float64) error {
	for r, y := range rows.Columns[target].Floats {
		if table.IsMissing(y) {
			t.skipped++
			continue
		}
		e := y - out.Mean[r]
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return fmt.Errorf("row %d: the model predicts %v for %v; expected finite numbers", r+1, out.Mean[r], y)
		}
		w := rows.Weight(r)
		t.weight += w
		t.square.Add(e*e, w)
		t.absolute.Add(math.Abs(e), w)
		if out.Low[r] <= y && y <= out.High[r] {
			t.covered += w
		}
		if losses != nil {
			losses[r] = e * e
		}
		d := y - t.origin
		d2, e2 := d*d, e*e
		for k, x := range [...]float64{1, d, d2, d2 * d, d2 * d2} {
			t.y[k] += w * x
		}
		for k, x := range [...]float64{e2, e2 * d, e2 * d2} {
			t.e2y[k] += w * x
		}
		t.e4 += w * e2 * e2
		t.shown.add(answered{y, out.Mean[r], out.Low[r], out.High[r]})
	}
	return nil
}

// answered is a row with a number that is known and the model's answer.
type answered struct{ is, mean, low, high float64 }

// sample is some of many answers, evenly spread over the rows.
type sample struct {
	rows         []answered
	seen, stride int
}

// mostShown is how many answers a picture shows at most.
const mostShown = 2000

func (s *sample) add(a answered) {
	if s.stride == 0 {
		s.stride = 1
	}
	if s.seen%s.stride == 0 {
		s.rows = append(s.rows, a)
	}
	s.seen++
	s.thin()
}

// thin leaves out every other answer while there are too many.
func (s *sample) thin() {
	for len(s.rows) > mostShown {
		half := s.rows[:0]
		for i := 0; i < len(s.rows); i += 2 {
			half = append(half, s.rows[i])
		}
		s.rows, s.stride = half, 2*s.stride
	}
}

// testDensity counts densities of whole rows.
func (t *tally) testDensity(ctx context.Context, m learn.Model, rows *table.Table) error {
	d, ok := learn.Ability[learn.Density](m)
	if !ok {
		return fmt.Errorf("%s has no density of whole rows: give a target to predict", m.Learner())
	}
	logs := make([]float64, rows.Rows())
	if err := d.LogDensity(ctx, rows, logs); err != nil {
		return err
	}
	for r, l := range logs {
		if math.IsNaN(l) {
			return fmt.Errorf("row %d: the model's density is not a number", r+1)
		}
		w := rows.Weight(r)
		t.weight += w
		if math.IsInf(l, -1) {
			t.impossible += w
			continue
		}
		t.nll.Add(-l, w)
	}
	return nil
}

// merge adds another tally of the same question.
func (t *tally) merge(o *tally) {
	t.weight += o.weight
	t.skipped += o.skipped
	t.right += o.right
	t.logLoss += o.logLoss
	t.clipped += o.clipped
	t.brier += o.brier
	t.covered += o.covered
	t.impossible += o.impossible
	t.e4 += o.e4
	for _, s := range [...]struct{ to, from []float64 }{
		{t.counts, o.counts}, {t.binWeight, o.binWeight}, {t.binConfidence, o.binConfidence},
		{t.binRight, o.binRight}, {t.y[:], o.y[:]}, {t.e2y[:], o.e2y[:]},
	} {
		for i, x := range s.from {
			s.to[i] += x
		}
	}
	t.square.Merge(o.square)
	t.absolute.Merge(o.absolute)
	t.nll.Merge(o.nll)
	t.cost.Merge(o.cost)
	t.costLeast.Merge(o.costLeast)
	t.unpriced += o.unpriced
	t.shown.stride = max(t.shown.stride, 1)
	t.shown.rows = append(t.shown.rows, o.shown.rows...)
	t.shown.thin()
}

// errorRate returns the errors among the tested rows.
func (t *tally) errorRate() stat.ErrorRate {
	return stat.ErrorRate{Errors: t.weight - t.right, Cases: t.weight}
}

// loss returns the mean loss by which learners are compared: error rate, root
// of the mean squared error, or −ln density.
func (t *tally) loss() float64 {
	switch t.kind {
	case classes:
		return 1 - t.right/t.weight
	case numbers:
		return math.Sqrt(t.square.Mean)
	}
	if t.impossible > 0 {
		return math.Inf(1)
	}
	return t.nll.Mean
}

// determination returns R² = 1 − Σe²/Σ(y−ȳ)² as an estimate. The ratio of the
// two means a/b varies as the mean of a − (a/b)·b does, divided by b (the
// delta method); that ȳ is estimated too matters only to the second order.
func (t *tally) determination(times float64) stat.Estimate {
	n := t.y[0]
	shift := t.y[1] / n // from the origin to the mean
	// Central sums Σw(y−ȳ)², Σw(y−ȳ)⁴ and Σw e²(y−ȳ)² from raw ones.
	s2 := t.y[2] - n*shift*shift
	s4 := t.y[4] - 4*shift*t.y[3] + 6*shift*shift*t.y[2] - 3*n*shift*shift*shift*shift
	cross := t.e2y[2] - 2*shift*t.e2y[1] + shift*shift*t.e2y[0]
	if !(s2 > 1e-12*t.y[2]) { // a target that does not vary
		return stat.Estimate{Value: math.NaN(), SD: math.NaN()}
	}
	ratio := t.e2y[0] / s2
	v := max((t.e4-2*ratio*cross+ratio*ratio*s4)/n, 0)
	return stat.Estimate{Value: 1 - ratio, SD: math.Sqrt(v/(n/times)) / (s2 / n)}
}

// confusion returns the counts as a matrix.
func (t *tally) confusion() [][]float64 {
	m := make([][]float64, len(t.names))
	for i := range m {
		m[i] = t.counts[i*len(t.names) : (i+1)*len(t.names)]
	}
	return m
}

// reliability returns the bins that have rows.
func (t *tally) reliability(level, times float64) []Bin {
	var bins []Bin
	width := 1 / float64(len(t.binWeight))
	for i, w := range t.binWeight {
		if w > 0 {
			right := stat.ErrorRate{Errors: t.binRight[i] / times, Cases: w / times}
			interval, _ := right.Interval(level, stat.TwoSided)
			bins = append(bins, Bin{
				Low: float64(i) * width, High: float64(i+1) * width, Weight: w,
				Confidence: t.binConfidence[i] / w,
				Accuracy:   t.binRight[i] / w, AccuracyLow: interval.Low, AccuracyHigh: interval.High,
			})
		}
	}
	return bins
}

// Fit returns a table's rows as the columns of a model, for it to answer. Names
// that it has not seen are Unseen, but in columns where it looks at them.
func Fit(m learn.Model, t *table.Table) (*table.Table, error) {
	var novel []int
	if n, ok := m.(interface{ Novel() []int }); ok {
		novel = n.Novel()
	}
	fitted, _, err := table.ConformNovel(t, m.Schema(), novel)
	return fitted, err
}
