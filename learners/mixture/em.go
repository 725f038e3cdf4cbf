package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// least is what a component has of any row.
const least = 1e-6

// firstSteps are those of each start, before the best is carried on.
const firstSteps = 5

// search is EM over some rows.
type search struct {
	settings *settings
	rows     *table.Table
	source   learn.Source
}

// find begins several times, and carries the best on.
func (f *search) find(ctx context.Context, seed uint64) (*Model, error) {
	weight := 0.0
	for r := range f.rows.Rows() {
		weight += f.rows.Weight(r)
	}
	if !(weight > 0 && weight <= 1e15) {
		return nil, fmt.Errorf("there are no rows to learn from, or they weigh too much (%v)", weight)
	}
	var best *Model
	bestLog := math.Inf(-1)
	starts := f.settings.Starts
	if f.settings.Components == 1 {
		starts = 1
	}
	for start := range starts {
		m, err := f.maximise(ctx, f.scatter(seed, uint64(start)), seed)
		if err != nil {
			return nil, err
		}
		m, log, err := f.climb(ctx, m, min(firstSteps, f.settings.Iterations), seed)
		if err != nil {
			return nil, err
		}
		if log > bestLog {
			best, bestLog = m, log
		}
		learn.Report(ctx, 0.5*float64(start+1)/float64(starts))
	}
	m, _, err := f.climb(ctx, best, f.settings.Iterations, seed)
	if err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// climb steps until no step gains, and returns the best model with the log
// likelihood of the rows, for each unit of weight.
func (f *search) climb(ctx context.Context, m *Model, steps int, seed uint64) (*Model, float64, error) {
	shares, log, err := f.expect(ctx, m)
	if err != nil || f.settings.Components == 1 {
		return m, log, err
	}
	for range steps {
		next, err := f.maximise(ctx, shares, seed)
		if err != nil {
			return nil, 0, err
		}
		nextShares, nextLog, err := f.expect(ctx, next)
		if err != nil {
			return nil, 0, err
		}
		if !(nextLog > log) {
			break
		}
		gain := nextLog - log
		m, shares, log = next, nextShares, nextLog
		if gain < f.settings.Tolerance {
			break
		}
	}
	return m, log, nil
}

// scatter shares the sequences, or rows, out at random: equal ones alike, in
// whatever order they come.
func (f *search) scatter(seed, start uint64) []float64 {
	k := f.settings.Components
	shares := make([]float64, f.rows.Rows()*k)
	p, hashes := make([]float64, k), f.hashes()
	f.rows.Groups(func(from, to int) {
		hash := seed
		for _, h := range hashes[from:to] {
			hash = mix(hash, h)
		}
		random := rand.New(rand.NewPCG(hash, start))
		total := 0.0
		for c := range p {
			p[c] = random.ExpFloat64() * random.ExpFloat64()
			total += p[c]
		}
		for row := from; row < to; row++ {
			for c := range p {
				shares[row*k+c] = p[c] / total
			}
		}
	})
	return shares
}

// hashes returns a number for each row that its cells decide: names by what they
// say, columns by their names, in any order.
func (f *search) hashes() []uint64 {
	hashes := make([]uint64, f.rows.Rows())
	for j := range f.rows.Columns {
		a, cells := &f.rows.Schema.Attributes[j], &f.rows.Columns[j]
		name := mixText(0, a.Name)
		values := make([]uint64, len(a.Values))
		for v, value := range a.Values {
			values[v] = mixText(name, value)
		}
		for r := range hashes {
			switch {
			case cells.Codes != nil && cells.Codes[r] >= 0:
				hashes[r] += values[cells.Codes[r]]
			case cells.Floats != nil && cells.Floats[r] == cells.Floats[r]:
				hashes[r] += mix(name, math.Float64bits(cells.Floats[r]+0))
			}
		}
	}
	return hashes
}

// mix is a step of splitmix64 (Steele, Lea & Flood 2014) over both numbers.
func mix(h, x uint64) uint64 {
	h += x + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func mixText(h uint64, text string) uint64 {
	for i := range len(text) {
		h = mix(h, uint64(text[i]))
	}
	return mix(h, 256)
}

// expect is the E step: each row's share of the components, and the mean log
// likelihood.
func (f *search) expect(ctx context.Context, m *Model) (shares []float64, log float64, err error) {
	shares = make([]float64, f.rows.Rows()*len(m.components))
	logs, err := m.share(ctx, f.rows, shares)
	if err != nil {
		return nil, 0, err
	}
	weight := 0.0
	for r, l := range logs {
		log += float64(f.rows.Weight(r) * l)
		weight += f.rows.Weight(r)
	}
	return shares, log / weight, nil
}

// maximise is the M step: each component learns the rows by its shares.
func (f *search) maximise(ctx context.Context, shares []float64, seed uint64) (*Model, error) {
	k := f.settings.Components
	m := &Model{settings: *f.settings, sources: []source{{of: f.source, shares: make([]float64, k)}}}
	for c := range k {
		rows, total := weighed(f.rows, shares, k, c)
		l, err := f.settings.learner()
		if err != nil {
			return nil, err
		}
		of, err := l.Learn(learn.WithProgress(ctx, func(float64) {}), learn.Task{Table: rows, NoTarget: true, Source: f.source, Seed: seed})
		if err != nil {
			return nil, fmt.Errorf("component %d (%s): %w", c+1, f.settings.Of, err)
		}
		if err := m.enlist(of); err != nil {
			return nil, err
		}
		m.sources[0].shares[c] = total
	}
	if err := m.weigh(); err != nil {
		return nil, err
	}
	return m, nil
}

// weighed returns the rows with a component's shares of them.
func weighed(t *table.Table, shares []float64, k, c int) (rows *table.Table, total float64) {
	weights := make([]float64, t.Rows())
	for r := range weights {
		weights[r] = max(shares[r*k+c], least) * t.Weight(r)
		total += float64(shares[r*k+c] * t.Weight(r))
	}
	of := *t
	of.Weights = weights
	return &of, total
}

// share fills in the shares of the components in each row, which are those of its
// sequence, and returns the log density of each row: of a sequence's, given those
// before it, so that they add up.
func (m *Model) share(ctx context.Context, t *table.Table, shares []float64) ([]float64, error) {
	k := len(m.components)
	logs := make([][]float64, k)
	for c, of := range m.components {
		rows, _, err := table.Conform(t, of.Schema(), false)
		if err != nil {
			return nil, err
		}
		if rows.Schema.Sequence != t.Schema.Sequence {
			return nil, fmt.Errorf("rows are in sequences by %q, expected %q; read them the same way", t.Schema.Sequence, rows.Schema.Sequence)
		}
		if logs[c], err = logDensity(ctx, of, rows); err != nil {
			return nil, err
		}
	}
	all := make([]float64, t.Rows())
	joint := make([]float64, k)
	t.Groups(func(from, to int) {
		copy(joint, m.logs)
		before := 0.0
		for row := from; row < to; row++ {
			for c := range joint {
				joint[c] += max(logs[c][row], -1e12)
			}
			sum := logsum.Of(joint)
			all[row], before = sum-before, sum
		}
		p := append([]float64(nil), joint...)
		logsum.Normalise(p)
		for row := from; row < to; row++ {
			copy(shares[row*k:], p)
		}
	})
	return all, nil
}

// logDensity returns the log density of each row in the units of the columns, which
// a component may count in deviations of its own rows instead.
func logDensity(ctx context.Context, of learn.Density, t *table.Table) ([]float64, error) {
	logs := make([]float64, t.Rows())
	if err := of.LogDensity(ctx, t, logs); err != nil {
		return nil, err
	}
	own, ok := of.(interface{ Units() []float64 })
	if !ok {
		return logs, nil
	}
	for j, unit := range own.Units() {
		if !(unit > 0) || t.Columns[j].Floats == nil {
			continue
		}
		for r, x := range t.Columns[j].Floats {
			if x-x == 0 {
				logs[r] -= math.Log(unit)
			}
		}
	}
	return logs, nil
}
