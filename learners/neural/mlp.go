package neural

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is the learner's name in the registry.
const Name = "mlp"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "multilayer network, trained by back-propagation and stopped on held-out rows",
		Source:   "Rumelhart, Hinton & Williams 1986; Kingma & Ba 2015 (Adam); Guo et al. 2017 (temperature)",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Draw: true},
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
	Hidden     string   `set:"hidden" default:"50" doc:"units of each hidden layer, as in 100 or 50,20; 0 for none"`
	Activation string   `set:"activation" default:"relu" oneof:"relu|tanh|sigmoid" doc:"function of the hidden units"`
	Loss       string   `set:"loss" default:"entropy" oneof:"entropy|squared" doc:"error of class probabilities that is made small; numbers have the squared one"`
	Optimiser  string   `set:"optimiser" default:"adam" oneof:"adam|momentum|lbfgs|cg" doc:"how gradients become steps: of batches (adam, momentum), or of all rows (L-BFGS, conjugate gradients)"`
	Rate       float64  `set:"rate" default:"0.003, 0.03 for momentum" doc:"learning rate of adam and momentum"`
	Schedule   string   `set:"schedule" default:"constant" oneof:"constant|falling|cosine" doc:"the rate from epoch to epoch: the same, divided by the epoch's number, or down to 0 along a cosine"`
	Momentum   *float64 `set:"momentum" default:"0.9" doc:"part of the last step in the next one, for optimiser=momentum"`
	Decay      *float64 `set:"decay" default:"0.1, 0.001 for lbfgs and cg" doc:"weights shrink by this times the rate at each step; for lbfgs and cg, a penalty of half this times their squares"`
	Batch      int      `set:"batch" default:"32" doc:"rows a step"`
	Epochs     int      `set:"epochs" default:"200, and at least 6000 steps" doc:"times that the rows are gone through at most"`
	Patience   int      `set:"patience" default:"10, and at least 300 steps" doc:"epochs without improvement on the held-out rows before training stops"`
	Validation *float64 `set:"validation" default:"0.15" doc:"share of rows held out to stop by and to calibrate with; 0 trains on all rows for all epochs"`
	Folds      int      `set:"folds" default:"none" doc:"folds held out in turn to find how many epochs are best on average; the network is then trained on all rows for as many"`
	Restarts   int      `set:"restarts" default:"1" doc:"networks trained from other starts, of which the best on the held-out rows is kept"`
	Committee  int      `set:"committee" default:"1" doc:"networks whose answers are averaged, each with other rows held out"`
	Prune      float64  `set:"prune" default:"0" doc:"share of the weights to drop after training, those that matter least (optimal brain damage), training again as they go"`
}

// settings are a Learner's choices with defaults filled in.
type settings struct {
	Hidden     []int   `cbor:"hidden"`
	Activation string  `cbor:"activation"`
	Loss       string  `cbor:"loss"`
	Optimiser  string  `cbor:"optimiser"`
	Rate       float64 `cbor:"rate"`
	Schedule   string  `cbor:"schedule"`
	Momentum   float64 `cbor:"momentum"`
	Decay      float64 `cbor:"decay"`
	Batch      int     `cbor:"batch"`
	Epochs     int     `cbor:"epochs"`   // 0: see endurance
	Patience   int     `cbor:"patience"` // 0: see endurance
	Validation float64 `cbor:"validation"`
	Folds      int     `cbor:"folds"`
	Restarts   int     `cbor:"restarts"`
	Committee  int     `cbor:"committee"`
	Prune      float64 `cbor:"prune"`
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func deref(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func (l *Learner) settings() (*settings, error) {
	s := &settings{
		Activation: or(l.Activation, "relu"), Loss: or(l.Loss, "entropy"), Optimiser: or(l.Optimiser, "adam"), Rate: l.Rate,
		Schedule: or(l.Schedule, "constant"), Momentum: deref(l.Momentum, 0.9), Batch: or(l.Batch, 32), Epochs: l.Epochs,
		Patience: l.Patience, Validation: deref(l.Validation, 0.15), Folds: l.Folds, Restarts: or(l.Restarts, 1),
		Committee: or(l.Committee, 1), Prune: l.Prune,
	}
	rate, decay := 0.003, 0.1
	switch s.Optimiser {
	case "momentum":
		rate = 0.03
	case "lbfgs", "cg":
		decay = 0.001
	}
	s.Rate, s.Decay = or(s.Rate, rate), deref(l.Decay, decay)
	for _, word := range strings.Split(or(l.Hidden, "50"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("setting hidden=%s: expected numbers of units, as in 100 or 50,20", l.Hidden)
		}
		s.Hidden = append(s.Hidden, n)
	}
	if len(s.Hidden) == 1 && s.Hidden[0] == 0 {
		s.Hidden = nil
	}
	return s, s.check()
}

// endurance returns the epochs at most, and those without improvement before
// training stops. Few rows make few steps an epoch, and get more epochs.
func (s *settings) endurance(steps int) (epochs, patience int) {
	return or(s.Epochs, max(200, 6000/steps)), or(s.Patience, max(10, 300/steps))
}

const mostUnits = 1 << 16

func (s *settings) check() error {
	for _, n := range s.Hidden {
		if n < 1 || n > mostUnits {
			return fmt.Errorf("a hidden layer of %d units; expected 1 to %d", n, mostUnits)
		}
	}
	finite := func(x float64) bool { return x-x == 0 }
	for _, o := range learn.Options(&Learner{}) {
		word, isChoice := map[string]string{"activation": s.Activation, "loss": s.Loss, "optimiser": s.Optimiser, "schedule": s.Schedule}[o.Key]
		if isChoice && !slices.Contains(o.Choices, word) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, word, strings.Join(o.Choices, ", "))
		}
	}
	switch {
	case !(s.Rate > 0) || !finite(s.Rate):
		return fmt.Errorf("rate %v; expected a positive number", s.Rate)
	case !(s.Momentum >= 0 && s.Momentum < 1):
		return fmt.Errorf("momentum %v; expected 0 or more and less than 1", s.Momentum)
	case !(s.Decay >= 0) || !finite(s.Decay):
		return fmt.Errorf("decay %v; expected 0 or more", s.Decay)
	case !(s.Validation >= 0 && s.Validation <= 0.9):
		return fmt.Errorf("validation %v; expected a share from 0 to 0.9", s.Validation)
	case !(s.Prune >= 0 && s.Prune < 1):
		return fmt.Errorf("prune %v; expected a share from 0 to less than 1", s.Prune)
	case s.Folds < 0 || s.Folds == 1 || s.Folds > 1000:
		return fmt.Errorf("folds %d; expected 2 to 1000, or 0 for none", s.Folds)
	case s.Folds > 0 && s.Restarts > 1:
		return fmt.Errorf("restarts %d with folds %d; restarts are compared on held-out rows, which folds leave none of: choose one", s.Restarts, s.Folds)
	case s.Batch < 1 || s.Batch > 1<<20 || s.Epochs < 0 || s.Patience < 0 || s.Restarts < 1 || s.Committee < 1 || s.Committee > 1000:
		return fmt.Errorf("batch %d, epochs %d, patience %d, restarts %d, committee %d; expected positive numbers, a batch of at most %d and a committee of at most 1000",
			s.Batch, s.Epochs, s.Patience, s.Restarts, s.Committee, 1<<20)
	}
	return nil
}

// rate returns the learning rate of the i-th of so many epochs, from 0.
func (s *settings) rate(i, epochs int) float64 {
	switch s.Schedule {
	case "falling":
		return Falling(s.Rate)(i + 1)
	case "cosine": // Loshchilov & Hutter 2017
		return s.Rate * (1 + math.Cos(math.Pi*float64(i)/float64(epochs))) / 2
	}
	return s.Rate
}

var activations = map[string]Function{"relu": Rectifier, "tanh": Tanh, "sigmoid": Sigmoid}

// Learn trains a network, or a committee of them, on the table's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	if err := checkTask(task.Table, task.Target); err != nil {
		return nil, err
	}
	if err := learn.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	gathering := (&learn.Rows{}).Gather(task.Source, task.Target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	t, err := tableOf(ctx, gathering)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: task.Seed, schema: t.Schema, target: task.Target}
	if err := m.fitEncoding(ctx, t); err != nil {
		return nil, err
	}
	x, err := m.sample(ctx, t)
	if err != nil {
		return nil, err
	}
	m.rows, m.counts = totalWeight(t), m.count(t, nil)
	prior := make([]float32, m.outputs())
	for c, log := range m.prior() {
		prior[c] = float32(log)
	}
	err = m.train(ctx, t, x, s, func(_, seed uint64) *dense {
		random := rand.New(rand.NewPCG(seed, 0x737461727473))
		net := newDense(m.matrix.Width(), s.Hidden, m.outputs(), activations[s.Activation], random)
		copy(net.last().b, prior)
		return net
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// checkTask refuses what cannot be learnt.
func checkTask(t *table.Table, target int) error {
	switch {
	case target == learn.NoTarget:
		return fmt.Errorf("%s predicts a column; name it as the target", Name)
	case target < 0 || target >= len(t.Schema.Attributes):
		return fmt.Errorf("the target is column %d of a table of %d", target+1, len(t.Schema.Attributes))
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
func tableOf(ctx context.Context, g *learn.Gathering) (*table.Table, error) {
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

func totalWeight(t *table.Table) float64 {
	sum := 0.0
	for r := range t.Rows() {
		sum += t.Weight(r)
	}
	return sum
}

// farthest is the greatest scaled input: an outlier may shout, but not so
// loud that nothing else is heard.
const farthest = 20

// fitEncoding decides how cells become numbers.
func (m *Model) fitEncoding(ctx context.Context, t *table.Table) error {
	matrix, err := encode.FitMatrix(ctx, t, m.target, encode.Options{Indicators: true})
	if err != nil {
		return err
	}
	for i := range matrix.Inputs {
		if s := matrix.Inputs[i].Scale; s != nil {
			s.Most = farthest
		}
	}
	m.matrix = matrix
	if m.regression() {
		m.scale = encode.FitScale(t.Columns[m.target].Floats, t.Weights, encode.ZScore, false)
	}
	return nil
}

// sample returns a table of the model's columns as numbers.
func (m *Model) sample(ctx context.Context, t *table.Table) (*sample, error) {
	width := m.matrix.Width()
	s := &sample{stride: strideOf(width), x: make([]float32, t.Rows()*strideOf(width))}
	if err := m.matrix.Apply32(t, 0, 0, nil); err != nil {
		return nil, err // and so would any rows be refused
	}
	err := learn.Split(ctx, t.Rows(), func(lo, hi int) {
		buffer := make([]float32, answered*width)
		for ; lo < hi; lo += answered {
			end := min(lo+answered, hi)
			if m.matrix.Apply32(t, lo, end, buffer) != nil {
				return
			}
			for r := lo; r < end; r++ {
				copy(s.x[r*s.stride:], buffer[(r-lo)*width:(r-lo+1)*width])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if !m.regression() {
		s.class = t.Columns[m.target].Codes
		return s, nil
	}
	scaled := make([]float64, t.Rows())
	m.scale.Apply(t.Columns[m.target].Floats, scaled)
	s.number = make([]float32, t.Rows())
	for r, y := range scaled {
		s.number[r] = float32(y)
	}
	return s, nil
}

// count adds up the rows' weights by class, on top of those counted before.
func (m *Model) count(t *table.Table, before []float64) []float64 {
	if m.regression() {
		return nil
	}
	counts := make([]float64, m.outputs())
	copy(counts, before)
	for r, c := range t.Columns[m.target].Codes {
		counts[c] += t.Weight(r)
	}
	return counts
}

// prior returns what is known before any input is seen, as outputs: the log
// of each class's share, one row of each class added; for a number 0, which
// is its mean.
func (m *Model) prior() []float64 {
	outputs := make([]float64, m.outputs())
	for c, n := range m.counts {
		outputs[c] = math.Log((n + 1) / (m.rows + float64(len(m.counts))))
	}
	return outputs
}

// train fills the model's committee: each member the best of some starts,
// which start returns for a member and a seed. Networks are trained on all
// cores at a time.
func (m *Model) train(ctx context.Context, t *table.Table, x *sample, s *settings, start func(member, seed uint64) *dense) error {
	if !(m.rows <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", m.rows, float64(moment.MaxWeight))
	}
	var hashes []uint64 // not needed if nothing is held out
	if s.Validation > 0 || s.Folds > 0 {
		var err error
		if hashes, err = learn.HashRows(ctx, t); err != nil {
			return err
		}
	}
	// Each round trains a network with some rows held out: those of a
	// restart, or of a fold.
	rounds := max(s.Restarts, s.Folds)
	divisions := make([][]division, s.Committee)
	for i := range divisions {
		divisions[i] = divide(t, hashes, m.seed+uint64(i), s)
	}
	outcomes := make([]outcome, s.Committee*rounds)
	errs := make([]error, len(outcomes))
	parts := len(outcomes)
	if s.Folds > 0 {
		parts += s.Committee
	}
	progress := newProgress(ctx, parts)
	work := func(n int, do func(i int)) error {
		spread(runtime.GOMAXPROCS(0), n, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				do(i)
			}
		})
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	seedOf := func(member, round int) uint64 { return (m.seed+uint64(member))*0x9e3779b97f4a7c15 + uint64(round) }
	err := work(len(outcomes), func(i int) {
		member, round := i/rounds, i%rounds
		seed := seedOf(member, round)
		outcomes[i], errs[i] = train(progress.of(i), start(uint64(member), seed), x, divisions[member][round%len(divisions[member])], s, seed)
	})
	if err != nil {
		return err
	}
	m.members = make([]member, s.Committee)
	if s.Folds == 0 {
		for i := range m.members {
			best := outcomes[i*rounds]
			for _, o := range outcomes[i*rounds : (i+1)*rounds] {
				if o.loss < best.loss {
					best = o
				}
			}
			m.members[i] = calibrate(best.net, x, divisions[i][0])
		}
	} else if err := work(s.Committee, func(i int) {
		folds := outcomes[i*rounds : (i+1)*rounds]
		m.members[i], errs[i] = trainOnAll(progress.of(len(outcomes)+i), start(uint64(i), seedOf(i, rounds)), t, x, divisions[i], folds, s, seedOf(i, rounds))
	}); err != nil {
		return err
	}
	learn.Report(ctx, 1)
	return nil
}

// trainOnAll trains on all rows for as many epochs as were best on the folds
// in the mean (Mitchell 1997, section 4.6.5). How far its answers can be
// trusted is what the folds' networks say in the mean.
func trainOnAll(ctx context.Context, net *dense, t *table.Table, x *sample, divisions []division, folds []outcome, s *settings, seed uint64) (member, error) {
	all := *s
	epochs, log, squares := 0.0, 0.0, 0.0
	for i, o := range folds {
		part := calibrate(o.net, x, divisions[i%len(divisions)])
		epochs += float64(o.epoch)
		log += math.Log(part.temperature)
		squares += part.spread * part.spread
	}
	n := float64(len(folds))
	all.Epochs, all.Patience = max(1, int(math.Round(epochs/n))), math.MaxInt
	o, err := train(ctx, net, x, division{trained: weightsOfRows(t)}, &all, seed)
	return member{o.net, math.Exp(log / n), math.Sqrt(squares / n)}, err
}

// progress adds up how far networks that are trained at a time have come.
type progress struct {
	ctx  context.Context
	lock sync.Mutex
	done []float64
	sum  float64
}

func newProgress(ctx context.Context, parts int) *progress {
	return &progress{ctx: ctx, done: make([]float64, parts)}
}

// of returns a context whose progress is one part's.
func (p *progress) of(part int) context.Context {
	return learn.WithProgress(p.ctx, func(fraction float64) {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.sum += max(0, fraction-p.done[part])
		p.done[part] = max(p.done[part], fraction)
		learn.Report(p.ctx, min(1, p.sum/float64(len(p.done))))
	})
}

// division is the rows' weights for training and for judging; nil if none
// judge.
type division struct{ trained, judging []float64 }

// divide splits the rows by their hashes: once, or into folds that judge in
// turn. Where there are too few rows for both, or nothing is to be held out,
// none judge.
func divide(t *table.Table, hashes []uint64, seed uint64, s *settings) []division {
	var all []division
	left := weightsOfRows(t) // not held out so far
	for i := range max(s.Folds, 1) {
		share := s.Validation
		if s.Folds > 0 {
			share = 1 / float64(s.Folds-i)
		}
		d := division{weightsOfRows(t), make([]float64, t.Rows())}
		kept, held := 0.0, 0.0
		for r, h := range hashes {
			d.judging[r] = left[r]
			if share < 1 {
				d.judging[r] = learn.HoldOut(h, seed+uint64(i)<<32, left[r], share)
			}
			left[r] -= d.judging[r]
			d.trained[r] -= d.judging[r]
			kept += d.trained[r]
			held += d.judging[r]
		}
		if kept > 0 && held > 0 {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		all = []division{{trained: weightsOfRows(t)}}
	}
	return all
}

func weightsOfRows(t *table.Table) []float64 {
	weights := make([]float64, t.Rows())
	for r := range weights {
		weights[r] = t.Weight(r)
	}
	return weights
}
