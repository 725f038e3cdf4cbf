package neural

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// backpropagation is the algorithm of layered networks, which Model is; the
// others make a UnitModel.
const backpropagation = "backprop"

// algorithm is a way to learn a network of units from rows in their order.
type algorithm struct {
	classes, numbers bool    // targets that it learns
	rate             float64 // by default
	epochs           int     // by default
	steps            bool    // new rows move the weights that there are: it can update
	random           bool    // weights begin at random, and may end in a poor minimum
	learn            func(l *lesson, ctx context.Context) error
}

// algorithms by their names. The defaults of rates are those of Mitchell 1997.
var algorithms = map[string]*algorithm{
	"perceptron":  {classes: true, rate: 0.1, epochs: 100, steps: true, learn: (*lesson).perceptronRule},
	"pocket":      {classes: true, epochs: 100, learn: (*lesson).pocket},
	"delta":       {classes: true, numbers: true, rate: 0.05, epochs: 100, steps: true, learn: (*lesson).deltaRule},
	"separate":    {classes: true, learn: (*lesson).separate},
	"truth-table": {classes: true, learn: (*lesson).truthTable},
	"cascade":     {classes: true, epochs: 200, learn: (*lesson).cascade},
	"graph":       {classes: true, numbers: true, rate: 0.05, epochs: 200, steps: true, random: true, learn: (*lesson).graph},
	"elman":       {classes: true, numbers: true, rate: 0.05, epochs: 200, steps: true, random: true, learn: (*lesson).recurrent},
	"jordan":      {classes: true, numbers: true, rate: 0.05, epochs: 200, steps: true, random: true, learn: (*lesson).recurrent},
	"evolve":      {classes: true, numbers: true, rate: 0.1, epochs: 300, learn: (*lesson).evolve},
	"rectangle":   {classes: true, rate: 0.5, epochs: 2000, steps: true, learn: (*lesson).rectangle},
}

// unitSettings are the settings of an algorithm with defaults filled in.
type unitSettings struct {
	Algorithm string  `cbor:"algorithm"`
	Written   string  `cbor:"graph,omitempty"`
	Raw       bool    `cbor:"raw,omitempty"`
	Sequence  string  `cbor:"sequence,omitempty"`
	Hidden    int     `cbor:"hidden,omitempty"`
	Rate      float64 `cbor:"rate,omitempty"`
	Falling   bool    `cbor:"falling,omitempty"`
	Momentum  float64 `cbor:"momentum,omitempty"`
	Decay     float64 `cbor:"decay,omitempty"`
	Batch     int     `cbor:"batch,omitempty"`
	Epochs    int     `cbor:"epochs,omitempty"`
	Descent   bool    `cbor:"descent,omitempty"` // gradient descent instead of L-BFGS
	Squared   bool    `cbor:"squared,omitempty"` // error of probabilities, instead of cross entropy
	Restarts  int     `cbor:"restarts,omitempty"`

	Evolution  string `cbor:"evolution,omitempty"`
	Learning   string `cbor:"learning,omitempty"`
	Population int    `cbor:"population,omitempty"`
}

// unitSettings returns the settings of the learner's algorithm.
func (l *Learner) unitSettings() (*unitSettings, error) {
	a := algorithms[l.Algorithm]
	s := &unitSettings{
		Algorithm: l.Algorithm, Written: l.Graph, Raw: l.Scaling == "none", Sequence: l.Sequence, Rate: cmp.Or(l.Rate, a.rate), Falling: l.Schedule == "falling",
		Momentum: setting.Or(l.Momentum, 0), Decay: setting.Or(l.Decay, 0), Batch: cmp.Or(l.Batch, 1), Epochs: cmp.Or(l.Epochs, a.epochs), Descent: l.Optimiser == "momentum",
		Squared: l.Loss == "squared", Restarts: l.Restarts,
	}
	switch {
	case l.Algorithm == "graph" && strings.TrimSpace(l.Graph) == "":
		return nil, fmt.Errorf("algorithm=graph needs the graph of units, as in graph='h = sigmoid(a, b); out = sigmoid(a, h)'")
	case l.Scaling == "together":
		return nil, fmt.Errorf("setting scaling=together: it is for algorithm=backprop, not %s", l.Algorithm)
	case l.Algorithm != "graph" && l.Graph != "":
		return nil, fmt.Errorf("setting graph: it is for algorithm=graph, not %s", l.Algorithm)
	case l.Optimiser != "" && l.Optimiser != "momentum" && l.Optimiser != "lbfgs":
		return nil, fmt.Errorf("setting optimiser=%s: with algorithm=%s expected momentum or lbfgs", l.Optimiser, l.Algorithm)
	case l.Schedule != "" && l.Schedule != "constant" && l.Schedule != "falling":
		return nil, fmt.Errorf("setting schedule=%s: with algorithm=%s expected constant or falling", l.Schedule, l.Algorithm)
	}
	if evolves := l.Algorithm == "evolve"; evolves {
		s.Evolution, s.Learning, s.Population = cmp.Or(l.Evolution, "genetic"), cmp.Or(l.Learning, "none"), cmp.Or(l.Population, 60)
		if s.Learning != "none" && s.Evolution != "genetic" {
			return nil, fmt.Errorf("setting learning=%s: networks learn in their lives with evolution=genetic, not %s", s.Learning, s.Evolution)
		}
	} else if l.Evolution+l.Learning != "" || l.Population != 0 {
		return nil, fmt.Errorf("settings evolution, learning and population: they are for algorithm=evolve, not %s", l.Algorithm)
	}
	defaults := map[string]int{"cascade": 20, "elman": 5, "jordan": 5, "evolve": 8}
	s.Hidden = defaults[l.Algorithm]
	if l.Hidden != "" && s.Hidden > 0 {
		if _, err := fmt.Sscan(l.Hidden, &s.Hidden); err != nil {
			return nil, fmt.Errorf("setting hidden=%s: with algorithm=%s expected one number of units", l.Hidden, l.Algorithm)
		}
	}
	return s, s.check()
}

func (s *unitSettings) check() error {
	if _, known := algorithms[s.Algorithm]; !known {
		return fmt.Errorf("unknown algorithm %q", s.Algorithm)
	}
	if s.Algorithm == "evolve" && (s.Population < 2 || s.Population > mostNetworks || s.Hidden < 1 || s.Hidden*s.Population > 20*mostNetworks) {
		return fmt.Errorf("settings population=%d and hidden=%d: expected 2 to %d networks of 1 hidden unit or more, %d units in all at most", s.Population, s.Hidden, mostNetworks, 20*mostNetworks)
	}
	for _, x := range []struct {
		key         string
		value, most float64
	}{
		{"rate", s.Rate, 1e6}, {"momentum", s.Momentum, 1}, {"decay", s.Decay, 1e6}, {"batch", float64(s.Batch), 1 << 30},
		{"epochs", float64(s.Epochs), 1e7}, {"hidden", float64(s.Hidden), 1000}, {"restarts", float64(s.Restarts), 1e4},
	} {
		if !(x.value >= 0 && x.value <= x.most) {
			return fmt.Errorf("setting %s=%v: expected a number from 0 to %g", x.key, x.value, x.most)
		}
	}
	return nil
}

// mostNetworks is how many networks a population may have.
const mostNetworks = 10_000

func (s *unitSettings) schedule() units.Schedule {
	if s.Falling {
		return units.Falling(s.Rate)
	}
	return units.Constant(s.Rate)
}

// lesson is rows, as numbers and in their order, for an algorithm to learn.
type lesson struct {
	*UnitModel
	inputs [][]float64
	class  []int32   // of each row; nil for numbers
	number []float64 // scaled targets
	starts []bool    // rows that begin a sequence
	random *rand.Rand
}

// learnUnits learns a network by one of the algorithms.
func (l *Learner) learnUnits(ctx context.Context, task learn.Task) (learn.Model, error) {
	if _, known := algorithms[l.Algorithm]; !known {
		names := []string{backpropagation}
		for name := range algorithms {
			names = append(names, name)
		}
		return nil, fmt.Errorf("%s: unknown algorithm %q%s", Name, l.Algorithm, spell.Hint(l.Algorithm, names))
	}
	s, err := l.unitSettings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	task.Table, target = task.Table.WithoutText(target)
	if err := checkTask(task.Table, target); err != nil {
		return nil, err
	}
	if err := table.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	rows := task.Table
	m := &UnitModel{unitSettings: s, temperature: 1, sequence: -1}
	if !m.isRecurrent() {
		rows = rows.WithoutSequence()
	}
	m.encoded = encoded{seed: task.Seed, schema: rows.Schema, target: target}
	t, err := m.rowsOf(rows)
	if err != nil {
		return nil, err
	}
	if err := m.fitEncoding(ctx, t); err != nil {
		return nil, err
	}
	// Restarts are the way out of poor minima (section 4.6.1).
	best, err := m.learnMore(ctx, t)
	if err != nil || !algorithms[l.Algorithm].random {
		return best, err
	}
	for i := 1; i < cmp.Or(s.Restarts, usualRestarts) && best.loss > solved*best.rows; i++ {
		m.restart = uint64(i)
		other, err := m.learnMore(ctx, t)
		if err != nil {
			return nil, err
		}
		if other.loss < best.loss {
			best = other
		}
	}
	return best, nil
}

// usualRestarts are made of networks that begin at random, unless a mean error
// of a row as small as solved is met.
const (
	usualRestarts = 5
	solved        = 1e-4
)

// rowsOf returns the rows to learn from, in their order: those that have a
// target, a row of weight n n times; of a sequence also the others, which are
// steps too.
func (m *UnitModel) rowsOf(t *table.Table) (*table.Table, error) {
	const mostRows = 1 << 24
	var rows []int
	known := 0
	for r := range t.Rows() {
		w := t.Weight(r)
		switch {
		case isMissing(&t.Columns[m.target], r) && !m.isRecurrent():
			continue
		case w != math.Trunc(w):
			return nil, fmt.Errorf("row %d weighs %v; algorithms that go through the rows one by one take whole weights", r+1, w)
		case len(rows)+int(min(w, mostRows)) > mostRows:
			return nil, fmt.Errorf("the rows weigh more than %d; algorithms that go through them one by one take no more", mostRows)
		}
		for range int(w) {
			rows = append(rows, r)
			if !isMissing(&t.Columns[m.target], r) {
				known++
			}
		}
	}
	if known == 0 {
		return nil, fmt.Errorf("no row has a target and a weight; %s needs at least one", Name)
	}
	some := *t.Select(rows)
	some.Weights = nil
	return &some, nil
}

// fitEncoding decides how cells become numbers: columns of two values −1 and 1,
// names of more a one for the value; other numbers in deviations from the mean.
// With scaling=none numbers stay as they are.
func (m *UnitModel) fitEncoding(ctx context.Context, t *table.Table) error {
	a := algorithms[m.Algorithm]
	m.scale = encode.Scale{}
	switch {
	case m.regression() && !a.numbers:
		return fmt.Errorf("algorithm=%s learns classes, and the target %q is a number", m.Algorithm, m.schema.Attributes[m.target].Name)
	case m.regression():
		m.scale = encode.FitScale(t.Columns[m.target].Floats, t.Weights, encode.ZScore, false)
	case m.outputs() < 2:
		return fmt.Errorf("the target %q has one class; expected two or more", m.schema.Attributes[m.target].Name)
	}
	options := encode.Options{Single: true, Indicators: true}
	if m.Raw {
		options.Scaling = encode.Raw
	}
	matrix, err := encode.FitMatrix(ctx, t, m.target, options)
	if err != nil {
		return err
	}
	for i := range matrix.Inputs {
		if in := &matrix.Inputs[i]; in.Scale != nil && !m.Raw {
			signs(in.Scale, t.Columns[in.Column].Floats)
		}
	}
	if m.Sequence != "" {
		if m.sequence = m.schema.Index(m.Sequence); m.sequence < 0 || m.sequence == m.target {
			return fmt.Errorf("setting sequence=%s: no such input column%s", m.Sequence, spell.Hint(m.Sequence, m.schema.Names()))
		}
		matrix.Inputs = slices.DeleteFunc(matrix.Inputs, func(in encode.Input) bool { return in.Column == m.sequence })
	}
	m.matrix = matrix
	return nil
}

// signs scales a column of two numbers so that they become −1 and 1.
func signs(s *encode.Scale, x []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if !table.IsMissing(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	third := slices.ContainsFunc(x, func(v float64) bool { return low < v && v < high })
	if factor := 1 / (high/2 - low/2); !third && factor > 0 && factor <= math.MaxFloat64 {
		s.Offset, s.Factor = low/2+high/2, factor
	}
}

// lesson returns a table's rows as numbers.
func (m *UnitModel) lesson(t *table.Table) (*lesson, error) {
	l := &lesson{UnitModel: m, random: rand.New(rand.NewPCG(m.seed+m.restart<<32, 0x756e697473))}
	reader := m.newReader()
	for r := range t.Rows() {
		x, err := reader.read(t, r)
		if err != nil {
			return nil, err
		}
		l.inputs = append(l.inputs, slices.Clone(x))
		l.starts = append(l.starts, m.begins(t, r))
	}
	if !m.regression() {
		l.class = t.Columns[m.target].Codes
		return l, nil
	}
	l.number = make([]float64, t.Rows())
	m.scale.Apply(t.Columns[m.target].Floats, l.number)
	for r, y := range t.Columns[m.target].Floats {
		if table.IsMissing(y) {
			l.number[r] = math.NaN()
		}
	}
	return l, nil
}

// begins reports whether a row is the first of a sequence: of the table's, or
// of those that the setting names a column for.
func (m *UnitModel) begins(t *table.Table, row int) bool {
	switch {
	case row == 0:
		return true
	case t.Sequence != nil:
		return t.Sequence[row] != t.Sequence[row-1]
	}
	return m.sequence >= 0 && t.Text(row, m.sequence) != t.Text(row-1, m.sequence)
}

// learnMore returns the model of further rows, learnt from where it stands.
func (m *UnitModel) learnMore(ctx context.Context, t *table.Table) (*UnitModel, error) {
	next := *m
	next.rows, next.counts, next.epochs = m.rows+float64(t.Rows()), m.count(t, m.counts), nil
	l, err := next.lesson(t)
	if err != nil {
		return nil, err
	}
	if next.net != nil {
		net := *next.net
		net.Weights = slices.Clone(net.Weights)
		next.net = &net
	}
	if err := algorithms[m.Algorithm].learn(l, ctx); err != nil {
		return nil, err
	}
	l.calibrate()
	learn.Report(ctx, 1)
	return &next, nil
}

// targetOf returns what an output should say to a row: 1 for its class, and low
// for others, or the number; NaN if it is not known.
func (l *lesson) targetOf(row, output int, low float64) float64 {
	if l.class == nil {
		return l.number[row]
	}
	switch l.class[row] {
	case table.Missing:
		return math.NaN()
	case int32(l.classOf(output)):
		return 1
	}
	return low
}

// labelled returns the rows for a perceptron that tells a class from others.
func (l *lesson) labelled(output int) []units.Labelled {
	all := make([]units.Labelled, len(l.inputs))
	for r, x := range l.inputs {
		all[r] = units.Labelled{Input: x, Label: l.targetOf(r, output, -1)}
	}
	return all
}

// examples returns the rows for a network whose outputs are low for other
// classes.
func (l *lesson) examples(low float64) []units.Example {
	all := make([]units.Example, len(l.inputs))
	for r, x := range l.inputs {
		all[r] = units.Example{Input: x, Target: make([]float64, l.outputUnits())}
		for k := range all[r].Target {
			all[r].Target[k] = l.targetOf(r, k, low)
		}
	}
	return all
}

// ofPerceptrons makes threshold units the network.
func (l *lesson) ofPerceptrons(ws []units.Perceptron) {
	l.net = units.Layered(units.Linear, units.Sign, len(l.inputs[0]), len(ws))
	l.net.Weights = slices.Concat(ws...)
}

// perceptrons returns the threshold units of the network, or new ones with
// weights of 0.
func (l *lesson) perceptrons() []units.Perceptron {
	width := len(l.inputs[0]) + 1
	ws := make([]units.Perceptron, l.outputUnits())
	for k := range ws {
		ws[k] = make(units.Perceptron, width)
		if l.net != nil {
			copy(ws[k], l.net.Weights[k*width:])
		}
	}
	return ws
}

// perceptronRule goes through the rows until none is answered wrongly
// (section 4.4.2).
func (l *lesson) perceptronRule(ctx context.Context) error {
	ws := l.perceptrons()
	rate := l.schedule()
	rows := make([][]units.Labelled, len(ws))
	for k := range ws {
		rows[k] = l.labelled(k)
	}
	l.stopped = "no epoch passed without a wrong answer"
	for epoch := 1; epoch <= l.Epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		corrected := 0
		for r := range l.inputs {
			wrong := false
			for k := range ws {
				wrong = ws[k].Correct(rows[k][r], rate(epoch)) || wrong
			}
			if wrong {
				corrected++
			}
		}
		l.note(Epoch{Epoch: epoch, Wrong: corrected, Rows: len(l.inputs), Weights: slices.Concat(ws...)})
		learn.Report(ctx, float64(epoch)/float64(l.Epochs))
		if corrected == 0 {
			l.stopped = "all rows are right"
			break
		}
	}
	l.ofPerceptrons(ws)
	return nil
}

// mostPresentations bounds the rows that the pocket algorithm is shown for a
// unit, so that it ends soon whatever the table.
const mostPresentations = 1 << 20

// pocket is the perceptron rule with the best weights kept (Gallant 1990).
func (l *lesson) pocket(ctx context.Context) error {
	ws := l.perceptrons()
	wrong := make([]int, len(ws))
	presentations := min(l.Epochs*len(l.inputs), mostPresentations)
	for k := range ws {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := l.labelled(k)
		ws[k] = units.Pocket(rows, presentations, l.random)
		wrong[k] = ws[k].Errors(rows)
		learn.Report(ctx, float64(k+1)/float64(len(ws)))
	}
	l.ofPerceptrons(ws)
	l.note(Epoch{Epoch: l.Epochs, Wrong: l.wrong(), Rows: len(l.inputs), Weights: l.net.Weights})
	l.stopped = fmt.Sprintf("%d presentations; the weights in the pocket leave %v rows wrong", presentations, wrong)
	return nil
}

// mostSeparated bounds the rows of linear programming, whose memory grows with
// their square.
const mostSeparated = 2000

// separate finds planes by linear programming (section 4.4.4).
func (l *lesson) separate(ctx context.Context) error {
	if len(l.inputs) > mostSeparated {
		return fmt.Errorf("%d rows; linear programming takes memory in the square of their number: expected at most %d", len(l.inputs), mostSeparated)
	}
	ws := l.perceptrons()
	total := 0.0
	for k := range ws {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, slack, err := units.Separate(l.labelled(k))
		if err != nil {
			return err
		}
		ws[k] = w
		total += slack
	}
	l.ofPerceptrons(ws)
	l.note(Epoch{Epoch: 1, Wrong: l.wrong(), Rows: len(l.inputs), Error: total, Weights: l.net.Weights})
	if l.stopped = "a plane separates the rows"; total > 1e-6 {
		l.stopped = fmt.Sprintf("no plane separates the rows: the least slack is %.4g", total)
	}
	return nil
}

// deltaRule descends the squared error of linear units (table 4.1): row by row
// with batch=1, over all of them with a batch as large as the table.
func (l *lesson) deltaRule(ctx context.Context) error {
	if l.net == nil {
		l.net = units.Layered(units.Linear, units.Linear, len(l.inputs[0]), l.outputUnits())
	}
	return l.descend(ctx, l.examples(-1), units.SquaredError, nil)
}

// descend trains the network by gradient descent, and notes its epochs.
func (l *lesson) descend(ctx context.Context, examples []units.Example, loss units.Loss, fixed []bool) error {
	d := &units.Descent{Rate: l.schedule(), Loss: loss, Momentum: l.Momentum, Decay: l.Decay, Batch: l.Batch, Fixed: fixed}
	l.stopped = "all epochs are over"
	for epoch := 1; epoch <= l.Epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Epoch(l.net, examples)
		e := l.net.Error(examples, loss)
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return fmt.Errorf("the weights grew beyond all bounds in epoch %d; a smaller rate than %v lets them settle", epoch, l.Rate)
		}
		l.loss = e
		l.note(Epoch{Epoch: epoch, Wrong: l.wrong(), Rows: len(examples), Error: e, Weights: l.net.Weights})
		learn.Report(ctx, float64(epoch)/float64(l.Epochs))
	}
	return nil
}
