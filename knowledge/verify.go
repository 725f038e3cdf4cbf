package knowledge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

// Proof is how far a model is from what learning all its rows at once gives.
type Proof struct {
	learn.Promise
	// MaxDifference is the largest difference between answers for the rows:
	// of probabilities, or of numbers relative to their size.
	MaxDifference float64
	RulesDiffer   int // rules that one has and the other has not, or that differ
	// Value is what the promise is measured by, where it is bounded, and SE
	// its standard error over the rows.
	Value, SE float64
	Holds     bool
	// Estimate is what the model makes out itself, from rows that it keeps,
	// with its standard error and the number of these rows; none if it is 0.
	Estimate, EstimateSE float64
	EstimateRows         int
}

// estimator is a bounded model that knows without all rows how many nats a row it
// is behind learning everything at once.
type estimator interface {
	Distance(ctx context.Context) (nats, deviation float64, rows int, err error)
}

// tolerance is how far sums in another order may lie apart.
const tolerance = 1e-9

// Verify learns the rows of all sources at once, tells the result the rules
// that the model was told, and compares. An exact model must be the same; a
// bounded one must lie within its bound, as far as two standard errors can
// tell; of others the difference is measured, and nothing was promised that it
// could break.
//
// The rows are learnt as a stranger would: columns that no row has a cell in
// are left to be of any kind, and values that no row has are not there. Columns
// of the rows that the model does not have are learnt too.
func Verify(ctx context.Context, m learn.Model, l learn.Learner, rows []learn.Learnt, seed uint64) (*Proof, error) {
	inner := m
	for w, wraps := m.(learn.Wrapper); wraps; w, wraps = inner.(learn.Wrapper) {
		inner = w.Unwrap()
	}
	schema, err := withOthers(inner.Schema(), rows)
	if err != nil {
		return nil, err
	}
	own := slices.Clone(rows)
	for i := range own {
		if own[i].Table, _, err = table.Conform(own[i].Table, schema, false); err != nil {
			return nil, err
		}
	}
	all, err := Join(schema, own)
	if err != nil {
		return nil, err
	}
	source := learn.Source{ID: "all", Name: "all sources"}
	if len(rows) == 1 {
		source = rows[0].Source
	}
	again, err := relearn(ctx, m, l, learn.Learnt{Source: source, Table: all}, seed)
	if err != nil {
		return nil, err
	}
	p := &Proof{Promise: learn.PromiseOf(m)}
	if p.MaxDifference, err = distance(ctx, m, again, all); err != nil {
		return nil, err
	}
	d, err := Compare(m, again)
	if err != nil {
		return nil, err
	}
	p.RulesDiffer = len(d.Added) + len(d.Dropped) + len(d.Stronger) + len(d.Weaker) + len(d.Moved)
	switch p.Contract {
	case learn.Exact:
		p.Holds = p.MaxDifference <= tolerance && p.RulesDiffer == 0
	case learn.Bounded:
		p.Value = p.MaxDifference
		if p.Measure == learn.LogLoss {
			if p.Value, p.SE, err = excess(ctx, m, again, all); err != nil {
				return nil, err
			}
		}
		p.Holds = p.Value-2*p.SE <= p.Bound
		if e, ok := inner.(estimator); ok {
			if p.Estimate, p.EstimateSE, p.EstimateRows, err = e.Distance(ctx); err != nil {
				return nil, err
			}
		}
	default:
		p.Holds = true
	}
	return p, nil
}

// withOthers returns a model's schema with the columns behind its own that only
// the rows have.
func withOthers(known *table.Schema, rows []learn.Learnt) (*table.Schema, error) {
	var others []*table.Schema
	for _, l := range rows {
		other := &table.Schema{}
		for i, a := range l.Table.Schema.Attributes {
			if known.IndexNear(a.Name, i) < 0 {
				other.Attributes = append(other.Attributes, a)
			}
		}
		others = append(others, other)
	}
	union, err := table.Union(others...)
	if err != nil || len(union.Attributes) == 0 {
		return known, err
	}
	return &table.Schema{Attributes: slices.Concat(known.Attributes, union.Attributes), Sequence: known.Sequence, Linked: known.Linked}, nil
}

// Join puts the rows of all sources, which are of one schema, into one table.
// Sequences of different sources are different, whatever their names.
func Join(schema *table.Schema, parts []learn.Learnt) (*table.Table, error) {
	rows, weighted := 0, false
	for _, p := range parts {
		if err := table.Fits(schema, p.Table); err != nil {
			return nil, err
		}
		rows += p.Table.Rows()
		weighted = weighted || p.Table.Weights != nil
	}
	columns := make([]table.Column, len(schema.Attributes))
	for j := range columns {
		if schema.Attributes[j].Kind == table.Text {
			columns[j].Words = &table.Bag{Starts: make([]int, 1, rows+1)}
			for _, p := range parts {
				columns[j].Words.Append(p.Table.Columns[j].Words)
			}
			continue
		}
		if schema.Attributes[j].Kind == table.Nominal {
			columns[j].Codes = make([]int32, 0, rows)
			for _, p := range parts {
				columns[j].Codes = append(columns[j].Codes, p.Table.Columns[j].Codes...)
			}
			continue
		}
		columns[j].Floats = make([]float64, 0, rows)
		for _, p := range parts {
			columns[j].Floats = append(columns[j].Floats, p.Table.Columns[j].Floats...)
		}
	}
	var weights []float64
	if weighted {
		weights = make([]float64, 0, rows)
		for _, p := range parts {
			for r := range p.Table.Rows() {
				weights = append(weights, p.Table.Weight(r))
			}
		}
	}
	all, err := table.New(schema, columns, weights)
	if err == nil && len(parts) > 0 && parts[0].Table.Linked != nil {
		all = all.WithLinked(parts[0].Table.Linked) // of all sources together, as models keep it
	}
	if err != nil || schema.Sequence == "" {
		return all, err
	}
	var number []int32
	var names []string
	for _, p := range parts {
		for _, n := range p.Table.Sequence {
			number = append(number, int32(len(names))+n)
		}
		names = append(names, p.Table.SequenceNames...)
	}
	return all.InSequence(schema.Sequence, number, names)
}

// relearn learns a model's rows at once, strikes what was struck, and tells it
// what the model was told.
func relearn(ctx context.Context, m learn.Model, l learn.Learner, all learn.Learnt, seed uint64) (learn.Model, error) {
	again, err := l.Learn(ctx, learn.Task{Table: all.Table, Source: all.Source, Seed: seed}.At(m.Target()))
	if err != nil {
		return nil, err
	}
	if again, _, err = expert.Amended(ctx, again, m); err != nil {
		return nil, err
	}
	told, ok := m.(*expert.Told)
	if !ok {
		return again, nil
	}
	fitted, _, err := table.Conform(all.Table, again.Schema(), false)
	if err != nil {
		return nil, err
	}
	experts, rules := told.Experts()
	for i := range experts {
		if again, err = expert.Tell(ctx, again, learn.Advice{Rules: rules[i], Expert: experts[i]}, learn.Learnt{Source: all.Source, Table: fitted}); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// distance returns the largest difference between two models' answers.
func distance(ctx context.Context, a, b learn.Model, t *table.Table) (float64, error) {
	if a.Target() == learn.NoTarget {
		return densityDistance(ctx, a, b, t)
	}
	x, y := learn.NewPredictions(a, t.Rows()), learn.NewPredictions(b, t.Rows())
	own, _, err := table.Conform(t, a.Schema(), false)
	if err != nil {
		return 0, err
	}
	if err := a.Predict(ctx, own, x); err != nil {
		return 0, err
	}
	fitted, _, err := table.Conform(t, b.Schema(), false)
	if err != nil {
		return 0, err
	}
	if err := b.Predict(ctx, fitted, y); err != nil {
		return 0, err
	}
	most := 0.0
	if names := a.Schema().Attributes[a.Target()]; names.Kind == table.Nominal {
		codes := table.Recoding(&names, &b.Schema().Attributes[b.Target()])
		for row := range t.Rows() {
			p, q := x.Row(row), y.Row(row)
			for c, code := range codes {
				other := 0.0
				if code >= 0 {
					other = q[code]
				}
				most = max(most, math.Abs(p[c]-other))
			}
		}
		return most, nil
	}
	for row := range t.Rows() {
		most = max(most, relative(x.Mean[row], y.Mean[row]), relative(x.Low[row], y.Low[row]), relative(x.High[row], y.High[row]))
	}
	return most, nil
}

func densityDistance(ctx context.Context, a, b learn.Model, t *table.Table) (float64, error) {
	x, ok := learn.Ability[learn.Density](a)
	y, also := learn.Ability[learn.Density](b)
	if !ok || !also {
		return 0, fmt.Errorf("a %s model without a target gives no answers to compare", a.Learner())
	}
	p, q := make([]float64, t.Rows()), make([]float64, t.Rows())
	own, _, err := table.Conform(t, a.Schema(), false)
	if err != nil {
		return 0, err
	}
	if err := x.LogDensity(ctx, own, p); err != nil {
		return 0, err
	}
	fitted, _, err := table.Conform(t, b.Schema(), false)
	if err != nil {
		return 0, err
	}
	if err := y.LogDensity(ctx, fitted, q); err != nil {
		return 0, err
	}
	most := 0.0
	for row := range p {
		most = max(most, relative(p[row], q[row]))
	}
	return most, nil
}

// relative is the difference of two numbers, relative to their size if that is
// above 1.
func relative(x, y float64) float64 {
	if x == y {
		return 0
	}
	return math.Abs(x-y) / max(1, math.Abs(x), math.Abs(y))
}

// excess returns by how much the mean log loss of model a on the rows exceeds
// that of model b, in nats a row, and the standard error of the mean over rows.
func excess(ctx context.Context, a, b learn.Model, t *table.Table) (mean, se float64, err error) {
	x, err := logLosses(ctx, a, t)
	if err != nil {
		return 0, 0, err
	}
	y, err := logLosses(ctx, b, t)
	if err != nil {
		return 0, 0, err
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for r := range x {
		if d, w := x[r]-y[r], t.Weight(r); !math.IsNaN(d) && w > 0 {
			n += w
			sum += w * d
			squares += w * d * d
		}
	}
	if n == 0 {
		return 0, 0, nil
	}
	mean = sum / n
	if n > 1 {
		se = math.Sqrt(max(squares/n-mean*mean, 0) / (n - 1))
	}
	return mean, se, nil
}

// logLosses returns what a model loses on each row: minus the logarithm of the
// probability of its class, of the density of its number, or of its density
// where there is no target. NaN is a row without a target.
func logLosses(ctx context.Context, m learn.Model, t *table.Table) ([]float64, error) {
	t, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	losses := make([]float64, t.Rows())
	if m.Target() == learn.NoTarget {
		d, ok := learn.Ability[learn.Density](m)
		if !ok {
			return nil, fmt.Errorf("a %s model without a target gives no answers to compare", m.Learner())
		}
		err := d.LogDensity(ctx, t, losses)
		for r := range losses {
			losses[r] = -losses[r]
		}
		return losses, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	target := &t.Columns[m.Target()]
	for r := range losses {
		if out.Classes > 0 {
			losses[r] = math.NaN()
			if c := target.Codes[r]; c >= 0 {
				losses[r] = -math.Log(max(out.Row(r)[c], leastProbability))
			}
			continue
		}
		// A normal density with the interval's width.
		deviation := max((out.High[r]-out.Low[r])/(2*normal95), math.SmallestNonzeroFloat64)
		z := (target.Floats[r] - out.Mean[r]) / deviation
		losses[r] = z*z/2 + math.Log(deviation) + math.Log(2*math.Pi)/2
	}
	return losses, nil
}

// leastProbability keeps the loss of a row finite.
const leastProbability = 1e-12

// normal95 is how many deviations a 95 % interval reaches to either side.
const normal95 = 1.959963984540054
