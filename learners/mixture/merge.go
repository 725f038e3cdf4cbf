package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// sampler is a component that rows can be drawn from.
type sampler interface {
	SampleRows(rows, length int, seed uint64) (*table.Table, error)
}

// probes are the rows that are drawn from a component to see what it is like.
const (
	probes      = 200
	probeLength = 20
)

// SampleRows draws rows, or sequences: of each component its share.
func (m *Model) SampleRows(rows, length int, seed uint64) (*table.Table, error) {
	random := rand.New(rand.NewPCG(seed, 0x3171))
	unit := 1
	if m.Schema().Sequence != "" {
		unit = max(length, 1)
	}
	if rows < 1 {
		return nil, fmt.Errorf("%d rows: expected at least 1", rows)
	}
	many := make([]int, len(m.components))
	for drawn := 0; drawn < rows; drawn += unit {
		u, c := random.Float64(), 0
		for c < len(m.logs)-1 && u >= math.Exp(m.logs[c]) {
			u -= math.Exp(m.logs[c])
			c++
		}
		many[c] += min(unit, rows-drawn)
	}
	var parts []*table.Table
	for c, n := range many {
		if n == 0 {
			continue
		}
		s, ok := m.components[c].(sampler)
		if !ok {
			return nil, fmt.Errorf("no rows can be drawn from components of learner %s", m.settings.Of)
		}
		t, err := s.SampleRows(n, length, seed+uint64(c))
		if err == nil {
			t, _, err = table.Conform(t, m.Schema(), false)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, t)
	}
	return together(parts)
}

// together joins rows of several components; their sequences are numbered on.
func together(parts []*table.Table) (*table.Table, error) {
	columns := make([]table.Column, len(parts[0].Columns))
	var number []int32
	var names []string
	for _, t := range parts {
		for j := range columns {
			columns[j].Codes = append(columns[j].Codes, t.Columns[j].Codes...)
			columns[j].Floats = append(columns[j].Floats, t.Columns[j].Floats...)
		}
		first := len(names)
		for range t.SequenceNames {
			names = append(names, fmt.Sprint(len(names)+1))
		}
		for _, n := range t.Sequence {
			number = append(number, int32(first)+n)
		}
	}
	all, err := table.New(parts[0].Schema, columns, nil)
	if err != nil || number == nil {
		return all, err
	}
	return all.InSequence(parts[0].Schema.Sequence, number, names)
}

// Merge returns the mixture whose components are those of all models, joined with
// those that they are most like: under which rows drawn from them are most probable.
// It promises nothing compared with finding all anew.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	all := m
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			return nil, fmt.Errorf("a mixture cannot be merged with a model of %s; merge models of one learner", other.Learner())
		}
		if o.settings != m.settings {
			return nil, fmt.Errorf("the mixtures were learnt with different settings; learn one of them again with the other's")
		}
		place, err := all.match(ctx, o)
		if err != nil {
			return nil, err
		}
		if all, err = all.with(ctx, o, place); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// match returns for each of our components that of another mixture which is most
// like it, the most alike first.
func (m *Model) match(ctx context.Context, o *Model) ([]int, error) {
	k := len(m.components)
	like := make([][]float64, k)
	for c := range like {
		like[c] = make([]float64, k)
	}
	for c, of := range o.components {
		s, ok := of.(sampler)
		if !ok {
			return nil, fmt.Errorf("components of learner %s cannot be compared", m.settings.Of)
		}
		rows, err := s.SampleRows(probes, probeLength, 1)
		if err != nil {
			return nil, err
		}
		for own, with := range m.components {
			t, _, err := table.Conform(rows, with.Schema(), false)
			if err != nil {
				return nil, err
			}
			logs, err := logDensity(ctx, with, t)
			if err != nil {
				return nil, err
			}
			for _, l := range logs {
				like[own][c] += max(l, -1e12)
			}
		}
	}
	place := make([]int, k)
	ours, theirs := make([]bool, k), make([]bool, k)
	for range k {
		best, with := -1, -1
		for own := range k {
			for c := range k {
				if !ours[own] && !theirs[c] && (best < 0 || like[own][c] > like[best][with]) {
					best, with = own, c
				}
			}
		}
		ours[best], theirs[with], place[best] = true, true, with
	}
	return place, nil
}

// with joins the components of two mixtures.
func (m *Model) with(ctx context.Context, o *Model, place []int) (*Model, error) {
	next := &Model{settings: m.settings}
	for own, of := range m.components {
		able, ok := of.(learn.Merger)
		if !ok {
			return nil, fmt.Errorf("components of learner %s cannot be merged", m.settings.Of)
		}
		both, err := able.Merge(learn.WithProgress(ctx, func(float64) {}), o.components[place[own]])
		if err != nil {
			return nil, err
		}
		if err := next.enlist(both); err != nil {
			return nil, err
		}
	}
	more := make([]source, len(o.sources))
	for i, s := range o.sources {
		more[i] = source{of: s.of, shares: make([]float64, len(place))}
		for own, c := range place {
			more[i].shares[own] = s.shares[c]
		}
	}
	var err error
	next.sources, err = kept.With(m.sources, func(s source) learn.Source { return s.of }, func(a, b source) (source, error) {
		sum := source{of: a.of, shares: make([]float64, len(a.shares))}
		for c := range sum.shares {
			sum.shares[c] = a.shares[c] + b.shares[c]
		}
		return sum, nil
	}, more...)
	if err != nil {
		return nil, err
	}
	return next, next.weigh()
}
