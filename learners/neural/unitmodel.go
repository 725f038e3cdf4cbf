package neural

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// UnitModel is a network of units learnt by an algorithm= of its own. Two
// classes have one output; more have one each, of which the greatest wins. It
// is immutable.
type UnitModel struct {
	encoded
	*unitSettings
	net         *units.Network // for recurrent networks that of one step
	fixed       []bool         // weights that training leaves alone; nil for none
	names       []string       // of units that were written down
	shared      map[int]string // of weights
	edges       *units.Rectangle
	sequence    int     // column whose changes begin a sequence; -1 for none
	temperature float64 // divides sums before the softmax
	spread      float64 // deviation of a numeric target from the output
	loss        float64 // at the end of training, of networks that begin at random
	restart     uint64  // which of their starts it is
	epochs      []fmt.Stringer
	stopped     string
	gaps        float64 // patterns that a truth table has no row for
}

var (
	_ learn.Updater   = (*UnitModel)(nil)
	_ learn.Explainer = (*UnitModel)(nil)
	_ learn.Drawer    = (*UnitModel)(nil)
	_ learn.Grower    = (*UnitModel)(nil)
	_ learn.Remarker  = (*UnitModel)(nil)
)

// Epoch is how training stood after an epoch.
type Epoch struct {
	Epoch   int       `json:"epoch"`
	Wrong   int       `json:"wrong"` // rows that were answered wrongly, in the perceptron rule while it went through them
	Rows    int       `json:"rows"`
	Error   float64   `json:"error"` // summed over the rows; for separate the slack
	Weights []float64 `json:"weights,omitempty"`
}

// mostWeightsShown is how many weights an epoch is shown with.
const mostWeightsShown = 12

// String returns the epoch as a line.
func (e Epoch) String() string {
	text := fmt.Sprintf("epoch %d: %d of %d rows wrong", e.Epoch, e.Wrong, e.Rows)
	if e.Error != 0 {
		text += fmt.Sprintf(", error %.6g", e.Error)
	}
	if len(e.Weights) > 0 {
		words := make([]string, len(e.Weights))
		for i, w := range e.Weights {
			words[i] = fmt.Sprintf("%.6g", w)
		}
		text += ", weights " + strings.Join(words, " ")
	}
	return text
}

// GrownUnit says why Cascade-Correlation added a unit.
type GrownUnit struct {
	Unit       int     `json:"unit"`
	Covariance float64 `json:"covariance"` // with the outputs' errors
	Before     float64 `json:"before"`     // squared error without the unit
	After      float64 `json:"after"`      // and with it
}

// String returns the unit's reason as a line.
func (g GrownUnit) String() string {
	noise := func(x float64) float64 { return math.Round(x*1e9) / 1e9 } // what is less is rounding
	return fmt.Sprintf("unit %d: covariance %.4g with the errors; squared error %.4g before, %.4g after", g.Unit, g.Covariance, noise(g.Before), noise(g.After))
}

// mostEpochs is how many epochs are remembered: the first ones, then about
// one in a hundred.
const mostEpochs = 100

// note remembers an epoch.
func (m *UnitModel) note(e Epoch) {
	if len(e.Weights) > mostWeightsShown {
		e.Weights = nil
	}
	e.Weights = slices.Clone(e.Weights)
	if e.Epoch > mostEpochs && e.Epoch < m.Epochs && e.Epoch%max(1, m.Epochs/mostEpochs) != 0 {
		return
	}
	m.epochs = append(m.epochs, e)
}

// Grown returns how the epochs of training went, or why units were added.
func (m *UnitModel) Grown() (certificates []fmt.Stringer, stopped string) { return m.epochs, m.stopped }

// Size counts the rows and the hidden units.
func (m *UnitModel) Size() learn.Size {
	s := learn.Size{Rows: m.rows}
	if m.net != nil {
		s.Units = len(m.net.Units) - len(m.net.Outputs)
	}
	return s
}

// outputUnits is 1 for a number and for two classes.
func (m *UnitModel) outputUnits() int {
	if n := m.outputs(); n > 2 {
		return n
	}
	return 1
}

// classOf returns the class that an output is greater for: of two classes the
// one that says yes, else the second.
func (m *UnitModel) classOf(output int) int {
	if m.outputUnits() > 1 {
		return output
	}
	values := m.schema.Attributes[m.target].Values
	if len(values) == 2 && slices.Contains([]string{"yes", "true", "1", "+"}, strings.ToLower(values[0])) {
		return 0
	}
	return len(values) - 1
}

// recurrent reports whether an answer depends on the rows before.
func (m *UnitModel) isRecurrent() bool { return m.Algorithm == "elman" || m.Algorithm == "jordan" }

// reader reads rows of a table as inputs.
type reader struct {
	model *UnitModel
	x     []float64
	signs []int // inputs of two names, which are −1 and 1
}

func (m *UnitModel) newReader() *reader {
	r := &reader{model: m, x: make([]float64, m.matrix.Width())}
	at := 0
	for i := range m.matrix.Inputs {
		in := &m.matrix.Inputs[i]
		if in.OneHot != nil && in.OneHot.Single {
			r.signs = append(r.signs, at)
		}
		at += inputWidth(in)
	}
	return r
}

// read returns the inputs of a row; they hold until the next one.
func (r *reader) read(t *table.Table, row int) ([]float64, error) {
	if err := r.model.matrix.Apply(t, row, row+1, r.x); err != nil {
		return nil, err
	}
	for _, at := range r.signs {
		r.x[at] = 2*r.x[at] - 1
	}
	return r.x, nil
}

// answering is the room in which rows are answered, one after the other.
type answering struct {
	*reader
	pass    *units.Pass
	context []float64 // what a recurrent network remembers
	input   []float64
	out     []float64
}

func (m *UnitModel) newAnswering() *answering {
	a := &answering{reader: m.newReader(), out: make([]float64, m.outputUnits())}
	if m.net != nil {
		a.pass = m.net.NewPass()
		a.context = make([]float64, m.net.Inputs-m.matrix.Width())
	}
	return a
}

// outputs computes the outputs for inputs.
func (a *answering) outputs(x []float64) []float64 {
	m := a.model
	if m.edges != nil {
		a.out[0] = m.edges.Inside(x[0], x[1])
		return a.out
	}
	a.input = append(append(a.input[:0], a.context...), x...)
	a.pass.Forward(a.input)
	for k := range a.out {
		a.out[k] = a.pass.Output(k)
	}
	if m.Algorithm == "jordan" {
		copy(a.context, a.out)
	} else if m.isRecurrent() {
		copy(a.context, a.pass.Values[m.net.Inputs:])
	}
	return a.out
}

// function is what outputs are.
func (m *UnitModel) function() units.Function {
	if m.edges != nil {
		return units.Sigmoid
	}
	return m.net.Units[m.net.Outputs[0]].Function
}

// sums returns the biased sum of each output unit, which says more than the
// sign of it.
func (a *answering) sum(k int) float64 {
	n := a.model.net
	u := &n.Units[n.Outputs[k]]
	s := 0.0
	if u.Bias != units.None {
		s = n.Weights[u.Bias]
	}
	for i, from := range u.From {
		s += n.Weights[u.Weights[i]] * a.pass.Values[from]
	}
	return s
}

// probabilities writes the classes' probabilities, given the outputs: sigmoid
// and softmax outputs are such already; others are by a softmax of sums.
func (a *answering) probabilities(out, p []float64) {
	m := a.model
	f := m.function()
	positive := m.classOf(0)
	switch {
	case len(out) == 1 && f == units.Sigmoid:
		p[positive], p[1-positive] = out[0], 1-out[0]
	case f == units.Sigmoid || f == units.Softmax:
		copy(p, out)
	default:
		a.softmaxOfSums(p)
	}
	total, spare := 0.0, 1/(m.rows+float64(len(p)))
	for _, q := range p {
		total += max(q, 0)
	}
	for c := range p {
		share := 1 / float64(len(p))
		if total > 0 && total <= math.MaxFloat64 {
			share = max(p[c], 0) / total
		}
		p[c] = share*(1-spare) + spare/float64(len(p))
	}
}

// softmaxOfSums writes a softmax of the outputs' sums at the model's
// temperature. Of two classes a sum of 0 is a no.
func (a *answering) softmaxOfSums(p []float64) {
	m := a.model
	if m.outputUnits() == 1 {
		s := a.sum(0)
		if !(s > 0) {
			s = min(s, -1e-9)
		}
		p[m.classOf(0)], p[1-m.classOf(0)] = s, -s
	} else {
		for k := range p {
			p[k] = a.sum(k)
		}
	}
	logsum.Softmax(p, m.temperature, p)
}

// Predict answers row by row. A recurrent network goes through the rows in
// their order, and begins anew where the sequence's column changes.
func (m *UnitModel) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if !m.isRecurrent() {
		return learn.Split(ctx, t.Rows(), func(lo, hi int) { _ = m.predict(ctx, t, lo, hi, out) })
	}
	return m.predict(ctx, t, 0, t.Rows(), out)
}

func (m *UnitModel) predict(ctx context.Context, t *table.Table, lo, hi int, out *learn.Predictions) error {
	a := m.newAnswering()
	for r := lo; r < hi; r++ {
		if r%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if m.begins(t, r) {
			clear(a.context)
		}
		x, err := a.read(t, r)
		if err != nil {
			return err
		}
		o := a.outputs(x)
		if !m.regression() {
			a.probabilities(o, out.Row(r))
			continue
		}
		half := normal95 * m.spread
		out.Mean[r], out.Low[r], out.High[r] = m.unscale(o[0]), m.unscale(o[0]-half), m.unscale(o[0]+half)
	}
	return ctx.Err()
}

// Explain fills in the cells of a row one after the other, as that of Model
// does. A recurrent network is asked as if the row began a sequence.
func (m *UnitModel) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	return m.explain(t, row, learn.NewPredictions(m, 1), func(row *table.Table, out *learn.Predictions) {
		_ = m.predict(context.Background(), row, 0, 1, out)
	})
}

// Begin returns a private copy to add rows to: algorithms that go from row to
// row go on from the weights that there are.
func (m *UnitModel) Begin(learn.Source) (learn.Update, error) {
	if !algorithms[m.Algorithm].steps {
		return nil, fmt.Errorf("algorithm=%s looks at all rows at once, and the model kept none of them; learn it again with all rows", m.Algorithm)
	}
	return &unitUpdate{m}, nil
}

// unitUpdate is a model that goes on learning.
type unitUpdate struct{ model *UnitModel }

// Add learns the table's rows. Values and classes that the units have no
// weights for are refused.
func (u *unitUpdate) Add(ctx context.Context, t *table.Table) error {
	rows, _, err := table.Conform(t, u.model.schema, false)
	if err != nil {
		return err
	}
	for r := range rows.Rows() {
		if c := rows.Columns[u.model.target].Codes; c != nil && c[r] == table.Unseen {
			return fmt.Errorf("row %d: the class %q is new, and algorithm=%s has no unit for it; learn it again with all rows", r+1, t.Text(r, u.model.target), u.model.Algorithm)
		}
	}
	if rows, err = u.model.rowsOf(rows); err != nil {
		return err
	}
	next, err := u.model.learnMore(ctx, rows)
	if err != nil {
		return err
	}
	u.model = next
	return nil
}

// Freeze returns the model of all rows so far.
func (u *unitUpdate) Freeze(ctx context.Context) (learn.Model, error) { return u.model, ctx.Err() }

// wrong counts the rows that are answered wrongly.
func (l *lesson) wrong() int {
	if l.class == nil {
		return 0
	}
	a := l.newAnswering()
	p := make([]float64, l.UnitModel.outputs())
	wrong := 0
	for r, x := range l.inputs {
		if l.starts[r] {
			clear(a.context)
		}
		a.probabilities(a.outputs(x), p)
		if c := int(l.class[r]); c >= 0 && learn.Best(p, l.schema.Attributes[l.target].Values) != c {
			wrong++
		}
	}
	return wrong
}

// calibrate finds the temperature of a softmax of sums, or the deviation of a
// number, from the rows that were learnt.
func (l *lesson) calibrate() {
	a := l.newAnswering()
	if l.class == nil {
		squares, known := 0.0, 0.0
		for r, x := range l.inputs {
			if l.starts[r] {
				clear(a.context)
			}
			if d := a.outputs(x)[0] - l.number[r]; !math.IsNaN(d) {
				squares += d * d
				known++
			}
		}
		l.spread = min(math.Sqrt(squares/max(known, 1)), math.MaxFloat32)
		return
	}
	if f := l.function(); f == units.Sigmoid || f == units.Softmax {
		return
	}
	p := make([]float64, l.UnitModel.outputs())
	cost := func(log float64) float64 {
		l.temperature = math.Exp(log)
		sum := 2 * log * log
		for r, x := range l.inputs {
			a.probabilities(a.outputs(x), p)
			sum -= math.Log(p[l.class[r]])
		}
		return sum
	}
	l.temperature = math.Exp(lowest(cost, -3, 3))
}

// AsNetwork writes the network out unit by unit.
func (m *UnitModel) AsNetwork() (*draw.Units, error) {
	target := &m.schema.Attributes[m.target]
	view := &draw.Units{Title: target.Name}
	if m.edges != nil {
		return m.edgesAsUnits(view), nil
	}
	names := m.valueNames()
	view.Inputs = names[:m.net.Inputs]
	for i := range m.net.Units {
		u := &m.net.Units[i]
		unit := draw.Unit{Name: names[m.net.Inputs+i], Function: u.Function.String(), Output: slices.Contains(m.net.Outputs, i)}
		if u.Bias != units.None {
			unit.Bias = &m.net.Weights[u.Bias]
		}
		for k, from := range u.From {
			unit.From = append(unit.From, draw.UnitLink{From: names[from], Weight: &m.net.Weights[u.Weights[k]], Shared: m.shared[u.Weights[k]]})
		}
		view.Units = append(view.Units, unit)
	}
	if m.outputUnits() == 1 && !m.regression() {
		view.Notes = append(view.Notes, fmt.Sprintf("the output is high for %s = %s", target.Name, target.Values[m.classOf(0)]))
	}
	if !m.Raw {
		view.Notes = append(view.Notes, "numbers are read in deviations from their means (scaling=none reads them as they are), names of two values as -1 and 1")
	}
	return view, nil
}

// valueNames returns what inputs and units are called.
func (m *UnitModel) valueNames() []string {
	inputs := m.matrix.Names(m.schema)
	var names []string
	for i := range m.net.Inputs - len(inputs) {
		names = append(names, fmt.Sprintf("context %d", i+1))
	}
	names = append(names, inputs...)
	target := &m.schema.Attributes[m.target]
	hidden := 0
	for i := range m.net.Units {
		k := slices.Index(m.net.Outputs, i)
		switch {
		case m.names != nil:
			names = append(names, m.names[i])
		case k >= 0 && m.regression():
			names = append(names, target.Name)
		case k >= 0:
			names = append(names, target.Name+" = "+target.Values[m.classOf(k)])
		default:
			hidden++
			names = append(names, fmt.Sprintf("unit %d", hidden))
		}
	}
	return names
}

// InternalRepresentation returns the values of all units for rows.
func (m *UnitModel) InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if m.net == nil {
		return nil, fmt.Errorf("a rectangle has no units")
	}
	s := &draw.States{Units: m.valueNames()[m.net.Inputs:]}
	a := m.newAnswering()
	out := learn.NewPredictions(m, 1)
	target := &m.schema.Attributes[m.target]
	for r := range t.Rows() {
		if r%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if m.begins(t, r) {
			clear(a.context)
		}
		x, err := a.read(t, r)
		if err != nil {
			return nil, err
		}
		o := a.outputs(x)
		row := draw.StateRow{Row: r + 1, States: slices.Clone(a.pass.Values[m.net.Inputs:])}
		if m.regression() {
			row.Answer = fmt.Sprintf("%.6g", m.unscale(o[0]))
		} else {
			a.probabilities(o, out.Row(0))
			row.Answer = target.Values[learn.Best(out.Row(0), target.Values)]
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// Graph draws the network.
func (m *UnitModel) Graph() (*draw.Graph, error) {
	view, err := m.AsNetwork()
	if err != nil {
		return nil, err
	}
	return view.Graph(), nil
}
