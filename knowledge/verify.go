package knowledge

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

// Proof is how far a model is from what learning all its rows at once gives.
type Proof struct {
	Contract learn.Contract
	// MaxDifference is the largest difference between answers for the rows:
	// of probabilities, or of numbers relative to their size.
	MaxDifference float64
	RulesDiffer   int // rules that one has and the other has not, or that differ
	Holds         bool
}

// tolerance is how far sums in another order may lie apart.
const tolerance = 1e-9

// Verify learns the rows of all sources at once, tells the result the rules
// that the model was told, and compares. An exact learner's model must be the
// same, and so must any model that learnt in one go, for the same seed gives
// the same model. Of others the difference is measured, and nothing was
// promised that it could break.
func Verify(ctx context.Context, m learn.Model, l learn.Learner, rows []learn.Learnt, seed uint64) (*Proof, error) {
	info, err := learn.Lookup(m.Learner())
	if err != nil {
		return nil, err
	}
	all, err := Join(m.Schema(), rows)
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
	p := &Proof{Contract: info.Contract}
	if p.MaxDifference, err = distance(ctx, m, again, all); err != nil {
		return nil, err
	}
	d, err := Compare(m, again)
	if err != nil {
		return nil, err
	}
	p.RulesDiffer = len(d.Added) + len(d.Dropped) + len(d.Stronger) + len(d.Weaker) + len(d.Moved)
	p.Holds = info.Contract != learn.Exact && len(rows) > 1 || p.MaxDifference <= tolerance && p.RulesDiffer == 0
	return p, nil
}

// Join puts the rows of all sources, which are of one schema, into one table.
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
	return table.New(schema, columns, weights)
}

// relearn learns a model's rows at once, and tells it what the model was told.
func relearn(ctx context.Context, m learn.Model, l learn.Learner, all learn.Learnt, seed uint64) (learn.Model, error) {
	again, err := l.Learn(ctx, learn.Task{Table: all.Table, Source: all.Source, Seed: seed}.At(m.Target()))
	if err != nil {
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
		if again, err = expert.TellWithin(ctx, again, rules[i], experts[i], []learn.Learnt{{Source: all.Source, Table: fitted}}, told.KnownToExperts()); err != nil {
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
	if err := a.Predict(ctx, t, x); err != nil {
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
	if err := x.LogDensity(ctx, t, p); err != nil {
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
