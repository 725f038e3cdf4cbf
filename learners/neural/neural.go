// Package neural is networks of units that learn by back-propagation: the
// learner "mlp".
//
// A unit adds up its inputs, each times a weight, and passes the sum through
// a function. A network's error is a smooth function of all its weights; the
// chain rule, applied from the outputs backwards, gives its slope at the cost
// of one more pass, and learning is walking downhill. What is read, where the
// walk starts, how long its steps are and when it ends is most of the craft.
//
// Networks are layered, trained in single precision on all cores and asked in
// double: Adam
// (Kingma & Ba 2015), momentum, L-BFGS or conjugate gradients, early stopping
// with the best weights kept or a number of epochs found by folds, restarts,
// committees, pruning by optimal brain damage (Le Cun, Denker & Solla 1990),
// probabilities calibrated by temperature (Guo et al. 2017).
//
// With algorithm= a network is learnt in one of the other ways of Mitchell,
// Machine Learning (1997), chapter 4, whose epochs and units can be read one by
// one: see Algorithm. These ways themselves are package units, in double
// precision and meant to be read; package neuraltree grows trees of
// perceptrons, package encode makes numbers of the cells.
package neural

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is the learner's name in the registry.
const Name = "mlp"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "multilayer network, trained by back-propagation and stopped on held-out rows",
		Source:   "Rumelhart, Hinton & Williams 1986; Kingma & Ba 2015 (Adam); Guo et al. 2017 (temperature)",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true, Sequences: true},
		Can:      learn.Can{Update: true, Explain: true, Draw: true, Remark: true, Curve: true},
		Contract: learn.None,
		Keeps:    "weights",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes layered networks. Nominal columns become a one for the value
// and zeros for the others, numbers are scaled to mean 0 and deviation 1, and
// columns with missing cells get an input that says so. Equal rows are put
// together and the rest is done in the order of the rows' hashes, so that a
// model depends on the rows and the seed alone.
//
// An epoch costs a few times rows × weights multiplications. Memory is a float for
// each row and input and four for each weight.
type Learner struct {
	// Algorithm, unless it is back-propagation, makes a UnitModel.
	Algorithm  string   `set:"algorithm" default:"backprop" oneof:"backprop|perceptron|pocket|delta|separate|truth-table|cascade|graph|elman|jordan|rectangle|evolve" doc:"how a network is learnt: layers by back-propagation; one plane a class by the perceptron rule, the pocket, the delta rule or linear programming; a unit for each true row of a truth table; units added by Cascade-Correlation; a graph of units; recurrent networks; a soft rectangle; weights, hidden units and links that evolve"`
	Graph      string   `set:"graph" default:"none" doc:"units of algorithm=graph, as in 'h = sigmoid(a, b); out = sigmoid(a, h)'"`
	Sequence   string   `set:"sequence" default:"none: all rows are one sequence" doc:"for algorithm=elman and jordan, where the table itself is not in sequences: column whose rows of one value, in their order, are one"`
	Evolution  string   `set:"evolution" default:"genetic" oneof:"genetic|strategy|program|climb|anneal" doc:"for algorithm=evolve: by a genetic algorithm, by an evolution strategy whose steps adapt themselves (weights alone), by evolutionary programming, mutants alone, or by hill climbing or annealing with as many trials; epochs are generations, and hidden (8) the units at most"`
	Learning   string   `set:"learning" default:"none" oneof:"none|lamarck|baldwin" doc:"for algorithm=evolve: whether networks learn in their lives, by a little back-propagation; what they learnt is inherited (lamarck) or only judged (baldwin)"`
	Population int      `set:"population" default:"60" doc:"for algorithm=evolve: networks in a generation"`
	Scaling    string   `set:"scaling" default:"deviations" oneof:"deviations|together|none" doc:"numbers in deviations from their column's mean; those of all columns together, as pixels should be (backprop); or as they are (other algorithms)"`
	Hidden     string   `set:"hidden" default:"50" doc:"units of each hidden layer, as in 100 or 50,20; 0 for none"`
	Activation string   `set:"activation" default:"relu" oneof:"relu|tanh|sigmoid" doc:"function of the hidden units"`
	Loss       string   `set:"loss" default:"entropy" oneof:"entropy|squared" doc:"error of class probabilities that is made small; numbers have the squared one"`
	Optimiser  string   `set:"optimiser" default:"adam" oneof:"adam|momentum|lbfgs|cg" doc:"how gradients become steps: of batches (adam, momentum), or of all rows (L-BFGS, conjugate gradients)"`
	Rate       float64  `set:"rate" default:"0.003, 0.03 for momentum" doc:"learning rate of adam and momentum"`
	Schedule   string   `set:"schedule" default:"constant" oneof:"constant|falling|cosine" doc:"the rate from epoch to epoch: the same, divided by the epoch's number, or down to 0 along a cosine"`
	Momentum   *float64 `set:"momentum" default:"0.9" doc:"part of the last step in the next one, for optimiser=momentum"`
	Decay      *float64 `set:"decay" default:"0.1, 0.001 for lbfgs and cg" doc:"weights shrink by this times the rate at each step; for lbfgs and cg, a penalty of half this times their squares"`
	Batch      int      `set:"batch" most:"1000000000" default:"32" doc:"rows a step"`
	Epochs     int      `set:"epochs" most:"1000000000" default:"200, and at least 6000 steps" doc:"times that the rows are gone through at most"`
	Patience   int      `set:"patience" default:"10, and at least 300 steps" doc:"epochs without improvement on the held-out rows before training stops"`
	Validation *float64 `set:"validation" default:"0.15" doc:"share of rows held out to stop by and to calibrate with; 0 trains on all rows for all epochs"`
	Folds      int      `set:"folds" default:"none" doc:"folds held out in turn to find how many epochs are best on average; the network is then trained on all rows for as many"`
	Restarts   int      `set:"restarts" default:"1" doc:"networks trained from other starts, of which the best on the held-out rows is kept"`
	Committee  int      `set:"committee" default:"1" doc:"networks whose answers are averaged, each with other rows held out"`
	Also       string   `set:"also" default:"none" doc:"further columns that the same hidden units predict, as in 'lstat,chas': they are no inputs, and ask tells them"`
	Slope      string   `set:"slope" default:"none" doc:"how the answer should change with numeric columns, as in 'age:+,income:-,height:0': it should rise, fall or stay (TangentProp); of classes there are two, and slopes are of the one that says yes"`
	Transform  string   `set:"transform" default:"none" doc:"transformations of a picture that should not change the answer: some of shift-x,shift-y,rotate,scale; the numeric columns are its pixels, in rows of width"`
	Width      int      `set:"width" default:"none" doc:"pixels in a row of a picture, for transform"`
	Mu         *float64 `set:"mu" default:"0.1" doc:"how much slopes count beside answers, for slope and transform"`
	Augment    float64  `set:"augment" default:"0" doc:"move rows at random as they are shown, so far at most, along the transformations: rows made up in place of slopes (then say mu=0)"`
	Prune      float64  `set:"prune" default:"0" doc:"share of the weights to drop after training, those that matter least (optimal brain damage), training again as they go"`
	PruneBy    string   `set:"prune-by" default:"damage" oneof:"damage|size" doc:"which weights matter least: those that the error would grow least without, or the smallest"`
}

// Learn trains a network, or a committee of them, on the table's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if l.Algorithm != "" && l.Algorithm != backpropagation {
		return l.learnUnits(ctx, task)
	}
	the, err := l.prepare(ctx, task)
	if err != nil {
		return nil, err
	}
	m := the.model
	if err := m.train(ctx, the.rows, the.sample, m.settings, the.start); err != nil {
		return nil, err
	}
	m.settings.Slopes = m.measureSlopes(the.sample, the.rows.Rows())
	m.follow(task.Table.Schema.Sequence)
	return m, nil
}

// preparation is what a network is to be trained with: a model without networks, the
// rows as a table and as inputs, and where training starts.
type preparation struct {
	model  *Model
	rows   *table.Table
	sample *sample
	start  func(member, seed uint64) *dense
}

// prepare makes inputs of the rows of a task.
func (l *Learner) prepare(ctx context.Context, task learn.Task) (*preparation, error) {
	task.Table = task.Table.WithoutSequence() // layers take rows one by one
	s, err := l.settings()
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
	gathering := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	t, err := tableOf(ctx, gathering)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, encoded: encoded{seed: task.Seed, schema: t.Schema, target: target}}
	if err := m.fitEncoding(ctx, t); err != nil {
		return nil, err
	}
	if err := m.addTargets(t); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	if s.Together {
		m.scaleTogether(t)
	}
	x, err := m.sample(ctx, t)
	if err != nil {
		return nil, err
	}
	if x.tangents, err = m.tangents(s); err != nil {
		return nil, err
	}
	var prior []float32
	for _, of := range append([]*Model{m}, m.also...) {
		of.rows, of.counts = of.known(t), of.count(t, nil)
		for _, log := range of.prior() {
			prior = append(prior, float32(log))
		}
	}
	start := func(_, seed uint64) *dense {
		random := rand.New(rand.NewPCG(seed, 0x737461727473))
		net := newDense(m.matrix.Width(), s.Hidden, m.allOutputs(), activations[s.Activation], random)
		copy(net.last().b, prior)
		return net
	}
	return &preparation{m, t, x, start}, nil
}

// follow makes the model, and its companions, remember which column groups rows.
func (m *Model) follow(sequence string) {
	m.schema = inSequence(m.schema, sequence)
	for _, other := range m.also {
		other.schema = m.schema
	}
}

// inSequence returns a schema that remembers which column groups rows, "" for
// none.
func inSequence(s *table.Schema, column string) *table.Schema {
	if s.Sequence == column {
		return s
	}
	return &table.Schema{Attributes: s.Attributes, Sequence: column}
}

// checkTask refuses what cannot be learnt.
func checkTask(t *table.Table, target int) error {
	if target == learn.NoTarget {
		return fmt.Errorf("%s predicts a column; name it as the target", Name)
	}
	if t.Schema.Attributes[target].Kind == table.Numeric {
		for r, y := range t.Columns[target].Floats {
			if math.IsInf(y, 0) {
				return fmt.Errorf("row %d: the target %q is infinite; expected a number or a missing cell", r+1, t.Schema.Attributes[target].Name)
			}
		}
	}
	return nil
}

// tableOf returns the distinct rows that were gathered, in canonical order.
func tableOf(ctx context.Context, g *kept.Gathering) (*table.Table, error) {
	rows, err := g.Rows(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("no row has a target and a weight; %s needs at least one", Name)
	}
	return t, nil
}
