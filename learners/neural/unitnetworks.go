package neural

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

// truthTable writes the rows down as units (section 4.6.2): one for each
// pattern of the class that says yes, which fires on it alone, and an output
// that fires if any of them does.
func (l *lesson) truthTable(context.Context) error {
	if l.outputUnits() > 1 {
		return fmt.Errorf("a truth table has two classes, and the target %d", l.UnitModel.outputs())
	}
	width := len(l.inputs[0])
	seen := map[string]int{}
	yes := int32(l.classOf(0))
	net := &units.Network{Inputs: width}
	all := make([]int, width)
	for i := range all {
		all[i] = i
	}
	for r, x := range l.inputs {
		key := make([]byte, width)
		for i, v := range x {
			if v != 1 && v != -1 {
				return fmt.Errorf("the truth table has a row in which %s is missing, or %s has not two values; expected columns of two values, in every row one of them", l.matrix.Names(l.schema)[i], l.matrix.Names(l.schema)[i])
			}
			key[i] = byte(v + 1)
		}
		if before, known := seen[string(key)]; known {
			if l.class[before] != l.class[r] {
				return fmt.Errorf("rows %d and %d have the same inputs and other classes; a truth table has one for each", before+1, r+1)
			}
			continue
		}
		seen[string(key)] = r
		if l.class[r] != yes {
			continue
		}
		at := net.Add(units.Sign, all) - width
		w := net.Weights[net.Units[at].Bias:]
		w[0] = 1 - float64(width) // the sum is 1 on the pattern, −1 or less elsewhere
		copy(w[1:], x)
	}
	hidden := make([]int, len(net.Units))
	for i := range hidden {
		hidden[i] = width + i
	}
	out := net.Add(units.Sign, hidden) - width
	w := net.Weights[net.Units[out].Bias:]
	for i := range w {
		w[i] = 1
	}
	w[0] = float64(len(hidden)) - 1
	net.Outputs = []int{out}
	l.net = net
	l.stopped = fmt.Sprintf("%d of %d patterns have a unit", len(hidden), len(seen))
	l.gaps = l.patterns() - float64(len(seen))
	return nil
}

// Gaps says that a truth table has no rows for some patterns.
type Gaps struct {
	Missing  float64 `json:"missing"` // patterns without a row
	Patterns float64 `json:"patterns"`
	Answer   string  `json:"answer"` // that they get
}

// String says so in a line.
func (g Gaps) String() string {
	return fmt.Sprintf("the truth table has no row for %.10g of %.10g patterns, which get the answer %s", g.Missing, g.Patterns, g.Answer)
}

// patterns is how many there are of inputs of two values.
func (m *UnitModel) patterns() float64 { return math.Ldexp(1, m.matrix.Width()) }

// Remarks tells of a truth table's gaps.
func (m *UnitModel) Remarks() ([]fmt.Stringer, error) {
	if m.gaps == 0 {
		return nil, nil
	}
	return []fmt.Stringer{Gaps{Missing: m.gaps, Patterns: m.patterns(), Answer: m.schema.Attributes[m.target].Values[1-m.classOf(0)]}}, nil
}

// cascade grows the network (section 4.8.4; Fahlman & Lebiere 1990).
func (l *lesson) cascade(ctx context.Context) error {
	c := &units.Cascade{Units: l.Hidden, Iterations: l.Epochs}
	net, grown, err := c.Grow(ctx, l.examples(0), l.random)
	if err != nil {
		return err
	}
	l.net = net
	for i, g := range grown {
		l.epochs = append(l.epochs, GrownUnit{Unit: i + 1, Covariance: g.Covariance, Before: g.Before, After: g.After})
	}
	if l.stopped = "the error is small enough"; len(grown) == l.Hidden {
		l.stopped = fmt.Sprintf("%d units are as many as hidden allows", l.Hidden)
	}
	return nil
}

// graph trains a network that was written down.
func (l *lesson) graph(ctx context.Context) error {
	if l.net == nil {
		g, err := units.Parse(l.Written, l.matrix.Names(l.schema), l.random)
		if err != nil {
			return err
		}
		if len(g.Outputs) != l.outputUnits() {
			return fmt.Errorf("%d units of the graph are read by no other and so are outputs; the target needs %d", len(g.Outputs), l.outputUnits())
		}
		for _, o := range g.Outputs[1:] {
			if g.Units[o].Function != g.Units[g.Outputs[0]].Function {
				return fmt.Errorf("the outputs of the graph have the functions %v and %v; expected one for all", g.Units[g.Outputs[0]].Function, g.Units[o].Function)
			}
		}
		l.net, l.fixed, l.names, l.shared = g.Network, g.Fixed, g.Names, g.Shared
	}
	if !slices.Contains(l.fixed, false) {
		l.stopped = "all weights were written down"
		return nil
	}
	for i, u := range l.net.Units {
		if u.Function == units.Sign && slices.ContainsFunc(append(slices.Clone(u.Weights), u.Bias), func(w int) bool { return w != units.None && !l.fixed[w] }) {
			return fmt.Errorf("unit %s is a threshold unit, which has no slope to be trained by; write its weights down, or make it a sigmoid", l.names[i])
		}
	}
	return l.trainNetwork(ctx, l.function())
}

// trainNetwork trains the network for outputs of a function.
func (l *lesson) trainNetwork(ctx context.Context, f units.Function) error {
	low, loss := 0.0, units.CrossEntropy
	switch {
	case f == units.Tanh || f == units.Linear || f == units.Sign || f == units.Rectifier:
		low, loss = -1, units.SquaredError
	case l.class == nil || l.Squared:
		loss = units.SquaredError
	}
	examples := l.examples(low)
	if l.Descent {
		return l.descend(ctx, examples, loss, l.fixed)
	}
	return l.minimise(ctx, l.net, examples, loss, func() {})
}

// errEnoughIterations never comes: iterations end by their number.
var errEnoughIterations = errors.New("enough")

// minimise descends the error over all examples by L-BFGS, and notes its
// iterations as epochs. The network may be another one with the same weights;
// share makes them those of the model.
func (l *lesson) minimise(ctx context.Context, net *units.Network, examples []units.Example, loss units.Loss, share func()) error {
	p, gradient := net.NewPass(), make([]float64, len(net.Weights))
	f := func(w, g []float64) float64 {
		copy(net.Weights, w)
		clear(gradient)
		sum := 0.0
		for _, x := range examples {
			sum += p.Gradient(x, loss, gradient)
		}
		for i, v := range w {
			if l.fixed != nil && l.fixed[i] {
				gradient[i] = 0
				continue
			}
			sum += l.Decay * v * v
			gradient[i] += 2 * l.Decay * v
		}
		copy(g, gradient)
		return sum
	}
	iteration := 0
	after := func(w []float64) error {
		iteration++
		copy(net.Weights, w)
		share()
		l.note(Epoch{Epoch: iteration, Wrong: l.wrong(), Rows: len(l.inputs), Error: net.Error(examples, loss), Weights: l.net.Weights})
		learn.Report(ctx, float64(iteration)/float64(l.Epochs))
		if iteration == l.Epochs {
			return errEnoughIterations
		}
		return nil
	}
	w, _, err := units.MinimiseFunc(ctx, f, slices.Clone(net.Weights), &optimize.LBFGS{}, l.Epochs, after)
	if err != nil {
		return err
	}
	copy(net.Weights, w)
	share()
	l.loss = net.Error(examples, loss)
	if l.stopped = "nothing lower is to be found near it"; iteration == l.Epochs {
		l.stopped = "all epochs are over"
	}
	return nil
}

// longestSequence bounds how many steps are unfolded: longer sequences are cut.
const longestSequence = 256

// recurrent trains Elman's or Jordan's network on the sequences, unfolded in
// time (section 4.8.3).
func (l *lesson) recurrent(ctx context.Context) error {
	r := &units.Recurrent{Inputs: len(l.inputs[0]), Hidden: l.Hidden, Outputs: l.outputUnits(), Function: units.Tanh, Output: units.Sigmoid}
	if l.Algorithm == "jordan" {
		r.Feedback = units.Jordan
	}
	if l.class == nil {
		r.Output = units.Linear
	}
	sequences := [][2]int{}
	longest := 1
	for row := range l.inputs {
		last := len(sequences) - 1
		if l.starts[row] || sequences[last][1]-sequences[last][0] == longestSequence {
			sequences = append(sequences, [2]int{row, row})
			last++
		}
		sequences[last][1] = row + 1
		longest = max(longest, row+1-sequences[last][0])
	}
	unfolded := r.Unfold(longest)
	if l.net == nil {
		l.net = r.Unfold(1)
		l.net.Randomise(0.5, l.random)
	}
	copy(unfolded.Weights, l.net.Weights)
	all := l.examples(0)
	var examples []units.Example
	for _, s := range sequences {
		inputs, targets := make([][]float64, longest), make([][]float64, longest)
		for step := range longest {
			inputs[step] = make([]float64, r.Inputs)
			if row := s[0] + step; row < s[1] {
				inputs[step], targets[step] = all[row].Input, all[row].Target
			}
		}
		e, err := r.Example(inputs, targets)
		if err != nil {
			return err
		}
		examples = append(examples, e)
	}
	loss := units.CrossEntropy
	if l.class == nil {
		loss = units.SquaredError
	}
	share := func() { copy(l.net.Weights, unfolded.Weights) }
	if !l.Descent {
		return l.minimise(ctx, unfolded, examples, loss, share)
	}
	d := &units.Descent{Rate: l.schedule(), Loss: loss, Momentum: l.Momentum, Decay: l.Decay, Batch: l.Batch}
	l.stopped = "all epochs are over"
	for epoch := 1; epoch <= l.Epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Epoch(unfolded, examples)
		share()
		l.loss = unfolded.Error(examples, loss)
		l.note(Epoch{Epoch: epoch, Wrong: l.wrong(), Rows: len(l.inputs), Error: l.loss, Weights: l.net.Weights})
		learn.Report(ctx, float64(epoch)/float64(l.Epochs))
	}
	return nil
}

// Edges begin soft, where far points still pull at them, and end steep: so
// many times a deviation.
const (
	softEdges  = 4
	steepEdges = 16
)

// rectangle moves the edges of a rectangle by gradient descent (exercise
// 4.12).
func (l *lesson) rectangle(ctx context.Context) error {
	if l.outputUnits() > 1 || len(l.inputs[0]) != 2 {
		return fmt.Errorf("a rectangle tells two classes by two numeric columns; this table has %d classes and %d inputs", l.UnitModel.outputs(), len(l.inputs[0]))
	}
	points, targets := make([][2]float64, len(l.inputs)), make([]float64, len(l.inputs))
	edges := &units.Rectangle{Left: math.Inf(1), Low: math.Inf(1), Right: math.Inf(-1), High: math.Inf(-1), Steepness: softEdges}
	for r, x := range l.inputs {
		points[r], targets[r] = [2]float64{x[0], x[1]}, l.targetOf(r, 0, 0)
		if targets[r] == 1 { // it begins around what lies inside
			edges.Left, edges.Low, edges.Right, edges.High = min(edges.Left, x[0]), min(edges.Low, x[1]), max(edges.Right, x[0]), max(edges.High, x[1])
		}
	}
	if l.edges != nil {
		copied := *l.edges
		edges = &copied
	}
	if math.IsInf(edges.Left, 0) {
		return fmt.Errorf("no row lies inside, and a rectangle begins around those that do")
	}
	l.edges = edges
	for epoch := 1; epoch <= l.Epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if epoch == l.Epochs/2 {
			edges.Steepness = steepEdges
		}
		e := edges.Train(points, targets, units.Constant(l.schedule()(epoch)/float64(len(points))), 1)
		l.note(Epoch{Epoch: epoch, Wrong: l.wrong(), Rows: len(points), Error: e, Weights: []float64{edges.Left, edges.Low, edges.Right, edges.High}})
		learn.Report(ctx, float64(epoch)/float64(l.Epochs))
	}
	l.stopped = "all epochs are over"
	return nil
}

// edgesAsUnits writes a rectangle as four units and their product, in the
// columns' own numbers.
func (m *UnitModel) edgesAsUnits(view *draw.Units) *draw.Units {
	names := m.matrix.Names(m.schema)
	view.Inputs = names
	product := draw.Unit{Name: m.schema.Attributes[m.target].Name, Function: "product", Output: true}
	for side, edge := range [4]float64{m.edges.Left, m.edges.Low, m.edges.Right, m.edges.High} {
		column, sign, word := side%2, 1.0, "above"
		if side >= 2 {
			sign, word = -1, "below"
		}
		scale := m.matrix.Inputs[column].Scale
		at, steep := edge, m.edges.Steepness
		if scale.Factor > 0 {
			at, steep = scale.Offset+edge/scale.Factor, steep*scale.Factor
		}
		bias, weight := -sign*steep*at, sign*steep
		u := draw.Unit{Name: fmt.Sprintf("%s %s %.6g", names[column], word, at), Function: "sigmoid", Bias: &bias, From: []draw.UnitLink{{From: names[column], Weight: &weight}}}
		view.Units = append(view.Units, u)
		product.From = append(product.From, draw.UnitLink{From: u.Name})
	}
	view.Units = append(view.Units, product)
	return view
}
