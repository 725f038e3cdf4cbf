package nearest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

var (
	_ learn.Updater   = (*RadialModel)(nil)
	_ learn.Merger    = (*RadialModel)(nil)
	_ learn.Forgetter = (*RadialModel)(nil)
	_ learn.Explainer = (*RadialModel)(nil)
	_ learn.Keeper    = (*RadialModel)(nil)
	_ learn.Grower    = (*RadialModel)(nil)
)

// Learner is rbf.
func (m *RadialModel) Learner() string { return RBF }

// Schema is the columns of the rows.
func (m *RadialModel) Schema() *table.Schema { return m.cases.schema }

// Target is the column that is predicted.
func (m *RadialModel) Target() int { return m.cases.target }

// Size counts the rows and the units.
func (m *RadialModel) Size() learn.Size { return learn.Size{Rows: m.cases.weight, Units: len(m.Sigma)} }

// Grown says what each unit took away when it came, and why growth ended.
func (m *RadialModel) Grown() ([]fmt.Stringer, string) {
	grown := make([]fmt.Stringer, len(m.Added))
	for i, a := range m.Added {
		grown[i] = a
	}
	return grown, m.Why
}

// Relearning says how the network is learnt again from the rows.
func (m *RadialModel) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "network", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRadial(ctx, rows, m.lesson, nil)
		},
	}
}

// Begin starts to learn more rows.
func (m *RadialModel) Begin(source learn.Source) (learn.Update, error) {
	return begin(m, m.cases, source)
}

// Merge returns the model of all models' rows.
func (m *RadialModel) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return merge(ctx, m, others)
}

func (m *RadialModel) caseBase() *cases { return m.cases }

// Forget returns the model of the other sources' rows.
func (m *RadialModel) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Sources lists the sources of the rows.
func (m *RadialModel) Sources() []learn.Source { return kept.Sources(m) }

// Kept returns the rows of each source, in the order in which they came.
func (m *RadialModel) Kept(ctx context.Context) ([]learn.Learnt, error) {
	return keptInOrder(ctx, m.cases)
}

// Parts returns the settings, the rows of each source, and the network.
func (m *RadialModel) Parts() ([]learn.Part, error) {
	return m.lesson.Parts(RBF, m.rows, bodyPart, m.network)
}

// Predict adds up the units.
func (m *RadialModel) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return err
	}
	rows, classes := t.Rows(), m.cases.classCount()
	if out.Classes != classes || len(out.P) < rows*classes || classes == 0 && min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("there is no room for the answers to %d rows", rows)
	}
	work := func(lo, hi int) {
		room := make([]float64, m.dims+1+len(m.Sigma)+m.outputs())
		x, h, y := room[:m.dims], room[m.dims:m.dims+1+len(m.Sigma)], room[m.dims+1+len(m.Sigma):]
		for row := lo; row < hi; row++ {
			if row%few == 0 && ctx.Err() != nil {
				return
			}
			m.ask(t.Columns, row, x)
			m.say(x, h, y)
			if classes > 0 {
				softmax(y, m.Sharp)
				copy(out.Row(row), y)
				continue
			}
			c, width := m.cases, 1.96*m.Spread
			out.Mean[row], out.Low[row], out.High[row] = c.number(y[0]), c.number(y[0]-width), c.number(y[0]+width)
		}
	}
	return learn.Split(ctx, rows, work)
}

// say writes the outputs for a point.
func (m *RadialModel) say(x, h, y []float64) {
	m.basis(x, h)
	p := len(h)
	for o := range y {
		sum := 0.0
		for i, w := range m.Weights[o*p : (o+1)*p] {
			sum += float64(w * h[i])
		}
		y[o] = sum
	}
}

// Explain says what each unit adds: for a number its weight times how near it is;
// for classes the same of each output, in log probabilities. The bias is before
// any evidence. Units beyond those named count together.
func (m *RadialModel) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	t = t.Slice(row, row+1)
	outputs, p := m.outputs(), 1+len(m.Sigma)
	x, h := make([]float64, m.dims), make([]float64, p)
	m.ask(t.Columns, 0, x)
	m.basis(x, h)
	e := &learn.Explanation{Additive: true}
	part := func(o, i int) float64 {
		w := m.Weights[o*p+i] * h[i]
		if m.cases.classes == nil {
			return m.cases.number(w)
		}
		return m.Sharp * w
	}
	size := func(u int) (most float64) {
		for o := range outputs {
			most = max(most, math.Abs(part(o, 1+u)))
		}
		return most
	}
	units := make([]int, len(m.Sigma))
	for u := range units {
		units[u] = u
	}
	slices.SortStableFunc(units, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	scores := make([]float64, outputs)
	for o := range outputs {
		e.Prior = append(e.Prior, part(o, 0))
		rest := 0.0
		for at, u := range units {
			if at >= mostShown {
				rest += part(o, 1+u)
			} else {
				e.Evidence = append(e.Evidence, learn.Evidence{ID: fmt.Sprintf("u%d", u+1), Text: m.unitText(u), Class: o, Weight: part(o, 1+u)})
			}
		}
		if len(units) > mostShown {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: "ALWAYS", Class: o, Weight: rest})
		}
	}
	answer := func() float64 {
		y := make([]float64, outputs)
		m.ask(t.Columns, 0, x)
		m.say(x, h, y)
		if m.cases.classes == nil {
			return m.cases.number(y[0])
		}
		copy(scores, y)
		e.Normaliser = softmax(scores, m.Sharp)
		return 0
	}
	now := answer()
	if m.cases.classes != nil {
		m.addMissing(t, scores, x, h, e)
		return e, nil
	}
	said := e.Prior[0]
	for _, reason := range e.Evidence {
		said += reason.Weight
	}
	if said != now { // rounding, and numbers at the edge
		e.Evidence = append(e.Evidence, learn.Evidence{Text: "ALWAYS", Weight: now - said})
	}
	m.addMissing(t, []float64{now}, x, h, e)
	return e, nil
}

// AsNetwork writes the network out: each unit's centre, and its width in the unit of
// each column, and the weights of the outputs.
func (m *RadialModel) AsNetwork() (*draw.Units, error) {
	attributes := m.cases.schema.Attributes
	if len(m.metric.names) > 0 {
		return nil, fmt.Errorf("%s is a name, which a unit sees as several numbers; networks of numbers alone are written out", attributes[m.metric.names[0].column].Name)
	}
	view := &draw.Units{Title: attributes[m.cases.target].Name, Notes: []string{"unit = exp(-½ Σ ((x - centre)/width)²)"}}
	for d := range m.metric.numbers {
		view.Inputs = append(view.Inputs, attributes[m.metric.numbers[d].column].Name)
	}
	name := func(u int) string { return fmt.Sprintf("u%d", u+1) }
	for u, sigma := range m.Sigma {
		unit := draw.Unit{Name: name(u), Function: "gauss"}
		for d, input := range view.Inputs {
			n := &m.metric.numbers[d]
			centre, width := n.low+n.unit*m.Centres[u*m.dims+d], n.unit*sigma
			unit.From = append(unit.From, draw.UnitLink{From: input, Centre: &centre, Width: &width})
		}
		view.Units = append(view.Units, unit)
	}
	function := "linear"
	if m.normalised {
		function = "normalised"
		view.Notes = append(view.Notes, "normalised divides by the sum of the units")
	}
	for o := range m.outputs() {
		out := draw.Unit{Name: view.Title, Function: function, Output: true}
		scale := m.cases.number
		if classes := m.cases.classes; classes != nil {
			out.Name += " = " + attributes[m.cases.target].Values[o]
			scale = func(x float64) float64 { return x }
		}
		weights := m.Weights[o*(1+len(m.Sigma)):]
		if !m.normalised {
			bias := scale(weights[0])
			out.Bias = &bias
		}
		for u := range m.Sigma {
			w := scale(weights[1+u])
			out.From = append(out.From, draw.UnitLink{From: name(u), Weight: &w})
		}
		view.Units = append(view.Units, out)
	}
	return view, nil
}

// addMissing says how far each missing cell could move the answer.
func (m *RadialModel) addMissing(t *table.Table, now, x, h []float64, e *learn.Explanation) {
	c := m.cases
	best := 0
	if c.classes != nil {
		best = learn.Best(now, c.schema.Attributes[c.target].Values)
	}
	y := make([]float64, m.outputs())
	for j := range c.schema.Attributes {
		if j == c.target || t.Text(0, j) != "" {
			continue
		}
		columns := slices.Clone(t.Columns)
		moves := 0.0
		tryCells(c, columns, j, func() {
			m.ask(columns, 0, x)
			m.say(x, h, y)
			then := c.number(y[0])
			if c.classes != nil {
				softmax(y, m.Sharp)
				then = y[best]
			}
			moves = max(moves, min(math.Abs(then-now[best]), math.MaxFloat64))
		})
		e.Missing = append(e.Missing, learn.MissingCell{Column: c.schema.Attributes[j].Name, CouldMove: moves})
	}
}

// unitText writes where a unit stands as tests.
func (m *RadialModel) unitText(u int) string {
	if row := m.Row[u]; row >= 0 {
		return caseText(m.cases, int(m.cases.starts[row]))
	}
	var tests []string
	for d := range m.metric.numbers {
		n := &m.metric.numbers[d]
		at := n.low + n.unit*m.Centres[u*m.dims+d]
		tests = append(tests, rule.Test{Op: rule.Eq, Column: m.cases.schema.Attributes[n.column].Name, Value: fmt.Sprintf("%.6g", at)}.String())
	}
	if len(tests) == 0 {
		return "ALWAYS"
	}
	return strings.Join(tests, " AND ")
}
