package markov

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model is a Markov model: the sum of its sources' counts. It is immutable.
type Model struct {
	settings settings
	seed     uint64
	blocks   []*block      // in the order in which the sources came
	schema   *table.Schema // the union of theirs
	target   int
	written  *bundle.Shelf[*block] // the saved form of blocks, for the models that come from this one too

	once      sync.Once // for the estimates, which the first to ask for them makes
	estimated *estimates
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Density   = (*Model)(nil)
	_ learn.Promiser  = (*Model)(nil)
)

// newModel returns the model of the blocks. Their schemas' union is computed
// unless the caller knows it.
func newModel(s settings, seed uint64, blocks []*block, union *table.Schema, written *bundle.Shelf[*block]) (*Model, error) {
	if len(blocks) == 1 {
		union = blocks[0].schema
	}
	if union == nil {
		schemas := make([]*table.Schema, len(blocks))
		for i, b := range blocks {
			schemas[i] = b.schema
		}
		var err error
		if union, err = table.Union(schemas...); err != nil {
			return nil, err
		}
	}
	m := &Model{settings: s, seed: seed, blocks: blocks, schema: union, target: learn.NoTarget, written: written}
	if name := blocks[0].className(); blocks[0].target != learn.NoTarget {
		if m.target = union.IndexNear(name, blocks[0].target); m.target < 0 || union.Attributes[m.target].Kind != table.Nominal {
			return nil, fmt.Errorf("target %q is not a nominal column of all sources", name)
		}
	}
	if err := s.checkColumns(union, m.target); err != nil {
		return nil, err
	}
	rows := 0.0
	for _, b := range blocks {
		rows += b.rows()
	}
	if !(rows > 0) {
		return nil, fmt.Errorf("no row with a state is left to learn from")
	} else if rows > moment.MaxWeight {
		return nil, fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", rows, float64(moment.MaxWeight))
	}
	return m, nil
}

// estimate returns the probabilities, and makes them if they are not there.
func (m *Model) estimate() *estimates {
	m.once.Do(func() { m.estimated = estimate(&m.settings, m.sum()) })
	return m.estimated
}

// sum adds up the blocks, in the order of their identifiers, so that the sum does
// not depend on the order in which the sources came.
func (m *Model) sum() *block {
	if len(m.blocks) == 1 {
		return m.blocks[0]
	}
	total := m.blocks[0].empty(m.schema)
	total.target = m.target
	for _, b := range slices.SortedFunc(slices.Values(m.blocks), func(a, b *block) int { return cmp.Compare(a.source.ID, b.source.ID) }) {
		total.absorb(b)
	}
	return total
}

// Learner returns "markov".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes that the model knows.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the state, or NoTarget.
func (m *Model) Target() int { return m.target }

// States returns the names of the states that the model answers with: the
// classes, or numbers from 1 where they have no names.
func (m *Model) States() []string {
	if m.target != learn.NoTarget {
		return m.schema.Attributes[m.target].Values
	}
	names := make([]string, m.settings.States)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

// Predict fills in the probabilities of the states of the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if m.target == learn.NoTarget {
		return ctx.Err()
	}
	if classes := len(m.schema.Attributes[m.target].Values); len(out.P) < t.Rows()*classes {
		return fmt.Errorf("room for %d probabilities, expected %d rows of %d", len(out.P), t.Rows(), classes)
	}
	return m.Decode(ctx, t, out.P)
}

// errNoSequences says that rows stand alone.
func errNoSequences(column string) error {
	return fmt.Errorf("the rows are not in sequences by %q, as the model expects", column)
}

// Decode fills in the probability of each of the model's states (States) for each
// row: of all paths, or of the best one through it, as the setting decode says.
func (m *Model) Decode(ctx context.Context, t *table.Table, p []float64) error {
	x, err := m.read(t)
	if err != nil {
		return err
	}
	e := m.estimate()
	names := len(m.States())
	return sequences(ctx, t, func(r *trellis, from, to int) {
		e.decode(r, x, from, to)
		e.share(r, p[from*names:to*names], names)
	})
}

// sequences calls work for each sequence of a table, on all cores.
func sequences(ctx context.Context, t *table.Table, work func(r *trellis, from, to int)) error {
	if t.Rows() <= 256 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r trellis
		t.Groups(func(from, to int) { work(&r, from, to) })
		return nil
	}
	begins := func(row int) bool {
		return t.Sequence == nil || row == 0 || t.Sequence[row] != t.Sequence[row-1]
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		var r trellis
		for lo < hi {
			to := lo + 1
			for to < t.Rows() && !begins(to) {
				to++
			}
			if begins(lo) && ctx.Err() == nil { // others are of the work before
				work(&r, lo, to)
			}
			lo = to
		}
	})
}

// decode fills ahead with the logarithms, up to a number, or the probabilities of
// the states of a sequence's rows.
func (e *estimates) decode(r *trellis, t *reading, from, to int) {
	r.room(to-from, e.n)
	e.show(t, from, to, r.logs)
	switch {
	case to-from == 1:
		for s, l := range r.logs {
			r.ahead[s] = e.logStart[s] + l
		}
		logsum.Normalise(r.ahead)
	case e.settings.Decode == "viterbi" && !e.settings.Whole:
		e.best(r)
		for i := 0; i < len(r.ahead); i += e.n {
			logsum.Normalise(r.ahead[i : i+e.n])
		}
	default:
		e.posterior(r)
	}
}

// share gives the probabilities of states to those that answers name. Of the
// hidden states of a class the best path counts, or their sum.
func (e *estimates) share(r *trellis, p []float64, names int) {
	clear(p)
	for i := 0; i*e.n < len(r.ahead); i++ {
		to := p[i*names:][:names]
		for s, x := range r.ahead[i*e.n:][:e.n] {
			to[e.name(s)] = min(1, to[e.name(s)]+x)
		}
	}
}

// name returns which of the states that answers name a state is.
func (e *estimates) name(s int) int32 {
	if e.total.target == learn.NoTarget {
		return e.states[s]
	}
	return e.class[s]
}

// LogDensity fills out with the log of the density of each row given those before
// it in its sequence: they add up to the log likelihood of the sequence.
func (m *Model) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	x, err := m.read(t)
	if err != nil {
		return err
	}
	e := m.estimate()
	return sequences(ctx, t, func(r *trellis, from, to int) {
		r.room(to-from, e.n)
		e.show(x, from, to, r.logs)
		e.forward(r)
		copy(out[from:to], r.scale)
	})
}

// Whole is what a model says of a whole sequence.
type Whole struct {
	From, To       int     // its rows
	LogLikelihood  float64 // of what is shown
	Path           []int32 // the most probable states, of those that States names
	LogProbability float64 // of the path and what is shown
}

// Wholes calls each for every sequence of a table, in order.
func (m *Model) Wholes(ctx context.Context, t *table.Table, each func(from, to int, logLikelihood float64, path []int32, logProbability float64)) error {
	x, err := m.read(t)
	if err != nil {
		return err
	}
	e := m.estimate()
	var wholes []Whole
	t.Groups(func(from, to int) { wholes = append(wholes, Whole{From: from, To: to}) })
	err = learn.Split(ctx, len(wholes), func(lo, hi int) {
		var r trellis
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			w := &wholes[i]
			r.room(w.To-w.From, e.n)
			e.show(x, w.From, w.To, r.logs)
			w.LogLikelihood, _ = e.forward(&r)
			w.LogProbability = e.viterbi(&r)
			w.Path = make([]int32, w.To-w.From)
			for k, s := range r.path {
				w.Path[k] = e.name(int(s))
			}
		}
	})
	if err != nil {
		return err
	}
	for _, w := range wholes {
		each(w.From, w.To, w.LogLikelihood, w.Path, w.LogProbability)
	}
	return nil
}

// Size counts the rows, the rules and the hidden states.
func (m *Model) Size() learn.Size {
	size := learn.Size{}
	for _, b := range m.blocks {
		size.Rows += b.rows()
	}
	e := m.estimate()
	size.Rules = e.ruleCount()
	if m.settings.States > 1 {
		size.Units = len(e.states)
	}
	return size
}

// OfWholes reports whether sequences have a class as a whole.
func (m *Model) OfWholes() bool { return m.settings.Whole }
