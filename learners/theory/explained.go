package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explained is a network that learnt from explanations. It is immutable.
type Explained struct {
	lesson ebnnLesson
	rows   *kept.Rows
	schema *table.Schema
	target int
	found  []savedInput
	*inputs

	weight       float64 // of the rows
	mean, spread float64 // of a numeric target, which outputs are in units of
	weights      []float64
	residual     float64 // deviation of a numeric target from the answer

	explained bool
	right     float64 // share of the rows on which the explanations answered right; of numbers, of variance
	trusted   float64 // mean of how far explanations are trusted
	astray    float64 // mean difference of slopes, wanted and had
}

var (
	_ learn.Updater   = (*Explained)(nil)
	_ learn.Explainer = (*Explained)(nil)
	_ learn.Merger    = (*Explained)(nil)
	_ learn.Forgetter = (*Explained)(nil)
	_ learn.Keeper    = (*Explained)(nil)
	_ learn.Remarker  = (*Explained)(nil)
)

// lay lays the inputs out.
func (m *Explained) lay() { m.inputs = newInputs(m.schema, m.target, m.found) }

func (m *Explained) regression() bool {
	return m.schema.Attributes[m.target].Kind == table.Numeric
}

// outputs counts the network's outputs: a class each, or one number.
func (m *Explained) outputs() int {
	if m.regression() {
		return 1
	}
	return len(m.schema.Attributes[m.target].Values)
}

// weigh finds the weight of the rows, and the mean and deviation of numbers.
func (m *Explained) weigh(t *table.Table) {
	m.spread = 1
	for r := range t.Rows() {
		m.weight += t.Weight(r)
	}
	if !m.regression() {
		return
	}
	sum, most := 0.0, 0.0
	for _, y := range t.Columns[m.target].Floats {
		most = max(most, math.Abs(y))
	}
	if most == 0 || math.IsInf(most, 0) {
		if most > 0 {
			m.spread = most
		}
		return
	}
	for r, y := range t.Columns[m.target].Floats {
		sum += t.Weight(r) / m.weight * (y / most)
	}
	squares := 0.0
	for r, y := range t.Columns[m.target].Floats {
		squares += t.Weight(r) / m.weight * (y/most - sum) * (y/most - sum)
	}
	m.mean = sum * most
	if m.spread = math.Sqrt(squares) * most; m.spread == 0 {
		m.spread = 1
	}
}

func (m *Explained) scaled(y float64) float64 {
	return min(max((y-m.mean)/m.spread, -farthest), farthest)
}

// explainedRow is a row as numbers, what was seen, and how it was explained.
type explainedRow struct {
	example
	want   []float64 // of each output
	slopes []slope
	mu     float64
	said   []float64 // by the explanation; nil for none
}

// lessons returns the rows with their explanations, nil being none.
func (m *Explained) lessons(ctx context.Context, t *table.Table, theory *explainer) ([]explainedRow, error) {
	outputs := m.outputs()
	all := make([]explainedRow, t.Rows())
	for r := range all {
		if r%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := &all[r]
		e.at, e.x = make([]int32, 0, m.most()), make([]float64, 0, m.most())
		m.read(t, r, &e.example)
		e.times, e.want = t.Weight(r), make([]float64, outputs)
		if m.regression() {
			e.want[0] = m.scaled(t.Columns[m.target].Floats[r])
			continue
		}
		for k := range e.want {
			e.want[k] = falsehood
		}
		e.class = t.Columns[m.target].Codes[r]
		e.want[e.class] = truthValue
	}
	if theory == nil || m.lesson.Settings.Mu == 0 {
		return all, nil
	}
	m.explained = true
	said, err := theory.answers(ctx, t)
	if err != nil {
		return nil, err
	}
	slopes, err := theory.explain(ctx, t, said)
	if err != nil {
		return nil, err
	}
	c := truthValue - falsehood
	if m.regression() {
		c = 0
		for r := range all {
			c = max(c, math.Abs(said[r]-all[r].want[0]))
		}
	}
	for r := range all {
		e := &all[r]
		e.said, e.slopes = said[r*outputs:(r+1)*outputs], slopes[r]
		e.mu = m.lesson.Settings.Mu * Trust(e.said, e.want, c)
	}
	return all, nil
}

// The weights of the network: from each input to the hidden units, their biases,
// from them to each output, its biases.
func (m *Explained) size() int {
	h, k := m.lesson.Settings.Hidden, m.outputs()
	return m.width*h + h + h*k + k
}

// initialise sets small random weights.
func (m *Explained) initialise(seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0x65626e6e))
	m.weights = make([]float64, m.size())
	for i := range m.weights {
		m.weights[i] = 0.1 * random.NormFloat64()
	}
}

// train descends the error of answers and slopes.
func (m *Explained) train(ctx context.Context, rows []explainedRow) error {
	s := &m.lesson.Settings
	if s.Epochs == 0 {
		return ctx.Err()
	}
	if m.size() > mostWeights {
		return fmt.Errorf("a network of %d inputs and %d hidden units is too large; expected at most %d weights", m.width, s.Hidden, mostWeights)
	}
	var last, slope []float64
	var value float64
	pass := m.newTangentPass()
	at := func(w []float64) {
		if last != nil && same(last, w) {
			return
		}
		last = append(last[:0], w...)
		if slope == nil {
			slope = make([]float64, len(w))
		}
		clear(slope)
		value = 0
		for i := range rows {
			if i%64 == 0 && ctx.Err() != nil {
				return
			}
			value += pass.learn(w, &rows[i], slope)
		}
		for i, x := range w {
			value += s.Decay / 2 * x * x
			slope[i] += s.Decay * x
		}
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { at(w); return value },
		Grad: func(g, w []float64) { at(w); copy(g, slope) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		MajorIterations: s.Epochs + 1, GradientThreshold: 1e-7 * max(1, m.weight),
		Converger: &optimize.FunctionConverge{Relative: 1e-9, Iterations: 5}, Recorder: &descent{ctx: ctx, most: s.Epochs},
	}
	result, err := optimize.Minimize(problem, m.weights, settings, &optimize.LBFGS{})
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if result == nil {
		return fmt.Errorf("training: %w", err)
	}
	m.weights = result.X
	return nil
}

// judge finds how the explanations fared, and how far numbers are off.
func (m *Explained) judge(rows []explainedRow) {
	pass := m.newTangentPass()
	squares, variance, off, slopes := 0.0, 0.0, 0.0, 0.0
	for i := range rows {
		e := &rows[i]
		pass.forward(m.weights, &e.example)
		if m.regression() {
			squares += e.times * (pass.out[0] - e.want[0]) * (pass.out[0] - e.want[0])
		}
		if e.said == nil {
			continue
		}
		if m.regression() {
			variance += e.times * e.want[0] * e.want[0]
			off += e.times * (e.said[0] - e.want[0]) * (e.said[0] - e.want[0])
		} else if learn.Best(e.said, m.schema.Attributes[m.target].Values) == int(e.class) {
			m.right += e.times / m.weight
		}
		if m.lesson.Settings.Mu > 0 {
			m.trusted += e.times / m.weight * e.mu / m.lesson.Settings.Mu
		}
		for j := range e.slopes {
			pass.along(m.weights, &e.slopes[j])
			for k, want := range e.slopes[j].want {
				m.astray += math.Abs(pass.slope[k] - want)
				slopes++
			}
		}
	}
	m.residual = math.Sqrt(squares / m.weight)
	if m.regression() && variance > 0 {
		m.right = 1 - off/variance
	}
	if slopes > 0 {
		m.astray /= slopes
	}
}

// Explanation is how the explanations of the rows fared.
type Explanation struct {
	Right   float64 `json:"right"`
	Trusted float64 `json:"trusted"`
	Astray  float64 `json:"slopes_off"`
	Numbers bool    `json:"-"`
}

// String says so in a line.
func (e Explanation) String() string {
	what := fmt.Sprintf("were right on %.1f %% of the rows", 100*e.Right)
	if e.Numbers {
		what = fmt.Sprintf("explain %.1f %% of the variance", 100*e.Right)
	}
	return fmt.Sprintf("the explanations %s and are trusted by %.2f on average; slopes differ from theirs by %.3f", what, e.Trusted, e.Astray)
}

// Remarks says how the explanations fared.
func (m *Explained) Remarks() ([]fmt.Stringer, error) {
	if !m.explained {
		return nil, nil
	}
	return []fmt.Stringer{Explanation{m.right, m.trusted, m.astray, m.regression()}}, nil
}

// Learner returns "ebnn".
func (m *Explained) Learner() string { return EBNNName }

// Schema returns the attributes, values in canonical order.
func (m *Explained) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Explained) Target() int { return m.target }

// Size counts the rows and the hidden units.
func (m *Explained) Size() learn.Size {
	return learn.Size{Rows: m.weight, Units: m.lesson.Settings.Hidden}
}

// Theory returns the rules that explained the rows; nil is none.
func (m *Explained) Theory() *rule.Base { return rulesOf(m.lesson.Settings.Rules) }

// Earlier returns the setting with the models that explained the rows.
func (m *Explained) Earlier() (key, value string) { return "theory", m.lesson.Settings.Theory }

// leastProbable keeps probabilities from being 0.
const leastProbable = 0.005

// Predict answers for the table's rows.
func (m *Explained) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if !m.regression() && (out.Classes != m.outputs() || len(out.P) < t.Rows()*m.outputs()) || m.regression() && len(out.Mean) < t.Rows() {
		return errors.New("there is no room for the predictions")
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		pass := m.newTangentPass()
		for r := lo; r < hi; r++ {
			m.read(t, r, &pass.example)
			pass.forward(m.weights, &pass.example)
			if m.regression() {
				half := 1.959963984540054 * m.residual
				out.Mean[r], out.Low[r], out.High[r] = m.number(pass.out[0]), m.number(pass.out[0]-half), m.number(pass.out[0]+half)
				continue
			}
			m.odds(pass.out, out.Row(r))
		}
	})
}

// number is an output as a number of the target.
func (m *Explained) number(y float64) float64 {
	return min(max(m.mean+m.spread*y, -math.MaxFloat64), math.MaxFloat64)
}

// odds are outputs as probabilities.
func (m *Explained) odds(outputs, p []float64) {
	total := 0.0
	for k, o := range outputs {
		p[k] = min(max((o-falsehood)/(truthValue-falsehood), leastProbable), 1)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
}

// Relearning says how the network is trained again on the rows that are kept.
func (m *Explained) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "network", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return explainRows(ctx, rows, m.lesson)
		},
	}
}

// Begin starts to learn more rows.
func (m *Explained) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the network of all models' rows, if their theories are the same.
func (m *Explained) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the network was trained on.
func (m *Explained) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows.
func (m *Explained) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the network of the other sources' rows.
func (m *Explained) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// ebnnPart is the head of a saved model.
const ebnnPart = "ebnn"

// savedExplained is what was learnt; it can be learnt again.
type savedExplained struct {
	Columns   []table.SavedColumn `cbor:"columns"`
	Found     []savedInput        `cbor:"found"`
	Numbers   []float64           `cbor:"numbers"` // weight, mean, spread, residual, right, trusted, astray
	Explained bool                `cbor:"explained,omitempty"`
	Weights   []float64           `cbor:"weights"`
}

// Parts returns the settings with the earlier models, the rows of each source, and
// the weights, which can be learnt again from the others.
func (m *Explained) Parts() ([]learn.Part, error) {
	return m.lesson.Parts(ebnnPart, m.rows, bodyPart, savedExplained{
		Columns: table.SaveColumns(m.schema), Found: m.found, Explained: m.explained, Weights: m.weights,
		Numbers: []float64{m.weight, m.mean, m.spread, m.residual, m.right, m.trusted, m.astray},
	})
}

func decodeExplained(parts []learn.Part) (learn.Model, error) {
	var l ebnnLesson
	var body savedExplained
	rows, found, err := l.Load(parts, ebnnPart, format, func(s *ebnnSettings) (bool, error) { return true, s.check() }, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return explainRows(context.Background(), rows, l)
	}
	m := &Explained{lesson: l, rows: rows, explained: body.Explained, found: body.Found, weights: body.Weights}
	if err := m.restore(&body); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Explained) restore(body *savedExplained) (err error) {
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	if m.target = m.schema.Index(m.lesson.Target); m.target < 0 || m.outputs() == 0 {
		return fmt.Errorf("the target %q is no column with values", m.lesson.Target)
	}
	if kind := m.schema.Attributes[m.target].Kind; kind != table.Nominal && kind != table.Numeric {
		return fmt.Errorf("the target %q is %v", m.lesson.Target, kind)
	}
	if err := checkInputs(m.schema, m.target, body.Found); err != nil {
		return err
	}
	m.lay()
	if len(body.Weights) != m.size() || len(body.Numbers) != 7 {
		return fmt.Errorf("%d weights and %d numbers, expected %d and 7", len(body.Weights), len(body.Numbers), m.size())
	}
	for _, list := range [][]float64{body.Weights, body.Numbers} {
		for _, x := range list {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%v among the numbers", x)
			}
		}
	}
	n := body.Numbers
	m.weight, m.mean, m.spread, m.residual, m.right, m.trusted, m.astray = n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	if !(m.weight > 0 && m.spread > 0 && m.residual >= 0) {
		return fmt.Errorf("rows of weight %v, a spread of %v and a residual of %v", m.weight, m.spread, m.residual)
	}
	return nil
}
