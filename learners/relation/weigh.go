package relation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// calibrated is the setting by which clauses are weighed together.
const calibrated = "calibrated"

// weigherName is the learner that weighs clauses: a rule network over columns that say
// which of them cover a row.
const weigherName = "rulenet"

// weighing is how clauses answer together rather than one by one: each is a column of a
// rule network, which weighs them. As clauses fit the rows that they were learnt from
// better than others, what the network says is tempered: its logarithms of probabilities
// are multiplied by what suits rows best that were left out (Platt 1999; Guo et al. 2017).
type weighing struct {
	network learn.Model
	temper  float64
}

// savedWeighing is a weighing, kept.
type savedWeighing struct {
	Network []byte  `cbor:"network"`
	Temper  float64 `cbor:"temper"`
}

// restoreWeighing checks how clauses are weighed, and puts it to use.
func (m *Model) restoreWeighing(s *savedWeighing) error {
	if (s == nil) != (m.lesson.Settings.Weigh != calibrated || len(m.list) == 0) {
		return fmt.Errorf("whether clauses are weighed is not what the settings say")
	}
	if s == nil {
		return nil
	}
	network, err := learn.Decode(s.Network)
	if err != nil {
		return err
	}
	target := network.Target()
	if target != len(m.list) || len(network.Schema().Attributes) != len(m.list)+1 || network.Learner() != weigherName || !(s.Temper > 0 && s.Temper <= 100) ||
		!slices.Equal(network.Schema().Attributes[target].Values, m.classes()) {
		return fmt.Errorf("the network does not fit %d clauses of %d classes", len(m.list), len(m.classes()))
	}
	m.weighing = &weighing{network, s.Temper}
	return nil
}

// weigh learns what the clauses are worth together, if that is asked for.
func (m *Model) weigh(ctx context.Context, t *table.Table) error {
	if m.lesson.Settings.Weigh != calibrated || len(m.list) == 0 {
		return nil
	}
	network, err := m.network(ctx, t)
	if err != nil {
		return err
	}
	m.weighing = &weighing{network, 1}
	left, err := m.leftOut(ctx, t)
	if err != nil {
		return err
	}
	m.weighing.temper = left.best()
	return nil
}

// network learns the weights of clauses.
func (m *Model) network(ctx context.Context, t *table.Table) (learn.Model, error) {
	l, err := learn.New(weigherName, nil)
	if err != nil {
		return nil, fmt.Errorf("weigh=%s: %w", calibrated, err)
	}
	covered, err := m.covered(ctx, t)
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: covered, Target: m.lesson.Target, Seed: m.lesson.Seed, Source: learn.Source{ID: "clauses", Name: "clauses"}})
}

// covered is a table that says which clauses cover each row.
func (m *Model) covered(ctx context.Context, t *table.Table) (*table.Table, error) {
	a, err := m.ask(t)
	if err != nil {
		return nil, err
	}
	schema := &table.Schema{}
	columns := make([]table.Column, len(m.list)+1)
	w := m.formats()
	for i := range m.list {
		name := fmt.Sprintf("clause %d: %s", i+1, strings.TrimSuffix(m.clause(w, i).String(), "."))
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Nominal, Values: []string{"no", "yes"}})
		columns[i].Codes = make([]int32, t.Rows())
	}
	target := m.schema.Attributes[m.target]
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: m.lesson.Target, Kind: table.Nominal, Values: target.Values})
	columns[len(m.list)].Codes = make([]int32, t.Rows())
	copy(columns[len(m.list)].Codes, t.Columns[m.target].Codes)
	for r := range t.Rows() {
		if r&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i := range m.list {
			if a.covers(ctx, r, i) {
				columns[i].Codes[r] = 1
			}
		}
	}
	return table.New(schema, columns, t.Weights)
}

// covers reports whether a clause covers a row.
func (a *asked) covers(ctx context.Context, row, clause int) bool {
	if a.program != nil {
		body, ok := a.clauses[clause].Instance(a.tuple(row))
		if !ok {
			return false
		}
		holds, err := a.program.Holds(ctx, body, logic.Limits{Steps: mostProofSteps})
		return err == nil && holds
	}
	binding := make([]int32, 0, 64)
	for _, c := range a.examples.columns {
		binding = append(binding, c[row])
	}
	budget := mostProofSteps
	_, ok := prove(a.bodies[clause], 0, binding, nil, &budget)
	return ok
}

// weighed fills in what the clauses say together.
func (m *Model) weighed(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	covered, err := m.covered(ctx, t)
	if err != nil {
		return err
	}
	if err := m.weighing.network.Predict(ctx, covered, out); err != nil {
		return err
	}
	for r := range t.Rows() {
		temper(out.Row(r), m.weighing.temper)
	}
	return nil
}

// temper multiplies logarithms of probabilities.
func temper(p []float64, by float64) {
	total := 0.0
	for c := range p {
		p[c] = math.Pow(max(p[c], 1e-12), by)
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
}

// leftOut are answers for rows that were left out.
type leftOut struct {
	p      [][]float64
	class  []int32
	weight []float64
}

// weighingFolds is into how many parts rows are divided, by their canonical order.
const weighingFolds = 3

// leftOut learns clauses and their weights without a part of the rows, and answers for
// those.
func (m *Model) leftOut(ctx context.Context, t *table.Table) (*leftOut, error) {
	all := &leftOut{}
	for fold := range weighingFolds {
		var learnt, left []int
		for r, c := range t.Columns[m.target].Codes {
			switch {
			case c < 0:
			case r%weighingFolds == fold:
				left = append(left, r)
			default:
				learnt = append(learnt, r)
			}
		}
		if len(left) == 0 || len(learnt) == 0 {
			continue
		}
		part := &Model{lesson: m.lesson, rows: m.rows, around: m.around}
		part.lesson.Settings.Weigh = ""
		if err := part.prepare(t.Schema, m.linked); err != nil {
			return nil, err
		}
		if err := part.learn(ctx, t.Select(learnt)); err != nil {
			return nil, err
		}
		if len(part.list) > 0 {
			network, err := part.network(ctx, t.Select(learnt))
			if err != nil {
				return nil, err
			}
			part.weighing = &weighing{network, 1}
		}
		rows := t.Select(left)
		out := learn.NewPredictions(part, rows.Rows())
		if err := part.Predict(ctx, rows, out); err != nil {
			return nil, err
		}
		for i, r := range left {
			all.p = append(all.p, append([]float64(nil), out.Row(i)...))
			all.class = append(all.class, t.Columns[m.target].Codes[r])
			all.weight = append(all.weight, t.Weight(r))
		}
	}
	return all, nil
}

// loss is the logarithmic loss of tempered answers.
func (l *leftOut) loss(by float64) float64 {
	total := 0.0
	p := []float64{}
	for i, c := range l.class {
		p = append(p[:0], l.p[i]...)
		temper(p, by)
		total -= l.weight[i] * math.Log(max(p[c], 1e-12))
	}
	return total
}

// best is what answers are best multiplied by, found by the golden section of its
// logarithm between 1/20 and 2.
func (l *leftOut) best() float64 {
	if len(l.class) == 0 {
		return 1
	}
	golden := (math.Sqrt(5) - 1) / 2
	low, high := math.Log(0.05), math.Log(2)
	for high-low > 1e-4 {
		a, b := high-golden*(high-low), low+golden*(high-low)
		if l.loss(math.Exp(a)) <= l.loss(math.Exp(b)) {
			high = b
		} else {
			low = a
		}
	}
	return math.Exp((low + high) / 2)
}

// explainWeighed gives what each clause that covers a row adds to what those before it say,
// and its proof; the first one stands for what no clause says, too.
func (m *Model) explainWeighed(t *table.Table, row int) (*learn.Explanation, error) {
	ctx := context.Background()
	a, err := m.ask(t.Slice(row, row+1))
	if err != nil {
		return nil, err
	}
	covered, err := m.covered(ctx, t.Slice(row, row+1))
	if err != nil {
		return nil, err
	}
	x := &learn.Explanation{Prior: logs(m.appendAnswer(nil, m.all, sum(m.all))), Additive: true}
	before, so := x.Prior, make([]int32, len(m.list))
	add := func(id, text string) error {
		p, err := m.together(ctx, covered, so)
		if err != nil {
			return err
		}
		for c, l := range logs(p) {
			x.Evidence = append(x.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: l - before[c]})
		}
		before = logs(p)
		return nil
	}
	for i := range m.list {
		if covered.Columns[i].Codes[0] != 1 {
			continue
		}
		so[i] = 1
		id, text := m.because(a, i)
		if err := add(id, text); err != nil {
			return nil, err
		}
	}
	if len(x.Evidence) == 0 {
		err = add("", "ALWAYS")
	}
	return x, err
}

// together is what the network says where some clauses cover a row and the others do not.
func (m *Model) together(ctx context.Context, like *table.Table, covers []int32) ([]float64, error) {
	columns := slices.Clone(like.Columns)
	for i := range covers {
		columns[i].Codes = covers[i : i+1]
	}
	one, err := table.New(like.Schema, columns, nil)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, 1)
	if err := m.weighing.network.Predict(ctx, one, out); err != nil {
		return nil, err
	}
	temper(out.Row(0), m.weighing.temper)
	return out.Row(0), nil
}
