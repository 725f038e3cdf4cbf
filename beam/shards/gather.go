package shards

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/learners/rulenet"
	"github.com/accrete-ml/accrete/table"
)

// gathered is distinct rows with their weights: all, or where they are too many
// those of the lowest hashes. Which ones they are does not depend on how rows are
// spread over shards, nor on the order in which shards come: equal rows have equal
// hashes, and are there with all their weight or not at all.
type gathered struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Codes   [][]int32           `cbor:"codes"`
	Floats  [][]float64         `cbor:"floats"`
	Weights []float64           `cbor:"weights"`
	Below   uint64              `cbor:"below"` // hashes of rows that are there are at most this
	All     float64             `cbor:"all"`   // weight of all rows with an answer
}

func pack(t *table.Table, below uint64, all float64) ([]byte, error) {
	g := gathered{Columns: table.SaveColumns(t.Schema), Below: below, All: all}
	for _, c := range t.Columns {
		g.Codes, g.Floats = append(g.Codes, c.Codes), append(g.Floats, c.Floats)
	}
	for r := range t.Rows() {
		g.Weights = append(g.Weights, t.Weight(r))
	}
	return learn.Marshal(g)
}

func unpack(data []byte) (*table.Table, *gathered, error) {
	var g gathered
	if err := learn.Unmarshal(data, &g); err != nil {
		return nil, nil, err
	}
	schema, err := table.LoadColumns(g.Columns)
	if err != nil {
		return nil, nil, err
	}
	if len(g.Codes) != len(schema.Attributes) || len(g.Floats) != len(schema.Attributes) {
		return nil, nil, errors.New("rows that do not fit their columns")
	}
	columns := make([]table.Column, len(g.Codes))
	for i := range columns {
		columns[i] = table.Column{Codes: g.Codes[i], Floats: g.Floats[i]}
		if schema.Attributes[i].Kind == table.Nominal && columns[i].Codes == nil {
			columns[i].Codes = []int32{}
		}
		if schema.Attributes[i].Kind == table.Numeric && columns[i].Floats == nil {
			columns[i].Floats = []float64{}
		}
	}
	t, err := table.New(schema, columns, g.Weights)
	return t, &g, err
}

// basket gathers distinct rows.
type basket struct {
	p     *Plan
	rows  *kept.Rows
	below uint64
	all   float64
	held  int // rows since equal ones were put together
}

func (b *basket) add(ctx context.Context, t *table.Table, target int) error {
	t, err := b.thin(ctx, t)
	if err != nil {
		return err
	}
	g := b.rows.Gather(learn.Source{}, target, nil)
	if err := g.Add(ctx, t); err != nil {
		return err
	}
	if b.rows, err = g.Rows(ctx); err != nil {
		return err
	}
	if b.held += t.Rows(); b.held <= b.p.Rows {
		return nil
	}
	return b.lower(ctx, target)
}

// thin leaves out rows whose hash is too high.
func (b *basket) thin(ctx context.Context, t *table.Table) (*table.Table, error) {
	if b.below == math.MaxUint64 {
		return t, nil
	}
	hashes, err := kept.HashRows(ctx, t)
	if err != nil {
		return nil, err
	}
	var in []int
	for r, h := range hashes {
		if mix(h) <= b.below {
			in = append(in, r)
		}
	}
	return t.Select(in), nil
}

// lower halves the hashes that may be there until the distinct rows are few enough.
func (b *basket) lower(ctx context.Context, target int) error {
	for {
		t, err := b.rows.Table(ctx)
		if err != nil {
			return err
		}
		if b.held = t.Rows(); b.held <= b.p.Rows {
			return nil
		}
		b.below /= 2
		if t, err = b.thin(ctx, t); err != nil {
			return err
		}
		g := (&kept.Rows{}).Gather(learn.Source{}, target, nil)
		if err := g.Add(ctx, t); err != nil {
			return err
		}
		if b.rows, err = g.Rows(ctx); err != nil {
			return err
		}
	}
}

func (b *basket) pack(ctx context.Context, target int) ([]byte, error) {
	if b.all == 0 {
		return nil, nil
	}
	b.held = b.p.Rows + 1
	if err := b.lower(ctx, target); err != nil {
		return nil, err
	}
	t, err := b.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	return pack(t, b.below, b.all)
}

func gatherShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	b := &basket{p: p, rows: &kept.Rows{}, below: math.MaxUint64}
	target := learn.NoTarget
	if err := each(ctx, s, o, func(t *table.Table) (err error) {
		if t, target, err = p.suited(t); err != nil {
			return err
		}
		for r := range t.Rows() {
			if target == learn.NoTarget || answered(t.Slice(r, r+1), target) {
				b.all += t.Weight(r)
			}
		}
		return b.add(ctx, t, target)
	}); err != nil {
		return nil, err
	}
	return b.pack(ctx, target)
}

func mergeGathered(ctx context.Context, p *Plan, first, second []byte) ([]byte, error) {
	x, a, err := unpack(first)
	if err != nil {
		return nil, err
	}
	y, c, err := unpack(second)
	if err != nil {
		return nil, err
	}
	b := &basket{p: p, rows: &kept.Rows{}, below: min(a.Below, c.Below), all: a.All + c.All}
	target := learn.NoTarget
	if p.Target != "" {
		target = x.Schema.Index(p.Target)
	}
	for _, t := range []*table.Table{x, y} {
		if err := b.add(ctx, t, target); err != nil {
			return nil, err
		}
	}
	return b.pack(ctx, target)
}

// learnGathered learns the rows that were gathered, and says what was lost where
// they are not all; they have a source of their own then.
func (p *Plan) learnGathered(ctx context.Context, data []byte, sample learn.Source) (m learn.Model, all bool, note string, err error) {
	if data == nil {
		return nil, false, "", fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", p.Target)
	}
	t, g, err := unpack(data)
	if err != nil {
		return nil, false, "", err
	}
	l, err := p.learner()
	if err != nil {
		return nil, false, "", err
	}
	if all = g.Below == math.MaxUint64; all {
		sample = p.Source
	}
	m, err = l.Learn(ctx, learn.Task{Table: t, Target: p.Target, NoTarget: p.Target == "", Source: sample, Seed: p.Seed})
	if err != nil || all {
		return m, all, "", err
	}
	weight := 0.0
	for r := range t.Rows() {
		weight += t.Weight(r)
	}
	return m, false, fmt.Sprintf("learnt from %d distinct rows that stand for %.0f of %.0f, chosen by their hash: intervals are about %.1f times as wide; --rows allows more",
		t.Rows(), weight, g.All, math.Sqrt(g.All/math.Max(1, weight))), nil
}

// countShard counts a shard's rows by the rules of the plan's model.
func countShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	m, err := learn.Decode(p.Model)
	if err != nil {
		return nil, err
	}
	network, ok := m.(*rulenet.Model)
	if !ok {
		return nil, fmt.Errorf("a %s model has no rules to count", m.Learner())
	}
	var all *rulenet.Tally
	if err := each(ctx, s, table.Options{Schema: m.Schema(), Weight: p.Weight, Target: p.Target}, func(t *table.Table) error {
		tally, err := network.Tally(ctx, t)
		if err == nil && all != nil {
			err = all.Add(tally)
		} else if err == nil {
			all = tally
		}
		return err
	}); err != nil || all == nil {
		return nil, err
	}
	return learn.Marshal(all)
}

func mergeTallies(_ context.Context, _ *Plan, first, second []byte) ([]byte, error) {
	var a, b rulenet.Tally
	if err := errors.Join(learn.Unmarshal(first, &a), learn.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	if err := a.Add(&b); err != nil {
		return nil, err
	}
	return learn.Marshal(&a)
}
