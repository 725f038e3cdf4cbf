package theory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// True and false, as the outputs of a network should say them: what no weight
// has to grow without end for.
const (
	truthValue = 0.8
	falsehood  = 0.2
)

// Trust is how far an explanation is to be trusted that answers a where f was
// seen (Mitchell 1997, equation 12.3); c is the greatest difference that there is.
func Trust(a, f []float64, c float64) float64 {
	most := 0.0
	for k := range a {
		most = max(most, math.Abs(a[k]-f[k]))
	}
	if c <= 0 {
		return 1
	}
	return min(max(1-most/c, 0), 1)
}

// explainer is models that chain: those that predict the target, and before them
// those that predict what they read.
type explainer struct {
	of     *Explained
	chain  []learn.Model // each behind those that it reads from
	finals []learn.Model
}

// slopes is a model that tells how its answer changes with its numeric columns:
// that of a class, or of a number.
type slopes interface {
	Slopes(t *table.Table, row, class int) []float64
}

// newExplainer puts the earlier models, or the network of a theory of rules, in
// order; nil if there are none.
func newExplainer(ctx context.Context, l *ebnnLesson, rows *kept.Rows, m *Explained) (*explainer, error) {
	models, err := l.Settings.models()
	if err != nil {
		return nil, err
	}
	if l.Settings.Rules != "" {
		if m.regression() {
			return nil, fmt.Errorf("the target %q is a number; rules explain classes", l.Target)
		}
		s, err := (&Learner{Epochs: new(int), Near: new(float64)}).resolve()
		if err != nil {
			return nil, err
		}
		s.Theory = l.Settings.Rules
		network, err := learnRows(ctx, rows, lesson{Format: format, Settings: s, Seed: l.Seed, Target: l.Target})
		if err != nil {
			return nil, err
		}
		models = append(models, network)
	}
	if len(models) == 0 {
		return nil, nil
	}
	e := &explainer{of: m}
	var said []string
	for _, model := range models {
		name := targetName(model)
		if said = append(said, name); name == l.Target {
			e.finals = append(e.finals, model)
		}
	}
	if len(e.finals) == 0 {
		return nil, fmt.Errorf("none of the earlier models predicts the target %q; they predict %s", l.Target, strings.Join(said, ", "))
	}
	return e, e.order(models)
}

func targetName(m learn.Model) string { return m.Schema().Attributes[m.Target()].Name }

// order puts the models behind those that predict what they read.
func (e *explainer) order(models []learn.Model) error {
	const walking, done = 1, 2
	state := make([]int, len(models))
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case done:
			return nil
		case walking:
			return fmt.Errorf("the earlier models go in a circle: what predicts %q reads it", targetName(models[i]))
		}
		state[i] = walking
		for j, other := range models {
			if j != i && slices.Contains(models[i].Schema().Names(), targetName(other)) && targetName(other) != targetName(models[i]) && e.of.schema.Index(targetName(other)) < 0 {
				if err := visit(j); err != nil {
					return err
				}
			}
		}
		state[i] = done
		e.chain = append(e.chain, models[i])
		return nil
	}
	for i := range models {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

// answers returns what the chain says of the target in the rows of a table, as
// outputs of the network should: a row of outputs each.
func (e *explainer) answers(ctx context.Context, t *table.Table) ([]float64, error) {
	outputs := e.of.outputs()
	sum := make([]float64, t.Rows()*outputs)
	said := map[string]*concluded{}
	for _, m := range e.chain {
		out, err := e.ask(ctx, m, t, said)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(e.finals, m) {
			said[targetName(m)] = &concluded{m.Schema().Attributes[m.Target()], out}
			continue
		}
		for r := range t.Rows() {
			if outputs == 1 && e.of.regression() {
				sum[r] += e.of.scaled(out.Mean[r]) / float64(len(e.finals))
				continue
			}
			for c, value := range m.Schema().Attributes[m.Target()].Values {
				if k := e.of.schema.Attributes[e.of.target].Code(value); k >= 0 {
					sum[r*outputs+int(k)] += out.Row(r)[c] / float64(len(e.finals))
				}
			}
		}
	}
	if !e.of.regression() {
		for i, p := range sum {
			sum[i] = falsehood + (truthValue-falsehood)*p
		}
	}
	return sum, nil
}

// concluded is a column that an earlier model predicted.
type concluded struct {
	table.Attribute
	out *learn.Predictions
}

// mostCombinations is over how many values of predicted names together a model's
// answer is averaged.
const mostCombinations = 64

// ask returns a model's answers. Columns that the rows do not have, but earlier
// models predict, are filled in: a number by its mean, names by each value in
// turn, whose answers count by its probability.
func (e *explainer) ask(ctx context.Context, m learn.Model, t *table.Table, said map[string]*concluded) (*learn.Predictions, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	var names []int // columns of predicted names
	combinations := 1
	columns := slices.Clone(fitted.Columns)
	for j, a := range m.Schema().Attributes {
		c := said[a.Name]
		if c == nil || t.Schema.Index(a.Name) >= 0 || j == m.Target() {
			continue
		}
		if a.Kind == table.Numeric && c.Kind == table.Numeric {
			columns[j] = table.Column{Floats: c.out.Mean[:t.Rows()]}
			continue
		}
		if a.Kind != table.Nominal || c.Kind != table.Nominal {
			return nil, fmt.Errorf("column %q is %v to one earlier model and %v to another", a.Name, c.Kind, a.Kind)
		}
		names = append(names, j)
		combinations *= len(c.Values)
	}
	if combinations > mostCombinations {
		return nil, fmt.Errorf("what predicts %q reads %d combinations of predicted names; expected at most %d", targetName(m), combinations, mostCombinations)
	}
	sum := learn.NewPredictions(m, t.Rows())
	out := learn.NewPredictions(m, t.Rows())
	for n := range combinations {
		weight := make([]float64, t.Rows())
		for r := range weight {
			weight[r] = 1
		}
		rest := n
		for _, j := range names {
			a := &m.Schema().Attributes[j]
			c := said[a.Name]
			v := rest % len(c.Values)
			rest /= len(c.Values)
			codes := make([]int32, t.Rows())
			for r := range codes {
				if codes[r] = a.Code(c.Values[v]); codes[r] < 0 {
					codes[r] = table.Unseen
				}
				weight[r] *= c.out.Row(r)[v]
			}
			columns[j] = table.Column{Codes: codes}
		}
		filled, err := table.New(fitted.Schema, columns, nil)
		if err != nil {
			return nil, err
		}
		if err := m.Predict(ctx, filled, out); err != nil {
			return nil, err
		}
		for r, w := range weight {
			if out.Classes > 0 {
				for c, p := range out.Row(r) {
					sum.Row(r)[c] += w * p
				}
			} else {
				sum.Mean[r] += w * out.Mean[r]
			}
		}
	}
	return sum, nil
}

// slope is how a row's answer should change along a direction of the inputs: to
// one input, and away from another if from is not none.
type slope struct {
	to, from int32
	want     []float64 // of each output
}

// step is how far numbers are moved to see how answers change, in deviations.
// Those of models that are no smooth functions are moved farther.
const (
	step     = 0.05
	wideStep = 0.5
)

// explain returns the slopes of the chain's answers, for each row: of numbers by
// moving them a little, or as a network tells them; of names by what another would
// change.
func (e *explainer) explain(ctx context.Context, t *table.Table, now []float64) ([][]slope, error) {
	m := e.of
	all := make([][]slope, t.Rows())
	for j := range t.Columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if j == m.target {
			continue
		}
		var err error
		if m.schema.Attributes[j].Kind == table.Nominal {
			err = e.explainName(ctx, t, j, now, all)
		} else {
			err = e.explainNumber(ctx, t, j, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (e *explainer) with(t *table.Table, column int, cells table.Column) (*table.Table, error) {
	columns := slices.Clone(t.Columns)
	columns[column] = cells
	return table.New(t.Schema, columns, nil)
}

func (e *explainer) explainName(ctx context.Context, t *table.Table, j int, now []float64, all [][]slope) error {
	m, outputs := e.of, e.of.outputs()
	first := m.columns[j].first
	for v := range m.schema.Attributes[j].Values {
		codes := make([]int32, t.Rows())
		for r := range codes {
			codes[r] = int32(v)
		}
		other, err := e.with(t, j, table.Column{Codes: codes})
		if err != nil {
			return err
		}
		then, err := e.answers(ctx, other)
		if err != nil {
			return err
		}
		for r, code := range t.Columns[j].Codes {
			if code < 0 || code == int32(v) {
				continue
			}
			s := slope{to: first + int32(v), from: first + code, want: make([]float64, outputs)}
			for k := range s.want {
				s.want[k] = then[r*outputs+k] - now[r*outputs+k]
			}
			all[r] = append(all[r], s)
		}
	}
	return nil
}

func (e *explainer) explainNumber(ctx context.Context, t *table.Table, j int, all [][]slope) error {
	m, outputs := e.of, e.of.outputs()
	c := &m.columns[j]
	factor := c.scale.Factor
	if c.binary {
		factor = 1
	}
	if factor == 0 {
		return nil
	}
	if done := e.told(t, j, factor, all); done {
		return nil
	}
	wants, err := e.moved(ctx, t, j, step, factor)
	if err != nil {
		return err
	}
	if !c.binary {
		wide, err := e.moved(ctx, t, j, wideStep, factor)
		if err != nil {
			return err
		}
		if rough(wants, wide) {
			wants = wide
		}
	}
	for r, x := range t.Columns[j].Floats {
		if !table.IsMissing(x) && !math.IsInf(x, 0) {
			all[r] = append(all[r], slope{to: c.first, from: none, want: wants[r*outputs:][:outputs:outputs]})
		}
	}
	return nil
}

// moved returns how answers change with a number, by moving it so far to both
// sides; where it is zero or one, from one to the other.
func (e *explainer) moved(ctx context.Context, t *table.Table, j int, by, factor float64) ([]float64, error) {
	low, high := slices.Clone(t.Columns[j].Floats), slices.Clone(t.Columns[j].Floats)
	binary := e.of.columns[j].binary
	for r := range low {
		if binary {
			low[r], high[r] = 0, 1
		} else {
			low[r], high[r] = low[r]-by/factor, high[r]+by/factor
		}
	}
	var ends [2][]float64
	for i, cells := range [][]float64{low, high} {
		other, err := e.with(t, j, table.Column{Floats: cells})
		if err != nil {
			return nil, err
		}
		if ends[i], err = e.answers(ctx, other); err != nil {
			return nil, err
		}
	}
	if by *= 2; binary {
		by = 1
	}
	wants := make([]float64, len(ends[0]))
	for i := range wants {
		wants[i] = (ends[1][i] - ends[0][i]) / by
	}
	return wants, nil
}

// rough reports whether slopes over a short way have nothing to do with those over
// a long one, as those of trees, rules and neighbours, which go up and down in steps.
func rough(short, long []float64) bool {
	apart, size := 0.0, 0.0
	for i, s := range long {
		apart += (short[i] - s) * (short[i] - s)
		size += s * s
	}
	return apart > size
}

// told takes slopes from a model that tells them, if it is the only one. It
// reports whether there was one.
func (e *explainer) told(t *table.Table, j int, factor float64, all [][]slope) bool {
	m := e.of
	if len(e.chain) != 1 || m.regression() {
		return false
	}
	model, ok := e.chain[0].(slopes)
	if !ok {
		return false
	}
	at := e.chain[0].Schema().Index(m.schema.Attributes[j].Name)
	if at < 0 {
		return false
	}
	fitted, _, err := table.Conform(t, e.chain[0].Schema(), false)
	if err != nil {
		return false
	}
	classes := e.chain[0].Schema().Attributes[e.chain[0].Target()]
	for r, x := range t.Columns[j].Floats {
		if table.IsMissing(x) {
			continue
		}
		s := slope{to: m.columns[j].first, from: none, want: make([]float64, m.outputs())}
		for k, value := range m.schema.Attributes[m.target].Values {
			if c := classes.Code(value); c >= 0 {
				s.want[k] = (truthValue - falsehood) * model.Slopes(fitted, r, int(c))[at] / factor
			}
		}
		all[r] = append(all[r], s)
	}
	return true
}

// Slopes returns how the probability of a class changes with each numeric column
// at a row, by the network's own derivatives; 0 for other columns and missing
// cells.
func (m *Model) Slopes(t *table.Table, row, class int) []float64 {
	r := m.newRoom()
	r.gradient = make([]float64, len(m.net.weights))
	m.read(t, row, &r.example)
	m.score(m.net.weights, &r.example, r)
	copy(r.p, r.scores)
	logsum.Normalise(r.p)
	clear(r.delta)
	for c, g := range m.classes {
		if g == none {
			continue
		}
		d := -r.p[c] * r.p[class]
		if c == class {
			d += r.p[c]
		}
		r.delta[m.unitOf(g)] = d
	}
	m.net.backward(m.net.weights, &r.example, r.value, r.delta, r.blame, r.gradient)
	out := make([]float64, len(m.columns))
	for j := range m.columns {
		if j == m.target || m.schema.Attributes[j].Kind != table.Numeric {
			continue
		}
		at := int(m.columns[j].first)
		for u := range m.net.units {
			out[j] += r.delta[u] * m.net.weights[m.net.fromInput(at, u)]
		}
		if !m.columns[j].binary {
			out[j] *= m.columns[j].scale.Factor
		}
	}
	return out
}

// rulesOf reads the rules of a model's settings again.
func rulesOf(text string) *rule.Base {
	base, err := rule.Parse("theory", []byte(text))
	if err != nil || len(base.Rules) == 0 {
		return nil
	}
	return base
}
